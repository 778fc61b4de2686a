// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_keys.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>

#include <linux/tls.h>

#include "libctl/keys/hkdf.h"

namespace tlsd {

using nofctl::KeyHash;
using nofctl::SecretBytes;
using nvmeof::errorFromErrno;
using nvmeof::Result;

namespace {

constexpr std::size_t ivSize = 12; // of all AEADs of TLS 1.3: RFC 8446, 5.3

struct Suite {
	std::uint16_t number;
	RecordCipher cipher;
	const char *name;
	std::size_t keySize;
};

constexpr Suite suites[] = {
	{0x1301, RecordCipher::aes128Gcm, "AES-128-GCM", TLS_CIPHER_AES_GCM_128_KEY_SIZE},
	{0x1302, RecordCipher::aes256Gcm, "AES-256-GCM", TLS_CIPHER_AES_GCM_256_KEY_SIZE},
	{0x1303, RecordCipher::chacha20Poly1305, "CHACHA20-POLY1305", TLS_CIPHER_CHACHA20_POLY1305_KEY_SIZE},
};

const Suite &suiteOf(RecordCipher cipher)
{
	return suites[static_cast<std::size_t>(cipher)];
}

// kTLS takes the IV in two parts: a salt of 4 bytes, and the rest.
template <typename Info> Result<void> install(int socket, int direction, std::uint16_t type, const RecordKeys &keys)
{
	SecretBytes bytes(sizeof(Info)); // all zero: record 0 is the next
	auto *info = reinterpret_cast<Info *>(bytes.data());
	info->info.version = TLS_1_3_VERSION;
	info->info.cipher_type = type;
	std::ranges::copy(keys.key.bytes(), info->key);
	constexpr std::size_t saltSize = ivSize - sizeof(info->iv);
	if constexpr (saltSize > 0)
		std::ranges::copy(keys.iv.bytes().first(saltSize), info->salt);
	std::ranges::copy(keys.iv.bytes().subspan(saltSize), info->iv);
	if (::setsockopt(socket, SOL_TLS, direction, info, sizeof(Info)) < 0)
		return errorFromErrno(errno, std::string("the kernel does not take the keys of the connection: ") +
						     std::strerror(errno) +
						     "; 'nvmeof-tlsd --check' tries each cipher");
	return {};
}

Result<void> install(int socket, int direction, RecordCipher cipher, const RecordKeys &keys)
{
	switch (cipher) {
	case RecordCipher::aes128Gcm:
		break;
	case RecordCipher::aes256Gcm:
		return install<tls12_crypto_info_aes_gcm_256>(socket, direction, TLS_CIPHER_AES_GCM_256, keys);
	case RecordCipher::chacha20Poly1305:
		return install<tls12_crypto_info_chacha20_poly1305>(socket, direction, TLS_CIPHER_CHACHA20_POLY1305,
								    keys);
	}
	return install<tls12_crypto_info_aes_gcm_128>(socket, direction, TLS_CIPHER_AES_GCM_128, keys);
}

} // namespace

std::optional<RecordCipher> recordCipherOf(std::uint16_t suite)
{
	const auto *found = std::ranges::find(suites, suite, &Suite::number);
	return found == std::end(suites) ? std::nullopt : std::optional(found->cipher);
}

const char *toString(RecordCipher cipher)
{
	return suiteOf(cipher).name;
}

Result<SecretBytes> expandLabel(KeyHash hash, const SecretBytes &secret, std::string_view label, std::size_t size)
{
	return nofctl::hkdf(nofctl::HkdfMode::expand, hash, secret, nofctl::hkdfLabel(label, "", size), size);
}

Result<RecordKeys> RecordKeys::derive(RecordCipher cipher, KeyHash hash, const SecretBytes &secret)
{
	Result<SecretBytes> key = expandLabel(hash, secret, "key", suiteOf(cipher).keySize);
	if (!key)
		return key.error();
	Result<SecretBytes> iv = expandLabel(hash, secret, "iv", ivSize);
	if (!iv)
		return iv.error();
	return RecordKeys{*std::move(key), *std::move(iv)};
}

Result<SessionKeys> sessionKeysOf(const nofctl::TlsHandshake &handshake)
{
	const std::optional<RecordCipher> cipher = recordCipherOf(handshake.suite());
	if (!cipher)
		return errorFromErrno(EIO, "a cipher suite that the kernel does not know");
	Result<RecordKeys> send = RecordKeys::derive(*cipher, handshake.hash(), handshake.sendSecret());
	if (!send)
		return send.error();
	Result<RecordKeys> receive = RecordKeys::derive(*cipher, handshake.hash(), handshake.receiveSecret());
	if (!receive)
		return receive.error();
	return SessionKeys{*cipher, *std::move(send), *std::move(receive)};
}

Result<void> installKeys(int socket, const SessionKeys &keys)
{
	constexpr char ulp[] = "tls";
	if (::setsockopt(socket, SOL_TCP, TCP_ULP, ulp, sizeof(ulp)) < 0)
		return errorFromErrno(errno,
				      std::string("the kernel cannot encrypt the connection: ") + std::strerror(errno) +
					      "; is its module tls loaded (CONFIG_TLS)? 'modprobe tls' loads it");
	if (Result<void> sent = install(socket, TLS_TX, keys.cipher, keys.send); !sent)
		return sent;
	return install(socket, TLS_RX, keys.cipher, keys.receive);
}

} // namespace tlsd
