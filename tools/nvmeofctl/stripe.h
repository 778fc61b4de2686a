// SPDX-License-Identifier: LGPL-2.1-or-later
// What the verbs of "stripe" have in common.
#pragma once

#include "libctl/stripe/build.h"
#include "libctl/stripe/plan.h"

#include "args.h"

class Context;

// The members that a command line names: disks, or with --nqn all of the subsystems whose NQN fits.
nvmeof::Result<std::vector<nofctl::stripe::Member>> wantedMembers(const Args &args, const nvmeof::Snapshot &all);
nvmeof::Result<nofctl::stripe::Layout> plannedLayout(const Args &args, std::vector<nofctl::stripe::Member> members);
// None is in use, and none has data on it unless --force is given.
nvmeof::Result<void> allFree(const Args &args, const nofctl::stripe::Layout &layout);
// As it stands in the configuration.
nvmeof::ConfigStripe configOf(const std::string &name, const nofctl::stripe::Layout &layout);
std::vector<std::string> disksOf(const nofctl::stripe::Layout &layout);

// nvmeof.d/stripe-NAME.toml beside the configuration: what 'stripe' itself writes, and may remove.
std::filesystem::path stripeFile(const Args &args, const std::string &name);
nvmeof::Result<void> saveStripe(const Args &args, const nvmeof::ConfigStripe &stripe);

std::string layoutText(const std::string &name, const nofctl::stripe::Layout &layout);
// By mkfs.TYPE, with what is told of the stripe. Says what it runs.
nvmeof::Result<void> makeFileSystem(Context &context, const std::string &type, const std::string &name,
				    const nofctl::stripe::Layout &layout);

nvmeof::Error stripeAbsent(const std::string &name);
