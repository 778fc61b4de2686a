// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys in real keyrings, of a type that every kernel has. Some containers forbid add_key(2): then nothing is tested.
#include <keyutils.h>

#include "peer.h"

using namespace tlsd_test;

namespace {

/*
 * A keyring with the permissions of ".nvme": its owner may link it, and only who possesses it may search it for keys to
 * read. The user keyring holds it, which the session keyring of a store has no link to.
 */
class Keyring {
public:
	explicit Keyring(const char *name)
		: serial(::add_key("keyring", (std::string("nvmeof-test-") + name).c_str(), nullptr, 0,
				   KEY_SPEC_USER_KEYRING))
	{
		if (serial < 0)
			return;
		// possessed meanwhile
		REQUIRE(::keyctl_link(KEY_SPEC_USER_KEYRING, KEY_SPEC_THREAD_KEYRING) == 0);
		REQUIRE(::keyctl_setperm(serial, (KEY_POS_ALL & ~KEY_POS_SETATTR) | (KEY_USR_ALL & ~KEY_USR_SETATTR)) ==
			0);
		REQUIRE(::keyctl_unlink(KEY_SPEC_USER_KEYRING, KEY_SPEC_THREAD_KEYRING) == 0);
	}
	Keyring(const Keyring &) = delete;
	~Keyring() { ::keyctl_unlink(serial, KEY_SPEC_USER_KEYRING); }

	KeySerial add(const std::string &description, const SecretBytes &secret) const
	{
		const KeySerial key =
			::add_key("user", description.c_str(), secret.bytes().data(), secret.size(), serial);
		REQUIRE(key > 0);
		return key;
	}

	const KeySerial serial;
};

bool hasKeyrings()
{
	const Keyring keyring("probe");
	if (keyring.serial > 0)
		return true;
	WARN("no keyrings here: " << std::strerror(errno));
	return false;
}

KeyringPskStore store()
{
	Result<KeyringPskStore> opened = KeyringPskStore::open("user");
	REQUIRE(opened);
	return std::move(opened).value();
}

int statusOf(const Result<Psk> &psk)
{
	return psk ? 0 : psk.error().sysErrno;
}

} // namespace

TEST_CASE("keys are read by number from the keyring of a request", "[psk_store]")
{
	if (!hasKeyrings())
		return;
	const Keyring keyring("one");
	const KeySerial sha256 = keyring.add(identities[0], secretOf(32)),
			sha384 = keyring.add(identities[3], secretOf(48));
	KeyringPskStore keys = store();
	char byte;
	REQUIRE(::keyctl_read(sha256, &byte, 1) < 0); // not possessed
	const Result<Psk> one = keys.read(sha256, keyring.serial), other = keys.read(sha384, keyring.serial);
	REQUIRE(one);
	CHECK((*one).serial == sha256);
	CHECK((*one).identity == identities[0]);
	CHECK((*one).hash == KeyHash::sha256);
	CHECK((*one).secret.text() == secretOf(32).text());
	REQUIRE(other);
	CHECK((*other).hash == KeyHash::sha384);
	CHECK((*other).secret.text() == secretOf(48).text());
	CHECK(::keyctl_read(sha256, &byte, 1) < 0); // possessed during the read only
}

TEST_CASE("a key that cannot be used has the errno of its reason", "[psk_store]")
{
	if (!hasKeyrings())
		return;
	const Keyring keyring("one"), other("other");
	const KeySerial revoked = keyring.add(identities[0], secretOf(32)),
			shorter = keyring.add(identities[2], secretOf(31)),
			longer = keyring.add(identities[2] + "a", secretOf(48)),
			foreign = keyring.add("Client_identity", secretOf(32)),
			elsewhere = other.add(identities[3], secretOf(48));
	REQUIRE(::keyctl_link(keyring.serial, KEY_SPEC_SESSION_KEYRING) == 0);
	REQUIRE(::keyctl_revoke(revoked) == 0);
	REQUIRE(::keyctl_unlink(keyring.serial, KEY_SPEC_SESSION_KEYRING) == 0);
	KeyringPskStore keys = store();
	CHECK(statusOf(keys.read(revoked, keyring.serial)) == EKEYREVOKED);
	CHECK(statusOf(keys.read(shorter, keyring.serial)) == EKEYREJECTED);
	CHECK(statusOf(keys.read(longer, keyring.serial)) == EKEYREJECTED);
	CHECK(statusOf(keys.read(foreign, keyring.serial)) == EKEYREJECTED);
	CHECK(statusOf(keys.read(keyring.serial, keyring.serial)) == EKEYREJECTED);
	CHECK(statusOf(keys.read(elsewhere, keyring.serial)) == EIO);
	CHECK(statusOf(keys.read(0x7ffffff1, keyring.serial)) == ENOKEY);
	CHECK(statusOf(keys.find(identities[0], keyring.serial)) == ENOKEY);
	CHECK(statusOf(keys.find(identities[2], keyring.serial)) == EKEYREJECTED);
}

// The kernel's own search of keys of type "psk" takes a beginning of a description for the whole.
TEST_CASE("keys are found by their whole identity", "[psk_store]")
{
	if (!hasKeyrings())
		return;
	const Keyring keyring("one"), other("other");
	const KeySerial longer = keyring.add(identities[0] + "0", secretOf(32, 1)),
			whole = keyring.add(identities[0], secretOf(32, 2));
	other.add(identities[2], secretOf(32));
	KeyringPskStore keys = store();
	const Result<Psk> found = keys.find(identities[0], keyring.serial),
			  foundLonger = keys.find(identities[0] + "0", keyring.serial);
	REQUIRE(found);
	CHECK((*found).serial == whole);
	CHECK((*found).secret.text() == secretOf(32, 2).text());
	REQUIRE(foundLonger);
	CHECK((*foundLonger).serial == longer);
	CHECK(statusOf(keys.find(identities[0].substr(0, identities[0].size() - 1), keyring.serial)) == ENOKEY);
	CHECK(statusOf(keys.find("NVMe0R01 ", keyring.serial)) == ENOKEY);
	CHECK(statusOf(keys.find("", keyring.serial)) == ENOKEY);
	CHECK(statusOf(keys.find(identities[2], keyring.serial)) == ENOKEY); // in another keyring
	CHECK(statusOf(keys.find(identities[0], 0)) == ENOKEY);
}

// As the kernel does when it passes a handshake on
TEST_CASE("the keyring of a request is the entry of the process keyring", "[psk_store]")
{
	if (!hasKeyrings())
		return;
	const Keyring keyring("one"), other("other");
	clearProcessKeyring();
	CHECK(processKeyringEntry() == 0);
	REQUIRE(::keyctl_link(keyring.serial, KEY_SPEC_PROCESS_KEYRING) == 0);
	CHECK(processKeyringEntry() == keyring.serial);
	clearProcessKeyring();
	CHECK(processKeyringEntry() == 0);
	REQUIRE(::keyctl_link(other.serial, KEY_SPEC_PROCESS_KEYRING) == 0);
	CHECK(processKeyringEntry() == other.serial);
	clearProcessKeyring();
}
