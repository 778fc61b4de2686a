// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The keys of hosts, from a directory. Its files are HOSTNQN.dhchap, the key of a host, HOSTNQN.dhchap-ctrl, the key by
 * which this service proves its identity to that host, and HOSTNQN.tls, a configured key of TLS. In a name, %XX stands
 * for a byte, as names of credentials have no colon. Immutable; any thread may read it.
 */
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nvmeof/result.h>

#include "libctl/keys/dhchap.h"
#include "libctl/keys/secret.h"

namespace cdc {

class HostKeys {
public:
	struct Key {
		nofctl::DhchapSecrets dhchap; // its host part: empty, if there is none
		std::string_view tls;         // a configured key; empty: none
		bool unusable = false;        // a file of this host cannot be used
	};
	struct Reading {
		std::shared_ptr<const HostKeys> keys;
		std::vector<std::string> problems; // of single files, whose hosts have an unusable key
	};

	// @where: an absolute path, or "credential:NAME" for the files "NAME_..." among the credentials of the unit.
	// Errors: the directory cannot be read, others than its owner can write to it, or a file is not clearly the
	// key of a host, which could be served without a proof then.
	static nvmeof::Result<Reading> read(const std::string &where);

	// Null: the host has none
	const Key *of(const std::string &hostnqn) const;
	std::size_t size() const { return keys_.size(); }

private:
	std::string_view keep(const nofctl::SecretBytes &text);

	std::unordered_map<std::string, Key> keys_;
	// Texts of the secrets. A page for each would take a mapping for each.
	std::vector<nofctl::SecretBytes> texts_;
	std::size_t used_ = 0; // bytes of the last one
};

} // namespace cdc
