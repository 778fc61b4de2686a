// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Authentication of the host of a connection by DH-HMAC-CHAP: its commands (NVMe Base 2.0, 6.1 and 6.2), the time that
 * it may take, and how many hosts may be in it at a time. It uses neither sockets nor threads.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "controller.h"
#include "counters.h"
#include "libctl/keys/dhchap.h"
#include "peer_limits.h"

namespace cdc {

// Steady clock, ms
using SteadyMs = std::int64_t;

/*
 * Limits unfinished authentications, in total and per network. A failed authentication keeps its place for penaltyMs,
 * which limits the rate at which a network can try keys and make the service compute. Shared by all workers.
 */
class AuthenticationLimit {
public:
	struct Limits {
		std::size_t all = 1024, each = 64;
		SteadyMs penaltyMs = 1000;
	};

	explicit AuthenticationLimit(Limits limits) : places_({limits.all, limits.each}), penaltyMs_(limits.penaltyMs)
	{
	}

	bool admit(const Peer &peer, SteadyMs now); // false: the limit in all or for this network is reached
	void succeeded(const Peer &peer) { places_.release(peer); }
	void failed(const Peer &peer, SteadyMs now);
	std::size_t taken() const { return places_.taken(); }

private:
	ConnectionLimit places_;
	const SteadyMs penaltyMs_;
	std::mutex mutex_;
	std::deque<std::pair<SteadyMs, Peer>> penalties_; // places that are released at that time
};

class Authenticator {
public:
	struct Rules {
		nofctl::DhchapRules dhchap;
		SteadyMs maxMs = 10000; // from the first message, or from Connect, to the end
	};
	// The host and the subsystem, and the address of the host
	struct Parties {
		std::string hostnqn, subsysnqn;
		Peer peer;
	};
	// How the host has authenticated itself
	struct Proof {
		std::uint8_t hash = 0, group = 0; // identifiers of DH-HMAC-CHAP
		bool mutual = false;              // so did this service
	};

	// Null: the limit is reached
	static std::unique_ptr<Authenticator> begin(AuthenticationLimit &limit, Counters &counters, const Rules &rules,
						    std::shared_ptr<const nofctl::DhchapSecrets> secrets,
						    Parties parties, SteadyMs now);
	~Authenticator();
	Authenticator(const Authenticator &) = delete;
	Authenticator &operator=(const Authenticator &) = delete;

	// Executes Authentication Send, with its @data, and Authentication Receive
	std::uint16_t send(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data, SteadyMs now);
	Answer receive(const nofctl::wire::Command &cmd, SteadyMs now);
	// Secrets from now on
	void renew(std::shared_ptr<const nofctl::DhchapSecrets> secrets) { dhchap_.renew(std::move(secrets)); }

	// The host has authenticated itself, and other commands may be executed
	const std::optional<Proof> &proof() const { return proof_; }
	// It failed: the connection has to end when the last response is sent
	bool failed() const { return failed_; }
	const char *why() const { return dhchap_.why(); } // for the log
	bool late(SteadyMs now) const { return takesPlace_ && now > until_; }
	const Parties &parties() const { return parties_; }

private:
	Authenticator(AuthenticationLimit &limit, Counters &counters, const Rules &rules,
		      std::shared_ptr<const nofctl::DhchapSecrets> secrets, Parties parties, SteadyMs now);
	void judge(SteadyMs now);

	AuthenticationLimit &limit_;
	Counters &counters_;
	const Rules rules_;
	const Parties parties_;
	nofctl::Dhchap dhchap_;
	SteadyMs until_;
	bool takesPlace_ = true; // of the limit: an authentication has begun and not ended
	bool failed_ = false;
	std::optional<Proof> proof_;
};

} // namespace cdc
