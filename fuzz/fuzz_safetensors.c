/* SPDX-License-Identifier: MIT */
/*
 * Targets: format/json*, format/safetensors*.
 *
 * Takes the bytes once as a file and once as a header, with the length in
 * front that they have and as many bytes behind as its tensors need, and holds
 * the driver to its promises: the strict profile never accepts what the
 * reference profile rejects, all findings lie inside the file, every entry
 * lies inside the header, and how the bytes arrive changes nothing.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/target.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "format/safetensors.h"
#include "io/source_slow.h"

enum { PAYLOAD_MOST = 64 * 1024 };

static struct ckpt_run *
verify(const uint8_t *p, size_t n, enum ckpt_profile profile, size_t chunk,
	enum ckpt_verdict *verdict)
{
	struct ckpt_options options = { .max_memory = CKPT_FUZZ_MEMORY,
		.profile = profile };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_source *source = ckpt_source_memory(p, n);

	assert(run && source);
	source->name = "fuzz.safetensors";
	if (chunk)
		source = ckpt_source_slow(source, chunk, true, UINT64_MAX);
	assert(source);
	*verdict = ckpt_verify(run, source);
	ckpt_source_close(source);
	return run;
}

static void
check_entries(const struct ckpt_run *run, size_t size)
{
	const struct safetensors_file *file = run->decoded;

	for (uint32_t i = 0; file && i < file->tensors.n; i++) {
		const struct safetensors_tensor *t =
			&SAFETENSORS_TENSORS(file)[i];

		assert(t->at < t->dtype_at && t->dtype_at < t->after);
		assert(t->at < t->shape_at && t->shape_at < t->after);
		assert(t->at < t->offsets_at && t->offsets_at < t->after);
		assert(t->after <= file->header_bytes);
		assert(file->header_bytes <= size);
	}
}

static void
check_findings(const struct ckpt_run *run, size_t size)
{
	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);
		uint64_t end;

		assert(d->count >= 1 && d->path && d->off <= size);
		assert(ckpt_add_u64(d->off, d->len, &end));
		assert(d->rule->severity == CKPT_ERROR || d->rank.phase == 'H');
	}
}

static void
check_same(const struct ckpt_run *a, const struct ckpt_run *b)
{
	assert(ckpt_run_finding_count(a) == ckpt_run_finding_count(b));
	for (size_t i = 0; i < ckpt_run_finding_count(a); i++) {
		const struct ckpt_diag *da = ckpt_run_finding(a, i);
		const struct ckpt_diag *db = ckpt_run_finding(b, i);

		assert(da->rule == db->rule && da->off == db->off &&
			da->len == db->len && da->count == db->count &&
			strcmp(da->path, db->path) == 0);
	}
}

/* One file; the bytes of data that its tensors need. */
static uint64_t
check_file(const uint8_t *p, size_t n)
{
	enum ckpt_verdict strict, reference, piped;
	struct ckpt_run *run, *other;
	uint64_t need = 0;

	run = verify(p, n, CKPT_PROFILE_STRICT, 0, &strict);
	check_findings(run, n);
	if (run->format == &ckpt_format_safetensors ||
		run->format == &ckpt_format_archive) {
		const struct safetensors_file *file = run->decoded;

		check_entries(run, n);
		need = file ? safetensors_data_end(file) : 0;
	}
	other = verify(p, n, CKPT_PROFILE_REFERENCE, 0, &reference);
	check_findings(other, n);
	assert(strict != CKPT_VALID || reference == CKPT_VALID);
	/* Versions of archives are not the container's. */
	assert(strict != CKPT_UNSUPPORTED || reference == CKPT_UNSUPPORTED ||
		run->format == &ckpt_format_archive);
	ckpt_run_free(other);
	if (n > 0) {
		other = verify(
			p, n, CKPT_PROFILE_STRICT, 1 + p[n - 1] % 7, &piped);
		assert(piped == strict);
		check_same(run, other);
		ckpt_run_free(other);
	}
	ckpt_run_free(run);
	return need;
}

/* The same bytes as a header, with its length in front; and, where its tensors
 * need a payload, with one. */
static void
check_header(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(8 + size);
	uint64_t need;

	assert(file);
	ckpt_store_u64(file, size);
	if (size)
		memcpy(file + 8, data, size);
	need = check_file(file, 8 + size);
	if (need > 0 && need <= PAYLOAD_MOST) {
		uint8_t *more = realloc(file, 8 + size + (size_t)need);

		assert(more);
		file = more;
		/* Tensors of every kind of value. */
		for (size_t i = 0; i < need; i++)
			file[8 + size + i] = (uint8_t)(i * 7 + i / 251);
		check_file(file, 8 + size + (size_t)need);
	}
	free(file);
}

void
ckpt_fuzz_safetensors(const uint8_t *data, size_t size)
{
	check_file(data, size);
	check_header(data, size);
}
