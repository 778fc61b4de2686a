/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <string.h>

#define memzero_explicit(p, n) explicit_bzero(p, n)

#endif
