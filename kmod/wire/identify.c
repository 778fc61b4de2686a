// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include "wire/identify.h"
#include "wire/reservation.h"

/* NVMe Base 2.0, figure 275 */
#define CNTRLTYPE_DISCOVERY	2
#define CNTRLTYPE_ADMIN		3
#define CNTLID_MAX		0xffef		/* higher ones are reserved */
#define CMIC_ANA		BIT(3)
#define SGLS_SUPPORTED		0x3

#define CAPSULE_UNIT		16		/* of IOCCSZ and ICDOFF, bytes */
#define SQE_SHIFT		6
#define CQE_SHIFT		4
#define SQE_SIZE		(1 << SQE_SHIFT)
/* A larger capsule size is a mistake of the target: no transport sends that much in one piece. */
#define MAX_CAPSULE		(16 << 20)

#define FLBAS_EXTENDED		BIT(4)

/* NVM command set 1.0, figure 97 */
#define NSFEAT_ATOMICS		BIT(1)
#define NSFEAT_OPTPERF		BIT(4)
#define DLFEAT_READ_MASK	0x7
#define DLFEAT_READ_ZERO	0x1
#define DLFEAT_WZ_DEAC		BIT(3)
/* NVMe Base 2.0, figure 280 */
#define FPI_SUPPORTED		BIT(7)
#define FPI_PERCENT_MASK	0x7f
#define NSTAT_READY		BIT(0)
/* The block layer counts the sectors of a zone in 32 bits; each zone is read, and takes a bit or a structure */
#define MAX_ZONE_BYTES		(1ULL << 40)
#define MAX_ZONES		(1U << 20)
/* Upper limit of the physical block size: more than file systems make use of */
#define MAX_PHYS_BYTES		(64 << 10)

/*
 * Copies a text field without trailing blanks and NULs. Unprintable characters are replaced: the text is used in logs
 * and file names.
 */
static void copy_text(char *to, const char *from, size_t len)
{
	size_t i;

	while (len && (from[len - 1] == ' ' || !from[len - 1]))
		len--;
	for (i = 0; i < len; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '_';
	to[len] = 0;
}

static bool does_io(const struct nvme_id_ctrl *id)
{
	return id->cntrltype != CNTRLTYPE_DISCOVERY && id->cntrltype != CNTRLTYPE_ADMIN;
}

/* @size: minimum in the low four bits, maximum in the high ones, as powers of two */
static bool entry_size_fits(u8 size, u8 want)
{
	return (size & 0xf) <= want && (size >> 4) >= want;
}

static const char *check_io(const struct nvme_id_ctrl *id)
{
	u64 capsule = (u64)le32_to_cpu(id->ioccsz) * CAPSULE_UNIT;
	u64 offset = (u64)le16_to_cpu(id->icdoff) * CAPSULE_UNIT;

	if (!entry_size_fits(id->sqes, SQE_SHIFT))
		return "SQES: submission queue entries are not 64 bytes";
	if (!entry_size_fits(id->cqes, CQE_SHIFT))
		return "CQES: completion queue entries are not 16 bytes";
	if (capsule < SQE_SIZE)
		return "IOCCSZ: command capsules too small for a command";
	if (capsule > MAX_CAPSULE)
		return "IOCCSZ: command capsules impossibly large";
	if (offset && SQE_SIZE + offset > capsule)
		return "ICDOFF: in-capsule data would lie outside the capsule";
	if (!(le32_to_cpu(id->sgls) & SGLS_SUPPORTED))
		return "SGLS: no support for SGLs, which fabrics need";
	if (!le32_to_cpu(id->nn) || le32_to_cpu(id->mnan) > le32_to_cpu(id->nn))
		return "NN, MNAN: NN is 0 or less than MNAN";
	return NULL;
}

static const char *check_ana(const struct nvme_id_ctrl *id)
{
	u32 groups = le32_to_cpu(id->nanagrpid);

	if (!(id->cmic & CMIC_ANA))
		return NULL;
	if (!groups || groups > le32_to_cpu(id->anagrpmax))
		return "NANAGRPID, ANAGRPMAX: NANAGRPID is 0 or greater than ANAGRPMAX";
	return NULL;
}

static u32 max_transfer(u8 mdts, u8 mpsmin)
{
	u32 shift = 12 + mpsmin + mdts;

	return mdts && shift < 32 ? 1U << shift : U32_MAX;
}

static void decode_capsule(const struct nvme_id_ctrl *id, struct nof_ctrl_id *out)
{
	out->ioccsz = le32_to_cpu(id->ioccsz) * CAPSULE_UNIT;
	out->icdoff = le16_to_cpu(id->icdoff) * CAPSULE_UNIT;
	out->sgls = le32_to_cpu(id->sgls);
	out->nn = le32_to_cpu(id->nn);
	out->mnan = id->mnan ? le32_to_cpu(id->mnan) : out->nn;
}

static void decode_ana(const struct nvme_id_ctrl *id, struct nof_ctrl_id *out)
{
	if (!(id->cmic & CMIC_ANA))
		return;
	out->anagrpmax = le32_to_cpu(id->anagrpmax);
	out->nanagrpid = le32_to_cpu(id->nanagrpid);
	out->anatt = id->anatt;
	out->anacap = id->anacap;
}

/* Offsets of fields that the kernel headers do not have: TP4129, TP8028 (NVMe Base 2.3) */
enum { ID_CIU = 135, ID_CIRN = 136, ID_CQT = 386, ID_CCRL = 1807 };

static void decode_instance(const u8 *id, struct nof_ctrl_id *out)
{
	__le64 cirn;
	__le16 cqt;

	memcpy(&cirn, id + ID_CIRN, sizeof(cirn));
	memcpy(&cqt, id + ID_CQT, sizeof(cqt));
	out->ciu = id[ID_CIU];
	out->cirn = le64_to_cpu(cirn);
	out->cqt_ms = le16_to_cpu(cqt);
	out->ccrl = id[ID_CCRL];
}

static void decode_ctrl(const struct nvme_id_ctrl *id, u8 mpsmin, struct nof_ctrl_id *out)
{
	memset(out, 0, sizeof(*out));
	copy_text(out->serial, id->sn, sizeof(id->sn));
	copy_text(out->model, id->mn, sizeof(id->mn));
	copy_text(out->firmware, id->fr, sizeof(id->fr));
	out->cntlid = le16_to_cpu(id->cntlid);
	out->oncs = le16_to_cpu(id->oncs);
	out->awupf = le16_to_cpu(id->awupf);
	out->maxcmd = le16_to_cpu(id->maxcmd);
	out->kas = le16_to_cpu(id->kas);
	out->max_transfer = max_transfer(id->mdts, mpsmin);
	out->vid = le16_to_cpu(id->vid);
	out->dctype = id->dctype;
	out->fna = id->fna;
	out->oaes = le32_to_cpu(id->oaes);
	out->lpa = id->lpa;
	out->mtfa = le16_to_cpu(id->mtfa);
	out->ctratt = le32_to_cpu(id->ctratt);
	out->rtd3e_us = le32_to_cpu(id->rtd3e);
	out->cmic = id->cmic;
	out->vwc = id->vwc;
	out->cntrltype = id->cntrltype;
	out->aerl = id->aerl;
	out->acl = id->acl;
	out->crdt[0] = le16_to_cpu(id->crdt1);
	out->crdt[1] = le16_to_cpu(id->crdt2);
	out->crdt[2] = le16_to_cpu(id->crdt3);
	if (does_io(id))
		decode_capsule(id, out);
	else
		out->ioccsz = SQE_SIZE;
	decode_ana(id, out);
	decode_instance((const u8 *)id, out);
}

const char *nof_identify_ctrl(const struct nvme_id_ctrl *id, u8 mpsmin, struct nof_ctrl_id *out)
{
	const char *why = NULL;

	if (mpsmin > 15)
		return "CAP.MPSMIN: more than four bits";
	if (id->cntrltype > CNTRLTYPE_ADMIN)
		return "CNTRLTYPE: unknown kind of controller";
	if (le16_to_cpu(id->cntlid) > CNTLID_MAX)
		return "CNTLID: reserved controller identifier";
	if (does_io(id))
		why = check_io(id);
	if (!why)
		why = check_ana(id);
	if (!why)
		decode_ctrl(id, mpsmin, out);
	return why;
}

/*
 * WUSL and VSL are ignored: they apply to commands that the driver does not send. WZSL is a power of two in units of
 * the minimum memory page size, as MDTS.
 */
void nof_identify_nvm(const struct nvme_id_ctrl_nvm *id, u8 mpsmin, struct nof_nvm_limits *out)
{
	out->ranges = id->dmrl;
	out->range_blocks = le32_to_cpu(id->dmrsl) ?: U32_MAX;
	out->discard_blocks = le64_to_cpu(id->dmsl) ?: U64_MAX;
	out->write_zeroes = max_transfer(id->wzsl, mpsmin);
}

u32 nof_identify_zasl(const struct nvme_id_ctrl_zns *id, u8 mpsmin)
{
	return max_transfer(id->zasl, mpsmin);
}

static u8 format_index(const struct nvme_id_ns *id)
{
	/* the upper bits are valid only if there are more formats than the lower bits can select */
	return id->nlbaf < 16 ? id->flbas & NVME_NS_FLBAS_LBA_MASK : nvme_lbaf_index(id->flbas);
}

/*
 * Fabrics transfer metadata only at the end of each block. If metadata are in a separate buffer, the controller can
 * insert protection information into writes, and check and strip it on reads (PRACT), but only if the metadata are
 * nothing else.
 */
static const char *check_metadata(const struct nvme_id_ns *id, u16 bytes)
{
	u8 type = id->dps & NVME_NS_DPS_PI_MASK;

	if (!bytes)
		return NULL;
	if (!type && id->flbas & FLBAS_EXTENDED)
		return "FLBAS, MS: formatted with metadata at the end of each block that are no protection information";
	if (!type)
		return "MS: formatted with metadata in a buffer of their own that are no protection information";
	if (type > NVME_NS_DPS_PI_TYPE3)
		return "DPS: invalid protection information type";
	if (bytes < NOF_PI_BYTES_16B)
		return "MS, DPS: metadata too small for the protection information in it";
	if (bytes != NOF_PI_BYTES_16B && bytes != NOF_PI_BYTES_64B)
		return "MS: formatted with metadata that are not the 8 or 16 bytes of protection information";
	return NULL;
}

static const char *check_ns(const struct nvme_id_ns *id)
{
	const struct nvme_lbaf *format;

	if (!id->nsze || !id->ncap)
		return "namespace is not active";
	if (id->nlbaf >= ARRAY_SIZE(id->lbaf) || format_index(id) > id->nlbaf)
		return "FLBAS: format outside the list";
	format = &id->lbaf[format_index(id)];
	if (format->ds < NOF_MIN_LBA_SHIFT || format->ds > NOF_MAX_LBA_SHIFT)
		return "LBADS: logical block size is not 512 to 4096 bytes";
	if (le64_to_cpu(id->nsze) > (u64)S64_MAX >> format->ds)
		return "NSZE: larger than a block device can be";
	return check_metadata(id, le16_to_cpu(format->ms));
}

static u32 round_down_pow2(u32 n)
{
	while (n & (n - 1))
		n &= n - 1;
	return n;
}

/*
 * A physical block is written at once and atomically: both the preferred write granularity and the power-fail atomic
 * write unit must be reported. Neither is necessarily a power of two.
 */
static u32 phys_blocks(const struct nvme_id_ns *id, u8 shift)
{
	u32 blocks = min(le16_to_cpu(id->npwg), le16_to_cpu(id->nawupf)) + 1U;

	if (!(id->nsfeat & NSFEAT_OPTPERF) || !(id->nsfeat & NSFEAT_ATOMICS))
		return 0;
	return round_down_pow2(min(blocks, (u32)MAX_PHYS_BYTES >> shift));
}

/*
 * Atomic writes, also across a power failure. If the namespace reports none, the values of the controller apply. The
 * block layer supports only boundaries that begin at block 0 and are a power of two.
 */
static void decode_atomics(const struct nvme_id_ns *id, struct nof_ns_format *out)
{
	u32 boundary = id->nabspf ? le16_to_cpu(id->nabspf) + 1U : 0;

	if (!(id->nsfeat & NSFEAT_ATOMICS))
		return;
	out->atomic_never = id->nabo || boundary & (boundary - 1);
	out->atomic_blocks = id->nawupf ? le16_to_cpu(id->nawupf) + 1U : 0;
	out->atomic_boundary = boundary;
}

static void decode_hints(const struct nvme_id_ns *id, struct nof_ns_format *out)
{
	out->phys_blocks = phys_blocks(id, out->lba_shift);
	out->discard_zeroes = (id->dlfeat & DLFEAT_READ_MASK) == DLFEAT_READ_ZERO && (id->dlfeat & DLFEAT_WZ_DEAC);
	if (!(id->nsfeat & NSFEAT_OPTPERF))
		return;
	/* NOWS 0 (one block) is also reported by targets that do not know the optimal size */
	if (id->nows)
		out->opt_io_blocks = le16_to_cpu(id->nows) + 1U;
	if (out->phys_blocks)
		out->opt_io_blocks -= out->opt_io_blocks % out->phys_blocks;
	/* NPDA: deallocations should start at its multiples, counted from block 0: no alignment offset */
	out->discard_granularity = max(le16_to_cpu(id->npdg), le16_to_cpu(id->npda)) + 1U;
}

static bool any_set(const u8 *bytes, size_t len)
{
	while (len && !bytes[len - 1])
		len--;
	return len;
}

/* Merges one identifier: all zero means none. False if it differs from the one reported before. */
static bool merge_id(struct nof_ns_ids *ids, u8 kind, u8 *to, const u8 *from, size_t len)
{
	if (!any_set(from, len))
		return true;
	if (ids->have & kind)
		return !memcmp(to, from, len);
	memcpy(to, from, len);
	ids->have |= kind;
	return true;
}

const char *nof_identify_ns(const struct nvme_id_ns *id, struct nof_ns_format *out)
{
	const char *why = check_ns(id);

	if (why)
		return why;
	memset(out, 0, sizeof(*out));
	out->nlbas = le64_to_cpu(id->nsze);
	out->nuse = le64_to_cpu(id->nuse);
	out->lbaf = format_index(id);
	out->lba_shift = id->lbaf[out->lbaf].ds;
	out->read_only = id->nsattr & NVME_NS_ATTR_RO;
	out->shared = id->nmic & NVME_NS_NMIC_SHARED;
	out->rescap = id->rescap & (NOF_RESCAP_PERSISTS | NOF_RESCAP_TYPES);
	out->ana_group = le32_to_cpu(id->anagrpid);
	out->pi_bytes = le16_to_cpu(id->lbaf[out->lbaf].ms);
	if (out->pi_bytes) {
		out->pi_type = id->dps & NVME_NS_DPS_PI_MASK;
		out->pi_in_data = id->flbas & FLBAS_EXTENDED;
	}
	decode_hints(id, out);
	decode_atomics(id, out);
	merge_id(&out->ids, NOF_ID_EUI64, out->ids.eui64, id->eui64, sizeof(id->eui64));
	merge_id(&out->ids, NOF_ID_NGUID, out->ids.nguid, id->nguid, sizeof(id->nguid));
	return NULL;
}

const char *nof_identify_guard(const struct nvme_id_ns_nvm *id, const struct nof_ns_format *out)
{
	u32 elbaf = le32_to_cpu(id->elbaf[out->lbaf]);

	switch (nvme_elbaf_guard_type(elbaf)) {
	case NVME_NVM_NS_64B_GUARD:
		return nvme_elbaf_sts(elbaf) ? "STS: protection information with storage tags is not supported" : NULL;
	case NVME_NVM_NS_32B_GUARD:
		return "PIF: protection information with a 32-bit guard is not supported";
	default:
		return "MS, PIF: formatted with metadata larger than the 8 bytes of protection information in it";
	}
}

const char *nof_identify_indep(const struct nvme_id_ns_cs_indep *id, u32 anagrpmax, struct nof_ns_format *out,
			       bool *ready)
{
	const struct nof_ns_ids ids = out->ids;
	u32 group = le32_to_cpu(id->anagrpid);

	if (id->fpi & FPI_SUPPORTED && (id->fpi & FPI_PERCENT_MASK) > 100)
		return "FPI: more than 100 percent remain to be formatted";
	if (anagrpmax && (!group || group > anagrpmax))
		return "ANAGRPID: no ANA group of this controller";
	memset(out, 0, sizeof(*out));
	out->ids = ids;
	out->lba_shift = NOF_MIN_LBA_SHIFT;
	out->read_only = id->nsattr & NVME_NS_ATTR_RO;
	out->shared = id->nmic & NVME_NS_NMIC_SHARED;
	out->rescap = id->rescap & (NOF_RESCAP_PERSISTS | NOF_RESCAP_TYPES);
	out->ana_group = group;
	*ready = id->nstat & NSTAT_READY;
	return NULL;
}

static bool is_pow2(u64 n)
{
	return n && !(n & (n - 1));
}

/* The value is zero based; all ones: no limit. Returns 0 for no limit, also if there are no more zones than that. */
static u32 zone_limit(__le32 value, u64 zones)
{
	u64 limit = (u64)le32_to_cpu(value) + 1;

	return limit < zones ? limit : 0;
}

const char *nof_identify_zns(const struct nvme_id_ns_zns *id, struct nof_ns_format *out)
{
	u64 blocks = le64_to_cpu(id->lbafe[out->lbaf].zsze), zones;

	if (out->pi_type)
		return "MS: a zoned namespace with protection information is not supported";
	if (id->zoc)
		return "ZOC: zones whose capacity changes, or that the controller finishes, are not supported";
	if (!is_pow2(blocks))
		return "ZSZE: zone size is not a power of two";
	if (blocks > (u64)MAX_ZONE_BYTES >> out->lba_shift)
		return "ZSZE: zones larger than the block layer can have";
	if (out->nlbas & (blocks - 1))
		return "NSZE: not a whole number of zones";
	zones = out->nlbas >> __builtin_ctzll(blocks);
	if (zones > MAX_ZONES)
		return "ZSZE: more than 1048576 zones";
	if ((u64)le32_to_cpu(id->mor) + 1 > (u64)le32_to_cpu(id->mar) + 1)
		return "MOR, MAR: more zones may be open than active";
	out->zone_blocks = blocks;
	out->max_open = zone_limit(id->mor, zones);
	out->max_active = zone_limit(id->mar, zones);
	return NULL;
}

static const char *merge_desc(u8 type, const u8 *value, size_t len, struct nof_ns_ids *ids)
{
	static const u8 lens[] = {
		[NVME_NIDT_EUI64] = NVME_NIDT_EUI64_LEN,
		[NVME_NIDT_NGUID] = NVME_NIDT_NGUID_LEN,
		[NVME_NIDT_UUID]  = NVME_NIDT_UUID_LEN,
		[NVME_NIDT_CSI]	  = NVME_NIDT_CSI_LEN,
	};
	bool same = true;

	if (type >= ARRAY_SIZE(lens) || !lens[type])
		return NULL;	/* defined by a later specification */
	if (len != lens[type])
		return "identification descriptor of wrong length";
	switch (type) {
	case NVME_NIDT_EUI64:
		same = merge_id(ids, NOF_ID_EUI64, ids->eui64, value, len);
		break;
	case NVME_NIDT_NGUID:
		same = merge_id(ids, NOF_ID_NGUID, ids->nguid, value, len);
		break;
	case NVME_NIDT_UUID:
		same = merge_id(ids, NOF_ID_UUID, ids->uuid.b, value, len);
		break;
	case NVME_NIDT_CSI:
		ids->csi = *value;
		break;
	}
	return same ? NULL : "two different identifiers of one kind";
}

const char *nof_identify_descs(const void *buf, size_t len, struct nof_ns_ids *ids)
{
	const u8 *p = buf, *end = p + len;
	struct nvme_ns_id_desc desc;
	const char *why;

	while ((size_t)(end - p) >= sizeof(desc)) {
		memcpy(&desc, p, sizeof(desc));
		p += sizeof(desc);
		if (!desc.nidl)
			break;
		if (desc.nidl > end - p)
			return "identification descriptor runs past the end of the list";
		why = merge_desc(desc.nidt, p, desc.nidl, ids);
		if (why)
			return why;
		p += desc.nidl;
	}
	return NULL;
}

/* True if all identifiers in @kinds are the same */
static bool same_ids(const struct nof_ns_ids *a, const struct nof_ns_ids *b, u8 kinds)
{
	return (!(kinds & NOF_ID_EUI64) || !memcmp(a->eui64, b->eui64, sizeof(a->eui64))) &&
	       (!(kinds & NOF_ID_NGUID) || !memcmp(a->nguid, b->nguid, sizeof(a->nguid))) &&
	       (!(kinds & NOF_ID_UUID) || !memcmp(&a->uuid, &b->uuid, sizeof(a->uuid)));
}

bool nof_ns_ids_match(const struct nof_ns_ids *a, const struct nof_ns_ids *b)
{
	u8 common = a->have & b->have;

	return common && a->csi == b->csi && same_ids(a, b, common);
}

bool nof_ns_ids_clash(const struct nof_ns_ids *a, const struct nof_ns_ids *b)
{
	u8 common = a->have & b->have, kind;

	for (kind = NOF_ID_EUI64; kind <= NOF_ID_UUID; kind <<= 1)
		if (common & kind && same_ids(a, b, kind))
			return true;
	return false;
}

bool nof_ns_ids_equal(const struct nof_ns_ids *a, const struct nof_ns_ids *b)
{
	return a->have == b->have && a->csi == b->csi && same_ids(a, b, a->have);
}
