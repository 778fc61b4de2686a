// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Configured stripes, made when all of their members are there. What is there stays, whatever becomes of its members or
 * of the configuration: only who uses a disk knows when it is to go.
 */
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/snapshot.h>

#include "serving/loop.h"

namespace nvmeofd {

struct StripeStatus {
	enum class State { waiting, making, made, failed };

	State state = State::waiting;
	std::vector<std::string> missing; // wwids
	std::string error;
};

const char *toString(StripeStatus::State state); // "waiting", "making", "made", "failed"

class Stripes {
public:
	explicit Stripes(serving::Loop &loop);
	~Stripes();

	// Whatever may be made by now is; udev is waited for elsewhere.
	void apply(const std::vector<nvmeof::ConfigStripe> &wanted, const nvmeof::Snapshot &all);
	// One that failed is tried again at the next apply().
	void forget();
	const std::map<std::string, StripeStatus> &all() const { return all_; }

private:
	void make(const nvmeof::ConfigStripe &stripe, const std::vector<std::string> &disks, std::uint64_t bytes);
	void done(const std::string &name, const std::string &error);

	serving::Mailbox mailbox_;
	std::map<std::string, StripeStatus> all_;    // by name
	std::map<std::string, std::jthread> makers_; // by name; one that is done stays until the next
};

} // namespace nvmeofd
