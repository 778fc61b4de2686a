// SPDX-License-Identifier: LGPL-2.1-or-later
// A TLS 1.3 handshake with a pre-shared key (RFC 8446) on a connected socket, in either role, and the keys for it. It
// never blocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>

#include "keyring.h"
#include "secret.h"

struct bio_st;
struct bio_method_st;
struct ssl_st;
struct ssl_ctx_st;

namespace nofctl {

// Longest identity: "NVMe1R02 ", two NQNs of 223 bytes, the base64 text of a SHA-384 digest, two blanks
inline constexpr std::size_t longestIdentity = 9 + 223 + 1 + 223 + 1 + 64;

// The hash function that an identity of NVMe TCP 1.0, 3.6.1.3 names: "NVMe0R01 ..." and "NVMe1R01 ..." SHA-256, R02
// SHA-384. Nothing if the text is not such an identity.
std::optional<KeyHash> hashOfIdentity(std::string_view identity);

// A key of a handshake
struct Psk {
	KeySerial serial = 0; // of a key in a keyring
	std::string identity;
	KeyHash hash = KeyHash::sha256;
	SecretBytes secret;
};

class PskStore {
public:
	virtual ~PskStore() = default;
	// The key with the number @serial. @keyring: one that has it, 0 if that is unknown. Errors: failed or
	// authentication, with the errno that is the status of the handshake: ENOKEY, EKEYREVOKED, EKEYEXPIRED,
	// EKEYREJECTED for one that is no pre-shared key of NVMe/TCP, EIO if it cannot be read.
	virtual nvmeof::Result<Psk> read(KeySerial serial, KeySerial keyring) = 0;
	// The key with exactly this identity in @keyring, or else wherever the store looks. Errors: like read().
	virtual nvmeof::Result<Psk> find(std::string_view identity, KeySerial keyring) = 0;
};

enum class TlsRole { client, server };

// Where records are processed after a handshake
enum class TlsRecords {
	elsewhere, // Another implementation takes over: the handshake keeps the traffic secrets for it.
	here,      // OpenSSL goes on, see TlsHandshake::tls().
};

// Settings of all handshakes. Made once: that takes twice as long as a handshake.
class TlsContexts {
public:
	// Errors: failed, if OpenSSL lacks something
	static nvmeof::Result<TlsContexts> create(TlsRecords records = TlsRecords::elsewhere);

	ssl_ctx_st *of(TlsRole role) const { return contexts_[static_cast<std::size_t>(role)].get(); }
	const bio_method_st *transport() const { return transport_.get(); }
	TlsRecords records() const { return records_; }

private:
	struct Free {
		void operator()(ssl_ctx_st *context) const;
		void operator()(bio_method_st *method) const;
	};

	TlsContexts() = default;

	std::array<std::unique_ptr<ssl_ctx_st, Free>, 2> contexts_;
	std::unique_ptr<bio_method_st, Free> transport_;
	TlsRecords records_ = TlsRecords::elsewhere;
};

// Why a handshake failed
struct TlsFailure {
	int status = 0; // positive errno, for the kernel and the user of the connection
	std::string reason;
};

class TlsHandshake {
public:
	enum class State { wantsRead, wantsWrite, done, failed };

	/*
	 * @keys: serial numbers of keys of which a client offers the first that can be used; a server looks for the one
	 * that its peer names. @keyring: one that has the keys; 0: ".nvme" has. @contexts, @store and @socket must
	 * outlive the object. Throws std::bad_alloc.
	 */
	TlsHandshake(const TlsContexts &contexts, PskStore &store, TlsRole role, int socket,
		     const std::vector<KeySerial> &keys, KeySerial keyring);
	~TlsHandshake();
	TlsHandshake(const TlsHandshake &) = delete;
	TlsHandshake &operator=(const TlsHandshake &) = delete;

	// Goes on as far as the socket allows. After done or failed it must not be called again.
	State advance();
	bool heard() const { return received_ > 0; } // whether the peer has sent anything

	// The identity of the handshake, also after a failure; empty if it is not known. Of a server, it comes from the
	// peer.
	const std::string &identity() const { return identity_; }
	const TlsFailure &failure() const { return failure_; } // of State::failed
	// Of State::done
	KeySerial serial() const { return psk_->serial; }
	std::uint16_t suite() const; // its number in the protocol (RFC 8446, B.4)
	const char *cipher() const;  // its name
	// With TlsRecords::elsewhere: the traffic secrets of this end and of its peer, for the hash function
	KeyHash hash() const;
	const SecretBytes &sendSecret() const { return role_ == TlsRole::client ? clientSecret_ : serverSecret_; }
	const SecretBytes &receiveSecret() const { return role_ == TlsRole::client ? serverSecret_ : clientSecret_; }
	// With TlsRecords::here: OpenSSL's connection, to read and write data
	ssl_st *tls() const { return tls_.get(); }

private:
	friend struct TlsCallbacks;
	struct Free {
		void operator()(ssl_st *tls) const;
	};

	void choosePsk(const std::vector<KeySerial> &keys);
	bool choosePsk(const std::vector<std::string> &offered);
	State fail(int status, std::string reason);
	State finish();
	State failFor(int sslError);

	PskStore &store_;
	const TlsRole role_;
	const TlsRecords records_;
	const int socket_;
	const KeySerial keyring_;
	std::unique_ptr<ssl_st, Free> tls_;
	std::optional<Psk> psk_;
	std::string identity_;
	TlsFailure failure_;
	std::optional<nvmeof::Error> pskError_; // of a server: why psk_ is empty
	bool offered_ = false;                  // a client has offered a pre-shared key
	std::size_t received_ = 0;              // bytes of the handshake
	bool done_ = false;
	bool closed_ = false; // by the peer
	int sysErrno_ = 0;    // of recv(2) or send(2)
	SecretBytes clientSecret_, serverSecret_;
};

} // namespace nofctl
