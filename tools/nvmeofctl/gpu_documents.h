// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents of gds, map and plan.
#pragma once

#include "json.h"
#include "libctl/gpu/cufile.h"
#include "libctl/gpu/finding.h"
#include "libctl/gpu/rails.h"
#include "libctl/sizing/sizing.h"

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
