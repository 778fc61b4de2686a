// SPDX-License-Identifier: LGPL-2.1-or-later
#include "keyring.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <keyutils.h>

#include "libctl/base/make_error.h"
#include "libctl/base/text.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::errorFromErrno;
using nvmeof::Result;

namespace {

constexpr std::string_view prefix = "nvmeof:", keyPrefix = "nvmeof:dhchap:";
constexpr const char *types[] = {"logon", "user"};

// The user may list, update, find and revoke a key. No process may read it.
constexpr key_perm_t userPermissions = KEY_POS_VIEW | KEY_POS_WRITE | KEY_POS_SEARCH | KEY_POS_LINK | KEY_POS_SETATTR |
				       KEY_USR_VIEW | KEY_USR_WRITE | KEY_USR_SEARCH | KEY_USR_LINK | KEY_USR_SETATTR;

// Only a thread that possesses the key can find it. Without SETATTR, no process can give itself more.
constexpr key_perm_t requestPermissions = KEY_POS_VIEW | KEY_POS_SEARCH;

// Unique in this process, so that add_key(2) does not update a key that exists. Logon keys need a prefix with a colon.
std::string uniqueDescription(const char *what)
{
	static std::atomic<unsigned> count = 0;
	return std::string(prefix) + what + ":" + std::to_string(++count);
}

struct Free {
	void operator()(void *memory) const { std::free(memory); }
};

} // namespace

// The session keyring of a service has no link to the user keyring (systemd.exec(5), KeyringMode=) or to .nvme. So the
// thread gets a keyring with such a link meanwhile. The link is not put into the thread keyring itself, where the
// application may have one.
Possession::Possession(KeySerial keyring)
	: helper_(::add_key("keyring", uniqueDescription("link").c_str(), nullptr, 0, KEY_SPEC_THREAD_KEYRING))
{
	if (helper_ >= 0)
		::keyctl_link(keyring, helper_);
}

Possession::~Possession()
{
	if (helper_ >= 0)
		::keyctl_unlink(helper_, KEY_SPEC_THREAD_KEYRING);
}

Error keyringError(const std::string &what, int sysErrno)
{
	std::string message = what + ": " + std::strerror(sysErrno);
	if (sysErrno == EDQUOT)
		message += "; /proc/sys/kernel/keys/root_maxkeys and root_maxbytes limit the keys";
	if (sysErrno == ENOSYS)
		message += "; the kernel is built without CONFIG_KEYS";
	return errorFromErrno(sysErrno, message);
}

Error ofSetting(const char *setting, Error error)
{
	error.message = std::string(setting) + ": " + error.message;
	return error;
}

// "TYPE;UID;GID;PERMISSIONS;DESCRIPTION"
std::optional<KeyringKey> describeKey(KeySerial serial)
{
	char *text = nullptr;
	if (::keyctl_describe_alloc(serial, &text) < 0)
		return std::nullopt; // revoked, expired or removed
	const std::unique_ptr<char, Free> freed(text);
	const std::string_view all = text;
	std::size_t at = 0;
	for (int i = 0; i < 4 && at != all.npos; i++)
		at = all.find(';', at + (i > 0));
	errno = EINVAL;
	if (at == all.npos)
		return std::nullopt;
	return KeyringKey{serial, std::string(all.substr(0, all.find(';'))), std::string(all.substr(at + 1))};
}

Result<std::vector<KeyringKey>> keysIn(KeySerial keyring, const std::string &name)
{
	void *content = nullptr;
	const int size = ::keyctl_read_alloc(keyring, &content);
	if (size < 0)
		return keyringError("cannot read " + name, errno);
	const std::unique_ptr<void, Free> freed(content);
	std::vector<KeyringKey> keys;
	for (std::size_t i = 0; i < static_cast<std::size_t>(size) / sizeof(key_serial_t); i++)
		if (std::optional<KeyringKey> key = describeKey(static_cast<const key_serial_t *>(content)[i]))
			keys.push_back(*std::move(key));
	std::ranges::sort(keys, {}, &KeyringKey::description);
	return keys;
}

namespace {

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
	return std::string(keyPrefix) + (owner == KeyOwner::host ? "host:" : "ctrl:") + hostnqn + ":" +
	       (subsysnqn.empty() ? "*" : subsysnqn);
}

std::string dhchapDescriptionOf(KeySerial serial)
{
	const std::optional<KeyringKey> key = serial > 0 ? describeKey(serial) : std::nullopt;
	return key && key->description.starts_with(keyPrefix) ? key->description : "";
}

Result<KeySerial> insertKey(const std::string &description, const SecretBytes &payload)
{
	const key_serial_t serial =
		::add_key(types[0], description.c_str(), payload.bytes().data(), payload.size(), KEY_SPEC_USER_KEYRING);
	if (serial < 0)
		return keyringError("cannot add a key to the user keyring", errno);
	const Possession possession(KEY_SPEC_USER_KEYRING);
	if (::keyctl_setperm(serial, userPermissions) < 0) {
		const int sysErrno = errno;
		::keyctl_revoke(serial); // others could use it
		::keyctl_unlink(serial, KEY_SPEC_USER_KEYRING);
		return keyringError("cannot set the permissions of the key", sysErrno);
	}
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
	Result<std::vector<KeyringKey>> keys = keysIn(KEY_SPEC_USER_KEYRING, "the user keyring");
	if (!keys)
		return keys;
	std::erase_if(*keys, [](const KeyringKey &key) { return !key.description.starts_with(prefix); });
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
	const Possession possession(KEY_SPEC_USER_KEYRING);
	if (::keyctl_revoke(*serial) < 0)
		return keyringError("cannot revoke the key", errno);
	::keyctl_unlink(*serial, KEY_SPEC_USER_KEYRING); // the kernel would do so later
	return {};
}

Result<RequestKey> RequestKey::insert(const SecretBytes &payload)
{
	const key_serial_t serial = ::add_key(types[0], uniqueDescription("request").c_str(), payload.bytes().data(),
					      payload.size(), KEY_SPEC_THREAD_KEYRING);
	if (serial < 0)
		return keyringError("cannot add a key to the keyring of this thread", errno);
	RequestKey key(serial, true);
	if (::keyctl_setperm(serial, requestPermissions) < 0)
		return keyringError("cannot set the permissions of the key", errno);
	return key;
}

RequestKey::~RequestKey()
{
	if (own_)
		::keyctl_unlink(serial_, KEY_SPEC_THREAD_KEYRING);
}

namespace {

// The key that a setting names, before it is inserted
struct FoundKey {
	std::optional<SecretBytes> secret; // of a file or credential
	KeySerial serial = 0;              // otherwise
};

using MaybeKey = std::optional<FoundKey>; // nothing: the setting is empty

Result<FoundKey> findIn(const KeySource &source)
{
	if (source.kind() == KeySource::Kind::keyring) {
		Result<KeySerial> serial = findKey(source.name());
		return serial ? Result<FoundKey>(FoundKey{std::nullopt, *serial}) : serial.error();
	}
	Result<SecretBytes> secret = readDhchapSecret(source);
	return secret ? Result<FoundKey>(FoundKey{*std::move(secret), 0}) : secret.error();
}

Result<MaybeKey> find(const char *setting, const std::string &text)
{
	if (text.empty())
		return MaybeKey();
	Result<KeySource> source = KeySource::parse(text);
	if (!source)
		return ofSetting(setting, source.error());
	Result<FoundKey> found = findIn(*source);
	return found ? Result<MaybeKey>(*std::move(found)) : ofSetting(setting, found.error());
}

Result<void> put(std::optional<RequestKey> &to, const char *setting, const MaybeKey &found)
{
	if (!found)
		return {};
	Result<RequestKey> key = found->secret ? RequestKey::insert(*found->secret)
					       : Result<RequestKey>(RequestKey::existing(found->serial));
	if (!key)
		return ofSetting(setting, key.error());
	to.emplace(*std::move(key));
	return {};
}

} // namespace

Result<DhchapKeys> dhchapKeys(const std::string &hostSource, const std::string &controllerSource)
{
	constexpr const char *hostSetting = "dhchap-key", *controllerSetting = "dhchap-ctrl-key";
	const Result<MaybeKey> host = find(hostSetting, hostSource);
	if (!host)
		return host.error();
	const Result<MaybeKey> controller = find(controllerSetting, controllerSource);
	if (!controller)
		return controller.error();
	DhchapKeys keys;
	if (Result<void> done = put(keys.host, hostSetting, *host); !done)
		return done.error();
	if (Result<void> done = put(keys.controller, controllerSetting, *controller); !done)
		return done.error();
	return keys;
}

} // namespace nofctl
