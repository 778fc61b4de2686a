/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <string.h>

#endif
