/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evaluates the Commands Supported and Effects log page (NVMe Base 2.0, 5.16.1.6). Pure logic, also compiled in
 * userspace.
 */
#ifndef NOF_WIRE_EFFECTS_H
#define NOF_WIRE_EFFECTS_H

#include <linux/types.h>

struct nvme_effects_log;

enum {
	/* I/O command that affects at most the data of its own namespace: open to callers with read permission */
	NOF_EFFECT_READER_OK	= 1 << 0,
	/* likewise, open to callers with write permission */
	NOF_EFFECT_WRITER_OK	= 1 << 1,
	/* admin command that needs I/O to be stopped: it affects whole namespaces, or changes them */
	NOF_EFFECT_STOPS_IO	= 1 << 2,
	/* with NOF_EFFECT_STOPS_IO: to all namespaces, not only the one in the command */
	NOF_EFFECT_ALL_NS	= 1 << 3,
	/* admin command after which the namespaces are scanned again */
	NOF_EFFECT_RESCAN	= 1 << 4,
};

/* @of: the NOF_EFFECT_ flags of each opcode */
struct nof_effects {
	u8	of[256];
};

/*
 * Effects of the I/O commands of one command set, and of admin commands. @log: as received, 4096 bytes, or NULL if the
 * controller has none. Then no I/O command is open, and only admin commands have effects, those known from the
 * specification. @csi: the command set, which defines the meaning of the opcodes
 */
void nof_effects_io(const struct nvme_effects_log *log, u8 csi, struct nof_effects *out);
void nof_effects_admin(const struct nvme_effects_log *log, struct nof_effects *out);

#endif
