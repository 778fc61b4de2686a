// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TLS 1.3 of a connection, as its server: the handshake, by the key of the host that the peer names, and the data after
 * it. It never blocks. Used only by the thread of its worker.
 */
#pragma once

#include <memory>
#include <span>
#include <string>
#include <sys/types.h>
#include <sys/uio.h>

#include "controller.h"
#include "libctl/keys/tls_handshake.h"
#include "security.h"

namespace cdc {

class TlsStream final : private nofctl::PskStore {
public:
	using State = nofctl::TlsHandshake::State;

	// @security: with TLS contexts. @identity and @socket must outlive the object.
	TlsStream(std::shared_ptr<const Security::Current> security, const Identity &identity, int socket);

	// Continues the handshake
	State advance();
	const std::string &why() const { return handshake_.failure().reason; } // of State::failed

	// After State::done:
	const TlsPeer &peer() const { return peer_; }
	// Like recv(2) and sendmsg(2) with MSG_DONTWAIT. At most one TLS record is processed at a time.
	ssize_t receive(std::span<std::uint8_t> to);
	ssize_t send(std::span<const iovec> parts);

private:
	nvmeof::Result<nofctl::Psk> read(nofctl::KeySerial serial, nofctl::KeySerial keyring) override;
	nvmeof::Result<nofctl::Psk> find(std::string_view identity, nofctl::KeySerial keyring) override;

	std::shared_ptr<const Security::Current> security_;   // null after the handshake
	std::shared_ptr<const nofctl::TlsContexts> contexts_; // the connection uses them until its end
	const Identity &identity_;
	unsigned keyUpdates_ = 0; // from the peer
	nofctl::TlsHandshake handshake_;
	TlsPeer peer_;
};

} // namespace cdc
