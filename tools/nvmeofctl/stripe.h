// SPDX-License-Identifier: LGPL-2.1-or-later
// Common parts of the verbs of "stripe".
#pragma once

#include "libctl/stripe/mapper.h"
#include "libctl/stripe/plan.h"
#include "parse.h"

class Context;

// The members named on the command line: disks, and all disks of the subsystems that match --nqn.
nvmeof::Result<std::vector<nofctl::stripe::Member>> wantedMembers(const Args &args, const nvmeof::Snapshot &all);
nvmeof::Result<nofctl::stripe::Layout> plannedLayout(const Args &args, std::vector<nofctl::stripe::Member> members);
// Fails if a member is in use or, without --force, has data on it.
nvmeof::Result<void> allFree(const Args &args, const nofctl::stripe::Layout &layout);
// The stripe as a configuration entry.
nvmeof::ConfigStripe configOf(const std::string &name, const nofctl::stripe::Layout &layout);
std::vector<std::string> disksOf(const nofctl::stripe::Layout &layout);

// nvmeof.d/stripe-NAME.toml next to the configuration: the only file that 'stripe' writes and removes.
std::filesystem::path stripeFile(const Args &args, const std::string &name);
nvmeof::Result<void> saveStripe(const Args &args, const nvmeof::ConfigStripe &stripe);

std::string layoutText(const std::string &name, const nofctl::stripe::Layout &layout);
// Runs mkfs.TYPE with the geometry of the stripe. Notes the command line.
nvmeof::Result<void> makeFileSystem(Context &context, const std::string &type, const std::string &name,
				    const nofctl::stripe::Layout &layout);

nvmeof::Error stripeAbsent(const std::string &name);
