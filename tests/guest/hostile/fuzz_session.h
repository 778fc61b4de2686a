// SPDX-License-Identifier: LGPL-2.1-or-later
// One session with a target whose PDUs are changed at random: connect, some I/O if that succeeds, disconnect.
#pragma once

#include "support/block.h"
#include "support/host.h"
#include "target/mutator.h"
#include "target/server.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace guest {

// Result of a session. fault describes what must not happen; the other members depend on the mutations.
struct FuzzOutcome {
	std::uint64_t session = 0;
	std::string fault = {};
	std::string done = {}; // the mutations
	bool live = false;
	bool disk = false;
	unsigned good = 0;       // I/Os that succeeded, with the right data
	unsigned failed = 0;     // I/Os that ended with an error
	unsigned deceived = 0;   // I/Os with wrong data that the host could not detect
	unsigned lateWrites = 0; // older writes executed after newer ones, with a reconnect between
	Millis took{0};
	std::shared_ptr<target::Mutator> mutator = {};
};

// Compares the data of the host with those of the store. Each range is used by one thread.
class FuzzIo {
public:
	FuzzIo(std::shared_ptr<target::Store> store, std::uint64_t offset, std::uint64_t length, target::Random random)
		: store_(std::move(store)), offset_(offset), length_(length), random_(random)
	{
	}

	// Up to 12 I/Os on the disk, if it belongs to that subsystem, until the deadline or the third error
	void run(const std::string &node, const std::string &nqn, Clock::time_point deadline,
		 const target::Mutator *mutator);

	unsigned good = 0, failed = 0, deceived = 0;
	unsigned lateWrites = 0; // I/Os whose data an older write has overwritten
	std::string fault = {};

private:
	struct Write {
		std::uint64_t at;
		std::vector<std::uint8_t> data;
	};

	bool sent(std::uint64_t at, const std::vector<std::uint8_t> &block) const;
	bool hitByLateWrite(std::uint64_t at, Buffer &buffer, std::uint64_t lateWrites) const;
	void one(const Disk &disk, const target::Mutator *mutator);
	bool same(std::uint64_t at, Buffer &buffer) const;

	std::shared_ptr<target::Store> store_;
	std::uint64_t offset_, length_;
	target::Random random_;
	std::vector<Write> written_ = {}; // all that were sent, with any result
};

class FuzzSession {
public:
	// worker: sessions of one worker run one after another, those of different workers at the same time
	FuzzSession(nvmeof::Client &client, std::uint64_t seed, std::uint64_t session, unsigned worker);

	FuzzOutcome play();
	std::string describe() const; // options of host and target

private:
	void configure(target::Random random);
	void work(const std::string &name);
	std::string disk();
	void leave();
	void fail(const std::string &what);

	nvmeof::Client &client_;
	std::uint64_t seed_, session_;
	target::Config config_;
	nvmeof::ConnectOptions options_;
	unsigned namespaces_ = 1;
	unsigned threads_ = 1;
	std::shared_ptr<target::Mutator> mutator_;
	std::unique_ptr<target::Server> server_;
	FuzzOutcome outcome_;
};

} // namespace guest
