/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks and decodes reservation reports, and decides from them whether a command whose response was lost was executed.
 * Pure logic, also compiled in userspace. A registrant is a host, identified by its 128-bit Host Identifier: all
 * controllers of a host are one registrant (NVMe Base 2.0, 8.19).
 */
#ifndef NOF_WIRE_RESERVATION_H
#define NOF_WIRE_RESERVATION_H

#include <linux/nvme.h>
#include <linux/types.h>

/* RESCAP (NVM command set 1.0, figure 97): type n is bit n */
#define NOF_RESCAP_PERSISTS	BIT(0)
#define NOF_RESCAP_TYPES	0x7e

/* From Write Exclusive to Exclusive Access - All Registrants; the block layer uses the same values */
#define NOF_RESV_TYPE_MIN	1
#define NOF_RESV_TYPE_MAX	6
/* From this type on every registrant holds the reservation */
#define NOF_RESV_TYPE_ALL	5

/* NVMe Base 2.0, 7.2 to 7.5: fields of command dword 10 */
#define NOF_RESV_IGNORE_KEY	BIT(3)
#define NOF_RESV_TYPE_SHIFT	8
#define NOF_RESV_PERSIST	(3U << 30)	/* CPTPL: persist through power loss */
#define NOF_RESV_EXTENDED	1		/* EDS of Reservation Report, in dword 11: 128-bit host identifiers */

/* A report has a header, and entries of the same size. Reports with more entries are rejected. */
#define NOF_RESV_ENTRY		64
#define NOF_RESV_MAX_ENTRIES	1023
#define NOF_RESV_BYTES(nr)	(NOF_RESV_ENTRY * (1 + (nr)))

enum nof_resv_act {
	NOF_RESV_REGISTER,
	NOF_RESV_REPLACE,
	NOF_RESV_UNREGISTER,
	NOF_RESV_ACQUIRE,
	NOF_RESV_PREEMPT,
	NOF_RESV_RELEASE,
	NOF_RESV_CLEAR,
};

/**
 * struct nof_resv - reservation state of a namespace
 * @gen:	incremented when a registration is added, changed or removed
 * @nr:		entries: a registrant has one for each of its controllers, or one for all of them
 * @type:	reservation type; 0: no reservation
 * @holder:	key of the reservation holder; 0: all registrants hold it, or there is none
 * @registered:	this host is registered, with @key
 * @holds:	this host holds the reservation
 */
struct nof_resv {
	u32	gen;
	u16	nr;
	u8	type;
	bool	registered;
	bool	holds;
	u64	key;
	u64	holder;
};

/*
 * Decodes a report of @len bytes for the host with identifier @hostid. If @len does not cover all entries, only @gen,
 * @type and @nr of *@out are valid, see nof_resv_is_complete(). Returns NULL, or a text why the report is invalid.
 */
const char *nof_resv_decode(const struct nvme_reservation_status_ext *report, u32 len, const u8 *hostid,
			    struct nof_resv *out);
/* True if @len bytes cover all entries of the report */
bool nof_resv_is_complete(const struct nof_resv *resv, u32 len);
/* Fills in the keys of the registrants, one per host and @room at most. Returns the number of registrants. */
u32 nof_resv_keys(const struct nvme_reservation_status_ext *report, u32 nr, u64 *keys, u32 room);
/* True if a host other than @hostid is registered with @key, or with any key if @key is 0 */
bool nof_resv_has_registrant(const struct nvme_reservation_status_ext *report, u32 nr, const u8 *hostid, u64 key);

enum nof_resv_verdict {
	NOF_RESV_DONE,		/* the command was executed */
	NOF_RESV_AGAIN,		/* it was not executed: retry */
	NOF_RESV_UNKNOWN,	/* cannot be decided */
};

/**
 * nof_resv_judge() - decides whether a command whose response was lost was executed
 * @act:	the command
 * @before:	the report from before it was sent; NULL: not known
 * @now:	the report from after the fence, when the command cannot be executed any more
 * @victim:	for NOF_RESV_PREEMPT: another host is registered with @key, or with any key if @key is 0
 * @key:	the new key of NOF_RESV_REGISTER and NOF_RESV_REPLACE; the key that NOF_RESV_PREEMPT removes
 * @type:	for NOF_RESV_ACQUIRE and NOF_RESV_PREEMPT
 *
 * The caller makes sure that this host sends no other command that changes reservations between the two reports.
 */
enum nof_resv_verdict nof_resv_judge(enum nof_resv_act act, const struct nof_resv *before, const struct nof_resv *now,
				     bool victim, u64 key, u8 type);

#endif
