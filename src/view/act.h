/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_ACT_H
#define CKPT_VIEW_ACT_H

/* Actions that no pane has taken for itself. */

#include "view/view.h"

void view_act(struct view *view, enum view_action action);

/* Says what came of a verification that was asked for, once. */
bool view_verify_poll(struct view *view);

#endif
