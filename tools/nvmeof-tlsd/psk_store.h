// SPDX-License-Identifier: LGPL-2.1-or-later
// Pre-shared keys of NVMe/TCP: keys of type "psk" in keyrings of the kernel. The description of a key is its identity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "libctl/keys/keyring.h"
#include "libctl/keys/secret.h"
#include "libctl/keys/tls_handshake.h"

namespace tlsd {

using nofctl::hashOfIdentity;
using nofctl::longestIdentity;
using nofctl::Psk;
using nofctl::PskStore;
using nofctl::TlsContexts;
using nofctl::TlsHandshake;
using nofctl::TlsRole;

// Keys of this kernel
class KeyringPskStore : public PskStore {
public:
	// Gives the process a session keyring of its own. @type: of the keys; tests use another one, which every kernel
	// has. Errors: failed, with the errno of keyctl(2).
	static nvmeof::Result<KeyringPskStore> open(std::string type = "psk");

	nvmeof::Result<Psk> read(nofctl::KeySerial serial, nofctl::KeySerial keyring) override;
	nvmeof::Result<Psk> find(std::string_view identity, nofctl::KeySerial keyring) override;
	// The serial number of ".nvme", 0 if there is none
	nofctl::KeySerial nvmeKeyring();

private:
	explicit KeyringPskStore(std::string type) : type_(std::move(type)) {}
	nofctl::KeySerial findIn(nofctl::KeySerial keyring, std::string_view identity) const;

	std::string type_;
	nofctl::KeySerial nvme_ = 0; // last known serial number
};

/*
 * When it passes a handshake to the agent, the kernel links the keyring of the request into the process keyring of the
 * agent. Clearing it before and reading it afterwards tells which keyring belongs to which request.
 */
void clearProcessKeyring();
nofctl::KeySerial processKeyringEntry(); // 0: it is empty

} // namespace tlsd
