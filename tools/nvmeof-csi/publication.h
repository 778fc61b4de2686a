// SPDX-License-Identifier: LGPL-2.1-or-later
// The nodes to which the controller has published a volume.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "libctl/volume/fence.h"

namespace csi {

struct Publication {
	int accessMode = 0;
	bool block = false;
	bool readOnly = false;
	bool exclusive = false; // for one node only
	nofctl::volume::FenceKey key;

	bool sameRequest(const Publication &other) const; // all members but the key are equal
};

struct Publications {
	std::map<std::string, Publication> nodes;
	std::uint64_t last = 0; // number of the latest publication; kept when the volume is published nowhere

	// Greater than all earlier numbers, also if these files are lost: based on units of 10 ms since 1970
	std::uint64_t next();
	std::string toText() const;
	static std::optional<Publications> parse(const std::string &text); // absent: malformed
};

} // namespace csi
