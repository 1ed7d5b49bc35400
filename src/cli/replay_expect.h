/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_EXPECT_H
#define CKPT_CLI_REPLAY_EXPECT_H

/* ckreplay step --expect and --self-check. */

#include <ckpt.h>
#include <jansson.h>

#include "cli/opt.h"
#include "forensics/compare.h"
#include "replay/causes.h"
#include "replay/selfcheck.h"
#include "sink/state.h"

struct replay_expect {
	const char *other; /* path; NULL if nothing is expected */
	bool told;         /* the arithmetic of its maker is known, */
	uint64_t fingerprint;
	bool foreign; /* and is not ours */
	/* Found. */
	bool equal;
	struct ckpt_comparison comparison;
	struct ckpt_buf name; /* of its first tensor, escaped */
	bool tried;
	struct ckpt_cause causes[CKPT_CAUSES];
};

/* False is a usage error that has been said to args. */
bool replay_expect_parse(struct ckpt_args *args, struct replay_expect *expect,
	const char *other, const char *arithmetic);

/* Compares a step that kept its outline with their checkpoint, which is given
 * up. */
CKPT_MUST_USE enum ckpt_status replay_expect_run(struct replay_expect *expect,
	const struct ckpt_step *step, struct ckpt_checkpoint *checkpoint);
void replay_expect_release(struct replay_expect *expect);

/* "bit-equal", "mismatch", "not-comparable". */
const char *replay_expect_verdict(const struct replay_expect *expect);

void replay_expect_text(
	struct ckpt_buf *out, const struct replay_expect *expect);
json_t *replay_expect_json(const struct replay_expect *expect);

void replay_self_check_text(
	struct ckpt_buf *out, const struct ckpt_self_check *check);
json_t *replay_self_check_json(const struct ckpt_self_check *check);

#endif
