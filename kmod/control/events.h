/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_CONTROL_EVENTS_H
#define NOF_CONTROL_EVENTS_H

#include "core/event.h"

/* For nof_events: each event as a netlink notification. */
extern const struct nof_event_ops nof_genl_event_ops;

#endif
