/* SPDX-License-Identifier: GPL-2.0-only */
/* Identify data, checked: nothing a target says gets past here unbounded. Pure logic, also compiled in userspace. */
#ifndef NOF_WIRE_IDENTIFY_H
#define NOF_WIRE_IDENTIFY_H

#include <linux/nvme.h>
#include <linux/types.h>
#include <linux/uuid.h>

/* Of SGLS, NVMe Base 2.0, figure 275: keyed data blocks; data in the capsule at an offset */
#define NOF_SGLS_KEYED	BIT(2)
#define NOF_SGLS_OFFSET	BIT(20)

#define NOF_MIN_LBA_SHIFT	9
/* the page size, which is also the largest logical block of the kernels we build for */
#define NOF_MAX_LBA_SHIFT	12

/* Bytes of protection information, by its guard (NVM command set 1.0, 5.2.1) */
#define NOF_PI_BYTES_16B	8
#define NOF_PI_BYTES_64B	16

/* Which identifiers a namespace has */
enum { NOF_ID_EUI64 = 1, NOF_ID_NGUID = 2, NOF_ID_UUID = 4 };

struct nof_ns_ids {
	u8	have;		/* NOF_ID_* */
	u8	csi;
	u8	eui64[8];
	u8	nguid[16];
	uuid_t	uuid;
};

/*
 * A namespace's format and identity: what two paths to it must agree on. It has no blocks, and @nlbas is 0, if the
 * driver does not know its command set.
 */
struct nof_ns_format {
	struct nof_ns_ids ids;
	u64	nlbas;		/* capacity in logical blocks */
	u64	nuse;		/* of these in use */
	u8	lba_shift;
	u8	pi_type;	/* of protection information: 1 to 3; 0: none */
	u8	pi_bytes;	/* of each block: NOF_PI_BYTES_* */
	bool	pi_in_data;	/* it can be transferred at the end of each block */
	bool	read_only;
	bool	shared;		/* NMIC bit 0 */
	u8	rescap;		/* reservations: persistence, and types; 0: none */
	u32	ana_group;	/* 0 if none */
	/* hints, 0 when absent; in logical blocks */
	u32	phys_blocks;	/* atomic write / preferred granularity: physical block size */
	u32	opt_io_blocks;	/* optimal write size */
	u32	discard_granularity;
	u32	discard_alignment;
	/* atomic writes, in logical blocks; 0: as the controller says, no boundary */
	u32	atomic_blocks, atomic_boundary;
	bool	atomic_never;	/* not in a way that can be used */
	bool	discard_zeroes;	/* DLFEAT: deallocated blocks read as zero, Write Zeroes may deallocate */
	u8	lbaf;		/* index of the format, for what other command sets tell of it */
	/* of a zoned namespace; 0 when it is not */
	u64	zone_blocks;	/* zone size, a power of two; the capacity is a multiple of it */
	u32	max_open, max_active;	/* zones; 0: no limit */
};

/* Of a command set that the driver does not know: it has a generic node for passthrough, and no block device */
static inline bool nof_ids_are_generic(const struct nof_ns_ids *ids)
{
	return ids->csi != NVME_CSI_NVM && ids->csi != NVME_CSI_ZNS;
}

static inline bool nof_format_is_generic(const struct nof_ns_format *format)
{
	return nof_ids_are_generic(&format->ids);
}

/* Controller limits */
struct nof_ctrl_id {
	char	serial[21], model[41], firmware[9];	/* printable, trailing blanks removed */
	u16	vid;
	u16	cntlid;
	u16	oncs;
	u16	awupf;		/* blocks, zero based */
	u16	maxcmd;		/* 0: none told */
	u16	kas;		/* 100 ms units */
	u16	mtfa;		/* Maximum Time for Firmware Activation, 100 ms units; 0: none told */
	u16	cqt_ms;		/* Command Quiesce Time; 0: none told */
	u16	crdt[3];	/* Command Retry Delay Times, 100 ms units */
	u32	max_transfer;	/* bytes, U32_MAX: no bound */
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
	u8	dctype;		/* of a discovery controller: direct or central */
	u8	aerl;
	u8	lpa;
	u8	acl;
	u8	ciu;		/* 0: the controller has no instance of its own */
	u8	ccrl;		/* Cross-Controller Resets at once; 0: not offered */
	u64	cirn;
};

/*
 * What a controller takes of the commands that carry no data, which MDTS does not bound; U32_MAX, U64_MAX: no bound.
 * @range_blocks: of one range of Dataset Management; @discard_blocks: of all its ranges; @ranges: how many, 0: no bound
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
 * Returns NULL, or the reason of the refusal for a person.
 */
const char *nof_identify_ctrl(const struct nvme_id_ctrl *id, u8 mpsmin, struct nof_ctrl_id *out);

/* Identify Controller of the NVM command set (NVM command set 1.0, figure 101). Any value has a meaning. */
void nof_identify_nvm(const struct nvme_id_ctrl_nvm *id, u8 mpsmin, struct nof_nvm_limits *out);

/*
 * Likewise Identify Namespace (NVM command set): block size, capacity, metadata. "inactive" (all zero) is a refusal
 * too.
 */
const char *nof_identify_ns(const struct nvme_id_ns *id, struct nof_ns_format *out);

/*
 * Identify Namespace of the NVM command set (NVM command set 1.0, figure 100), for @out that has protection information
 * of more than 8 bytes: which guard it is with. NULL or the reason.
 */
const char *nof_identify_guard(const struct nvme_id_ns_nvm *id, const struct nof_ns_format *out);

/*
 * Identify Namespace of the zoned command set (ZNS 1.1, figure 48), for @out that nof_identify_ns() has filled. NULL or
 * the reason.
 */
const char *nof_identify_zns(const struct nvme_id_ns_zns *id, struct nof_ns_format *out);

/*
 * I/O Command Set Independent Identify Namespace (NVMe Base 2.0, figure 280), of a namespace whose command set the
 * driver does not know and whose @out->ids are known; the rest of @out is filled. NULL or the reason.
 * @anagrpmax:	highest ANA group of the controller; 0: it has none
 * @ready:	false: the namespace takes no I/O yet
 */
const char *nof_identify_indep(const struct nvme_id_ns_cs_indep *id, u32 anagrpmax, struct nof_ns_format *out,
			       bool *ready);

/* Of the controller (ZNS 1.1, figure 49): the most data of a Zone Append, bytes; U32_MAX: MDTS alone bounds it. */
u32 nof_identify_zasl(const struct nvme_id_ctrl_zns *id, u8 mpsmin);

/* Namespace Identification Descriptor list: @len bytes; merges into @ids; NULL or the reason. */
const char *nof_identify_descs(const void *buf, size_t len, struct nof_ns_ids *ids);

/* True when both name the same namespace: at least one kind of identifier in common, and none that differs. */
bool nof_ns_ids_match(const struct nof_ns_ids *a, const struct nof_ns_ids *b);
/* True when they must not be two disks: one identifier in common */
bool nof_ns_ids_clash(const struct nof_ns_ids *a, const struct nof_ns_ids *b);
bool nof_ns_ids_equal(const struct nof_ns_ids *a, const struct nof_ns_ids *b);

/* Bytes that are transferred for a block by a command with this dword 12; PRACT: without protection information */
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
