// SPDX-License-Identifier: LGPL-2.1-or-later
// The machine that a command looks at: this one, or what --root names.
#pragma once

#include <memory>

#include "libctl/gpu/node.h"

#include "args.h"

// --root: a folder with a copy of its files, or a recording of 'gds record'; else this machine.
nvmeof::Result<std::unique_ptr<nofctl::gpu::Tree>> openMachine(const Args &args);
// With what the driver itself tells of its disks, where it is this machine.
nofctl::gpu::Node readMachine(const Args &args, const nofctl::gpu::Tree &tree);
// --gpu, as addresses; what is none of @node is an error.
nvmeof::Result<std::vector<std::string>> gpusOf(const Args &args, const nofctl::gpu::Node &node);
// To a next step for errors of the above; may be empty.
std::string machineStep(const nvmeof::Error &error);
