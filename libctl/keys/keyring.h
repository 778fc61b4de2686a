// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keys in the kernel's key retention service. The driver takes a key by its serial number, and keeps a reference to it.
 *
 * The secret of a file or credential is in the keyring of the calling thread, and only until the driver has taken it.
 * The user keyring is for operators who insert keys themselves. All processes with the same user ID in one user
 * namespace share it, so any of them can replace a key there. See keyrings(7).
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nvmeof/result.h>

#include "source.h"

namespace nofctl {

using KeySerial = std::int32_t;

struct KeyringKey {
	KeySerial serial = 0;
	std::string type; // "logon", "user", "psk"
	std::string description;
};

// While it exists, the calling thread possesses the keys of a keyring. Only a process that possesses a key can set its
// permissions, read it, or revoke it if another program has added it.
class Possession {
public:
	explicit Possession(KeySerial keyring);
	Possession(const Possession &) = delete;
	Possession &operator=(const Possession &) = delete;
	~Possession();

private:
	KeySerial helper_; // keyring of the thread with a link to the keyring
};

// Nothing: it does not exist, or was revoked, or has expired; errno has the reason.
std::optional<KeyringKey> describeKey(KeySerial serial);

// Its keys, sorted by description. @name: for the error, "the user keyring"
nvmeof::Result<std::vector<KeyringKey>> keysIn(KeySerial keyring, const std::string &name);

// The error of a system call, with advice
nvmeof::Error keyringError(const std::string &what, int sysErrno);
// The same error, with the name of a setting before its message
nvmeof::Error ofSetting(const char *setting, nvmeof::Error error);

enum class KeyOwner { host, controller };

// "nvmeof:dhchap:host:HOSTNQN:SUBSYSNQN". @subsysnqn: empty for a key of all subsystems: "*"
std::string dhchapDescription(KeyOwner owner, const std::string &hostnqn, const std::string &subsysnqn);

// Empty: the key does not have such a description, or this process cannot see it.
std::string dhchapDescriptionOf(KeySerial serial);

/*
 * Adds a key of type "logon", which no process can read, to the user keyring of the effective user. If there is one
 * with that description already, it gets the new payload and keeps its serial number: the driver uses it from the next
 * authentication on. Errors: notPermitted; failed, with the errno of add_key(2).
 */
nvmeof::Result<KeySerial> insertKey(const std::string &description, const SecretBytes &payload);
// A key of type "logon" or else "user" in the user keyring. Errors: authentication, with ENOKEY, EKEYREVOKED or
// EKEYEXPIRED.
nvmeof::Result<KeySerial> findKey(const std::string &description);
// Keys of the user keyring whose description begins with "nvmeof:", sorted by description. Revoked and expired keys are
// left out.
nvmeof::Result<std::vector<KeyringKey>> listKeys();
// Authentications with the key fail from now on. Errors: like findKey(); invalid, if the description does not begin
// with "nvmeof:".
nvmeof::Result<void> revokeKey(const std::string &description);

// A key that a request names by its serial number
class RequestKey {
public:
	// Adds a new key of type "logon" to the keyring of the calling thread. No other process can find, change or
	// revoke it. Errors: like insertKey().
	static nvmeof::Result<RequestKey> insert(const SecretBytes &payload);
	// A key that exists already and remains
	static RequestKey existing(KeySerial serial) { return {serial, false}; }

	RequestKey(RequestKey &&other) noexcept : serial_(other.serial_), own_(std::exchange(other.own_, false)) {}
	RequestKey &operator=(RequestKey &&other) noexcept
	{
		std::swap(serial_, other.serial_);
		std::swap(own_, other.own_);
		return *this;
	}
	~RequestKey(); // unlinks an inserted key. Must be called by the thread that inserted it.

	KeySerial serial() const { return serial_; }

private:
	RequestKey(KeySerial serial, bool own) : serial_(serial), own_(own) {}

	KeySerial serial_;
	bool own_;
};

// Keys of a connection, until the request with their serial numbers has been answered
struct DhchapKeys {
	std::optional<RequestKey> host, controller;
};

/*
 * The keys that the settings dhchap-key and dhchap-ctrl-key name; empty: no key. Reads and checks both before it
 * inserts one. Errors: of KeySource::parse(), readDhchapSecret(), findKey() and RequestKey::insert(), with the name of
 * the setting.
 */
nvmeof::Result<DhchapKeys> dhchapKeys(const std::string &hostSource, const std::string &controllerSource);

} // namespace nofctl
