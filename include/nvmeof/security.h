// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether connections use authentication and TLS.
#pragma once

#include <optional>
#include <string>

namespace nvmeof {

enum class SecurityUse {
	off,
	preferred, // if there is a key for this host and subsystem
	required,  // or the connect fails
};

// No value leads to a connection by plain TCP after a failed handshake.
using TlsUse = SecurityUse;

const char *toString(SecurityUse use);                      // "off", "preferred", "required"
std::optional<TlsUse> parseTlsUse(const std::string &word); // also "true": required, "false": off

// [[security]] of the configuration: what it demands of connections to a subsystem, whatever other settings say.
struct SecurityRule {
	std::optional<SecurityUse> auth; // DH-HMAC-CHAP. Not set: as other settings say
	std::optional<SecurityUse> tls;
	std::string place; // of the rule, for messages: "/etc/nvmeof/nvmeof.toml:12"

	bool operator==(const SecurityRule &) const = default;
};

} // namespace nvmeof
