// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses of peers, and limits for each: number of connections, rate of actions
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include <nvmeof/result.h>

namespace cdc {

// An IPv6 address; IPv4 addresses are mapped
struct Peer {
	std::array<std::uint8_t, 16> bytes{};

	auto operator<=>(const Peer &) const = default;
	static Peer of(const sockaddr_storage &address);
	static std::optional<Peer> parse(const std::string &text); // numeric address
	std::string text() const;
	Peer network() const; // IPv6: the /64, as one host may have any address in it
};

// An address prefix, "10.0.0.0/24", or a single address
struct Prefix {
	Peer first;
	unsigned bits = 0; // of the 128; IPv4 is mapped

	bool operator==(const Prefix &) const = default;
	bool holds(const Peer &peer) const;
	static nvmeof::Result<Prefix> of(std::string_view text);
};

// How much of a limited resource one address may have, if @taken of @all are in use: @each; only a few of the last
// quarter, so that some addresses leave room for others, unless @each allows all.
std::size_t shareOf(std::size_t all, std::size_t each, std::size_t taken);

// Counts connections, or other things that a peer may have some of; shared by all workers
class ConnectionLimit {
public:
	struct Limits {
		std::size_t all = 20000, each = 1024;
	};

	explicit ConnectionLimit(Limits limits) : limits_(limits) {}

	bool admit(const Peer &peer); // false: the limit in all or for this network is reached
	void release(const Peer &peer);
	std::size_t taken() const;

private:
	const Limits limits_;
	mutable std::mutex mutex_;
	std::size_t all_ = 0;
	std::map<Peer, std::size_t> each_;
};

// Rate limit: a burst, then a sustained rate per second
class TokenBucket {
public:
	using Clock = std::chrono::steady_clock;
	struct Limits {
		double burst, perSecond;
	};

	TokenBucket(const Limits &limits, Clock::time_point now) : left_(limits.burst), at_(now) {}

	// Whether an event is allowed at @now; takes a token if so
	bool take(const Limits &limits, Clock::time_point now)
	{
		left_ = leftAt(limits, now);
		at_ = now;
		if (left_ < 1)
			return false;
		left_ -= 1;
		return true;
	}
	// Time from @now until the next token
	std::chrono::duration<double> wait(const Limits &limits, Clock::time_point now) const
	{
		return std::chrono::duration<double>(std::max(1 - leftAt(limits, now), 0.0) / limits.perSecond);
	}
	bool full(const Limits &limits, Clock::time_point now) const { return leftAt(limits, now) >= limits.burst; }

private:
	double leftAt(const Limits &limits, Clock::time_point now) const
	{
		const double seconds = std::chrono::duration<double>(now - at_).count();
		return std::min(left_ + seconds * limits.perSecond, limits.burst);
	}

	double left_;
	Clock::time_point at_; // time of left_
};

// Rate limit per key, for a bounded number of keys
template <typename Key> class Rates {
public:
	using Clock = TokenBucket::Clock;
	using Limits = TokenBucket::Limits;

	explicit Rates(Limits limits) : limits_(limits) {}

	// Whether one more action is allowed for @key; counts it if so
	bool allow(const Key &key, Clock::time_point now = Clock::now())
	{
		if (buckets_.size() >= maxKnown && !buckets_.contains(key)) {
			// a peer decides how often this is reached, and all keys are looked at
			if (now < nextSweep_)
				return false;
			nextSweep_ = now + sweepInterval;
			std::erase_if(buckets_, [&](const auto &one) { return one.second.full(limits_, now); });
			if (buckets_.size() >= maxKnown)
				return false;
		}
		return buckets_.try_emplace(key, limits_, now).first->second.take(limits_, now);
	}
	std::size_t known() const { return buckets_.size(); }

private:
	static constexpr std::size_t maxKnown = 65536;
	static constexpr std::chrono::seconds sweepInterval{1};

	const Limits limits_;
	Clock::time_point nextSweep_{};
	std::map<Key, TokenBucket> buckets_; // without buckets that are full again
};

// Rate limit per address: of its network
class PeerRates {
public:
	using Clock = TokenBucket::Clock;
	using Limits = TokenBucket::Limits;

	explicit PeerRates(Limits limits) : rates_(limits) {}

	bool allow(const Peer &peer, Clock::time_point now = Clock::now()) { return rates_.allow(peer.network(), now); }
	std::size_t known() const { return rates_.known(); }

private:
	Rates<Peer> rates_;
};

} // namespace cdc
