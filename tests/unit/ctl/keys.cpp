// SPDX-License-Identifier: LGPL-2.1-or-later
// Secrets, the files they come from, the kernel's keyring, and that no message repeats a secret.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <keyutils.h>
#include <netlink/msg.h>

#include <nvmeof/config.h>
#include <nvmeof/connect_settings.h>
#include <nvmeof/nvmeof_c.h>
#include <nvmeof/settings.h>

#include "connect_plan.h"
#include "key.h"
#include "keys.h"
#include "libctl/netlink/session.h"

using namespace nvmeof;
using namespace nofctl;

namespace {

struct Vector {
	const char *text;
	KeyHash hash;
	int first; // byte 0; byte i is 7 * i more
	std::size_t size;
};

// By Python: base64.b64encode(b + struct.pack("<I", zlib.crc32(b))). nvme-cli's check-dhchap-key accepts them.
constexpr Vector dhchapVectors[] = {
	{"DHHC-1:00:AQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsXM09pl1OOC:", KeyHash::none, 1, 32},
	{goodKey, KeyHash::sha256, 2, 32},
	{"DHHC-1:02:AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dzj6vH4/wYNFBsiKTA3PkVMRdxyRQ==:", KeyHash::sha384, 3, 48},
	{"DHHC-1:03:BAsSGSAnLjU8Q0pRWF9mbXR7gomQl56lrLO6wcjP1t3k6/L5AAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vVR3QN4=:",
	 KeyHash::sha512, 4, 64},
	{"DHHC-1:00:AQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsXM09rh6O/2/QQLEhkgJy41PENKDH94wg==:", KeyHash::none, 1, 48},
	{"DHHC-1:00:AQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsXM09rh6O/2/QQLEhkgJy41PENKUVhfZm10e4KJkJeepayzuiyBBng=:",
	 KeyHash::none, 1, 64},
};

constexpr Vector tlsVectors[] = {
	{"NVMeTLSkey-1:00:AQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsXM09pl1OOC:", KeyHash::none, 1, 32},
	{"NVMeTLSkey-1:01:AgkQFx4lLDM6QUhPVl1ka3J5gIeOlZyjqrG4v8bN1Nuz7TWq:", KeyHash::sha256, 2, 32},
	{"NVMeTLSkey-1:02:AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dzj6vH4/wYNFBsiKTA3PkVMRdxyRQ==:", KeyHash::sha384,
	 3, 48},
};

constexpr const char *good = goodKey;
constexpr const char *part = "AgkQFx4lLDM6"; // of it, which no message may contain

template <typename T> void checkVector(const Vector &vector)
{
	CAPTURE(vector.text);
	Result<T> key = T::parse(vector.text);
	REQUIRE(key);
	CHECK(key->hash == vector.hash);
	REQUIRE(key->secret.size() == vector.size);
	for (std::size_t i = 0; i < vector.size; i++)
		CHECK(key->secret.bytes()[i] == static_cast<std::uint8_t>(vector.first + 7 * static_cast<int>(i)));
	CHECK(key->format().text() == vector.text);
}

std::string refusal(const std::string &text)
{
	Result<DhchapSecret> key = DhchapSecret::parse(text);
	REQUIRE_FALSE(key);
	CHECK(key.error().code == ErrorCode::invalid);
	CHECK(key.error().message.find(part) == std::string::npos);
	return key.error().message;
}

Error readError(const std::string &path)
{
	Result<SecretBytes> text = readSecret(KeySource::ofFile(path));
	REQUIRE_FALSE(text);
	INFO(text.error().message);
	CHECK(text.error().object.kind == ErrorObject::Kind::file);
	CHECK(text.error().object.name == path);
	CHECK(text.error().message.find(part) == std::string::npos);
	return text.error();
}

std::string descriptionOf(const char *what)
{
	return "nvmeof:test:" + std::to_string(::getpid()) + ":" + what;
}

std::optional<KeyringKey> listed(const std::string &description)
{
	Result<std::vector<KeyringKey>> keys = listKeys();
	REQUIRE(keys);
	for (const KeyringKey &key : *keys)
		if (key.description == description)
			return key;
	return std::nullopt;
}

} // namespace

TEST_CASE("keys are parsed and formatted", "[keys]")
{
	for (const Vector &vector : dhchapVectors)
		checkVector<DhchapSecret>(vector);
	for (const Vector &vector : tlsVectors)
		checkVector<TlsPsk>(vector);
	CHECK_FALSE(DhchapSecret::parse(tlsVectors[0].text));
	CHECK_FALSE(TlsPsk::parse(good));
	CHECK(looksLikeTlsPsk(tlsVectors[0].text));
	CHECK_FALSE(looksLikeTlsPsk(good));
}

TEST_CASE("a key that is not exactly as specified is refused", "[keys]")
{
	const std::string text = good, head = text.substr(0, 10), body = text.substr(10, text.size() - 11);
	const std::string ofLength[] = {
		"DHHC-1:00:AAAAAA==:", // 0 bytes
		"DHHC-1:00:BQUFBQUFBQUFBQUFBQUFBfytXsc=:",
		"DHHC-1:00:BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBZRW/KU=:", // 31 bytes
		"DHHC-1:00:BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFFgzh2w==:",
		"DHHC-1:00:BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBXFlXPw=:", // 40 bytes
		"DHHC-1:00:BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQV2zSyv:",
		"DHHC-1:01:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlbOI8g==:", // 48 bytes
		"DHHC-1:00::",
	};
	for (const std::string &wrong : ofLength) {
		CAPTURE(wrong);
		CHECK(refusal(wrong).find("wrong length") != std::string::npos);
	}
	CHECK(refusal("DHHC-1:01:AgkQFx4lLDM6QUhPVl1ka3J5gIeOlZyjqrG4v8bN1Nuy7TWq:").find("checksum") !=
	      std::string::npos);
	CHECK(refusal("DHHC-1:01:AgkQFx4lLDM6QUhPVl1ka3J5gIeOlZyjqrG4v8bN1NuqNe2z:").find("checksum") !=
	      std::string::npos);
	CHECK(refusal("DHHC-1:04:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACtVQoZ:").find("hash function") !=
	      std::string::npos);
	for (const std::string hash : {"0", "1", "+1", " 1", "1 ", "001", "0a", "", "ff", "-1"}) {
		CAPTURE(hash);
		refusal("DHHC-1:" + hash + ":" + body + ":");
	}
	for (const std::string &wrong : {std::string(),
					 std::string("DHHC-1"),
					 std::string("DHHC-1:"),
					 std::string("DHHC-1:01"),
					 std::string("DHHC-1:01:"),
					 head + body,
					 head + body + "::",
					 text + "\n",
					 "\n" + text,
					 " " + text,
					 "dhhc-1:01:" + body + ":",
					 "DHHC-2:01:" + body + ":",
					 head + body.substr(0, 20) + "\n" + body.substr(20) + ":",
					 head + body.substr(0, 20) + " " + body.substr(20) + ":",
					 head + body.substr(1) + ":",
					 head + "=" + body + ":",
					 head + body + "=:",
					 head + body.substr(0, 47) + "_:",
					 head + std::string(4096, 'A') + ":",
					 text + std::string(1, '\0'),
					 head + body.substr(0, 20) + std::string(1, '\0') + body.substr(21) + ":"}) {
		CAPTURE(wrong);
		refusal(wrong);
	}
	// every text that is cut off
	for (std::size_t size = 0; size < text.size(); size++)
		refusal(text.substr(0, size));
	// unused bits are not zero: "DHHC-1:02:...RQ==:" with R for Q
	CHECK_FALSE(DhchapSecret::parse(
		"DHHC-1:02:AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dzj6vH4/wYNFBsiKTA3PkVMRdxyRR==:"));
	for (const char *wrong :
	     {"NVMeTLSkey-1:02:AgkQFx4lLDM6QUhPVl1ka3J5gIeOlZyjqrG4v8bN1Nuz7TWq:",
	      "NVMeTLSkey-1:03:BAsSGSAnLjU8Q0pRWF9mbXR7gomQl56lrLO6wcjP1t3k6/L5AAcOFRwjKjE4P0ZNVFtiaXB3"
	      "foWMk5qhqK+2vVR3QN4=:"})
		CHECK_FALSE(TlsPsk::parse(wrong));
}

TEST_CASE("a generated key is random, and of the length of its hash function", "[keys]")
{
	for (const auto &[hash, size] : {std::pair<KeyHash, std::size_t>{KeyHash::none, 32},
					 {KeyHash::sha256, 32},
					 {KeyHash::sha384, 48},
					 {KeyHash::sha512, 64}}) {
		Result<DhchapSecret> one = DhchapSecret::generate(hash), other = DhchapSecret::generate(hash);
		REQUIRE(one);
		REQUIRE(other);
		CHECK(one->secret.size() == size);
		CHECK(one->secret.text() != other->secret.text());
		const SecretBytes text = one->format();
		Result<DhchapSecret> again = DhchapSecret::parse(text.text());
		REQUIRE(again);
		CHECK(again->secret.text() == one->secret.text());
	}
	CHECK(DhchapSecret::generate(KeyHash::none, 64)->secret.size() == 64);
	CHECK_FALSE(DhchapSecret::generate(KeyHash::none, 40));
	CHECK_FALSE(DhchapSecret::generate(KeyHash::sha256, 48));
	CHECK(TlsPsk::generate(KeyHash::sha384)->secret.size() == 48);
	CHECK_FALSE(TlsPsk::generate(KeyHash::sha512));
	CHECK_FALSE(TlsPsk::generate(KeyHash::none, 64));
}

TEST_CASE("secret bytes are erased when they are shortened", "[keys]")
{
	SecretBytes bytes = payload("0123456789");
	const std::uint8_t *memory = bytes.data();
	bytes.shrink(4);
	CHECK(bytes.text() == "0123");
	CHECK(std::all_of(memory + 4, memory + 10, [](std::uint8_t byte) { return byte == 0; }));
	SecretBytes other = std::move(bytes);
	CHECK(other.text() == "0123");
	CHECK(bytes.size() == 0);
	other = payload("x");
	CHECK(other.text() == "x");
	CHECK(SecretBytes(0).size() == 0);
}

TEST_CASE("secret bytes are not in a core dump", "[keys]")
{
	SecretBytes bytes(100);
	std::ostringstream start;
	start << std::hex << reinterpret_cast<std::uintptr_t>(bytes.data()) << '-';
	std::ifstream maps("/proc/self/smaps");
	std::string flags;
	bool inside = false;
	for (std::string line; std::getline(maps, line) && flags.empty();) {
		inside = inside || line.starts_with(start.str());
		if (inside && line.starts_with("VmFlags:"))
			flags = line + " ";
	}
	if (flags.empty())
		return; // this kernel does not tell, or has merged pages
	CHECK(flags.find(" dd ") != std::string::npos);
}

TEST_CASE("the source of a key is a path, a credential or a key in the keyring", "[keys]")
{
	struct Row {
		const char *text;
		KeySource::Kind kind;
		const char *name;
	};
	for (const Row &row :
	     {Row{"/etc/nvmeof/keys/host.key", KeySource::Kind::file, "/etc/nvmeof/keys/host.key"},
	      {"./host.key", KeySource::Kind::file, "./host.key"},
	      {"../host.key", KeySource::Kind::file, "../host.key"},
	      {"credential:host", KeySource::Kind::credential, "host"},
	      {"keyring:nvmeof:dhchap:host:nqn.a:*", KeySource::Kind::keyring, "nvmeof:dhchap:host:nqn.a:*"}}) {
		CAPTURE(row.text);
		Result<KeySource> source = KeySource::parse(row.text);
		REQUIRE(source);
		CHECK(source->kind() == row.kind);
		CHECK(source->name() == row.name);
		CHECK(source->toString() == row.text);
	}
	for (const std::string &wrong :
	     {std::string(), std::string("host.key"), std::string("AgkQFx4lLDM6/QUhP"), std::string("credential:"),
	      std::string("credential:a/b"), std::string("credential:.."), std::string("keyring:"),
	      std::string("keyring:a b"), std::string("/a\nb"), "/" + std::string(5000, 'a'), std::string(good),
	      std::string(tlsVectors[0].text), "keyring:" + std::string(good), "/" + std::string(good),
	      std::string("dhhc-1:01:AgkQFx4lLDM6"), std::string("02090a101112131415161718191a1b1c")}) {
		CAPTURE(wrong);
		Result<KeySource> source = KeySource::parse(wrong);
		REQUIRE_FALSE(source);
		CHECK(source.error().code == ErrorCode::invalid);
		CHECK((wrong.size() < 12 || source.error().message.find(wrong) == std::string::npos));
		CHECK(source.error().message.find(part) == std::string::npos);
	}
	CHECK(says(KeySource::parse(good).error(), "chmod 600"));
}

TEST_CASE("a key is read from a file that only its owner can access", "[keys]")
{
	const KeyFile file;
	for (const char *end : {"", "\n"}) {
		file.scratch().write("host.key", std::string(good) + end);
		Result<SecretBytes> text = readSecret(*KeySource::parse(file.path()));
		REQUIRE(text);
		CHECK(text->text() == good);
	}
	file.mode(0400);
	CHECK(readSecret(*KeySource::parse(file.path())));
	for (mode_t mode : {0644, 0640, 0604, 0660, 0601, 0700}) {
		file.mode(mode);
		CHECK(says(readError(file.path()), "chmod 600 " + file.path()));
	}
}

TEST_CASE("a file that is not a plain file of this user with a key is refused", "[keys]")
{
	const KeyFile file;
	const std::filesystem::path folder = file.scratch().path();
	CHECK(says(readError(folder), "not a regular file"));
	CHECK(readError(folder / "absent").code == ErrorCode::invalid);
	CHECK(says(readError(folder / "absent"), "No such file"));
	REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
	CHECK(says(readError(folder / "fifo"), "not a regular file")); // and does not wait for a writer
	CHECK(says(readError("/dev/null"), "not a regular file"));
	file.scratch().write("host.key", "");
	CHECK(says(readError(file.path()), "is empty"));
	file.scratch().write("host.key", "\n");
	CHECK(says(readError(file.path()), "is empty"));
	file.scratch().write("host.key", good + std::string(1024, '\n'));
	CHECK(says(readError(file.path()), "larger than 1 KiB"));
	file.scratch().write("host.key", std::string(good) + "\n\n");
	Result<SecretBytes> secret = readDhchapSecret(KeySource::ofFile(file.path()));
	REQUIRE_FALSE(secret);
	CHECK(says(secret.error(), file.path()));
	CHECK_FALSE(says(secret.error(), part));
	if (::geteuid() != 0 || ::chown(file.path().c_str(), 1, 1) != 0)
		return;
	CHECK(says(readError(file.path()), "chown root " + file.path()));
}

// As in a Secret volume of Kubernetes: host.key -> ..data/host.key, ..data -> a directory
TEST_CASE("the file at the end of symbolic links is judged", "[keys]")
{
	const KeyFile file;
	const std::filesystem::path folder = file.scratch().path();
	std::filesystem::create_directory_symlink(".", folder / "..data");
	std::filesystem::create_symlink("..data/host.key", folder / "link");
	Result<SecretBytes> text = readSecret(KeySource::ofFile(folder / "link"));
	REQUIRE(text);
	CHECK(text->text() == good);
	file.mode(0640);
	CHECK(says(readError(folder / "link"), "chmod 600 " + (folder / "link").string()));
	std::filesystem::create_symlink("nowhere", folder / "dangling");
	CHECK(says(readError(folder / "dangling"), "No such file"));
	std::filesystem::create_symlink("loop", folder / "loop");
	CHECK(says(readError(folder / "loop"), "symbolic links"));
	std::filesystem::create_symlink("/dev/null", folder / "device");
	CHECK(says(readError(folder / "device"), "not a regular file"));
}

TEST_CASE("a credential is a file that systemd provides", "[keys]")
{
	const KeyFile file;
	const char *before = std::getenv("CREDENTIALS_DIRECTORY");
	const std::string kept = before ? before : "";
	::unsetenv("CREDENTIALS_DIRECTORY");
	CHECK(says(readSecret(*KeySource::parse("credential:host.key")).error(), "LoadCredential=host.key"));
	::setenv("CREDENTIALS_DIRECTORY", file.scratch().path().c_str(), 1);
	Result<SecretBytes> text = readSecret(*KeySource::parse("credential:host.key"));
	REQUIRE(text);
	CHECK(text->text() == good);
	CHECK_FALSE(readSecret(*KeySource::parse("credential:other")));
	// of a unit with User=, with an access control list
	file.mode(0440);
	if (::geteuid() == 0)
		REQUIRE(::chown(file.path().c_str(), 1, 1) == 0);
	CHECK(readSecret(*KeySource::parse("credential:host.key")));
	before ? ::setenv("CREDENTIALS_DIRECTORY", kept.c_str(), 1) : ::unsetenv("CREDENTIALS_DIRECTORY");
}

TEST_CASE("a key is written into a new file with mode 0600", "[keys]")
{
	const Scratch scratch;
	const std::string path = scratch.path() / "new.key";
	const mode_t before = ::umask(0);
	CHECK(writeSecret(path, payload(good)));
	::umask(before);
	struct stat is {};
	REQUIRE(::stat(path.c_str(), &is) == 0);
	CHECK((is.st_mode & 07777) == 0600);
	CHECK(scratch.read("new.key") == std::string(good) + "\n");
	Result<void> again = writeSecret(path, payload("other"));
	REQUIRE_FALSE(again);
	CHECK(says(again.error(), "exists already"));
	CHECK(scratch.read("new.key") == std::string(good) + "\n");
	std::filesystem::create_symlink("nowhere", scratch.path() / "link");
	CHECK_FALSE(writeSecret(scratch.path() / "link", payload("other")));
	CHECK_FALSE(std::filesystem::exists(scratch.path() / "nowhere"));
	CHECK(writeSecret("/no/such/folder/key", payload("other")).error().sysErrno == ENOENT);
	if (std::filesystem::exists("/dev/full")) // and a file that could not be written does not remain
		CHECK_FALSE(writeSecret(::open("/dev/full", O_WRONLY | O_CLOEXEC), "full", payload("other")));
}

TEST_CASE("a key is inserted, replaced, listed and revoked", "[keys]")
{
	if (!hasKeyring())
		return;
	const std::string description = descriptionOf("one");
	CHECK(findKey(description).error().code == ErrorCode::authentication);
	CHECK(findKey(description).error().sysErrno == ENOKEY);
	Result<KeySerial> serial = insertKey(description, payload(good));
	REQUIRE(serial);
	CHECK(*findKey(description) == *serial);
	Result<KeySerial> again = insertKey(description, payload(dhchapVectors[0].text));
	REQUIRE(again);
	CHECK(*again == *serial); // so that the driver, which holds it, uses the new payload
	const std::optional<KeyringKey> key = listed(description);
	REQUIRE(key);
	CHECK(key->serial == *serial);
	CHECK(key->type == "logon");
	CHECK(revokeKey(description));
	CHECK_FALSE(listed(description));
	CHECK_FALSE(revokeKey(description));
	Result<KeySerial> next = insertKey(description, payload(good));
	REQUIRE(next);
	CHECK(*next != *serial);
	CHECK(revokeKey(description));
	CHECK(revokeKey("other:key").error().code == ErrorCode::invalid);
}

// Keys with this description prefix that the calling thread possesses
std::vector<std::string> possessed()
{
	std::ifstream keys("/proc/keys");
	std::vector<std::string> found;
	for (std::string line; std::getline(keys, line);)
		if (line.find("nvmeof:request:") != std::string::npos)
			found.push_back(line);
	return found;
}

TEST_CASE("the keys of a connection are read when they are used", "[keys]")
{
	const KeyFile file;
	ConnectOptions options;
	CHECK_FALSE(connectKeys(options, "nqn.h")->dhchap.host);
	options.dhchapCtrlKey = file.path();
	CHECK(says(connectKeys(options, "nqn.h").error(), "dhchap-ctrl-key needs dhchap-key"));
	options.dhchapKey = good; // as a program may do
	CHECK_FALSE(says(connectKeys(options, "nqn.h").error(), part));
	CHECK(says(connectKeys(options, "nqn.h").error(), "dhchap-key: this looks like the key itself"));
	file.mode(0644);
	options.dhchapKey = file.path();
	CHECK(says(connectKeys(options, "nqn.h").error(), "dhchap-key: " + file.path()));
	file.mode(0600);
	if (!hasKeyring())
		return;
	{
		Result<ConnectKeys> keys = connectKeys(options, "nqn.h");
		REQUIRE(keys);
		REQUIRE(keys->dhchap.host);
		REQUIRE(keys->dhchap.controller);
		CHECK(keys->dhchap.host->serial() != keys->dhchap.controller->serial());
		CHECK(possessed().size() == 2);
		Result<ConnectKeys> more = connectKeys(options, "nqn.h"); // for the same controller
		REQUIRE(more);
		CHECK(more->dhchap.host->serial() != keys->dhchap.host->serial());
		CHECK(possessed().size() == 4);
		// in no keyring that other processes share, and not for other threads
		const Result<std::vector<KeyringKey>> shared = listKeys();
		REQUIRE(shared);
		for (const KeyringKey &key : *shared)
			CHECK_FALSE(key.description.starts_with("nvmeof:request:"));
		std::size_t others = 1;
		std::thread([&] { others = possessed().size(); }).join();
		CHECK(others == 0);
		// permissions: VIEW and SEARCH for the possessor
		for (const std::string &line : possessed())
			CHECK(line.find(" 09000000 ") != std::string::npos);
	}
	CHECK(possessed().empty());
}

TEST_CASE("a key in the user keyring is used as it is, and remains", "[keys]")
{
	if (!hasKeyring())
		return;
	const std::string description = descriptionOf("kept");
	Result<KeySerial> serial = insertKey(description, payload(good));
	REQUIRE(serial);
	ConnectOptions options;
	options.dhchapKey = "keyring:" + description;
	CHECK(connectKeys(options, "nqn.h")->dhchap.host->serial() == *serial);
	CHECK(possessed().empty());
	CHECK(listed(description)->serial == *serial);
	CHECK(revokeKey(description));
	CHECK(connectKeys(options, "nqn.h").error().code == ErrorCode::authentication);
	CHECK(dhchapDescription(KeyOwner::host, "nqn.h", "") == "nvmeof:dhchap:host:nqn.h:*");
}

TEST_CASE("nothing is inserted or changed if one of two keys is wrong", "[keys]")
{
	const KeyFile file, other;
	other.scratch().write("host.key", "rubbish");
	if (!hasKeyring())
		return;
	Result<DhchapKeys> keys = dhchapKeys(file.path(), other.path());
	REQUIRE_FALSE(keys);
	CHECK(says(keys.error(), "dhchap-ctrl-key: " + other.path()));
	CHECK(possessed().empty());
}

TEST_CASE("a key that another program has added can be revoked", "[keys]")
{
	if (!hasKeyring())
		return;
	const std::string description = descriptionOf("foreign"); // with the permissions of add_key(2)
	REQUIRE(::add_key("user", description.c_str(), "x", 1, KEY_SPEC_USER_KEYRING) >= 0);
	CHECK(revokeKey(description));
	CHECK_FALSE(listed(description));
}

TEST_CASE("the library leaves the application's link to the user keyring", "[keys]")
{
	if (!hasKeyring())
		return;
	REQUIRE(::keyctl_link(KEY_SPEC_USER_KEYRING, KEY_SPEC_THREAD_KEYRING) == 0);
	const std::string description = descriptionOf("linked");
	CHECK(insertKey(description, payload(good)));
	CHECK(revokeKey(description));
	CHECK(::keyctl_unlink(KEY_SPEC_USER_KEYRING, KEY_SPEC_THREAD_KEYRING) == 0);
}

TEST_CASE("the kernel gets serial numbers, no secrets", "[keys]")
{
	ConnectOptions options;
	options.subsysnqn = "nqn.s";
	options.dhchapKey = "/etc/nvmeof/keys/host.key";
	const ConnectKeys keys{{RequestKey::existing(17), RequestKey::existing(18)}, std::nullopt};
	const Request none = connectRequest(options, "nqn.h", Uuid()),
		      both = connectRequest(options, "nqn.h", Uuid(), keys);
	auto size = [](const Request &request) { return nlmsg_hdr(request.get())->nlmsg_len; };
	CHECK(size(both) == size(none) + 2 * 8);
}

TEST_CASE("no message repeats a secret on a command line or in a setting", "[keys]")
{
	const std::string secret = good;
	for (const std::string &line :
	     {"connect -n nqn.a -a 10.0.0.1 --dhchap-key " + secret,
	      "connect -n nqn.a -a 10.0.0.1 --dhchap-key=" + secret,
	      "connect -n nqn.a -a 10.0.0.1 --dhchap-key /k --dhchap-ctrl-key " + secret,
	      "connect -n nqn.a -a 10.0.0.1 --dhchap-key /k " + secret, "connect-all --dhchap-key " + secret,
	      "key check " + secret, "key insert " + secret, "key revoke " + secret, "key " + secret, secret,
	      "set nvmeof0c1 dhchap-key=" + secret, "set nvmeof0c1 " + secret, "set nvmeof0c1 " + secret + "=",
	      "set nvmeof0c1 dhchap-ctrl-key=" + secret}) {
		CAPTURE(line);
		for (const char *format : {"", " --json"}) {
			const Outcome outcome = run(line + format);
			CHECK(outcome.code == static_cast<int>(ExitCode::usage));
			CHECK(outcome.out.find(part) == std::string::npos);
			CHECK(outcome.err.find(part) == std::string::npos);
			CHECK_FALSE(outcome.err.empty());
		}
	}
	ConnectSettings settings;
	Result<void> put = putConnectText(settings, *findConnectSetting("dhchap-key"), secret);
	REQUIRE_FALSE(put);
	CHECK_FALSE(says(put.error(), part));
	CHECK_FALSE(settings.dhchapKey);
	put = putConnectText(settings, *findConnectSetting("dhchap-key"), "./host.key");
	REQUIRE_FALSE(put);
	CHECK(says(put.error(), "not absolute"));
	nvmeof_options *options = nvmeof_options_new();
	for (const char *value : {good, "./host.key"}) {
		nvmeof_error *error = nullptr;
		CHECK(nvmeof_options_set(options, "dhchap_key", value, &error) == NVMEOF_INVALID);
		CHECK(std::string(nvmeof_error_message(error)).find(part) == std::string::npos);
		nvmeof_error_free(error);
	}
	CHECK(nvmeof_options_set(options, "dhchap_key", "/k/host.key", nullptr) == NVMEOF_OK);
	CHECK(nvmeof_options_set(options, "dhchap_key", "", nullptr) == NVMEOF_OK);
	nvmeof_options_free(options);
}

TEST_CASE("a relative path on a command line becomes an absolute one", "[keys]")
{
	CommandLine line = parseCommandLine(wordsIn("connect -n nqn.a -a 10.0.0.1 --dhchap-key ./host.key "
						    "--dhchap-ctrl-key keyring:nvmeof:c"));
	REQUIRE(line.command);
	const ConnectSettings settings = settingsOf(line.args);
	CHECK(std::filesystem::path(settings.dhchapKey.value_or("")).is_absolute());
	CHECK(settings.dhchapKey->ends_with("/host.key"));
	CHECK(settings.dhchapCtrlKey == "keyring:nvmeof:c");
}

// A quoted command line ends with '; FILE and the like are values.
TEST_CASE("the program accepts the command lines that messages about keys quote", "[keys]")
{
	const KeyFile file;
	file.scratch().write("empty", "");
	REQUIRE(::chmod((file.scratch().path() / "empty").c_str(), 0600) == 0);
	std::string texts = readError(file.scratch().path()).message + "\n" +
			    readError(file.scratch().path() / "empty").message + "\n";
	if (hasKeyring())
		texts += findKey("nvmeof:absent").error().message + "\n";
	const std::regex quoted("'nvmeofctl ([^']*)'");
	int count = 0;
	for (std::sregex_iterator at(texts.begin(), texts.end(), quoted), end; at != end; ++at, count++) {
		CAPTURE(at->str());
		std::string words = (*at)[1];
		if (words == "key insert")
			words += " /k";
		CHECK(parseCommandLine(wordsIn(words)).command);
	}
	CHECK(count >= 2);
}

TEST_CASE("keys are settings of controllers and of the configuration", "[keys]")
{
	Result<ControllerSettings> settings = parseControllerSettings(
		std::vector<std::string>{"dhchap-key=/etc/nvmeof/keys/host.key", "dhchap-ctrl-key=keyring:nvmeof:c"});
	REQUIRE(settings);
	CHECK(settings->dhchapKey == "/etc/nvmeof/keys/host.key");
	CHECK(settings->dhchapCtrlKey == "keyring:nvmeof:c");
	CHECK_FALSE(parseControllerSettings(std::vector<std::string>{"dhchap-key="}));
	const std::string text =
		"[[connection]]\nnqn = \"nqn.s\"\naddress = \"10.0.0.1\"\ndhchap-key = \"/k/host.key\"\n"
		"dhchap-ctrl-key = \"credential:ctrl\"\n";
	const ConfigReading reading = parseConfig(text, "c");
	REQUIRE(reading.problems.empty());
	CHECK(formatConfig(reading.config) == text);
	const ConnectOptions options =
		connectionOptions(reading.config, reading.config.connections[0], {"10.0.0.1", "4420"});
	CHECK(options.dhchapKey == "/k/host.key");
	CHECK(options.dhchapCtrlKey == "credential:ctrl");
	for (const std::string &wrong :
	     {std::string("\"./host.key\""), std::string("\"host.key\""), std::string("7"), std::string("\"\""),
	      "\"" + std::string(good) + "\"", "\"" + std::string(part) + "\""}) {
		CAPTURE(wrong);
		const ConfigReading bad = parseConfig("[[defaults]]\ndhchap-key = " + wrong + "\n", "c");
		REQUIRE(bad.problems.size() == 1);
		CHECK(bad.problems[0].place.line == 2);
		CHECK(bad.problems[0].message.find(part) == std::string::npos);
	}
}

TEST_CASE("a configuration whose connects would all be refused for their keys is an error", "[keys]")
{
	const std::string connection = "[[connection]]\nnqn = \"nqn.s\"\naddress = \"10.0.0.1\"\n";
	const std::string host = "dhchap-key = \"/k/host.key\"\n", controller = "dhchap-ctrl-key = \"/k/ctrl.key\"\n",
			  defaults = "[[defaults]]\nnqn = \"nqn.*\"\n";
	for (const std::string &wrong : {connection + controller, connection + defaults + controller,
					 connection + controller + "[[defaults]]\nnqn = \"nqn.t\"\n" + host}) {
		CAPTURE(wrong);
		const ConfigReading reading = parseConfig(wrong, "c");
		REQUIRE(reading.problems.size() == 1);
		CHECK(reading.problems[0].message.find("dhchap-ctrl-key needs dhchap-key") == 0);
		CHECK(reading.problems[0].place.line == 1);
	}
	for (const std::string &right : {connection + host + controller, connection + controller + defaults + host,
					 connection + host + defaults + controller, defaults + controller}) {
		CAPTURE(right);
		const ConfigReading reading = parseConfig(right, "c");
		CHECK(reading.problems.empty());
		CHECK(reading.config.notes.size() == (right.find(defaults + controller) == right.npos ? 0 : 1));
	}
	const std::string service = "[[discovery]]\naddress = \"10.0.0.1\"\n";
	for (const std::string &wrong : {service + controller, service + controller + defaults + host}) {
		const ConfigReading reading = parseConfig(wrong, "c"); // [[defaults]] are for subsystems
		REQUIRE(reading.problems.size() == 1);
		CHECK(reading.problems[0].message.find("dhchap-ctrl-key needs dhchap-key") == 0);
		CHECK(reading.problems[0].place.line == 1);
	}
	const ConfigReading reading = parseConfig(service + host + controller, "c");
	CHECK(reading.problems.empty());
	REQUIRE(reading.config.services.size() == 1);
	const ConnectOptions options = serviceOptions(reading.config, reading.config.services[0], {"10.0.0.1", "8009"});
	CHECK(options.dhchapKey == "/k/host.key");
	CHECK(options.dhchapCtrlKey == "/k/ctrl.key");
}

TEST_CASE("config check examines the files with keys", "[keys]")
{
	const KeyFile file;
	const std::string config = file.scratch().path() / "nvmeof.toml";
	file.scratch().write("nvmeof.toml", "[[defaults]]\ndhchap-key = \"" + file.path() +
						    "\"\n[[defaults]]\nnqn = \"nqn.a\"\ndhchap-key = \"" + file.path() +
						    "\"\n");
	const std::string line = "config check --json --config " + config;
	CHECK(Json::parse(run(line).out)["notes"].empty());
	file.mode(0644);
	const Outcome outcome = run(line);
	CHECK(outcome.code == 0);
	const Json notes = Json::parse(outcome.out)["notes"];
	REQUIRE(notes.size() == 1); // not one for each place
	CHECK(notes[0].get<std::string>().find("dhchap-key: " + file.path() + ": its mode is 0644") !=
	      std::string::npos);
}

TEST_CASE("key generate writes a key, and key check describes it", "[keys]")
{
	const Scratch scratch;
	const std::string path = scratch.path() / "host.key";
	const Outcome made = run("key generate --hash sha384 --output " + path);
	CHECK(made.code == 0);
	CHECK(made.out.find("DHHC-1:") == std::string::npos);
	const std::string secret = scratch.read("host.key");
	CHECK(secret.starts_with("DHHC-1:02:"));
	const Outcome checked = run("key check --json " + path);
	CHECK(checked.code == 0);
	const Json document = Json::parse(checked.out);
	CHECK(document["file"] == path);
	CHECK(document["format"] == "DHHC-1");
	CHECK(document["hash"] == "SHA-384");
	CHECK(document["length"] == 48);
	CHECK(checked.out.find(secret.substr(10, 10)) == std::string::npos);
	const Outcome again = run("key generate --output " + path);
	CHECK(again.code == static_cast<int>(ExitCode::usage));
	CHECK(again.err.find("exists already") != std::string::npos);
	CHECK(scratch.read("host.key") == secret);
	CHECK(run("key generate --tls --output " + path + ".tls").code == 0);
	CHECK(Json::parse(run("key check --json " + path + ".tls").out)["format"] == "NVMeTLSkey-1");
	CHECK(run("key generate --tls --hash sha512 --output " + path + ".no").code ==
	      static_cast<int>(ExitCode::usage));
	CHECK(run("key generate --hash sha256 --length 64 --output " + path + ".no").code ==
	      static_cast<int>(ExitCode::usage));
	CHECK(run("key generate --json --output -").code == static_cast<int>(ExitCode::usage));
	for (const mode_t mode : {0644, 0640, 0600}) { // as after --output - > FILE
		const std::string to = scratch.path() / "stdout";
		const int before = ::dup(STDOUT_FILENO), fd = ::open(to.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		REQUIRE(::fchmod(fd, mode) == 0);
		::dup2(fd, STDOUT_FILENO);
		const Outcome outcome = run("key generate --output -");
		::dup2(before, STDOUT_FILENO);
		::close(before);
		::close(fd);
		CHECK(outcome.code == (mode == 0600 ? 0 : static_cast<int>(ExitCode::usage)));
		CHECK(scratch.read("stdout").empty() == (mode != 0600));
	}
	CHECK_FALSE(std::filesystem::exists(path + ".no"));
	scratch.write("host.key", secret.substr(0, 40));
	CHECK(run("key check " + path).code == static_cast<int>(ExitCode::usage));
}

TEST_CASE("key insert, list and revoke", "[keys]")
{
	if (!hasKeyring())
		return;
	const KeyFile file;
	const std::string subsysnqn = "nqn.cli" + std::to_string(::getpid());
	const std::string description = "nvmeof:dhchap:ctrl:nqn.h:" + subsysnqn;
	const Outcome made =
		run("key insert " + file.path() + " --hostnqn nqn.h --subsysnqn " + subsysnqn + " --controller --json");
	REQUIRE(made.code == 0);
	const Json document = Json::parse(made.out);
	CHECK(document["description"] == description);
	CHECK(document["type"] == "logon");
	CHECK(run("key list").out.find(description) != std::string::npos);
	const Json all = Json::parse(run("key list --json").out);
	CHECK(std::ranges::any_of(all["keys"], [&](const Json &key) { return key["serial"] == document["serial"]; }));
	CHECK(run("key revoke " + description).code == 0);
	CHECK(run("key revoke " + description).code == static_cast<int>(ExitCode::refused));
	CHECK(run("key insert keyring:" + description + " --hostnqn nqn.h").code == static_cast<int>(ExitCode::usage));
}
