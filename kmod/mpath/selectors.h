/* SPDX-License-Identifier: GPL-2.0-only */
/* The selectors of this module. */
#ifndef NOF_MPATH_SELECTORS_H
#define NOF_MPATH_SELECTORS_H

extern struct nof_selector nof_selector_numa;
extern struct nof_selector nof_selector_round_robin;

int nof_selectors_init(void);
void nof_selectors_exit(void);

#endif
