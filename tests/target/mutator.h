// SPDX-License-Identifier: LGPL-2.1-or-later
// Randomly mutates what a target sends during one session of a host: from its first connection until no connection is
// left. The mutation of PDU n of connection m depends only on seed, session, m and n, so a session can be replayed.
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

// The action that replaces sending the PDU
struct Outgoing {
	std::vector<Bytes> pieces = {};
	std::chrono::milliseconds delay{0};
	bool close = false, reset = false;
	std::optional<AsyncEvent> event = {};
};

class Mutator;

// The mutator of one connection. Used on that connection's thread only.
class MutatedStream {
public:
	MutatedStream(std::shared_ptr<Mutator> mutator, unsigned connection);

	// Mutates data that an admin command returns.
	void payload(const Command &cmd, Bytes &data);
	// Mutates a PDU before its digests are computed.
	void contents(Bytes &head, Bytes &data);
	// Mutates a PDU as sent. outstanding: identifiers of commands in flight that a forged completion could hit.
	Outgoing wire(Bytes raw, const std::set<std::uint16_t> &outstanding, bool dataDigest);

private:
	void chooseMutation();
	void changeField(Bytes &head);
	void shorten(Bytes &head, Bytes &data);
	void mangle(Bytes &raw, bool dataDigest);
	Bytes forged();
	void order(Outgoing &out, Bytes raw);
	void finish(Outgoing &out);
	void checkDeception(const Bytes &raw, const std::set<std::uint16_t> &outstanding);
	void note(const std::string &what);

	std::shared_ptr<Mutator> mutator_;
	unsigned connection_;
	unsigned pdus_ = 0, payloads_ = 0, left_;
	Random random_;
	std::optional<Mutation> mutation_; // for the PDU being sent
	std::uint16_t cid_ = 0;            // before the mutation
	std::uint16_t status_ = 0;
	Bytes held_;
	std::deque<Bytes> sent_;
};

class Mutator : public std::enable_shared_from_this<Mutator> {
public:
	Mutator(std::uint64_t seed, std::uint64_t session);

	// for the next connection of the session
	std::unique_ptr<MutatedStream> stream();
	// One line that lists the mutations done.
	std::string line() const;
	// A mutation can make wrong data look right, e.g. data of another command without a data digest.
	bool deceived() const { return deceived_; }
	const MutationCounts &counts() const { return counts_; }
	std::uint64_t total() const;

private:
	friend class MutatedStream;

	const std::uint64_t seed_, session_;
	unsigned skip_ = 0;        // leading PDUs of a connection that are not mutated
	unsigned rate_ = 0;        // then one PDU in `rate_` is mutated; 0: none
	unsigned payloadSkip_ = 0; // the same for admin data
	unsigned payloadRate_ = 0;
	unsigned max_ = 1; // maximum per connection
	MutationCounts counts_{};
	std::atomic<bool> deceived_{false};
	std::atomic<unsigned> connections_{0};
	mutable std::mutex lock_;
	std::string done_;
};

// "7:123" is seed and session; without a session, all sessions from 0. Empty if the text is invalid.
struct MutationSeed {
	std::uint64_t seed = 0;
	std::optional<std::uint64_t> session = {};
};
std::optional<MutationSeed> parseMutationSeed(const std::string &text);

// Creates the streams of a target that serves hosts one after another: a session ends when no connection is left.
// report: gets the line of a session when the next session begins.
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
	std::shared_ptr<Mutator> mutation_;
};

} // namespace target
