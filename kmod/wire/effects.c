// SPDX-License-Identifier: GPL-2.0-only
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/nvme.h>
#include "wire/effects.h"

/* Missing in older headers: relaxations of CSE, and the command scope, which may be set for every command */
#define EFFECTS_CSER	GENMASK(15, 14)
#define EFFECTS_SCOPE	GENMASK(31, 20)

/* CSE: no other command to the same namespace at the same time; higher values: to any namespace */
#define CSE_ONE_NS	BIT(16)

/* First vendor specific I/O opcode */
#define IO_VENDOR	0x80

/* Bits 1:0 of an opcode: data transfer direction */
#define TO_CONTROLLER	BIT(0)

#define HARMLESS	(NVME_CMD_EFFECTS_CSUPP | NVME_CMD_EFFECTS_LBCC | NVME_CMD_EFFECTS_UUID_SEL | EFFECTS_SCOPE)
#define OTHER_NAMESPACE	(NVME_CMD_EFFECTS_NCC | NVME_CMD_EFFECTS_NIC)

/* Opcodes that change blocks, whatever the log says, in the command sets that have blocks */
static bool changes_blocks(u8 csi, u8 opcode)
{
	if (csi != NVME_CSI_NVM && csi != NVME_CSI_ZNS)
		return false;
	return opcode == nvme_cmd_write || opcode == nvme_cmd_write_zeroes || opcode == nvme_cmd_write_uncor;
}

static u8 io_effect(u8 csi, u8 opcode, u32 effects)
{
	if (opcode >= IO_VENDOR || !(effects & NVME_CMD_EFFECTS_CSUPP) || effects & ~(u32)HARMLESS)
		return 0;
	if (opcode & TO_CONTROLLER || effects & NVME_CMD_EFFECTS_LBCC || changes_blocks(csi, opcode))
		return NOF_EFFECT_WRITER_OK;
	return NOF_EFFECT_READER_OK | NOF_EFFECT_WRITER_OK;
}

void nof_effects_io(const struct nvme_effects_log *log, u8 csi, struct nof_effects *out)
{
	u32 opcode;

	/* concurrent readers see the old or the new value of an entry */
	for (opcode = 0; opcode < ARRAY_SIZE(out->of); opcode++)
		WRITE_ONCE(out->of[opcode], log ? io_effect(csi, opcode, le32_to_cpu(log->iocs[opcode])) : 0);
}

static u8 admin_effect(u8 opcode, u32 effects, bool has_log)
{
	/* ignored if CSER relaxes it: which relaxation applies depends on the other outstanding commands */
	u32 cse = effects & EFFECTS_CSER ? 0 : effects & NVME_CMD_EFFECTS_CSE_MASK;
	bool alone = cse, all = cse > CSE_ONE_NS;

	switch (opcode) {
	case nvme_admin_format_nvm:
	case nvme_admin_ns_mgmt:
	case nvme_admin_ns_attach:
		alone = true;
		break;
	case nvme_admin_sanitize_nvm:
		alone = all = true;
		break;
	case nvme_admin_activate_fw:
		alone |= !has_log;
		all = true;
		break;
	/*
	 * All but the last one are sent all the time. Many logs restrict Security Receive because it belongs to the
	 * preceding Security Send; I/O does not interfere with that.
	 */
	case nvme_admin_identify:
	case nvme_admin_get_log_page:
	case nvme_admin_get_features:
	case nvme_admin_abort_cmd:
	case nvme_admin_keep_alive:
	case nvme_admin_security_recv:
		return 0;
	default:
		break;
	}
	if (alone || effects & OTHER_NAMESPACE)
		return NOF_EFFECT_STOPS_IO | NOF_EFFECT_RESCAN | (all ? NOF_EFFECT_ALL_NS : 0);
	return effects & NVME_CMD_EFFECTS_CCC ? NOF_EFFECT_RESCAN : 0;
}

void nof_effects_admin(const struct nvme_effects_log *log, struct nof_effects *out)
{
	u32 opcode;

	for (opcode = 0; opcode < ARRAY_SIZE(out->of); opcode++)
		WRITE_ONCE(out->of[opcode], admin_effect(opcode, log ? le32_to_cpu(log->acs[opcode]) : 0, log));
}
