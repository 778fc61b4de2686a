// SPDX-License-Identifier: LGPL-2.1-or-later
// The machine that a command examines: this one, or the one given by --root.
#pragma once

#include <memory>

#include "context.h"
#include "libctl/gpu/node.h"
#include "parse.h"

// --root: a folder with a copy of its files, or a recording of 'gds record'; else this machine.
nvmeof::Result<std::unique_ptr<nofctl::gpu::Tree>> openMachine(const Args &args);
// Opens that machine, and returns what @run returns. Reports a machine that cannot be read.
int withMachine(Context &context, int (*run)(Context &, const nofctl::gpu::Tree &));
// For this machine, includes whether the disks of the driver take peer-to-peer memory.
nofctl::gpu::Node readMachine(const Args &args, const nofctl::gpu::Tree &tree);
// The PCI addresses of --gpu. Fails if @node has no such device.
nvmeof::Result<std::vector<std::string>> gpusOf(const Args &args, const nofctl::gpu::Node &node);
// Next step for errors of gpusOf(); may be empty.
std::string machineStep(const nvmeof::Error &error);
