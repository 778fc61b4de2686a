// SPDX-License-Identifier: LGPL-2.1-or-later
// TLS of one connection, with a key that secure channel concatenation has generated
#pragma once

#include "libctl/keys/tls_handshake.h"
#include "wire.h"

#include <functional>
#include <optional>
#include <span>
#include <sys/types.h>

namespace target {

class TlsSession : private nofctl::PskStore {
public:
	// Returns the key of this identity, or nothing.
	using Find = std::function<std::optional<Bytes>(const std::string &identity)>;

	// Of a target. Throws std::runtime_error if OpenSSL lacks something. @socket must outlive the object.
	TlsSession(int socket, Find find);
	// Of a host that names @psk; for the target's own tests
	TlsSession(int socket, const nofctl::DerivedPsk &psk);

	// False: it has failed. Waits for the socket, as long as @wanted returns true.
	bool handshake(const std::function<bool()> &wanted);
	// As recv(2) and send(2)
	ssize_t receive(std::span<std::uint8_t> to);
	ssize_t send(std::span<const std::uint8_t> bytes);

private:
	nvmeof::Result<nofctl::Psk> read(nofctl::KeySerial serial, nofctl::KeySerial keyring) override;
	nvmeof::Result<nofctl::Psk> find(std::string_view identity, nofctl::KeySerial keyring) override;

	int socket_;
	Find find_;
	std::string identity_; // of the key that a host names
	nofctl::TlsHandshake handshake_;
};

} // namespace target
