/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IDs of the sources that a module was built from (`nvmeofctl version`) and of the modules it is compatible with
 * (`nvmeofctl upgrade`): included by one file of each module. A loaded module has them in
 * /sys/module/NAME/notes/.note.nvmeof, a module file, compressed or not, in its modinfo.
 */
#ifndef NOF_CORE_SOURCE_H
#define NOF_CORE_SOURCE_H

#include <linux/elfnote.h>
#include <linux/module.h>
#include "source_id.h"

#define NOF_NOTE_SOURCE		1
#define NOF_NOTE_CONTRACT	2

MODULE_INFO(nvmeof_source, NVMEOF_SOURCE_ID);
ELFNOTE32("nvmeof", NOF_NOTE_SOURCE, NVMEOF_SOURCE_ID);
MODULE_INFO(nvmeof_contract, NVMEOF_CONTRACT_ID);
ELFNOTE32("nvmeof", NOF_NOTE_CONTRACT, NVMEOF_CONTRACT_ID);

#endif /* NOF_CORE_SOURCE_H */
