/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reservations as a target reports them, checked, and what a report says of a command that may or may not have been
 * executed. Pure logic, also compiled in userspace. A registrant is a host, by its 128-bit Host Identifier: all
 * controllers of that host are the same one (NVMe Base 2.0, 8.19).
 */
#ifndef NOF_WIRE_RESERVATION_H
#define NOF_WIRE_RESERVATION_H

#include <linux/nvme.h>
#include <linux/types.h>

/* Of RESCAP (NVM command set 1.0, figure 97); the types have the bits of their numbers */
#define NOF_RESCAP_PERSISTS	BIT(0)
#define NOF_RESCAP_TYPES	0x7e

/* Write exclusive to exclusive access, all registrants: the block layer has the same numbers */
#define NOF_RESV_TYPE_MIN	1
#define NOF_RESV_TYPE_MAX	6
/* From here on every registrant holds it */
#define NOF_RESV_TYPE_ALL	5

/* NVMe Base 2.0, 7.2 to 7.5: byte 0 and 1 of dword 10, and its last bits */
#define NOF_RESV_IGNORE_KEY	BIT(3)
#define NOF_RESV_TYPE_SHIFT	8
#define NOF_RESV_PERSIST	(3U << 30)	/* CPTPL: through a loss of power */
#define NOF_RESV_EXTENDED	1		/* EDS of Reservation Report, dword 11: 128-bit identifiers */

/* A report is of the header and of entries of the same size; more registrants are not asked for */
#define NOF_RESV_ENTRY		64
#define NOF_RESV_MOST		1023
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
 * struct nof_resv - who has what
 * @gen:	raised with each registration that comes, changes or goes
 * @nr:		entries: a registrant has one for each of its controllers, or one for all of them
 * @type:	0: nobody holds a reservation
 * @holder:	the key of who does; 0: all registrants do, or nobody
 * @registered:	this host is, with @key
 * @holds:	this host does
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
 * A report of @len bytes, for the host of this identifier. @entries that it should have been read with are more than it
 * was: *@out has @nr, and nothing that depends on entries. NULL, or the reason why it is none.
 */
const char *nof_resv_read(const struct nvme_reservation_status_ext *report, u32 len, const u8 *hostid,
			  struct nof_resv *out);
/* It was read in full */
bool nof_resv_whole(const struct nof_resv *resv, u32 len);
/* Keys of the registrants, one of each host, as many as there is room for. Returns how many there are. */
u32 nof_resv_keys(const struct nvme_reservation_status_ext *report, u32 nr, u64 *keys, u32 room);
/* A host other than this one is registered with @key, or with any key if @key is 0 */
bool nof_resv_has(const struct nvme_reservation_status_ext *report, u32 nr, const u8 *hostid, u64 key);

enum nof_resv_verdict {
	NOF_RESV_DONE,		/* it was executed */
	NOF_RESV_AGAIN,		/* it was not: it is sent again */
	NOF_RESV_UNTOLD,	/* nobody can tell */
};

/**
 * nof_resv_judge() - decides whether a command whose response was lost was executed
 * @act:	the command
 * @before:	the report from before it was sent; NULL: not known
 * @now:	the report from after the fence, when the command cannot be executed any more
 * @victim:	of NOF_RESV_PREEMPT: another host is registered with @key, or with any key if @key is 0
 * @key:	the new key of NOF_RESV_REGISTER and NOF_RESV_REPLACE; the key that NOF_RESV_PREEMPT removes
 * @type:	of NOF_RESV_ACQUIRE and NOF_RESV_PREEMPT
 *
 * The caller makes sure that this host sends no other command that changes reservations between the two reports.
 */
enum nof_resv_verdict nof_resv_judge(enum nof_resv_act act, const struct nof_resv *before, const struct nof_resv *now,
				     bool victim, u64 key, u8 type);

#endif
