/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Commands Supported and Effects log (NVMe Base 2.0, 5.16.1.6): what a command does besides its purpose. Pure
 * logic, also compiled in userspace.
 */
#ifndef NOF_WIRE_EFFECTS_H
#define NOF_WIRE_EFFECTS_H

#include <linux/types.h>

struct nvme_effects_log;

enum {
	/* of an I/O command: it touches the data of its own namespace at most, and is open to who may read these */
	NOF_EFFECT_OPEN		= 1 << 0,
	/* the same, for who may write them */
	NOF_EFFECT_OPEN_WRITER	= 1 << 1,
	/* of an admin command: no I/O beside it, as it works on whole namespaces, or these are others afterwards */
	NOF_EFFECT_STOPS_IO	= 1 << 2,
	/* beside that: not only I/O of the namespace that it names */
	NOF_EFFECT_ALL_NS	= 1 << 3,
	/* of an admin command: afterwards the namespaces are looked at again */
	NOF_EFFECT_RESCAN	= 1 << 4,
};

/* @of: the NOF_EFFECT_ flags of each opcode */
struct nof_effects {
	u8	of[256];
};

/*
 * The effects of I/O commands of one command set, and of admin commands. @log: as received, 4,096 bytes; NULL where the
 * controller has none: then no I/O command is open, and the admin commands with effects that the specification names
 * have these. @csi: which command set, so that opcodes have its meaning
 */
void nof_effects_io(const struct nvme_effects_log *log, u8 csi, struct nof_effects *out);
void nof_effects_admin(const struct nvme_effects_log *log, struct nof_effects *out);

#endif
