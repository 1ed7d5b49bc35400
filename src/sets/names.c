/* SPDX-License-Identifier: MIT */
/*
 * Roles by name. <N> stands for decimal digits, at least one; the tables below
 * are read front to back and the first row that fits decides, so resume files
 * come before the weights whose patterns are wider.
 */
#include "sets/names.h"

#include <string.h>

struct pattern {
	const char *start;
	enum { EXACT, NUMBERED, ANYTHING } middle;
	const char *const *ends; /* suffixes, NULL-terminated */
	enum ckpt_role role;
};

static const char *const any_state[] = { ".pt", ".pth", ".bin", ".safetensors",
	NULL };
static const char *const torch_state[] = { ".pt", ".pth", ".bin", NULL };
static const char *const pth[] = { ".pth", NULL };
static const char *const pickle[] = { ".pkl", NULL };
static const char *const json[] = { ".json", NULL };
static const char *const text[] = { ".txt", NULL };
static const char *const binary[] = { ".bin", NULL };
static const char *const index_json[] = { ".index.json", NULL };
static const char *const native[] = { ".safetensors", NULL };

static const struct pattern patterns[] = {
	{ "optimizer", EXACT, any_state, CKPT_ROLE_OPTIMIZER },
	{ "optimizer_", NUMBERED, any_state, CKPT_ROLE_OPTIMIZER },
	{ "scheduler", EXACT, torch_state, CKPT_ROLE_SCHEDULER },
	{ "scheduler_", NUMBERED, torch_state, CKPT_ROLE_SCHEDULER },
	{ "rng_state", EXACT, pth, CKPT_ROLE_RNG },
	{ "rng_state_", NUMBERED, pth, CKPT_ROLE_RNG },
	{ "random_states_", NUMBERED, pickle, CKPT_ROLE_RNG },
	{ "", ANYTHING, index_json, CKPT_ROLE_INDEX },
	{ "", ANYTHING, native, CKPT_ROLE_WEIGHTS },
	{ "pytorch_model", ANYTHING, torch_state, CKPT_ROLE_OTHER },
	{ "model", ANYTHING, torch_state, CKPT_ROLE_OTHER },
	{ "adapter_model", ANYTHING, torch_state, CKPT_ROLE_OTHER },
	{ "consolidated", ANYTHING, torch_state, CKPT_ROLE_OTHER },
	{ "trainer_state", EXACT, json, CKPT_ROLE_SIDE },
	{ "config", EXACT, json, CKPT_ROLE_SIDE },
	{ "generation_config", EXACT, json, CKPT_ROLE_SIDE },
	{ "adapter_config", EXACT, json, CKPT_ROLE_SIDE },
	{ "tokenizer", EXACT, json, CKPT_ROLE_SIDE },
	{ "tokenizer_config", EXACT, json, CKPT_ROLE_SIDE },
	{ "special_tokens_map", EXACT, json, CKPT_ROLE_SIDE },
	{ "added_tokens", EXACT, json, CKPT_ROLE_SIDE },
	{ "vocab", EXACT, json, CKPT_ROLE_SIDE },
	{ "merges", EXACT, text, CKPT_ROLE_SIDE },
	{ "training_args", EXACT, binary, CKPT_ROLE_SIDE },
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
all_digits(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_digit(p[i]))
			return false;
	return n > 0;
}

static bool
ends(const char *name, size_t n, const char *tail)
{
	size_t k = strlen(tail);

	return n >= k && memcmp(name + n - k, tail, k) == 0;
}

bool
ckpt_name_ends(const char *name, size_t n, const char *tail)
{
	return n > strlen(tail) && ends(name, n, tail);
}

static bool
fits(const struct pattern *p, const char *name, size_t n)
{
	size_t k = strlen(p->start);

	if (n < k || memcmp(name, p->start, k) != 0)
		return false;
	name += k;
	n -= k;
	for (const char *const *end = p->ends; *end; end++) {
		size_t rest;

		if (!ends(name, n, *end))
			continue;
		rest = n - strlen(*end);
		switch (p->middle) {
		case EXACT: return rest == 0;
		case NUMBERED: return all_digits(name, rest);
		case ANYTHING: return k + rest > 0;
		}
	}
	return false;
}

enum ckpt_role
ckpt_role_of(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
		if (fits(&patterns[i], name, n))
			return patterns[i].role;
	return CKPT_ROLE_NONE;
}

bool
ckpt_role_resumes(enum ckpt_role role)
{
	return role == CKPT_ROLE_OPTIMIZER || role == CKPT_ROLE_SCHEDULER ||
	       role == CKPT_ROLE_RNG;
}

size_t
ckpt_name_unfinished(const char *name)
{
	static const char *const tails[] = { ".tmp", ".part", ".partial",
		".incomplete" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		size_t rest = n - strlen(tails[i]);

		if (ckpt_name_ends(name, n, tails[i]) &&
			ckpt_role_of(name, rest) != CKPT_ROLE_NONE)
			return rest;
	}
	for (const char *at = name; (at = strstr(at, ".tmp.")); at++)
		if (at[5] && ckpt_role_of(name, (size_t)(at - name)) !=
				     CKPT_ROLE_NONE)
			return (size_t)(at - name);
	return 0;
}

bool
ckpt_name_distributed(const char *name)
{
	static const char *const starts[] = { "global_step", "optimizer_",
		"pytorch_model_fsdp_" };

	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		size_t k = strlen(starts[i]);

		if (strncmp(name, starts[i], k) == 0 &&
			all_digits(name + k, strlen(name + k)))
			return true;
	}
	return false;
}

/* ---- The order of checkpoints ------------------------------------------- */

/* The digits that say how far training was: those behind the last "step", else
 * the last ones. If there are none, none of name. */
static const char *
number_of(const char *name, size_t *n)
{
	const char *found = name, *step = NULL;
	size_t found_n = 0;

	for (const char *at = name; (at = strstr(at, "step")); at++)
		step = at + 4;
	if (step) {
		step += strspn(step, "s_-=. ");
		if (is_digit(*step)) {
			*n = strspn(step, "0123456789");
			return step;
		}
	}
	for (const char *at = name; *at; at++) {
		if (!is_digit(*at))
			continue;
		found = at;
		found_n = strspn(at, "0123456789");
		at += found_n - 1;
	}
	*n = found_n;
	return found;
}

bool
ckpt_name_numbered(const char *name)
{
	size_t n;

	(void)number_of(name, &n);
	return n > 0;
}

int
ckpt_name_by_number(const char *a, const char *b)
{
	size_t na, nb;
	const char *pa = number_of(a, &na), *pb = number_of(b, &nb);
	int c;

	for (; na > 1 && *pa == '0'; na--)
		pa++;
	for (; nb > 1 && *pb == '0'; nb--)
		pb++;
	if (na != nb)
		return na < nb ? -1 : 1;
	c = memcmp(pa, pb, na);
	return c ? c : strcmp(a, b);
}
