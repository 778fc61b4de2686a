/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disks of different subsystems with the same identifiers: a copy of a volume that the target did not give new ones, or
 * one target known by two names. Links in /dev/disk, and a mount by UUID, can mean one of them only: the other is held
 * back until that one has gone, unless the module parameter duplicate_ids says otherwise.
 */
#ifndef NOF_MPATH_TWINS_H
#define NOF_MPATH_TWINS_H

struct nof_head;

/* Before the disk is added: -EEXIST if another has its identifiers. Context: process, sleeps. */
int nof_twins_claim(struct nof_head *head);
/* The disk was added: whoever listens is told if another has its identifiers. Context: process, sleeps. */
void nof_twins_tell(struct nof_head *head);
/* The disk was not added after all, or is gone: those held back are looked at again. Context: process, sleeps. */
void nof_twins_release(struct nof_head *head);

#endif
