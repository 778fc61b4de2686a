/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes Identify data; every value from a target is bounded here. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_IDENTIFY_H
#define NOF_WIRE_IDENTIFY_H

#include <linux/nvme.h>
#include <linux/types.h>
#include <linux/uuid.h>

/* SGLS, NVMe Base 2.0, figure 275: keyed data blocks; in-capsule data at an offset */
#define NOF_SGLS_KEYED	BIT(2)
#define NOF_SGLS_OFFSET	BIT(20)

#define NOF_MIN_LBA_SHIFT	9
/* The page size, which is also the largest logical block size of the supported kernels */
#define NOF_MAX_LBA_SHIFT	12

/* Bytes of protection information by guard type (NVM command set 1.0, 5.2.1) */
#define NOF_PI_BYTES_16B	8
#define NOF_PI_BYTES_64B	16

/* Identifiers that a namespace has */
enum { NOF_ID_EUI64 = 1, NOF_ID_NGUID = 2, NOF_ID_UUID = 4 };

struct nof_ns_ids {
	u8	have;		/* NOF_ID_* */
	u8	csi;
	u8	eui64[8];
	u8	nguid[16];
	uuid_t	uuid;
};

/*
 * Format and identity of a namespace, on which all its paths must agree. A namespace whose command set the driver does
 * not know has no blocks: @nlbas is 0.
 */
struct nof_ns_format {
	struct nof_ns_ids ids;
	u64	nlbas;		/* capacity in logical blocks */
	u64	nuse;		/* blocks in use */
	u8	lba_shift;
	u8	pi_type;	/* protection information type 1 to 3; 0: none */
	u8	pi_bytes;	/* per block: NOF_PI_BYTES_* */
	bool	pi_in_data;	/* it can be transferred at the end of each block */
	bool	read_only;
	bool	shared;		/* NMIC bit 0 */
	u8	rescap;		/* NOF_RESCAP_*; 0: no reservations */
	u32	ana_group;	/* 0 if none */
	/* hints, 0 when absent; in logical blocks */
	u32	phys_blocks;	/* physical block size: atomic write unit, write granularity */
	u32	opt_io_blocks;	/* optimal write size */
	u32	discard_granularity;
	/* atomic writes, in logical blocks; 0: the unit of the controller (AWUPF); no boundary */
	u32	atomic_blocks, atomic_boundary;
	bool	atomic_never;	/* the namespace's atomic writes cannot be used */
	bool	discard_zeroes;	/* DLFEAT: deallocated blocks read as zero, Write Zeroes may deallocate */
	u8	lbaf;		/* LBA format index, also for the Identify data of other command sets */
	/* 0 if the namespace is not zoned */
	u64	zone_blocks;	/* zone size, a power of two; the capacity is a multiple of it */
	u32	max_open, max_active;	/* zones; 0: no limit */
};

/* Command set not known to the driver: the namespace has a generic node for passthrough, and no block device. */
static inline bool nof_ids_are_generic(const struct nof_ns_ids *ids)
{
	return ids->csi != NVME_CSI_NVM && ids->csi != NVME_CSI_ZNS;
}

static inline bool nof_format_is_generic(const struct nof_ns_format *format)
{
	return nof_ids_are_generic(&format->ids);
}

/* Decoded Identify Controller data */
struct nof_ctrl_id {
	char	serial[21], model[41], firmware[9];	/* printable, trailing blanks removed */
	u16	vid;
	u16	cntlid;
	u16	oncs;
	u16	awupf;		/* blocks, zero based */
	u16	maxcmd;		/* 0: not reported */
	u16	kas;		/* 100 ms units */
	u16	mtfa;		/* Maximum Time for Firmware Activation, 100 ms units; 0: not reported */
	u16	cqt_ms;		/* Command Quiesce Time; 0: not reported */
	u16	crdt[3];	/* Command Retry Delay Times, 100 ms units */
	u32	max_transfer;	/* bytes; U32_MAX: no limit */
	u32	oaes;
	u32	ctratt;
	u32	nn, mnan;
	u32	ioccsz;		/* bytes, 64 at least */
	u32	icdoff;		/* bytes */
	u32	sgls;
	u32	anagrpmax, nanagrpid;
	u32	rtd3e_us;
	u8	anatt;
	u8	anacap;
	u8	cmic;
	u8	vwc;
	u8	cntrltype;
	u8	fna;		/* Format NVM Attributes */
	u8	dctype;		/* discovery controller type: direct or central */
	u8	aerl;
	u8	lpa;
	u8	acl;
	u8	ciu;		/* Controller Instance Uniquifier; 0: none */
	u8	ccrl;		/* Cross-Controller Resets in parallel; 0: not supported */
	u64	cirn;
};

/*
 * Limits of the commands that transfer no data blocks, to which MDTS does not apply; U32_MAX, U64_MAX: no limit.
 * @range_blocks: per range of Dataset Management; @discard_blocks: over all ranges; @ranges: number of ranges, 0: no
 * limit
 */
struct nof_nvm_limits {
	u64	discard_blocks;
	u32	range_blocks;
	u32	write_zeroes;	/* bytes */
	u8	ranges;
};

/*
 * nof_identify_ctrl() - check and decode Identify Controller (NVMe Base 2.0, figure 275)
 * @id:		4096 bytes as received
 * @mpsmin:	CAP.MPSMIN: the unit of MDTS is 2^(12 + mpsmin) bytes
 * Returns NULL, or a text with the reason of a refusal.
 */
const char *nof_identify_ctrl(const struct nvme_id_ctrl *id, u8 mpsmin, struct nof_ctrl_id *out);

/* Identify Controller of the NVM command set (NVM command set 1.0, figure 101). All values are valid. */
void nof_identify_nvm(const struct nvme_id_ctrl_nvm *id, u8 mpsmin, struct nof_nvm_limits *out);

/*
 * Likewise Identify Namespace (NVM command set): block size, capacity, metadata. An inactive namespace (all zero) is
 * also refused.
 */
const char *nof_identify_ns(const struct nvme_id_ns *id, struct nof_ns_format *out);

/*
 * Identify Namespace of the NVM command set (NVM command set 1.0, figure 100): checks the guard type if @out has
 * protection information of more than 8 bytes. Returns NULL or the reason of a refusal.
 */
const char *nof_identify_guard(const struct nvme_id_ns_nvm *id, const struct nof_ns_format *out);

/*
 * Identify Namespace of the zoned command set (ZNS 1.1, figure 48). @out was filled by nof_identify_ns(). Returns NULL
 * or the reason of a refusal.
 */
const char *nof_identify_zns(const struct nvme_id_ns_zns *id, struct nof_ns_format *out);

/*
 * I/O Command Set Independent Identify Namespace (NVMe Base 2.0, figure 280), of a namespace whose command set the
 * driver does not know. The caller sets @out->ids, this function the rest. Returns NULL or the reason of a refusal.
 * @anagrpmax:	highest ANA group of the controller; 0: it has none
 * @ready:	false: the namespace takes no I/O yet
 */
const char *nof_identify_indep(const struct nvme_id_ns_cs_indep *id, u32 anagrpmax, struct nof_ns_format *out,
			       bool *ready);

/* Identify Controller (ZNS 1.1, figure 49): maximum data of a Zone Append in bytes; U32_MAX: only MDTS applies. */
u32 nof_identify_zasl(const struct nvme_id_ctrl_zns *id, u8 mpsmin);

/* Merges a Namespace Identification Descriptor list of @len bytes into @ids. NULL or the reason of a refusal. */
const char *nof_identify_descs(const void *buf, size_t len, struct nof_ns_ids *ids);

/* True if both identify the same namespace: at least one type of identifier in common, and none that differs. */
bool nof_ns_ids_match(const struct nof_ns_ids *a, const struct nof_ns_ids *b);
/* True if they must not be two disks: one identifier is the same */
bool nof_ns_ids_clash(const struct nof_ns_ids *a, const struct nof_ns_ids *b);
bool nof_ns_ids_equal(const struct nof_ns_ids *a, const struct nof_ns_ids *b);

/* Bytes transferred per block by a command with this dword 12; with PRACT, without protection information */
static inline u32 nof_ns_block_bytes(const struct nof_ns_format *f, u32 cdw12)
{
	bool pract = cdw12 & NVME_RW_PRINFO_PRACT << 16;

	return (1U << f->lba_shift) + (f->pi_in_data && !pract ? f->pi_bytes : 0);
}

static inline bool nof_ns_same_pi(const struct nof_ns_format *a, const struct nof_ns_format *b)
{
	return a->pi_type == b->pi_type && a->pi_bytes == b->pi_bytes && a->pi_in_data == b->pi_in_data;
}

#endif
