/* SPDX-License-Identifier: GPL-2.0-only */
/* What an I/O command whose answer was lost may come to. Pure logic, also compiled in userspace. */
#ifndef NOF_MPATH_REPEAT_H
#define NOF_MPATH_REPEAT_H

#include <linux/types.h>

/* In this order: what may be done of it all may be done of what comes after */
enum nof_repeat {
	NOF_REPEAT_NEVER,	/* it may not be executed twice: who sent it has to find out */
	NOF_REPEAT_FENCED,	/* twice comes to the same as once, but not after something newer: like a write */
	NOF_REPEAT_FREELY,	/* it changes nothing: like a read */
};

/* By opcode, in the NVM command set, or in the zoned one. The same rules are in Documentation/namespaces.md. */
enum nof_repeat nof_repeat_of(u8 opcode, bool zoned);
/* In a command set that the driver does not know: the commands that all I/O command sets have in common */
enum nof_repeat nof_repeat_of_any(u8 opcode);

#endif
