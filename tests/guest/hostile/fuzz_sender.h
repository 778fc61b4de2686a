// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends random netlink messages in bursts, and checks and counts the answers.
#pragma once

#include "fuzz_socket.h"

#include <functional>
#include <memory>

namespace guest {

struct FuzzRules {
	FuzzProtected taboo = {};
	bool mayChange = true; // false: each mutator must be refused with EPERM
};

class FuzzSender {
public:
	FuzzSender(std::uint64_t seed, std::uint64_t number, FuzzRules rules);

	void run(std::uint64_t messages);

	const FuzzTable &table() const { return table_; }
	const std::vector<std::string> &faults() const { return faults_; }

private:
	using Waiting = std::map<std::uint32_t, FuzzMessage>;

	void renew();
	void burst();
	void take(const FuzzReading &reading, Waiting &waiting);
	void judge(const FuzzMessage &m, const FuzzAnswer &answer);
	bool settle(Waiting &waiting);
	std::uint32_t sendMarker() const;
	void fail(const std::string &what);

	std::uint16_t family_;
	FuzzRules rules_;
	std::string where_;
	FuzzMessages messages_;
	std::unique_ptr<FuzzSocket> socket_;
	bool words_ = false;
	mutable std::uint32_t seq_ = 1;
	std::uint64_t sent_ = 0;
	FuzzTable table_;
	std::vector<std::string> faults_;
};

} // namespace guest
