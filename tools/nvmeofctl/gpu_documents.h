// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents of the commands for GPUs, stripes and sizing.
#pragma once

#include "json.h"
#include "libctl/gpu/cufile.h"
#include "libctl/gpu/finding.h"
#include "libctl/gpu/rails.h"
#include "libctl/sizing/sizing.h"
#include "libctl/stripe/plan.h"

// Of "gds check"
Json gdsDocument(const nofctl::gpu::CheckReport &answer);
// Of "gds config"
Json cufileDocument(const std::string &file, const nofctl::gpu::CufilePlan &plan,
		    const std::vector<std::string> &problems, const std::string &text, bool written);
// Of "map"
Json mapDocument(const nofctl::gpu::Node &node, const std::vector<nofctl::gpu::Rail> &rails,
		 const std::vector<const nofctl::gpu::PciDevice *> &cards);
// Of "plan"
Json sizingDocument(const nofctl::sizing::Sizing &sizing, const std::vector<nofctl::sizing::Shortage> &shortages);
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
