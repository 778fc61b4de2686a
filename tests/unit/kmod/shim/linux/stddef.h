/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_STDDEF_H
#define SHIM_LINUX_STDDEF_H

#include_next <linux/stddef.h>
#include <stddef.h>

#define struct_group(name, members...) union { struct { members }; struct { members } name; }

#endif
