// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_keyring.h"

#include <cerrno>

#include <keyutils.h>
#include <openssl/crypto.h>

#include "libctl/base/make_error.h"
#include "libctl/base/text.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::errorFromErrno;
using nvmeof::Result;
using nvmeof::TlsUse;

namespace {

constexpr const char *pskType = "psk";
constexpr std::size_t maxPskSize = 64;

Error missing(const std::string &what)
{
	return errorFromErrno(ENOKEY, "the keyring .nvme has no TLS key " + what +
					      ": 'nvmeofctl key list' lists its keys, 'nvmeofctl key insert FILE' adds "
					      "one");
}

bool sameSecret(const SecretBytes &a, const SecretBytes &b)
{
	return a.size() == b.size() && CRYPTO_memcmp(a.bytes().data(), b.bytes().data(), a.size()) == 0;
}

} // namespace

Result<TlsKeyring> TlsKeyring::open()
{
	const key_serial_t serial = ::find_key_by_type_and_desc("keyring", ".nvme", 0);
	if (serial < 0)
		return errorFromErrno(ENOKEY, "this kernel has no keyring .nvme for TLS keys: 'modprobe nvme-keyring' "
					      "adds it, if the kernel has CONFIG_NVME_KEYRING");
	return TlsKeyring(serial, pskType);
}

TlsKeyring TlsKeyring::of(KeySerial keyring, const char *type)
{
	return {keyring, type};
}

Result<std::vector<TlsKey>> TlsKeyring::list() const
{
	const Result<std::vector<KeyringKey>> found = keysIn(serial_, "the keyring .nvme");
	if (!found)
		return found.error();
	std::vector<TlsKey> keys;
	for (const KeyringKey &key : *found) {
		Result<TlsIdentity> identity = TlsIdentity::parse(key.description);
		if (key.type == type_ && identity)
			keys.push_back({key.serial, *std::move(identity)});
	}
	return keys;
}

Result<TlsKey> TlsKeyring::find(const std::string &identity) const
{
	Result<std::vector<TlsKey>> keys = list();
	if (!keys)
		return keys.error();
	for (const TlsKey &key : *keys)
		if (key.identity.format() == identity)
			return key;
	return missing("'" + printable(identity) + "'");
}

Result<std::optional<TlsKey>> TlsKeyring::findDefault(const std::string &hostnqn, const std::string &subsysnqn) const
{
	Result<std::vector<TlsKey>> keys = list();
	if (!keys)
		return keys.error();
	constexpr std::pair<unsigned, KeyHash> order[] = {
		{1, KeyHash::sha384}, {1, KeyHash::sha256}, {0, KeyHash::sha384}, {0, KeyHash::sha256}};
	for (const auto &[version, hash] : order) {
		std::optional<TlsKey> found;
		for (TlsKey &key : *keys) {
			const TlsIdentity &is = key.identity;
			if (is.version != version || is.hash != hash || is.kind != 'R' || is.hostnqn != hostnqn ||
			    is.subsysnqn != subsysnqn)
				continue;
			if (found)
				return invalidError("the keyring .nvme has several TLS keys for host " + hostnqn +
						    " and subsystem " + subsysnqn +
						    ": give one by tls-key keyring:IDENTITY, or revoke the others "
						    "('nvmeofctl key list', 'nvmeofctl key revoke IDENTITY')");
			found = std::move(key);
		}
		if (found)
			return found;
	}
	return std::optional<TlsKey>();
}

Result<KeySerial> TlsKeyring::insert(const DerivedPsk &psk) const
{
	if (Result<TlsKey> known = find(psk.identity)) {
		const Result<SecretBytes> secret = read(*known);
		if (secret && sameSecret(*secret, psk.secret))
			return known->serial;
	}
	const key_serial_t serial =
		::add_key(type_, psk.identity.c_str(), psk.secret.bytes().data(), psk.secret.size(), serial_);
	if (serial < 0)
		return keyringError("cannot add a key to the keyring .nvme", errno);
	return serial;
}

Result<SecretBytes> TlsKeyring::read(const TlsKey &key) const
{
	SecretBytes secret(maxPskSize);
	const long size = ::keyctl_read(key.serial, reinterpret_cast<char *>(secret.data()), secret.size());
	if (size < 0)
		return keyringError("cannot read the TLS key '" + printable(key.identity.format()) + "'", errno);
	if (static_cast<std::size_t>(size) > maxPskSize)
		return invalidError("the TLS key '" + printable(key.identity.format()) + "' has a wrong length");
	secret.shrink(static_cast<std::size_t>(size));
	return secret;
}

Result<void> TlsKeyring::revoke(const std::string &identity) const
{
	Result<TlsKey> key = find(identity);
	if (!key)
		return key.error();
	if (::keyctl_revoke(key->serial) < 0)
		return keyringError("cannot revoke the TLS key", errno);
	::keyctl_unlink(key->serial, serial_);
	return {};
}

std::string tlsIdentityOf(KeySerial serial)
{
	const std::optional<KeyringKey> key = serial > 0 ? describeKey(serial) : std::nullopt;
	return key && key->type == pskType && TlsIdentity::parse(key->description) ? key->description : "";
}

namespace {

// A key of the keyring that a setting names
Result<KeySerial> named(const TlsKeyring &keyring, const std::string &identity, const std::string &hostnqn,
			const std::string &subsysnqn)
{
	Result<TlsKey> key = keyring.find(identity);
	if (!key)
		return key.error();
	if (key->identity.hostnqn != hostnqn || key->identity.subsysnqn != subsysnqn)
		return invalidError("the key is for host " + key->identity.hostnqn + " and subsystem " +
				    key->identity.subsysnqn + ", not for " + hostnqn + " and " + subsysnqn +
				    ": 'nvmeofctl key list' lists keys");
	return key->serial;
}

Result<KeySerial> inserted(const TlsKeyring &keyring, const KeySource &source, const std::string &hostnqn,
			   const std::string &subsysnqn)
{
	const Result<TlsPsk> configured = readTlsPsk(source);
	if (!configured)
		return configured.error();
	const Result<DerivedPsk> psk = deriveTlsPsk(*configured, hostnqn, subsysnqn);
	return psk ? keyring.insert(*psk) : Result<KeySerial>(psk.error());
}

} // namespace

Result<std::optional<TlsRequestKey>> tlsRequestKey(TlsKeyring keyring, TlsUse use, const std::string &source,
						   const std::string &hostnqn, const std::string &subsysnqn)
{
	if (source.empty()) {
		Result<std::optional<TlsKey>> found = keyring.findDefault(hostnqn, subsysnqn);
		if (!found)
			return ofSetting("tls", found.error());
		if (*found)
			return std::optional(TlsRequestKey{std::move(keyring), (*found)->serial});
		if (use == TlsUse::preferred)
			return std::optional<TlsRequestKey>();
		return ofSetting("tls", missing("for host " + hostnqn + " and subsystem " + subsysnqn));
	}
	Result<KeySource> parsed = KeySource::parse(source);
	if (!parsed)
		return ofSetting("tls-key", parsed.error());
	Result<KeySerial> serial = parsed->kind() == KeySource::Kind::keyring
					   ? named(keyring, parsed->name(), hostnqn, subsysnqn)
					   : inserted(keyring, *parsed, hostnqn, subsysnqn);
	if (!serial)
		return ofSetting("tls-key", serial.error());
	return std::optional(TlsRequestKey{std::move(keyring), *serial});
}

} // namespace nofctl
