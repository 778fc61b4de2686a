// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dhchap.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

namespace nofctl {

using namespace wire;

namespace {

constexpr struct {
	const char *name;
	std::size_t length;
} hashTable[] = {{nullptr, 0}, {"SHA256", 32}, {"SHA384", 48}, {"SHA512", 64}},
  groupTable[] = {{nullptr, 0},       {"ffdhe2048", 256}, {"ffdhe3072", 384},
		  {"ffdhe4096", 512}, {"ffdhe6144", 768}, {"ffdhe8192", 1024}};
static_assert(std::size(hashTable) == dhchapHashes + 1);
static_assert(std::size(groupTable) == dhchapGroups);

void must(bool good, const char *what)
{
	if (!good)
		throw std::runtime_error(std::string("libcrypto: ") + what);
}

template <class T, void (*release)(T *)> struct Release {
	void operator()(T *p) const { release(p); }
};

using Number = std::unique_ptr<BIGNUM, Release<BIGNUM, BN_clear_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Release<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using Key = std::shared_ptr<EVP_PKEY>;

Number number(std::span<const std::uint8_t> bytes)
{
	Number n(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
	must(bool(n), "BN_bin2bn");
	return n;
}

Bytes bytesOf(const BIGNUM *n, std::size_t length)
{
	Bytes bytes(length);
	must(BN_bn2binpad(n, bytes.data(), static_cast<int>(length)) >= 0, "BN_bn2binpad");
	return bytes;
}

Number parameter(const Key &key, const char *name)
{
	BIGNUM *n = nullptr;
	must(EVP_PKEY_get_bn_param(key.get(), name, &n) == 1, name);
	return Number(n);
}

KeyContext dhContext()
{
	KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr));
	must(bool(context), "no DH");
	return context;
}

Key generate(std::uint8_t group)
{
	auto context = dhContext();
	OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
								const_cast<char *>(groupTable[group].name), 0),
			       OSSL_PARAM_construct_end()};
	EVP_PKEY *key = nullptr;
	must(EVP_PKEY_keygen_init(context.get()) == 1 && EVP_PKEY_CTX_set_params(context.get(), params) == 1 &&
		     EVP_PKEY_generate(context.get(), &key) == 1,
	     "no key of the group");
	return Key(key, EVP_PKEY_free);
}

// priv: may be null
Key import(std::uint8_t group, const BIGNUM *pub, const BIGNUM *priv)
{
	std::unique_ptr<OSSL_PARAM_BLD, Release<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>> build(OSSL_PARAM_BLD_new());
	must(build &&
		     OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, groupTable[group].name,
						     0) == 1 &&
		     OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_PUB_KEY, pub) == 1 &&
		     (!priv || OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_PRIV_KEY, priv) == 1),
	     "OSSL_PARAM_BLD");
	std::unique_ptr<OSSL_PARAM, Release<OSSL_PARAM, OSSL_PARAM_free>> params(OSSL_PARAM_BLD_to_param(build.get()));
	auto context = dhContext();
	EVP_PKEY *key = nullptr;
	must(params && EVP_PKEY_fromdata_init(context.get()) == 1, "EVP_PKEY_fromdata");
	if (EVP_PKEY_fromdata(context.get(), &key, priv ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
		return {};
	return Key(key, EVP_PKEY_free);
}

// 1 < y < p - 1
bool inRange(const Key &publicKey)
{
	const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, publicKey.get(), nullptr));
	return context && EVP_PKEY_public_check_quick(context.get()) == 1;
}

// g^priv mod p
Number publicOf(std::uint8_t group, const BIGNUM *priv)
{
	auto any = generate(group);
	auto p = parameter(any, OSSL_PKEY_PARAM_FFC_P), g = parameter(any, OSSL_PKEY_PARAM_FFC_G);
	std::unique_ptr<BN_CTX, Release<BN_CTX, BN_CTX_free>> context(BN_CTX_new());
	Number result(BN_new());
	must(context && result && BN_mod_exp(result.get(), g.get(), priv, p.get(), context.get()) == 1, "BN_mod_exp");
	return result;
}

// Names without a terminator, which separates them
void append(Bytes &to, std::string_view text)
{
	to.insert(to.end(), text.begin(), text.end());
}

void append(Bytes &to, const Bytes &bytes)
{
	to.insert(to.end(), bytes.begin(), bytes.end());
}

void computeDigest(std::uint8_t hash, std::span<const std::uint8_t> data, std::uint8_t *to)
{
	must(EVP_Q_digest(nullptr, hashTable[hash].name, nullptr, data.data(), data.size(), to, nullptr) == 1,
	     "digest");
}

void computeHmac(std::uint8_t hash, std::span<const std::uint8_t> key, std::span<const std::uint8_t> data,
		 std::uint8_t *to)
{
	std::size_t length = 0;
	must(EVP_Q_mac(nullptr, "HMAC", nullptr, hashTable[hash].name, nullptr, key.data(), key.size(), data.data(),
		       data.size(), to, hashTable[hash].length, &length) &&
		     length == hashTable[hash].length,
	     "HMAC");
}

// Kt of 8.13.5.7
SecretBytes transformed(std::string_view text, std::string_view nqn)
{
	auto secret = DhchapSecret::parse(text);
	if (!secret)
		throw std::invalid_argument("no secret of DH-HMAC-CHAP");
	if (secret->hash == KeyHash::none)
		return std::move(secret->secret);
	Bytes of;
	append(of, nqn);
	append(of, "NVMe-over-Fabrics");
	SecretBytes key(hashSize(secret->hash));
	computeHmac(static_cast<std::uint8_t>(secret->hash), secret->secret.bytes(), of, key.data());
	return key;
}

Bytes nonce(std::size_t length)
{
	Bytes bytes(length);
	must(RAND_bytes(bytes.data(), static_cast<int>(length)) == 1, "RAND_bytes");
	return bytes;
}

Bytes part(std::span<const std::uint8_t> of, std::size_t offset, std::size_t length)
{
	auto bytes = of.subspan(offset, length);
	return {bytes.begin(), bytes.end()};
}

// The first of @allowed that the message lists; nothing: none is
std::optional<std::uint8_t> choose(std::span<const std::uint8_t> message, std::size_t count, std::size_t list,
				   const std::vector<std::uint8_t> &allowed)
{
	constexpr std::size_t room = 30;
	auto ids = message.subspan(list, std::min<std::size_t>(message[count], room));
	for (std::uint8_t id : allowed)
		if (std::ranges::count(ids, id) != 0)
			return id;
	return {};
}

} // namespace

std::size_t dhchapHashLength(std::uint8_t hash)
{
	return hash < std::size(hashTable) ? hashTable[hash].length : 0;
}

std::size_t dhchapDhLength(std::uint8_t group)
{
	return group < std::size(groupTable) ? groupTable[group].length : 0;
}

const char *dhchapHashName(std::uint8_t hash)
{
	return dhchapHashLength(hash) ? toString(static_cast<KeyHash>(hash)) : "?";
}

const char *dhchapGroupName(std::uint8_t group)
{
	return group == 0 ? "NULL" : group < std::size(groupTable) ? groupTable[group].name : "?";
}

Bytes dhchapDigest(std::uint8_t hash, std::span<const std::uint8_t> data)
{
	Bytes digest(dhchapHashLength(hash));
	computeDigest(hash, data, digest.data());
	return digest;
}

Bytes dhchapHmac(std::uint8_t hash, std::span<const std::uint8_t> key, std::span<const std::uint8_t> data)
{
	Bytes mac(dhchapHashLength(hash));
	computeHmac(hash, key, data, mac.data());
	return mac;
}

DhKey::DhKey(std::uint8_t group) : group_(group), key_(generate(group)) {}

DhKey::DhKey(std::uint8_t group, std::span<const std::uint8_t> privateKey) : group_(group)
{
	auto priv = number(privateKey);
	auto pub = publicOf(group, priv.get());
	key_ = import(group, pub.get(), priv.get());
	must(bool(key_), "the private key is not of the group");
}

Bytes DhKey::publicValue() const
{
	return bytesOf(parameter(key_, OSSL_PKEY_PARAM_PUB_KEY).get(), dhchapDhLength(group_));
}

Bytes DhKey::prime() const
{
	return bytesOf(parameter(key_, OSSL_PKEY_PARAM_FFC_P).get(), dhchapDhLength(group_));
}

std::optional<SecretBytes> DhKey::sharedSecret(std::span<const std::uint8_t> peer) const
{
	auto other = import(group_, number(peer).get(), nullptr);
	KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key_.get(), nullptr));
	SecretBytes secret(dhchapDhLength(group_));
	std::size_t length = secret.size();
	unsigned pad = 1; // leading zeroes belong to the secret
	OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_EXCHANGE_PARAM_PAD, &pad), OSSL_PARAM_construct_end()};
	// The primes are safe, so 1 < y < p - 1 suffices (RFC 7919, 5.1). The check of the order of y, which OpenSSL
	// makes otherwise, costs up to 16 times as much as the rest, before the host has proved anything.
	if (!other || !inRange(other) || EVP_PKEY_derive_init_ex(context.get(), params) != 1 ||
	    EVP_PKEY_derive_set_peer_ex(context.get(), other.get(), 0) != 1 ||
	    EVP_PKEY_derive(context.get(), secret.data(), &length) != 1 || length != secret.size())
		return {};
	return secret;
}

Bytes dhchapResponse(const DhchapSide &side, std::uint8_t hash, std::uint16_t transaction,
		     std::span<const std::uint8_t> sessionKey)
{
	Bytes text(side.challenge.begin(), side.challenge.end());
	if (!sessionKey.empty())
		text = dhchapHmac(hash, sessionKey, side.challenge);
	auto end = text.size();
	text.resize(end + 7); // sequence number, transaction, SC_C
	put<std::uint32_t>(text, end, side.sequence);
	put<std::uint16_t>(text, end + 4, transaction);
	text[end + 6] = side.channel;
	append(text, side.label);
	append(text, side.nqn);
	text.push_back(0);
	append(text, side.other);
	return dhchapHmac(hash, transformed(side.secret, side.nqn).bytes(), text);
}

Bytes dhchapMessage(DhchapMessageType type, DhchapMessage id, std::uint16_t transaction, std::size_t size)
{
	Bytes message(size);
	message[dhchap_at::type] = type;
	message[dhchap_at::id] = id;
	put<std::uint16_t>(message, dhchap_at::transaction, transaction);
	return message;
}

Dhchap::Dhchap(DhchapRules rules, std::shared_ptr<const DhchapSecrets> secrets, std::string hostnqn,
	       std::string subsysnqn)
	: rules_(std::move(rules)), secrets_(std::move(secrets)), hostnqn_(std::move(hostnqn)),
	  subsysnqn_(std::move(subsysnqn))
{
}

void Dhchap::fail(DhchapReason reason, const char *why)
{
	forget();
	reason_ = reason;
	why_ = why;
	step_ = Step::failure1;
	authenticated_ = false;
}

// Erases the state of the current authentication
void Dhchap::forget()
{
	hostResponse_.clear();
	sessionKey_.shrink(0);
	key_.reset();
}

// Without it, there is no key for the connection that the host makes next.
void Dhchap::generate()
{
	if (nvmeof::Result<DerivedPsk> psk = generateTlsPsk(static_cast<KeyHash>(hash_), sessionKey_.bytes(),
							    challenge_, hostChallenge_, hostnqn_, subsysnqn_))
		generated_ = *std::move(psk);
}

void Dhchap::take(std::span<const std::uint8_t> message)
{
	if (message.size() < dhchap_at::values)
		return fail(dhchap_payload, "a message is too short");
	auto type = message[dhchap_at::type], id = message[dhchap_at::id];
	if (type == auth_common && id == dhchap_failure2) {
		forget();
		why_ = "the host has ended it";
		step_ = Step::failed;
		authenticated_ = false;
		return;
	}
	if (type == auth_common && id == dhchap_negotiate)
		return takeNegotiate(message);
	if (type != auth_dhchap || get<std::uint16_t>(message, dhchap_at::transaction) != transaction_)
		return fail(dhchap_wrong_message, "a message is of another transaction");
	try {
		if (step_ == Step::reply && id == dhchap_reply)
			return takeReply(message);
	} catch (const std::logic_error &) { // the secret
		return fail(dhchap_failed, "the key is invalid");
	} catch (const std::runtime_error &) {
		return fail(dhchap_failed, "OpenSSL failed");
	}
	if (step_ != Step::success2 || id != dhchap_success2)
		return fail(dhchap_wrong_message, "a message comes at the wrong time");
	if (concatenates())
		generate();
	forget();
	step_ = Step::done;
}

void Dhchap::takeNegotiate(std::span<const std::uint8_t> message)
{
	constexpr std::size_t size = 72; // with one protocol descriptor
	const bool between = step_ == Step::negotiate || step_ == Step::done || step_ == Step::failed;
	if (!between && !rules_.restart)
		return fail(dhchap_wrong_message, "a second negotiation begins before the first has ended");
	transaction_ = get<std::uint16_t>(message, dhchap_at::transaction);
	if (message.size() < size)
		return fail(dhchap_payload, "the negotiation is too short");
	channel_ = message[dhchap_at::secureChannel];
	if (concatenates() && (!rules_.concatenate || channel_ != dhchap_new_tls_psk))
		return fail(dhchap_concatenation, "the host asks for a secure channel");
	if (!message[dhchap_at::descriptors] || message[dhchap_at::authid] != spspDhchap)
		return fail(dhchap_protocol_unusable, "the host does not offer DH-HMAC-CHAP");
	auto hash = choose(message, dhchap_at::halen, dhchap_at::hashes, rules_.hashes);
	if (!hash)
		return fail(dhchap_hash_unusable, "the host offers no hash function that is allowed");
	auto group = choose(message, dhchap_at::dhlen, dhchap_at::groups, rules_.groups);
	if (!group)
		return fail(dhchap_group_unusable, "the host offers no DH group that is allowed");
	if (concatenates() && (!*group || *hash > static_cast<std::uint8_t>(KeyHash::sha384)))
		return fail(dhchap_concatenation, "the algorithms cannot generate a key of TLS");
	if (renewed_)
		secrets_ = std::move(renewed_);
	renewed_.reset();
	forget();
	hostChallenge_.clear();
	generated_.reset();
	hash_ = *hash;
	group_ = *group;
	step_ = Step::challenge;
}

Bytes Dhchap::challenge()
{
	auto hl = dhchapHashLength(hash_), dhvlen = dhchapDhLength(group_);
	auto message = dhchapMessage(auth_dhchap, dhchap_challenge, transaction_, dhchap_at::values);
	message[dhchap_at::hl] = static_cast<std::uint8_t>(hl);
	message[dhchap_at::hash] = hash_;
	message[dhchap_at::group] = group_;
	put<std::uint16_t>(message, dhchap_at::challengeDhvlen, static_cast<std::uint16_t>(dhvlen));
	put<std::uint32_t>(message, dhchap_at::sequence, get<std::uint32_t>(nonce(4), 0) | 1);
	append(message, nonce(hl));
	if (dhvlen) {
		key_.emplace(group_);
		append(message, key_->publicValue());
	}
	return message;
}

void Dhchap::challenged(const Bytes &message)
{
	auto hl = dhchapHashLength(hash_);
	if (message.size() < dhchap_at::values + hl)
		return;
	sequence_ = get<std::uint32_t>(message, dhchap_at::sequence);
	challenge_ = part(message, dhchap_at::values, hl);
}

void Dhchap::takeReply(std::span<const std::uint8_t> message)
{
	auto hl = dhchapHashLength(hash_), dhvlen = dhchapDhLength(group_);
	if (message[dhchap_at::hl] != hl || get<std::uint16_t>(message, dhchap_at::replyDhvlen) != dhvlen ||
	    message.size() < dhchap_at::values + 2 * hl + dhvlen)
		return fail(dhchap_payload, "the reply has a wrong length");
	if (dhvlen) {
		auto shared = key_->sharedSecret(message.subspan(dhchap_at::values + 2 * hl, dhvlen));
		if (!shared)
			return fail(dhchap_payload, "the host's DH value is invalid");
		sessionKey_ = SecretBytes(hl);
		computeDigest(hash_, shared->bytes(), sessionKey_.data());
	}
	hostResponse_ = part(message, dhchap_at::values, hl);
	const Bytes expected =
		dhchapResponse({secrets_->host, hostnqn_, subsysnqn_, "HostHost", challenge_, sequence_, channel_},
			       hash_, transaction_, sessionKey_.bytes());
	if (CRYPTO_memcmp(hostResponse_.data(), expected.data(), hl) != 0)
		return fail(dhchap_failed, "the host has another key");
	if (concatenates() && !(message[dhchap_at::valid] & 1))
		return fail(dhchap_failed, "the host asks for a secure channel without a challenge of its own");
	if (message[dhchap_at::valid] & 1) {
		hostChallenge_ = part(message, dhchap_at::values + hl, hl);
		hostSequence_ = get<std::uint32_t>(message, dhchap_at::sequence);
	}
	if (mutual() && secrets_->ctrl.empty())
		return fail(dhchap_failed, "the host asks for a proof of the controller, which has no key for it");
	step_ = Step::success1;
}

Bytes Dhchap::success1() const
{
	auto hl = dhchapHashLength(hash_);
	auto message = dhchapMessage(auth_dhchap, dhchap_success1, transaction_, dhchap_at::values);
	message[dhchap_at::hl] = static_cast<std::uint8_t>(hl);
	if (!mutual())
		return message;
	message[dhchap_at::valid] = 1;
	append(message, dhchapResponse({secrets_->ctrl, subsysnqn_, hostnqn_, "Controller", hostChallenge_,
					hostSequence_, channel_},
				       hash_, transaction_, sessionKey_.bytes()));
	return message;
}

Bytes Dhchap::failure(DhchapReason reason) const
{
	auto message = dhchapMessage(auth_common, dhchap_failure1, transaction_, dhchap_at::values);
	message[dhchap_at::reasonCode] = 1; // Authentication failure, the only one
	message[dhchap_at::reason] = reason;
	return message;
}

std::optional<Bytes> Dhchap::next()
{
	try {
		if (step_ == Step::challenge) {
			Bytes message = challenge();
			challenged(message);
			step_ = Step::reply;
			return message;
		}
		if (step_ == Step::success1) {
			Bytes message = success1();
			authenticated_ = true;
			step_ = mutual() ? Step::success2 : Step::done;
			if (step_ == Step::done && concatenates())
				generate();
			if (step_ == Step::done)
				forget();
			return message;
		}
	} catch (const std::logic_error &) { // the secret
		fail(dhchap_failed, "the key is invalid");
	} catch (const std::runtime_error &) {
		fail(dhchap_failed, "OpenSSL failed");
	}
	if (step_ != Step::failure1)
		return {};
	step_ = Step::failed;
	return failure(reason_);
}

} // namespace nofctl
