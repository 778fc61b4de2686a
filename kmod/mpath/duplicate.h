/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces of different subsystems with the same identifiers: a copy of a volume that the target gave none of its
 * own, or one target known by two NQNs. Links in /dev/disk, and a mount by UUID, can mean one of them only, so the
 * first one becomes a disk and the others are refused, unless the module parameter duplicate_ids is set. By two host
 * identities to one NQN there are two disks, as somebody has asked for that.
 */
#ifndef NOF_MPATH_DUPLICATE_H
#define NOF_MPATH_DUPLICATE_H

#include <linux/types.h>

struct nof_head;
struct nof_ns_ids;
struct nof_subsys;

/* Another subsystem has a disk with one of these identifiers, and that is not allowed. Context: process, sleeps. */
bool nof_duplicate_refused(const struct nof_subsys *s, u32 nsid, const struct nof_ns_ids *ids);
/* Before the disk is added: from now on it is the one of its identifiers. -EEXIST: another is. Context: as above. */
int nof_duplicate_claim(struct nof_head *head);
/* The disk was added: whoever listens is told if another has its identifiers. Context: as above. */
void nof_duplicate_tell(struct nof_head *head);
/* The disk was not added after all, or has gone. Any context. */
void nof_duplicate_release(struct nof_head *head);

#endif
