// SPDX-License-Identifier: LGPL-2.1-or-later
// Random netlink messages, built from the tables of the specification; most are nearly valid.
#pragma once

#include "target/random.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace guest {

using Octets = std::vector<std::uint8_t>;

// The objects that a message must not change, because a load uses them
struct FuzzProtected {
	std::string controller = {};
	std::uint32_t subsystem = ~0u;
};

struct FuzzMessage {
	Octets bytes = {};
	std::uint8_t cmd = 0;
	std::uint32_t seq = 0;
	bool intact = true;   // the headers are valid
	bool mutator = false; // requires an administrator by the specification
	bool dump = false;
};

class FuzzMessages {
public:
	FuzzMessages(std::uint16_t family, target::Random random, FuzzProtected taboo)
		: family_(family), random_(random), taboo_(std::move(taboo))
	{
	}

	FuzzMessage next(std::uint32_t seq);
	target::Random &random() { return random_; }

private:
	FuzzMessage make(std::uint32_t seq);
	std::vector<std::uint16_t> choose(const FuzzMessage &m);
	Octets value(std::uint16_t attribute);
	void look();
	std::string name(std::uint16_t attribute);
	std::uint32_t subsystem();
	Octets text(std::uint16_t attribute, unsigned longest);
	Octets wrong();
	void put(Octets &to, std::uint16_t type, const Octets &value);
	void damage(FuzzMessage &m);
	std::uint8_t commandIn(const Octets &bytes) const;
	bool forbidden(const FuzzMessage &m) const;

	std::uint16_t family_;
	target::Random random_;
	FuzzProtected taboo_;
	std::vector<std::string> controllers_ = {}, subsystems_ = {};
};

const char *commandName(std::uint8_t cmd);

} // namespace guest
