/* SPDX-License-Identifier: MIT */
/*
 * The state sink. Payload bytes arrive in file order; of a file that is valid
 * they follow each other without a gap from the end of the header on, and one
 * block of the run's arena takes them. When the size of the file is known the
 * block is taken at once, else it doubles. Invariant: payload[0, n) are the
 * file's bytes from header_end on, or gap is set and nothing is bound.
 */
#include "sink/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "format/format.h"

enum { FIRST_ROOM = 64 * 1024 };

static struct ckpt_checkpoint *
of_sink(struct ckpt_sink *sink)
{
	return (struct ckpt_checkpoint *)(void
			*)((char *)sink -
			   offsetof(struct ckpt_checkpoint, sink));
}

/* Room for more bytes behind those that are kept. */
static enum ckpt_status
make_room(struct ckpt_checkpoint *c, uint64_t more)
{
	const struct ckpt_run *run = c->run;
	uint64_t need, room = FIRST_ROOM;
	size_t size;
	uint8_t *p;

	if (!ckpt_add_u64(c->shift + c->n, more, &need))
		return CKPT_ELIMIT;
	if (need <= c->room)
		return CKPT_OK;
	if (run->size_known && run->size > run->header_end)
		room = c->shift + run->size - run->header_end;
	else if (c->room && !ckpt_mul_u64(c->room, 2, &room))
		room = need;
	if (room < need)
		room = need;
	/* guards: keep() writes below room. */
	if (!ckpt_to_size(room, &size))
		return CKPT_ELIMIT;
	p = ckpt_arena_grow(&c->run->arena, c->payload, (size_t)c->room, size);
	if (!p)
		return ckpt_run_memory(run);
	c->payload = p;
	c->room = room;
	return CKPT_OK;
}

/* The first doubles of the payload are laid on a multiple of eight, so that
 * all can be worked on in place: between them are only doubles. */
static void
align(struct ckpt_checkpoint *c, const struct ckpt_span *span)
{
	uint64_t at;

	if (c->aligned || span->width != sizeof(double) ||
		!ckpt_sub_u64(span->off, c->run->header_end, &at))
		return;
	c->aligned = true;
	c->shift = (8 - at % 8) % 8;
}

static enum ckpt_status
keep(struct ckpt_checkpoint *c, const struct ckpt_event *event)
{
	enum ckpt_status status;
	uint64_t at;

	if (!ckpt_sub_u64(event->off, c->run->header_end, &at) || at != c->n)
		c->gap = true;
	if (c->gap)
		return CKPT_OK;
	status = make_room(c, event->len);
	if (status != CKPT_OK)
		return status;
	memcpy(c->payload + c->shift + c->n, event->data, (size_t)event->len);
	c->n += event->len;
	return CKPT_OK;
}

/* Everything was judged: what is valid becomes a state. */
static enum ckpt_status
publish(struct ckpt_checkpoint *c)
{
	const struct ckpt_format *format = c->run->format;
	enum ckpt_status status;

	if (!format || c->gap || !format->bind ||
		ckpt_diags_verdict(&c->run->diags) != CKPT_VALID)
		return CKPT_OK;
	status = format->bind(c->run, c->payload + c->shift, c->n, &c->state);
	c->loaded = status == CKPT_OK;
	return status;
}

static enum ckpt_status
on_event(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct ckpt_checkpoint *c = of_sink(sink);

	switch (event->kind) {
	case CKPT_EV_BEGIN:
	case CKPT_EV_FIELD: return CKPT_OK;
	case CKPT_EV_SPAN: align(c, event->span); return CKPT_OK;
	case CKPT_EV_DATA: return keep(c, event);
	case CKPT_EV_END: return publish(c);
	}
	return CKPT_OK;
}

struct ckpt_checkpoint *
ckpt_checkpoint_new(const struct ckpt_options *options)
{
	struct ckpt_checkpoint *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->verdict = CKPT_NOT_VERIFIED;
	c->run = ckpt_run_new(options);
	if (!c->run) {
		free(c);
		return NULL;
	}
	c->sink.event = on_event;
	ckpt_run_listen(c->run, &c->sink);
	return c;
}

void
ckpt_checkpoint_free(struct ckpt_checkpoint *c)
{
	if (!c)
		return;
	ckpt_run_free(c->run);
	free(c);
}

/* What kept a file from being verified, as a status. */
static enum ckpt_status
status_of_trouble(const struct ckpt_run *run)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	if (!primary)
		return CKPT_EUNSUPPORTED;
	if (primary->rule == ckpt_rule_row(CKPT_D_OUT_OF_MEMORY))
		return CKPT_ENOMEM;
	if (primary->rule == ckpt_rule_row(CKPT_D_CANCELLED))
		return CKPT_STOP;
	return primary->rule->class_ == CKPT_LIMIT ? CKPT_ELIMIT : CKPT_EIO;
}

enum ckpt_status
ckpt_checkpoint_load(struct ckpt_checkpoint *c, struct ckpt_source *source)
{
	c->verdict = ckpt_verify(c->run, source);
	switch (c->verdict) {
	case CKPT_VALID: return c->loaded ? CKPT_OK : CKPT_EUNSUPPORTED;
	case CKPT_INVALID: return CKPT_REJECTED;
	case CKPT_UNSUPPORTED: return CKPT_EUNSUPPORTED;
	case CKPT_NOT_VERIFIED: break;
	}
	c->loaded = false;
	return status_of_trouble(c->run);
}

enum ckpt_status
ckpt_checkpoint_read(struct ckpt_source *source,
	const struct ckpt_options *options, struct ckpt_checkpoint **out)
{
	*out = ckpt_checkpoint_new(options);
	return *out ? ckpt_checkpoint_load(*out, source) : CKPT_ENOMEM;
}

/* ---- What it holds ------------------------------------------------------ */

const struct ckpt_run *
ckpt_checkpoint_run(const struct ckpt_checkpoint *c)
{
	return c->run;
}

enum ckpt_verdict
ckpt_checkpoint_verdict(const struct ckpt_checkpoint *c)
{
	return c->verdict;
}

const struct ckpt_config *
ckpt_checkpoint_config(const struct ckpt_checkpoint *c)
{
	return c->loaded ? &c->state.config : NULL;
}

const struct ckpt_adamw *
ckpt_checkpoint_adamw(const struct ckpt_checkpoint *c)
{
	return c->loaded ? &c->state.adamw : NULL;
}

uint64_t
ckpt_checkpoint_step(const struct ckpt_checkpoint *c)
{
	return c->loaded ? c->state.selected_step : 0;
}

bool
ckpt_checkpoint_tensor(
	const struct ckpt_checkpoint *c, uint64_t i, struct ckpt_view *view)
{
	const struct ckpt_state *s = &c->state;
	const struct {
		enum ckpt_tensor_kind kind;
		const struct ckpt_tensor *tensors;
		uint64_t n;
	} lists[] = {
		{ s->tokenizer.kind == CKPT_LITERAL ? CKPT_TENSOR_PIECE
						    : CKPT_TENSOR_MERGES,
			s->tokenizer.pieces, s->tokenizer.npieces },
		{ CKPT_TENSOR_WEIGHT, s->parameters, s->nparameters },
		{ CKPT_TENSOR_FIRST, s->first, s->nmoments },
		{ CKPT_TENSOR_SECOND, s->second, s->nmoments },
	};

	for (size_t k = 0; c->loaded && k < sizeof lists / sizeof lists[0];
		k++) {
		bool named = lists[k].kind >= CKPT_TENSOR_WEIGHT;
		const struct ckpt_tensor *t = lists[k].tensors;

		if (i >= lists[k].n) {
			i -= lists[k].n;
			continue;
		}
		t += i;
		*view = (struct ckpt_view){ lists[k].kind,
			named ? t->name.p : NULL, named ? t->name.n : 0,
			t->rank, t->dims, t->data, t->len };
		return true;
	}
	return false;
}
