// SPDX-License-Identifier: LGPL-2.1-or-later
// The keyring ".nvme" of the module nvme-keyring, whose keys of type "psk" the TLS agent uses, and the driver names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

#include "keyring.h"
#include "tls_psk.h"

namespace nofctl {

struct TlsKey {
	KeySerial serial = 0;
	TlsIdentity identity; // its description
};

// The calling thread possesses the keys while the object exists, which reading and revoking them needs. Must be
// destroyed by the thread that has opened it.
class TlsKeyring {
public:
	// Errors: authentication with ENOKEY, if this kernel has no such keyring.
	static nvmeof::Result<TlsKeyring> open();
	// Another keyring, and another type of keys. For tests.
	static TlsKeyring of(KeySerial keyring, const char *type);

	KeySerial serial() const { return serial_; }
	// Sorted by identity. Revoked and expired keys, and those whose description is not an identity, are left out.
	nvmeof::Result<std::vector<TlsKey>> list() const;
	// Errors: authentication, with ENOKEY.
	nvmeof::Result<TlsKey> find(const std::string &identity) const;
	// The key for these NQNs: of version 1 before version 0, then SHA-384 before SHA-256. Nothing: there is none.
	// Errors: invalid, if there are several of one kind.
	nvmeof::Result<std::optional<TlsKey>> findDefault(const std::string &hostnqn,
							  const std::string &subsysnqn) const;
	// Adds the key, unless it exists already: controllers that use it need it in this keyring when they reconnect.
	// A key with this identity and another secret is replaced. Errors: notPermitted; failed, with the errno.
	nvmeof::Result<KeySerial> insert(const DerivedPsk &psk) const;
	// Errors: failed, with the errno.
	nvmeof::Result<SecretBytes> read(const TlsKey &key) const;
	// Errors: like find().
	nvmeof::Result<void> revoke(const std::string &identity) const;

private:
	TlsKeyring(KeySerial serial, const char *type)
		: serial_(serial), type_(type), possession_(std::make_unique<Possession>(serial))
	{
	}

	KeySerial serial_;
	const char *type_;
	std::unique_ptr<Possession> possession_;
};

// The identity of a key of type "psk"; empty: it does not exist, or has another type or description.
std::string tlsIdentityOf(KeySerial serial);

// The key of a TLS connection, until the request with its serial number has been answered
struct TlsRequestKey {
	TlsKeyring keyring;
	KeySerial serial;
};

/*
 * The key that the settings tls and tls-key name. A configured key of a file or credential is derived for the NQNs, and
 * inserted into @keyring. @source: empty: the default key for the NQNs. Nothing: @use is "preferred", and there is no
 * default key. Errors: of readTlsPsk() and TlsKeyring, with the name of the setting; invalid for the key of another
 * pair of NQNs.
 */
nvmeof::Result<std::optional<TlsRequestKey>> tlsRequestKey(TlsKeyring keyring, nvmeof::TlsUse use,
							   const std::string &source, const std::string &hostnqn,
							   const std::string &subsysnqn);

} // namespace nofctl
