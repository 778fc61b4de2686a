// SPDX-License-Identifier: LGPL-2.1-or-later
// Common parts of the verbs of "stripe".
#pragma once

#include "json.h"
#include "libctl/stripe/mapper.h"
#include "libctl/stripe/plan.h"
#include "parse.h"

class Context;

// The members named on the command line: disks, and all disks of the subsystems that match --nqn.
nvmeof::Result<std::vector<nofctl::stripe::Member>> wantedMembers(const Args &args, const nvmeof::Snapshot &all);
nvmeof::Result<nofctl::stripe::Layout> plannedLayout(const Args &args, std::vector<nofctl::stripe::Member> members);
// Fails if a member is in use, belongs to another configured stripe or, without --force, has data on it. @name: of the
// stripe
nvmeof::Result<void> allFree(const Args &args, const std::string &name, const nofctl::stripe::Layout &layout);
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

// Of "stripe plan" and "stripe create"
Json layoutDocument(const std::string &name, const nofctl::stripe::Layout &layout, const std::string &text,
		    const char *done);
// Of "stripe show"
struct StripeState {
	std::string name;
	std::string state; // "active", "moving...", "members missing", "not made", "another device"
	std::uint64_t chunk = 0, bytes = 0;
	std::vector<std::string> members; // wwids; empty if not configured
	std::vector<std::string> missing;
	bool configured = false;
	int users = 0;
};
Json stripesDocument(const std::vector<StripeState> &stripes);
