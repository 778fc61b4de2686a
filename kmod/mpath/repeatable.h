/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether an I/O command may be repeated after its completion was lost. Pure logic, also compiled in userspace. */
#ifndef NOF_MPATH_REPEATABLE_H
#define NOF_MPATH_REPEATABLE_H

#include <linux/types.h>

/* Ordered from strict to permissive */
enum nof_repeat {
	NOF_REPEAT_NEVER,	/* must not be executed twice: the submitter has to find out the outcome */
	NOF_REPEAT_FENCED,	/* idempotent, but must not overwrite newer data: only after the fence, like a write */
	NOF_REPEAT_FREELY,	/* changes nothing, like a read */
};

/* For the NVM or the Zoned Namespace Command Set. The same rules are in Documentation/namespaces.md. */
enum nof_repeat nof_repeat_of(u8 opcode, bool zoned);
/* For a command set that the driver does not know: by the commands common to all I/O command sets */
enum nof_repeat nof_repeat_of_any(u8 opcode);

#endif
