// SPDX-License-Identifier: LGPL-2.1-or-later
// Changes what a target sends, at random, for one session of a host: from its first connection until it has left.
// What is done to the n-th PDU of the m-th connection depends on the seed, the session, m and n alone, so a session
// can be played again.
#pragma once

#include "association.h"
#include "mutation.h"
#include "random.h"
#include "wire.h"

#include <deque>
#include <functional>
#include <optional>
#include <set>

namespace target {

// What is to be done in place of sending a PDU
struct Outgoing {
	std::vector<Bytes> pieces = {};
	std::chrono::milliseconds delay{0};
	bool close = false, reset = false;
	std::optional<AsyncEvent> event = {};
};

class Mutator;

// One connection's part. Used on that connection's thread alone.
class MutatedStream {
public:
	MutatedStream(std::shared_ptr<Mutator> mutator, unsigned connection);

	// Data that an admin command returns
	void payload(const Command &cmd, Bytes &data);
	// A PDU before its digests are made
	void contents(Bytes &head, Bytes &data);
	// And as it is on the wire. outstanding: commands that another answer could reach
	Outgoing wire(Bytes raw, const std::set<std::uint16_t> &outstanding, bool dataDigest);

private:
	void draw();
	void changeField(Bytes &head);
	void shorten(Bytes &head, Bytes &data);
	void mangle(Bytes &raw, bool dataDigest);
	Bytes forged();
	void order(Outgoing &out, Bytes raw);
	void finish(Outgoing &out);
	void judge(const Bytes &raw, const std::set<std::uint16_t> &outstanding);
	void note(const std::string &what);

	std::shared_ptr<Mutator> mutator_;
	unsigned connection_;
	unsigned pdus_ = 0, payloads_ = 0, left_;
	Random random_;
	std::optional<Mutation> now_; // for the PDU that is being sent
	std::uint16_t cid_ = 0;       // as it was to be
	std::uint16_t status_ = 0;
	Bytes held_;
	std::deque<Bytes> sent_;
};

class Mutator : public std::enable_shared_from_this<Mutator> {
public:
	Mutator(std::uint64_t seed, std::uint64_t session);

	// For the next connection of the session
	std::unique_ptr<MutatedStream> stream();
	// What was done, in one line
	std::string line() const;
	// Something was done that makes wrong data look right, such as data of another command without a digest.
	bool deceived() const { return deceived_; }
	const MutationCounts &counts() const { return counts_; }
	std::uint64_t total() const;

private:
	friend class MutatedStream;

	const std::uint64_t seed_, session_;
	unsigned skip_ = 0;        // PDUs of a connection that are left alone
	unsigned rate_ = 0;        // then one in so many is changed; 0: none
	unsigned payloadSkip_ = 0; // likewise, of admin data
	unsigned payloadRate_ = 0;
	unsigned most_ = 1; // per connection
	MutationCounts counts_{};
	std::atomic<bool> deceived_{false};
	std::atomic<unsigned> connections_{0};
	mutable std::mutex lock_;
	std::string done_;
};

// "7:123" as seed and session; without the second part every session from 0 on. Nothing: it is neither.
struct MutationSeed {
	std::uint64_t seed = 0;
	std::optional<std::uint64_t> session = {};
};
std::optional<MutationSeed> parseMutationSeed(const std::string &text);

// Where to get a stream for each connection of a target that hosts come to one after another: a session ends when no
// connection is left. report: the line of each session, when the next one begins
class MutatedSessions {
public:
	MutatedSessions(MutationSeed seed, std::function<void(const std::string &)> report);
	~MutatedSessions();
	// alone: the new connection is the only one
	std::unique_ptr<MutatedStream> stream(bool alone);

private:
	MutationSeed seed_;
	std::uint64_t next_ = 0;
	std::function<void(const std::string &)> report_;
	std::mutex lock_;
	std::shared_ptr<Mutator> now_;
};

} // namespace target
