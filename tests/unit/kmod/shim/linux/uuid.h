/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_UUID_H
#define SHIM_LINUX_UUID_H

#include <linux/types.h>

typedef struct {
	__u8 b[16];
} uuid_t;

#endif
