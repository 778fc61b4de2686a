// SPDX-License-Identifier: LGPL-2.1-or-later
// A TLS 1.3 handshake with a pre-shared key (RFC 8446) on a connected socket, in either role. It never blocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "psk_store.h"
#include "record_keys.h"

struct bio_st;
struct bio_method_st;
struct ssl_st;
struct ssl_ctx_st;

namespace tlsd {

enum class Role { client, server };

// Settings of all handshakes. Made once: that takes twice as long as a handshake.
class TlsContexts {
public:
	static nvmeof::Result<TlsContexts> create(); // Errors: failed, if OpenSSL lacks something

	ssl_ctx_st *of(Role role) const { return contexts_[static_cast<std::size_t>(role)].get(); }
	const bio_method_st *transport() const { return transport_.get(); }

private:
	struct Free {
		void operator()(ssl_ctx_st *context) const;
		void operator()(bio_method_st *method) const;
	};

	TlsContexts() = default;

	std::array<std::unique_ptr<ssl_ctx_st, Free>, 2> contexts_;
	std::unique_ptr<bio_method_st, Free> transport_;
};

// Why a handshake failed
struct Failure {
	int status = 0; // positive errno, for the kernel and the user of the connection
	std::string reason;
};

class Handshake {
public:
	enum class State { wantsRead, wantsWrite, done, failed };

	/*
	 * @keys: serial numbers of keys of which a client offers the first that can be used; a server looks for the one
	 * that its peer names. @keyring: one that has the keys; 0: ".nvme" has. @contexts, @store and @socket must
	 * outlive the object. Throws std::bad_alloc.
	 */
	Handshake(const TlsContexts &contexts, PskStore &store, Role role, int socket,
		  const std::vector<nofctl::KeySerial> &keys, nofctl::KeySerial keyring);
	~Handshake();
	Handshake(const Handshake &) = delete;
	Handshake &operator=(const Handshake &) = delete;

	// Goes on as far as the socket allows. After done or failed it must not be called again.
	State advance();
	bool heard() const { return received_ > 0; } // whether the peer has sent anything

	// The identity of the handshake, also after a failure; empty if it is not known. Of a server, it comes from the
	// peer.
	const std::string &identity() const { return identity_; }
	const Failure &failure() const { return failure_; } // of State::failed
	// Of State::done
	nofctl::KeySerial serial() const { return psk_->serial; }
	nvmeof::Result<SessionKeys> sessionKeys() const;

private:
	friend struct Callbacks;
	struct Free {
		void operator()(ssl_st *tls) const;
	};

	void choosePsk(const std::vector<nofctl::KeySerial> &keys);
	bool choosePsk(const std::vector<std::string> &offered);
	State fail(int status, std::string reason);
	State finish();
	State failFor(int sslError);

	PskStore &store_;
	const Role role_;
	const int socket_;
	const nofctl::KeySerial keyring_;
	std::unique_ptr<ssl_st, Free> tls_;
	std::optional<Psk> psk_;
	std::string identity_;
	Failure failure_;
	std::optional<nvmeof::Error> pskError_; // of a server: why psk_ is empty
	bool offered_ = false;                  // a client has offered a pre-shared key
	std::size_t received_ = 0;              // bytes
	bool closed_ = false;                   // by the peer
	int sysErrno_ = 0;                      // of recv(2) or send(2)
	nofctl::SecretBytes clientSecret_, serverSecret_;
};

} // namespace tlsd
