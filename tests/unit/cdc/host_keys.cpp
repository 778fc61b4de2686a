// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys of hosts, from the files of a directory or of the unit's credentials
#include <catch2/catch.hpp>

#include <filesystem>

#include "host_keys.h"
#include "libctl/keys/secret.h"
#include "tests/unit/scratch.h"
#include "target/auth_client.h"

using namespace cdc;
using target::testCtrlSecret;
using target::testHostSecret;

namespace {

struct Keys {
	HostKeys::Reading read()
	{
		auto reading = HostKeys::read(dir.path());
		REQUIRE(reading);
		return *reading;
	}
	void add(const std::string &name, const std::string &text, unsigned mode = 0600)
	{
		dir.write(name, text);
		std::filesystem::permissions(dir.path() / name, std::filesystem::perms(mode));
	}

	Scratch dir;
};

} // namespace

TEST_CASE("keys of hosts are read from a directory", "[host_keys]")
{
	Keys keys;
	keys.add("nqn.2014-08.org.example:a.dhchap", testHostSecret + "\n");
	keys.add("nqn.2014-08.org.example:a.dhchap-ctrl", testCtrlSecret);
	keys.add("nqn.2014-08.org.example%3Ab%2fc.dhchap", testHostSecret);
	keys.add("nqn.2014-08.org.example:a.tls",
		 std::string(nofctl::TlsPsk::generate(nofctl::KeyHash::sha256)->format().text()));
	keys.add(".hidden", "");
	const HostKeys::Reading reading = keys.read();
	CHECK(reading.problems.empty());
	const HostKeys::Key *key = reading.keys->of("nqn.2014-08.org.example:a");
	REQUIRE(key);
	CHECK(key->dhchap.host == testHostSecret);
	CHECK(key->dhchap.ctrl == testCtrlSecret);
	CHECK(key->tls.starts_with("NVMeTLSkey-1:01:"));
	REQUIRE(reading.keys->of("nqn.2014-08.org.example:b/c"));
	CHECK_FALSE(reading.keys->of("nqn.2014-08.org.example:c"));
}

TEST_CASE("files that others can read or change are refused", "[host_keys]")
{
	Keys keys;
	keys.add("nqn.a.dhchap", testHostSecret, 0640);
	keys.add("nqn.b.dhchap", "not a key: " + testHostSecret);
	keys.add("nqn.c.dhchap-ctrl", testCtrlSecret);
	keys.add("nqn.d.tls", testHostSecret);
	const HostKeys::Reading reading = keys.read();
	CHECK(reading.problems.size() == 4);
	for (const std::string &problem : reading.problems) {
		CAPTURE(problem);
		CHECK(problem.find("AAECAwQ") == problem.npos); // of the key
	}
	for (const char *nqn : {"nqn.a", "nqn.b", "nqn.c", "nqn.d"}) {
		REQUIRE(reading.keys->of(nqn));
		CHECK(reading.keys->of(nqn)->unusable);
	}
	std::filesystem::permissions(keys.dir.path(), std::filesystem::perms(0770));
	CHECK_FALSE(HostKeys::read(keys.dir.path()));
	std::filesystem::permissions(keys.dir.path(), std::filesystem::perms(0700));
	CHECK_FALSE(HostKeys::read(keys.dir.path() / "missing"));
	CHECK(HostKeys::read(""));
}

TEST_CASE("keys of hosts are read from the credentials of the unit", "[host_keys]")
{
	Keys keys;
	keys.add("hosts_nqn.2014-08.org.example%3Aa.dhchap", testHostSecret, 0440);
	keys.add("other_nqn.b.dhchap", testHostSecret);
	::unsetenv("CREDENTIALS_DIRECTORY");
	CHECK_FALSE(HostKeys::read("credential:hosts"));
	::setenv("CREDENTIALS_DIRECTORY", keys.dir.path().c_str(), 1);
	const auto reading = HostKeys::read("credential:hosts");
	::unsetenv("CREDENTIALS_DIRECTORY");
	REQUIRE(reading);
	CHECK(reading->problems.empty());
	CHECK(reading->keys->size() == 1);
	CHECK(reading->keys->of("nqn.2014-08.org.example:a"));
}

TEST_CASE("thousands of keys take few mappings", "[host_keys]")
{
	Keys keys;
	for (int i = 0; i < 3000; i++)
		keys.add("nqn.h" + std::to_string(i) + ".dhchap", testHostSecret);
	const HostKeys::Reading reading = keys.read();
	CHECK(reading.keys->size() == 3000);
	CHECK(reading.keys->of("nqn.h2999")->dhchap.host == testHostSecret);
	CHECK(reading.keys->of("nqn.h0")->dhchap.host == testHostSecret);
}
