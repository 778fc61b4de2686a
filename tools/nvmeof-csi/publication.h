// SPDX-License-Identifier: LGPL-2.1-or-later
// Which nodes the controller has published a volume to.
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
	bool exclusive = false; // for one node
	nofctl::volume::FenceKey key;

	bool sameWish(const Publication &other) const; // the same, but for the key
};

struct Publications {
	std::map<std::string, Publication> nodes;
	std::uint64_t last = 0; // number of the latest one; stays when the volume is published nowhere

	// Greater than all before, and after a loss of these files still so: 10 ms since 1970
	std::uint64_t next();
	std::string toText() const;
	static std::optional<Publications> parse(const std::string &text); // nothing: it cannot be read
};

} // namespace csi
