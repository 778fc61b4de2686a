// SPDX-License-Identifier: LGPL-2.1-or-later
#include "keyring.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <keyutils.h>

#include "libctl/base/invalid_error.h"
#include "libctl/base/text.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::errorFromErrno;
using nvmeof::Result;

namespace {

constexpr std::string_view prefix = "nvmeof:";
constexpr const char *types[] = {"logon", "user"};

// Root may list, update, find and revoke a key. No process may read it.
constexpr key_perm_t permissions = KEY_POS_VIEW | KEY_POS_WRITE | KEY_POS_SEARCH | KEY_POS_LINK | KEY_POS_SETATTR |
				   KEY_USR_VIEW | KEY_USR_WRITE | KEY_USR_SEARCH | KEY_USR_LINK | KEY_USR_SETATTR;

// The permissions of a new key can be set by a process that possesses it only. The session keyring of a service has no
// link to the user keyring (systemd.exec(5), KeyringMode=), so the thread gets one meanwhile.
class Possession {
public:
	Possession() : linked_(::keyctl_link(KEY_SPEC_USER_KEYRING, KEY_SPEC_THREAD_KEYRING) == 0) {}
	Possession(const Possession &) = delete;
	Possession &operator=(const Possession &) = delete;
	~Possession()
	{
		if (linked_)
			::keyctl_unlink(KEY_SPEC_USER_KEYRING, KEY_SPEC_THREAD_KEYRING);
	}

private:
	bool linked_;
};

Error keyringError(const std::string &what, int sysErrno)
{
	std::string message = what + ": " + std::strerror(sysErrno);
	if (sysErrno == EDQUOT)
		message += "; /proc/sys/kernel/keys/root_maxkeys and root_maxbytes limit the keys";
	if (sysErrno == ENOSYS)
		message += "; the kernel is built without CONFIG_KEYS";
	return errorFromErrno(sysErrno, message);
}

struct Free {
	void operator()(void *memory) const { std::free(memory); }
};

// "TYPE;UID;GID;PERMISSIONS;DESCRIPTION"
std::optional<KeyringKey> described(KeySerial serial)
{
	char *text = nullptr;
	if (::keyctl_describe_alloc(serial, &text) < 0)
		return std::nullopt; // revoked, expired or removed
	const std::unique_ptr<char, Free> freed(text);
	const std::string_view all = text;
	std::size_t at = 0;
	for (int i = 0; i < 4 && at != all.npos; i++)
		at = all.find(';', at + (i > 0));
	if (at == all.npos)
		return std::nullopt;
	return KeyringKey{serial, std::string(all.substr(0, all.find(';'))), std::string(all.substr(at + 1))};
}

// The error of a missing key, or of one that is there but cannot be used
Error absent(const std::string &description, int sysErrno)
{
	if (sysErrno == ENOKEY)
		return errorFromErrno(sysErrno, "the user keyring has no key '" + shown(description) +
							"': 'nvmeofctl key list' lists keys, 'nvmeofctl key insert' "
							"adds one");
	return keyringError("cannot use the key '" + shown(description) + "'", sysErrno);
}

} // namespace

std::string dhchapDescription(KeyOwner owner, const std::string &hostnqn, const std::string &subsysnqn)
{
	return std::string(prefix) + "dhchap:" + (owner == KeyOwner::host ? "host:" : "ctrl:") + hostnqn + ":" +
	       (subsysnqn.empty() ? "*" : subsysnqn);
}

Result<KeySerial> insertKey(const std::string &description, const SecretBytes &payload)
{
	const key_serial_t serial =
		::add_key(types[0], description.c_str(), payload.bytes().data(), payload.size(), KEY_SPEC_USER_KEYRING);
	if (serial < 0)
		return keyringError("cannot add a key to the user keyring", errno);
	const Possession possession;
	if (::keyctl_setperm(serial, permissions) < 0)
		return keyringError("cannot set the permissions of the key", errno);
	return serial;
}

Result<KeySerial> findKey(const std::string &description)
{
	int sysErrno = ENOKEY;
	for (const char *type : types) {
		const long serial = ::keyctl_search(KEY_SPEC_USER_KEYRING, type, description.c_str(), 0);
		if (serial >= 0)
			return static_cast<KeySerial>(serial);
		if (errno != ENOKEY)
			sysErrno = errno;
	}
	return absent(description, sysErrno);
}

Result<std::vector<KeyringKey>> listKeys()
{
	void *content = nullptr;
	const int size = ::keyctl_read_alloc(KEY_SPEC_USER_KEYRING, &content);
	if (size < 0)
		return keyringError("cannot read the user keyring", errno);
	const std::unique_ptr<void, Free> freed(content);
	std::vector<KeyringKey> keys;
	for (std::size_t i = 0; i < static_cast<std::size_t>(size) / sizeof(key_serial_t); i++)
		if (std::optional<KeyringKey> key = described(static_cast<const key_serial_t *>(content)[i]))
			if (key->description.starts_with(prefix))
				keys.push_back(*std::move(key));
	std::ranges::sort(keys, {}, &KeyringKey::description);
	return keys;
}

Result<void> revokeKey(const std::string &description)
{
	if (!description.starts_with(prefix))
		return invalidError("only keys whose description begins with " + std::string(prefix) +
				    " can be revoked here; for others, see keyctl(1)");
	Result<KeySerial> serial = findKey(description);
	if (!serial)
		return serial.error();
	if (::keyctl_revoke(*serial) < 0)
		return keyringError("cannot revoke the key", errno);
	::keyctl_unlink(*serial, KEY_SPEC_USER_KEYRING); // the kernel would do so later
	return {};
}

Result<KeySerial> dhchapKey(const KeySource &source, KeyOwner owner, const std::string &hostnqn,
			    const std::string &subsysnqn)
{
	if (source.kind() == KeySource::Kind::keyring)
		return findKey(source.name());
	Result<SecretBytes> text = readDhchapSecret(source);
	if (!text)
		return text.error();
	return insertKey(dhchapDescription(owner, hostnqn, subsysnqn), *text);
}

namespace {

Result<std::optional<KeySerial>> keyOf(const char *setting, const std::string &text, KeyOwner owner,
				       const std::string &hostnqn, const std::string &subsysnqn)
{
	if (text.empty())
		return std::optional<KeySerial>();
	Result<KeySource> source = KeySource::parse(text);
	Result<KeySerial> serial =
		source ? dhchapKey(*source, owner, hostnqn, subsysnqn) : Result<KeySerial>(source.error());
	if (serial)
		return std::optional(*serial);
	Error error = serial.error();
	error.message = std::string(setting) + ": " + error.message;
	return error;
}

} // namespace

Result<DhchapKeys> dhchapKeys(const std::string &hostSource, const std::string &controllerSource,
			      const std::string &hostnqn, const std::string &subsysnqn)
{
	auto host = keyOf("dhchap-key", hostSource, KeyOwner::host, hostnqn, subsysnqn);
	if (!host)
		return host.error();
	auto controller = keyOf("dhchap-ctrl-key", controllerSource, KeyOwner::controller, hostnqn, subsysnqn);
	if (!controller)
		return controller.error();
	return DhchapKeys{*host, *controller};
}

} // namespace nofctl
