// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keys in the kernel's key retention service, in the user keyring of the effective user, which is root's where modules
 * are controlled. The driver takes a key by its serial number, and keeps a reference to it. See keyrings(7).
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "source.h"

namespace nofctl {

using KeySerial = std::int32_t;

struct KeyringKey {
	KeySerial serial = 0;
	std::string type; // "logon", "user"
	std::string description;
};

enum class KeyOwner { host, controller };

// "nvmeof:dhchap:host:HOSTNQN:SUBSYSNQN". @subsysnqn: empty for a key of all subsystems: "*"
std::string dhchapDescription(KeyOwner owner, const std::string &hostnqn, const std::string &subsysnqn);

/*
 * Adds a key of type "logon", which no process can read. If there is one with that description already, it gets the
 * new payload and keeps its serial number: the driver uses it from the next authentication on. Errors: notPermitted;
 * failed, with the errno of add_key(2).
 */
nvmeof::Result<KeySerial> insertKey(const std::string &description, const SecretBytes &payload);
// A key of type "logon" or else "user". Errors: authentication, with ENOKEY, EKEYREVOKED or EKEYEXPIRED.
nvmeof::Result<KeySerial> findKey(const std::string &description);
// Keys whose description begins with "nvmeof:", sorted by description. Revoked and expired keys are left out.
nvmeof::Result<std::vector<KeyringKey>> listKeys();
// Authentications with the key fail from now on. Errors: like findKey(); invalid, if the description does not begin
// with "nvmeof:".
nvmeof::Result<void> revokeKey(const std::string &description);

// Reads a secret of DH-HMAC-CHAP from @source, and inserts it; of a source of kind keyring: finds the key.
nvmeof::Result<KeySerial> dhchapKey(const KeySource &source, KeyOwner owner, const std::string &hostnqn,
				    const std::string &subsysnqn);

// Keys of a connection
struct DhchapKeys {
	std::optional<KeySerial> host, controller;
};

// The same for the sources of the settings dhchap-key and dhchap-ctrl-key; empty: no key. Errors: also those of
// KeySource::parse(), with the name of the setting.
nvmeof::Result<DhchapKeys> dhchapKeys(const std::string &hostSource, const std::string &controllerSource,
				      const std::string &hostnqn, const std::string &subsysnqn);

} // namespace nofctl
