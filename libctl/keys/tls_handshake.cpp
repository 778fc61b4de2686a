// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_handshake.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "libctl/base/hex.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::Result;

namespace {

// More than any handshake without certificates: a peer that sends more is cut off.
constexpr std::size_t mostReceived = 64 << 10;
// Identities of a ClientHello that are looked up. NVMe/TCP hosts offer one.
constexpr std::size_t mostOffered = 8;

constexpr const char *sha256Suites = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char *sha384Suites = "TLS_AES_256_GCM_SHA384";
// Without the slowest groups, for which a peer would pay less than a server
constexpr const char *groups = "X25519:P-256:P-384:P-521:ffdhe2048:ffdhe3072:ffdhe4096";

KeyHash hashOf(const SSL_CIPHER *cipher)
{
	return EVP_MD_get_size(SSL_CIPHER_get_handshake_digest(cipher)) == 32 ? KeyHash::sha256 : KeyHash::sha384;
}

// Allows suites with the hash function of the key: otherwise the peers could agree on one that the key does not fit.
bool restrictSuites(SSL *tls, KeyHash hash)
{
	return SSL_set_ciphersuites(tls, hash == KeyHash::sha256 ? sha256Suites : sha384Suites) == 1;
}

Error opensslError(const char *what)
{
	Error error;
	const unsigned long code = ERR_peek_last_error();
	const char *reason = code ? ERR_reason_error_string(code) : nullptr;
	error.message = std::string("OpenSSL: ") + what + ": " + (reason ? reason : "no reason given") +
			"; TLS 1.3 with AES-GCM must not be disabled in openssl.cnf";
	ERR_clear_error();
	return error;
}

// Takes big-endian numbers and vectors off the front of a message of TLS
class Reader {
public:
	explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

	bool empty() const { return bytes_.empty(); }
	std::optional<std::span<const std::uint8_t>> take(std::size_t size)
	{
		if (size > bytes_.size())
			return std::nullopt;
		const auto taken = bytes_.first(size);
		bytes_ = bytes_.subspan(size);
		return taken;
	}
	// With a length of two bytes
	std::optional<std::span<const std::uint8_t>> takeVector()
	{
		const auto length = take(2);
		return length ? take(static_cast<std::size_t>((*length)[0] << 8 | (*length)[1])) : std::nullopt;
	}

private:
	std::span<const std::uint8_t> bytes_;
};

// Identities of the extension pre_shared_key of a ClientHello, the first ones of them: RFC 8446, 4.2.11. OpenSSL
// verifies the rest.
std::vector<std::string> offeredIdentities(std::span<const std::uint8_t> extension)
{
	constexpr std::size_t ageSize = 4;
	std::vector<std::string> identities;
	const auto list = Reader(extension).takeVector();
	if (!list)
		return identities;
	Reader left(*list);
	while (!left.empty() && identities.size() < mostOffered) {
		const auto identity = left.takeVector();
		if (!identity || !left.take(ageSize))
			break;
		if (identity->size() <= longestIdentity)
			identities.emplace_back(reinterpret_cast<const char *>(identity->data()), identity->size());
	}
	return identities;
}

std::optional<SecretBytes> fromHex(std::string_view text)
{
	SecretBytes bytes(text.size() / 2);
	for (std::size_t i = 0; i < bytes.size(); i++) {
		const int high = hexDigit(text[2 * i]), low = hexDigit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return std::nullopt;
		bytes.data()[i] = static_cast<std::uint8_t>(high << 4 | low);
	}
	return bytes;
}

SSL_SESSION *sessionOf(SSL *tls, const Psk &psk)
{
	const std::uint8_t aes128[] = {0x13, 0x01}, aes256[] = {0x13, 0x02};
	const SSL_CIPHER *cipher = SSL_CIPHER_find(tls, psk.hash == KeyHash::sha256 ? aes128 : aes256);
	SSL_SESSION *session = SSL_SESSION_new();
	if (session && cipher &&
	    SSL_SESSION_set1_master_key(session, psk.secret.bytes().data(), psk.secret.size()) == 1 &&
	    SSL_SESSION_set_cipher(session, cipher) == 1 &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
		return session;
	SSL_SESSION_free(session);
	return nullptr;
}

} // namespace

std::optional<KeyHash> hashOfIdentity(std::string_view identity)
{
	// "NVMe", version of the identity, retained or generated, hash function
	constexpr std::string_view head = "NVMe";
	constexpr std::size_t headSize = 9;
	if (!identity.starts_with(head) || identity.size() <= headSize || identity.size() > longestIdentity)
		return std::nullopt;
	const char version = identity[4], origin = identity[5];
	const std::string_view hash = identity.substr(6, 3);
	if ((version != '0' && version != '1') || (origin != 'R' && origin != 'G'))
		return std::nullopt;
	if (hash == "01 ")
		return KeyHash::sha256;
	return hash == "02 " ? std::optional(KeyHash::sha384) : std::nullopt;
}

// Callbacks of OpenSSL. No exception may pass through it: each callback reports a failure instead.
struct TlsCallbacks {
	static TlsHandshake &of(const SSL *tls) { return *static_cast<TlsHandshake *>(SSL_get_app_data(tls)); }

	template <typename Call> static int guarded(Call &&call) noexcept
	{
		try {
			return call();
		} catch (...) { // out of memory
			return 0;
		}
	}

	// ---- transport: MSG_DONTWAIT, as the kernel shares the open file, whose flags stay as they are

	static int read(BIO *bio, char *data, std::size_t size, std::size_t *done)
	{
		TlsHandshake &handshake = *static_cast<TlsHandshake *>(BIO_get_data(bio));
		BIO_clear_retry_flags(bio);
		if (!handshake.done_ && handshake.received_ >= mostReceived) {
			handshake.sysErrno_ = EMSGSIZE;
			return 0;
		}
		const ssize_t n = TEMP_FAILURE_RETRY(::recv(handshake.socket_, data, size, MSG_DONTWAIT));
		*done = n > 0 ? static_cast<std::size_t>(n) : 0;
		if (!handshake.done_)
			handshake.received_ += *done;
		if (n > 0)
			return 1;
		if (n == 0)
			handshake.closed_ = true;
		else if (errno == EAGAIN)
			BIO_set_retry_read(bio);
		else
			handshake.sysErrno_ = errno;
		return 0;
	}

	static int write(BIO *bio, const char *data, std::size_t size, std::size_t *done)
	{
		TlsHandshake &handshake = *static_cast<TlsHandshake *>(BIO_get_data(bio));
		BIO_clear_retry_flags(bio);
		const ssize_t n =
			TEMP_FAILURE_RETRY(::send(handshake.socket_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL));
		*done = n > 0 ? static_cast<std::size_t>(n) : 0;
		if (n >= 0)
			return 1;
		if (errno == EAGAIN)
			BIO_set_retry_write(bio);
		else if (!handshake.closed_) // an alert for a peer that has gone is no reason
			handshake.sysErrno_ = errno;
		return 0;
	}

	static long control(BIO *bio, int command, long, void *)
	{
		if (command == BIO_CTRL_EOF)
			return static_cast<TlsHandshake *>(BIO_get_data(bio))->closed_;
		return command == BIO_CTRL_FLUSH;
	}

	static int create(BIO *bio)
	{
		BIO_set_init(bio, 1);
		return 1;
	}

	// ---- keys

	// Of the lines that OpenSSL writes for debuggers, those with the two application traffic secrets
	static void keyLine(const SSL *tls, const char *line)
	{
		TlsHandshake &handshake = of(tls);
		const std::string_view text = line;
		auto take = [&](std::string_view label, SecretBytes &to) {
			if (!text.starts_with(label))
				return;
			if (std::optional<SecretBytes> secret = fromHex(text.substr(text.rfind(' ') + 1)))
				to = *std::move(secret);
		};
		guarded([&] {
			take("CLIENT_TRAFFIC_SECRET_0 ", handshake.clientSecret_);
			take("SERVER_TRAFFIC_SECRET_0 ", handshake.serverSecret_);
			return 1;
		});
	}

	static int useSession(SSL *tls, const EVP_MD *, const unsigned char **id, std::size_t *size,
			      SSL_SESSION **session)
	{
		const TlsHandshake &handshake = of(tls);
		*session = sessionOf(tls, *handshake.psk_);
		*id = reinterpret_cast<const unsigned char *>(handshake.identity_.data());
		*size = handshake.identity_.size();
		return *session != nullptr;
	}

	// OpenSSL chooses the cipher suite before it looks at keys, so the key is found here, and allows only the
	// suites that it fits.
	static int clientHello(SSL *tls, int *alert, void *)
	{
		TlsHandshake &handshake = of(tls);
		*alert = SSL_AD_INTERNAL_ERROR;
		const unsigned char *extension = nullptr;
		std::size_t size = 0;
		if (SSL_client_hello_get0_ext(tls, TLSEXT_TYPE_psk, &extension, &size) != 1)
			return SSL_CLIENT_HELLO_SUCCESS; // it fails later, or by its version
		handshake.offered_ = true;
		const bool found = guarded([&] { return handshake.choosePsk(offeredIdentities({extension, size})); });
		if (found && restrictSuites(tls, handshake.psk_->hash))
			return SSL_CLIENT_HELLO_SUCCESS;
		if (handshake.pskError_)
			*alert = SSL_AD_UNKNOWN_PSK_IDENTITY;
		return SSL_CLIENT_HELLO_ERROR;
	}

	static int findSession(SSL *tls, const unsigned char *id, std::size_t size, SSL_SESSION **session)
	{
		const TlsHandshake &handshake = of(tls);
		*session = nullptr;
		if (!handshake.psk_ ||
		    handshake.identity_ != std::string_view(reinterpret_cast<const char *>(id), size))
			return 1; // the next identity
		*session = sessionOf(tls, *handshake.psk_);
		return *session != nullptr;
	}
};

void TlsContexts::Free::operator()(ssl_ctx_st *context) const
{
	SSL_CTX_free(context);
}

void TlsContexts::Free::operator()(bio_method_st *method) const
{
	BIO_meth_free(method);
}

Result<TlsContexts> TlsContexts::create(TlsRecords records)
{
	TlsContexts made;
	made.records_ = records;
	made.transport_.reset(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "nvmeof"));
	if (!made.transport_ || BIO_meth_set_read_ex(made.transport_.get(), TlsCallbacks::read) != 1 ||
	    BIO_meth_set_write_ex(made.transport_.get(), TlsCallbacks::write) != 1 ||
	    BIO_meth_set_ctrl(made.transport_.get(), TlsCallbacks::control) != 1 ||
	    BIO_meth_set_create(made.transport_.get(), TlsCallbacks::create) != 1)
		return opensslError("cannot make a transport");
	for (const TlsRole role : {TlsRole::client, TlsRole::server}) {
		auto &context = made.contexts_[static_cast<std::size_t>(role)];
		context.reset(SSL_CTX_new(role == TlsRole::client ? TLS_client_method() : TLS_server_method()));
		if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
		    SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
		    SSL_CTX_set_ciphersuites(context.get(), (std::string(sha256Suites) + ":" + sha384Suites).c_str()) !=
			    1 ||
		    SSL_CTX_set_num_tickets(context.get(), 0) != 1)
			return opensslError("cannot set up TLS 1.3");
		// A configuration of the system may not know some of these; then its own groups are used.
		if (SSL_CTX_set1_groups_list(context.get(), groups) != 1)
			ERR_clear_error();
		// Change cipher spec records of the middlebox compatibility mode have no use here. Without
		// SSL_OP_ALLOW_NO_DHE_KEX, which must stay off, only psk_dhe_ke is possible.
		SSL_CTX_clear_options(context.get(), SSL_OP_ENABLE_MIDDLEBOX_COMPAT | SSL_OP_ALLOW_NO_DHE_KEX);
		SSL_CTX_set_options(context.get(),
				    SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
		SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
		// The bytes of a write that is tried again are the same, at another address.
		SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
							SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
		// Records that follow the handshake may be another implementation's: not one byte of them may be read.
		SSL_CTX_set_read_ahead(context.get(), 0);
		SSL_CTX_set_max_early_data(context.get(), 0);
		SSL_CTX_set_quiet_shutdown(context.get(), 1);
		if (records == TlsRecords::elsewhere)
			SSL_CTX_set_keylog_callback(context.get(), TlsCallbacks::keyLine);
	}
	// A server that would rather show a certificate is not accepted: no authority is trusted.
	SSL_CTX_set_verify(made.of(TlsRole::client), SSL_VERIFY_PEER, nullptr);
	SSL_CTX_set_psk_use_session_callback(made.of(TlsRole::client), TlsCallbacks::useSession);
	SSL_CTX_set_client_hello_cb(made.of(TlsRole::server), TlsCallbacks::clientHello, nullptr);
	SSL_CTX_set_psk_find_session_callback(made.of(TlsRole::server), TlsCallbacks::findSession);
	return made;
}

void TlsHandshake::Free::operator()(ssl_st *tls) const
{
	SSL_free(tls);
}

TlsHandshake::TlsHandshake(const TlsContexts &contexts, PskStore &store, TlsRole role, int socket,
			   const std::vector<KeySerial> &keys, KeySerial keyring)
	: store_(store), role_(role), records_(contexts.records()), socket_(socket), keyring_(keyring),
	  tls_(SSL_new(contexts.of(role)))
{
	BIO *bio = BIO_new(contexts.transport());
	if (!tls_ || !bio) {
		BIO_free(bio);
		throw std::bad_alloc();
	}
	BIO_set_data(bio, this);
	SSL_set_bio(tls_.get(), bio, bio);
	SSL_set_app_data(tls_.get(), this);
	if (role == TlsRole::server) {
		SSL_set_accept_state(tls_.get());
		return;
	}
	SSL_set_connect_state(tls_.get());
	choosePsk(keys);
}

TlsHandshake::~TlsHandshake() = default;

// Of a client: the first key that can be used
void TlsHandshake::choosePsk(const std::vector<KeySerial> &keys)
{
	if (keys.empty())
		fail(EINVAL, "the request names no key; a connection with TLS needs one");
	for (const KeySerial serial : keys) {
		Result<Psk> psk = store_.read(serial, keyring_);
		if (!psk) {
			if (!failure_.status) // the reason of the first key
				fail(psk.error().sysErrno ? psk.error().sysErrno : EIO, psk.error().message);
			continue;
		}
		failure_ = {};
		psk_ = *std::move(psk);
		identity_ = psk_->identity;
		if (!restrictSuites(tls_.get(), psk_->hash))
			fail(EIO, opensslError("cannot select a cipher suite").message);
		return;
	}
}

// Of a server: the first identity that has a key. After a HelloRetryRequest, the same client comes with the same
// identities again: the key that was found remains.
bool TlsHandshake::choosePsk(const std::vector<std::string> &offered)
{
	if (psk_)
		return std::ranges::find(offered, identity_) != offered.end();
	for (const std::string &identity : offered) {
		Result<Psk> psk = store_.find(identity, keyring_);
		if (psk) {
			psk_ = *std::move(psk);
			identity_ = identity;
			pskError_.reset();
			return true;
		}
		if (!pskError_) {
			pskError_ = psk.error();
			identity_ = identity;
		}
	}
	if (!pskError_)
		pskError_ = nvmeof::errorFromErrno(ENOKEY, "no identity of NVMe/TCP");
	return false;
}

TlsHandshake::State TlsHandshake::fail(int status, std::string reason)
{
	failure_ = {status, std::move(reason)};
	return State::failed;
}

TlsHandshake::State TlsHandshake::advance()
{
	if (failure_.status)
		return State::failed;
	ERR_clear_error();
	const int result = SSL_do_handshake(tls_.get());
	const int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(tls_.get(), result);
	State state = State::failed;
	if (error == SSL_ERROR_NONE)
		state = finish();
	else if (error == SSL_ERROR_WANT_READ)
		state = State::wantsRead;
	else if (error == SSL_ERROR_WANT_WRITE)
		state = State::wantsWrite;
	else
		state = failFor(error);
	ERR_clear_error();
	return state;
}

TlsHandshake::State TlsHandshake::finish()
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(tls_.get());
	if (SSL_session_reused(tls_.get()) != 1 || !psk_ || !cipher)
		return fail(EACCES, "the peer did not use the key; compare the key and its identity at both ends");
	if (SSL_has_pending(tls_.get()))
		return fail(EPROTO, "the peer sent more than a handshake; see its log");
	const std::size_t size = hashSize(hashOf(cipher));
	if (records_ == TlsRecords::elsewhere && (clientSecret_.size() != size || serverSecret_.size() != size))
		return fail(EIO, "OpenSSL reports no secrets of the connection; is there memory left?");
	psk_->secret.shrink(0);
	done_ = true;
	return State::done;
}

// Reads the queue of OpenSSL's errors
TlsHandshake::State TlsHandshake::failFor(int sslError)
{
	const unsigned long code = ERR_peek_error();
	const int reason = ERR_GET_REASON(code);
	constexpr int firstAlert = SSL_AD_REASON_OFFSET, lastAlert = SSL_AD_REASON_OFFSET + 255;
	if (pskError_ && !psk_) {
		const int status = pskError_->sysErrno == ENOKEY ? EACCES : pskError_->sysErrno;
		return fail(status ? status : EIO, "the peer offers an unknown key: " + pskError_->message);
	}
	if (ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= firstAlert && reason <= lastAlert) {
		const int alert = reason - firstAlert;
		const std::string name = SSL_alert_desc_string_long(alert);
		switch (alert) {
		case SSL_AD_UNKNOWN_PSK_IDENTITY:
			return fail(EACCES,
				    "the peer does not know this identity; insert the key there, for this host NQN");
		case SSL_AD_PROTOCOL_VERSION:
			return fail(EPROTO, "the peer has no TLS 1.3; enable it there");
		case SSL_AD_INTERNAL_ERROR:
		case SSL_AD_DECODE_ERROR:
		case SSL_AD_RECORD_OVERFLOW:
		case SSL_AD_UNEXPECTED_MESSAGE:
			return fail(EPROTO, "the peer failed (alert: " + name + "); see its log");
		default: // implementations use different alerts for a wrong key
			return fail(EACCES, "the peer does not accept the key (alert: " + name +
						    "); compare the key and its identity at both ends");
		}
	}
	if (sysErrno_ == EMSGSIZE)
		return fail(EPROTO, "the peer sent too much for a handshake; does it speak TLS?");
	if (sysErrno_ && sysErrno_ != ECONNRESET && sysErrno_ != EPIPE)
		return fail(sysErrno_, std::string("the connection failed: ") + std::strerror(sysErrno_));
	if (sysErrno_ || closed_ || sslError == SSL_ERROR_ZERO_RETURN)
		return fail(ECONNRESET, received_
						? "the peer closed the connection; see its log"
						: "the peer closed the connection at once; does it expect TLS there?");
	switch (reason) {
	case SSL_R_BINDER_DOES_NOT_VERIFY:
		return fail(EACCES, "the peer has another key of this identity; compare the key at both ends");
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_VERSION_TOO_LOW:
		return fail(EPROTO, "the peer has no TLS 1.3; enable it there");
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
		return fail(EPROTO, "the peer does not speak TLS; enable it there, or use a connection without");
	case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
		return fail(EACCES, offered_
					    ? "the peer offers no key exchange that this machine accepts (psk_dhe_ke); "
					      "update it"
					    : "the peer offers no pre-shared key; give it one");
	case SSL_R_NO_SHARED_CIPHER:
		return fail(EACCES, "the peer offers no cipher suite that fits the key; SHA-256 keys need "
				    "AES-128-GCM or CHACHA20-POLY1305, SHA-384 keys AES-256-GCM");
	case SSL_R_CERTIFICATE_VERIFY_FAILED:
		return fail(EACCES, "the peer shows a certificate instead of using the key; insert the key there");
	default:
		break;
	}
	const char *text = code ? ERR_reason_error_string(code) : nullptr;
	return fail(EPROTO, std::string("the handshake failed: ") + (text ? text : "no reason given") +
				    "; see the log of the peer");
}

std::uint16_t TlsHandshake::suite() const
{
	return SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(tls_.get()));
}

const char *TlsHandshake::cipher() const
{
	return SSL_CIPHER_standard_name(SSL_get_current_cipher(tls_.get()));
}

KeyHash TlsHandshake::hash() const
{
	return hashOf(SSL_get_current_cipher(tls_.get()));
}

} // namespace nofctl
