// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_session.h"

#include <algorithm>
#include <cerrno>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdexcept>

namespace target {

using nofctl::Psk;
using nofctl::TlsHandshake;
using nofctl::TlsRole;
using nvmeof::Result;

namespace {

constexpr int pauseMs = 50;
constexpr nofctl::KeySerial onlyKey = 1;

const nofctl::TlsContexts &contexts()
{
	static const auto made = nofctl::TlsContexts::create(nofctl::TlsRecords::here);
	if (!made)
		throw std::runtime_error(made.error().message);
	return *made;
}

int errnoOf(int sslError)
{
	const bool wants = sslError == SSL_ERROR_WANT_READ || sslError == SSL_ERROR_WANT_WRITE;
	return wants ? EAGAIN : ECONNRESET;
}

} // namespace

TlsSession::TlsSession(int socket, Find find)
	: socket_(socket), find_(std::move(find)), handshake_(contexts(), *this, TlsRole::server, socket, {}, 0)
{
}

TlsSession::TlsSession(int socket, const nofctl::DerivedPsk &psk)
	: socket_(socket),
	  find_([&psk](const std::string &) { return Bytes(psk.secret.bytes().begin(), psk.secret.bytes().end()); }),
	  identity_(psk.identity), handshake_(contexts(), *this, TlsRole::client, socket, {onlyKey}, 0)
{
}

bool TlsSession::handshake(const std::function<bool()> &wanted)
{
	while (wanted()) {
		const TlsHandshake::State state = handshake_.advance();
		if (state == TlsHandshake::State::done || state == TlsHandshake::State::failed)
			return state == TlsHandshake::State::done;
		const bool reads = state == TlsHandshake::State::wantsRead;
		pollfd ready{socket_, static_cast<short>(reads ? POLLIN : POLLOUT), 0};
		::poll(&ready, 1, pauseMs);
	}
	return false;
}

Result<Psk> TlsSession::read(nofctl::KeySerial, nofctl::KeySerial)
{
	return find(identity_, 0);
}

Result<Psk> TlsSession::find(std::string_view identity, nofctl::KeySerial)
{
	const auto hash = nofctl::hashOfIdentity(identity);
	const auto found = hash ? find_(std::string(identity)) : std::nullopt;
	if (!found)
		return nvmeof::errorFromErrno(ENOKEY, "no authentication has generated this key");
	nofctl::SecretBytes secret(found->size());
	std::ranges::copy(*found, secret.data());
	return Psk{onlyKey, std::string(identity), *hash, std::move(secret)};
}

ssize_t TlsSession::receive(std::span<std::uint8_t> to)
{
	std::size_t done = 0;
	ERR_clear_error();
	if (SSL_read_ex(handshake_.tls(), to.data(), to.size(), &done) == 1)
		return static_cast<ssize_t>(done);
	const int error = SSL_get_error(handshake_.tls(), 0);
	if (error == SSL_ERROR_ZERO_RETURN)
		return 0;
	errno = errnoOf(error);
	return -1;
}

ssize_t TlsSession::send(std::span<const std::uint8_t> bytes)
{
	std::size_t done = 0;
	ERR_clear_error();
	if (SSL_write_ex(handshake_.tls(), bytes.data(), bytes.size(), &done) == 1)
		return static_cast<ssize_t>(done);
	errno = errnoOf(SSL_get_error(handshake_.tls(), 0));
	return -1;
}

} // namespace target
