// SPDX-License-Identifier: LGPL-2.1-or-later
// Rules and keys by which hosts must prove their identity, and their application to a host that connects
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "authenticator.h"
#include "host_keys.h"
#include "libctl/keys/tls_handshake.h"
#include "record.h"
#include "views.h"

namespace cdc {

struct SecurityRules {
	std::string keys; // of hosts, see HostKeys::read(); empty: none
	// Of hosts whose zones say nothing
	Demand auth = Demand::preferred;
	// Of the ports, and of hosts whose zones say nothing
	Demand tls = Demand::off;
	// DH-HMAC-CHAP: identifiers, the most preferred first. Without the NULL group, in which a recorded exchange can
	// be searched for weak keys, and without ffdhe6144 and ffdhe8192, by which a client without a key could make
	// the service compute two to five times as long.
	std::vector<std::uint8_t> hashes{1, 2, 3}, groups{1, 2, 3};

	Authenticator::Rules authentication(SteadyMs maxMs) const { return {{hashes, groups}, maxMs}; }
	bool operator==(const SecurityRules &) const = default;
};

// Why a host is refused
enum class Refusal {
	none,
	noKey,    // it must authenticate itself, and has no key here
	badKey,   // its key cannot be used
	plain,    // it must use TLS
	identity, // it used TLS with the key of another host or subsystem
	unproved, // of a session: it must authenticate itself now, and has connected without
	revoked,  // of a session: the key that it has used was removed
};
constexpr std::size_t refusalCount = 7;

// The decision about a Connect command
struct Access {
	Refusal refusal = Refusal::none;
	std::shared_ptr<const nofctl::DhchapSecrets>
		secrets; // by which it has to authenticate itself; null: it need not
};

// The reason, and what to do; for the log
std::string refusalText(Refusal refusal, const std::string &hostnqn);

// The rules and keys that are in use. Shared by all workers.
class Security {
public:
	struct Current {
		SecurityRules rules;
		std::shared_ptr<const HostKeys> keys;
		std::shared_ptr<const nofctl::TlsContexts> tls = {}; // null: TLS is off
	};

	// Current, and problems of single key files
	struct Loaded {
		std::shared_ptr<const Current> current;
		std::vector<std::string> problems;
	};

	// Reads the keys, and changes nothing. Errors: like HostKeys::read(), or OpenSSL has no TLS 1.3.
	nvmeof::Result<Loaded> load(const SecurityRules &rules) const;
	// From now on; logs the problems
	void use(Loaded loaded);
	std::shared_ptr<const Current> current() const;

private:
	mutable std::mutex mutex_;
	std::shared_ptr<const Current> current_ = std::make_shared<const Current>();
};

// The host at the other end of TLS, and what the handshake has led to
struct TlsPeer {
	std::string hostnqn, subsysnqn; // that it has proved by its key
	std::string cipher, identity;
};

// Whether a host with that NQN has to prove it, by authentication or by TLS
bool mustProve(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn);

// Whether a registration of a host with that NQN may stay. @proved: whether it had proved its NQN then
bool mayStayRegistered(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn,
		       bool proved);

// Why a session that earlier rules or keys have allowed has to end; none: it may stay, as do those whose key was only
// replaced, or cannot be read. @proved: the host has authenticated itself
Refusal sessionRefusal(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn,
		       const TlsPeer *tls, bool proved);

// Those for an authentication of a session; null: there is no key for the host any more
std::shared_ptr<const nofctl::DhchapSecrets> secretsOf(const Security::Current &security, const std::string &hostnqn);

// @tls: null without TLS
Access accessOf(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn,
		const std::string &subsysnqn, const TlsPeer *tls);

} // namespace cdc
