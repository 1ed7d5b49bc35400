/* SPDX-License-Identifier: MIT */
/*
 * What may have happened to a file, below its findings: causes from strong to
 * possible, each with the reason for its rank and with its evidence. That
 * these are hints is said each time, because people quote such lines alone.
 */
#include "sink/text.h"

#include <inttypes.h>

const char *
ckpt_likelihood_name(enum ckpt_likelihood likelihood)
{
	switch (likelihood) {
	case CKPT_STRONG: return "strong";
	case CKPT_LIKELY: return "likely";
	case CKPT_POSSIBLE: return "possible";
	}
	return "";
}

static void
write_cause(struct ckpt_buf *buf, const struct ckpt_hint *c)
{
	ckpt_buf_printf(buf, "    %s: %s", ckpt_likelihood_name(c->likelihood),
		c->slug);
	if (c->len > 0)
		ckpt_buf_printf(
			buf, " at 0x%" PRIx64 " (%" PRIu64 ")", c->off, c->off);
	if (c->path[0])
		ckpt_buf_printf(buf, ", %s", c->path);
	ckpt_buf_printf(
		buf, "\n      %s\n      because %s\n", c->title, c->reason);
	for (uint64_t i = 0; i < c->nevidence; i++)
		ckpt_buf_printf(buf, "      - %s\n", c->evidence[i]);
}

void
ckpt_text_hints(struct ckpt_buf *buf, const struct ckpt_hints *causes)
{
	ckpt_buf_puts(buf, "  what may have happened (hints, not part of the "
			   "verdict):\n");
	for (uint64_t i = 0; i < causes->n; i++)
		write_cause(buf, &causes->list[i]);
	if (causes->examined == 0 && causes->limit)
		ckpt_buf_printf(buf, "    not looked for: %s\n", causes->limit);
	else if (causes->n == 0)
		ckpt_buf_printf(buf,
			"    no trace of a known cause in %" PRIu64 " bytes\n",
			causes->examined);
	if (causes->examined > 0 && causes->limit)
		ckpt_buf_printf(buf, "    looked at %" PRIu64 " bytes: %s\n",
			causes->examined, causes->limit);
}
