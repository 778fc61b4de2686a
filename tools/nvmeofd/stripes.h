// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Assembles configured stripes when all of their members are present. An existing stripe is never removed, whatever
 * happens to its members or to the configuration: only the user of a disk knows when it is free.
 */
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/snapshot.h>

#include "libctl/runtime/loop.h"

namespace nvmeofd {

struct StripeStatus {
	enum class State { waiting, making, made, failed };

	State state = State::waiting;
	std::vector<std::string> missing; // WWIDs
	std::string error;
};

const char *toString(StripeStatus::State state); // "waiting", "making", "made", "failed"

class Stripes {
public:
	explicit Stripes(runtime::Loop &loop);
	~Stripes();

	// Makes all stripes that can be made; waits for udev in another thread.
	void apply(const std::vector<nvmeof::ConfigStripe> &wanted, const nvmeof::Snapshot &all);
	// Failed stripes are tried again at the next apply().
	void forget();
	const std::map<std::string, StripeStatus> &all() const { return all_; }
	// Whether a stripe lacks members that exist and have a usable path
	bool waiting() const;

private:
	void make(const nvmeof::ConfigStripe &stripe, const std::vector<std::string> &disks, std::uint64_t bytes);
	void done(const std::string &name, const std::string &error);

	runtime::Mailbox mailbox_;
	std::map<std::string, StripeStatus> all_;    // by name
	std::map<std::string, std::jthread> makers_; // by name; a completed thread stays until the name is used again
};

} // namespace nvmeofd
