// SPDX-License-Identifier: LGPL-2.1-or-later
#include "psk_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <keyutils.h>

#include "libctl/base/text.h"

namespace tlsd {

using nofctl::KeyHash;
using nofctl::KeyringKey;
using nofctl::KeySerial;
using nofctl::SecretBytes;
using nvmeof::Error;
using nvmeof::errorFromErrno;
using nvmeof::Result;

namespace {

constexpr const char *nvmeKeyringName = ".nvme";

// A keyring in the session keyring of the agent meanwhile: a process may read only keys that it possesses, which means
// that a search of its keyrings finds them.
class Possession {
public:
	explicit Possession(KeySerial keyring) : keyring_(keyring)
	{
		if (keyring_)
			::keyctl_link(keyring_, KEY_SPEC_SESSION_KEYRING);
	}
	Possession(const Possession &) = delete;
	Possession &operator=(const Possession &) = delete;
	~Possession()
	{
		if (keyring_)
			::keyctl_unlink(keyring_, KEY_SPEC_SESSION_KEYRING);
	}

private:
	KeySerial keyring_;
};

Error keyError(int status, std::string message)
{
	Error error = errorFromErrno(status, std::move(message));
	error.sysErrno = status;
	return error;
}

// EACCES would mean to the user of the handshake that the peer does not accept the key.
Error readError(KeySerial serial, int sysErrno)
{
	const std::string which = "key " + std::to_string(serial);
	switch (sysErrno) {
	case ENOKEY:
		return keyError(ENOKEY, "there is no " + which + ": it was removed; insert it again");
	case EKEYREVOKED:
		return keyError(EKEYREVOKED, which + " is revoked; insert a new one");
	case EKEYEXPIRED:
		return keyError(EKEYEXPIRED, which + " has expired; insert a new one");
	default:
		return keyError(EIO, which + " cannot be read: " + std::strerror(sysErrno) +
					     "; it must be in the keyring .nvme or in that of the connection");
	}
}

Error lengthError(const std::string &identity, KeyHash hash)
{
	return keyError(EKEYREJECTED, "the key '" + nofctl::printable(identity) + "' has a wrong length for " +
					      toString(hash) + "; insert it again");
}

// @serial is possessed.
Result<Psk> readPsk(KeySerial serial, std::string identity, KeyHash hash)
{
	const std::size_t size = nofctl::hashSize(hash);
	SecretBytes secret(size + 1);
	const long read = ::keyctl_read(serial, reinterpret_cast<char *>(secret.data()), secret.size());
	if (read < 0)
		return readError(serial, errno);
	if (static_cast<std::size_t>(read) != size)
		return lengthError(identity, hash);
	secret.shrink(size);
	return Psk{serial, std::move(identity), hash, std::move(secret)};
}

} // namespace

// The key of @keyring with this identity, 0 if there is none. A search of the kernel matches a prefix of the identity,
// and would compare text of a peer with shorter descriptions.
KeySerial KeyringPskStore::findIn(KeySerial keyring, std::string_view identity) const
{
	const Result<std::vector<KeyringKey>> keys = nofctl::keysIn(keyring, "a keyring of TLS keys");
	if (!keys)
		return 0;
	const auto found = std::ranges::find_if(
		*keys, [&](const KeyringKey &key) { return key.type == type_ && key.description == identity; });
	return found == keys->end() ? 0 : found->serial;
}

Result<KeyringPskStore> KeyringPskStore::open(std::string type)
{
	if (::keyctl_join_session_keyring(nullptr) < 0) {
		const int sysErrno = errno;
		return errorFromErrno(sysErrno, std::string("cannot make a session keyring: ") +
							std::strerror(sysErrno) +
							"; the kernel needs CONFIG_KEYS, and a container must allow "
							"keyctl(2)");
	}
	return KeyringPskStore(std::move(type));
}

KeySerial KeyringPskStore::nvmeKeyring()
{
	if (nvme_)
		if (const std::optional<KeyringKey> is = nofctl::describeKey(nvme_))
			if (is->type == "keyring" && is->description == nvmeKeyringName)
				return nvme_;
	const key_serial_t found = ::find_key_by_type_and_desc("keyring", nvmeKeyringName, 0);
	nvme_ = found > 0 ? found : 0;
	return nvme_;
}

Result<Psk> KeyringPskStore::read(KeySerial serial, KeySerial keyring)
{
	const Possession own(keyring), nvme(nvmeKeyring());
	const std::optional<KeyringKey> is = nofctl::describeKey(serial);
	if (!is)
		return readError(serial, errno);
	const std::optional<KeyHash> hash = hashOfIdentity(is->description);
	if (is->type != type_ || !hash)
		return keyError(EKEYREJECTED, "key " + std::to_string(serial) + " '" +
						      nofctl::printable(is->description) +
						      "' is no pre-shared key of NVMe/TCP; its type is psk, and its "
						      "description begins with NVMe0R or NVMe1R");
	return readPsk(serial, is->description, *hash);
}

Result<Psk> KeyringPskStore::find(std::string_view identity, KeySerial keyring)
{
	const std::optional<KeyHash> hash = hashOfIdentity(identity);
	const KeySerial nvme = nvmeKeyring();
	const Possession own(keyring), common(nvme);
	if (hash)
		for (const KeySerial in : {keyring, nvme == keyring ? 0 : nvme})
			if (const KeySerial serial = in ? findIn(in, identity) : 0)
				return readPsk(serial, std::string(identity), *hash);
	return keyError(ENOKEY, nvme ? "the keyring .nvme has no such key; 'nvmeofctl key list' shows its keys"
				     : "there is no keyring .nvme; 'modprobe nvme-keyring' makes it");
}

void clearProcessKeyring()
{
	::keyctl_clear(KEY_SPEC_PROCESS_KEYRING);
}

KeySerial processKeyringEntry()
{
	std::array<key_serial_t, 1> first{};
	const long size =
		::keyctl_read(KEY_SPEC_PROCESS_KEYRING, reinterpret_cast<char *>(first.data()), sizeof(first));
	return size >= static_cast<long>(sizeof(first)) ? first[0] : 0;
}

} // namespace tlsd
