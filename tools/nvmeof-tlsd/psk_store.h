// SPDX-License-Identifier: LGPL-2.1-or-later
// Pre-shared keys of NVMe/TCP: keys of type "psk" in keyrings of the kernel. The description of a key is its identity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "libctl/keys/keyring.h"
#include "libctl/keys/secret.h"

namespace tlsd {

// Longest identity: "NVMe1R02 ", two NQNs of 223 bytes, the base64 text of a SHA-384 digest, two blanks
inline constexpr std::size_t longestIdentity = 9 + 223 + 1 + 223 + 1 + 64;

// The hash function that an identity of NVMe TCP 1.0, 3.6.1.3 names: "NVMe0R01 ..." and "NVMe1R01 ..." SHA-256, R02
// SHA-384. Nothing if the text is not such an identity.
std::optional<nofctl::KeyHash> hashOfIdentity(std::string_view identity);

struct Psk {
	nofctl::KeySerial serial = 0;
	std::string identity;
	nofctl::KeyHash hash = nofctl::KeyHash::sha256;
	nofctl::SecretBytes secret;
};

class PskStore {
public:
	virtual ~PskStore() = default;
	// The key with the number @serial. @keyring: one that has it, 0 if that is unknown. Errors: failed or
	// authentication, with the errno that is the status of the handshake: ENOKEY, EKEYREVOKED, EKEYEXPIRED,
	// EKEYREJECTED for one that is no pre-shared key of NVMe/TCP, EIO if the agent cannot read it.
	virtual nvmeof::Result<Psk> read(nofctl::KeySerial serial, nofctl::KeySerial keyring) = 0;
	// The key with exactly this identity in @keyring, or else in ".nvme". Errors: like read().
	virtual nvmeof::Result<Psk> find(std::string_view identity, nofctl::KeySerial keyring) = 0;
};

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
