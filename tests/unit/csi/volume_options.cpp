// SPDX-License-Identifier: LGPL-2.1-or-later
// Attributes of volumes, and options of mkfs and mount.
#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

#include <sys/mount.h>

#include "local_machine.h"
#include "volume_spec.h"

using namespace nvmeof;

TEST_CASE("volume attributes are parsed", "[csi]")
{
	const csi::Texts texts{{"nqn", "nqn.a"},
			       {"uuid", "6f1b2c3d-0000-4000-8000-0123456789ab"},
			       {"addresses", "10.0.0.1,[fd00::1]:4421"},
			       {"port", "4430"},
			       {"fast-io-fail-tmo", "5"},
			       {"hdr-digest", "true"},
			       {"fencing", "safe"},
			       {"mkfsOptions", "-E nodiscard"},
			       {"storage.kubernetes.io/csiProvisionerIdentity", "x"}};
	Result<csi::VolumeSpec> spec = csi::parseVolume(texts);
	REQUIRE(spec);
	REQUIRE(spec->attach.paths.size() == 2);
	CHECK(spec->attach.paths[0].address.toString() == "10.0.0.1:4430");
	CHECK(spec->attach.paths[1].address.toString() == "[fd00::1]:4421");
	CHECK(spec->attach.paths[0].fastIoFail == std::chrono::seconds(5));
	CHECK(spec->attach.paths[0].hdrDigest);
	auto fastIoFail = [&](const char *own, const char *loss, const ConnectSettings &defaults = {}) {
		csi::Texts other = texts;
		other.erase("fast-io-fail-tmo");
		if (own)
			other["fast-io-fail-tmo"] = own;
		if (loss)
			other["ctrl-loss-tmo"] = loss;
		Result<csi::VolumeSpec> completed = csi::parseVolume(other);
		completed->complete(defaults);
		CHECK(completed->attach.paths[0].fastIoFail == completed->attach.paths[1].fastIoFail);
		return completed->attach.paths[0].fastIoFail->count(); // in ms
	};
	CHECK(fastIoFail(nullptr, nullptr) == 600000); // long enough for a restart of the target
	CHECK(fastIoFail("5", nullptr) == 5000);
	CHECK(fastIoFail("-1", nullptr) < 0);
	CHECK(fastIoFail(nullptr, "30") == 30000);
	CHECK(fastIoFail(nullptr, "-1") == 600000);
	ConnectSettings defaults;
	defaults.fastIoFail = std::chrono::seconds(20);
	CHECK(fastIoFail(nullptr, nullptr, defaults) == 20000);
	CHECK(fastIoFail("5", nullptr, defaults) == 5000);
	CHECK(spec->attach.settings.fencing.has_value());
	CHECK(spec->mkfsOptions == std::vector<std::string>{"-E", "nodiscard"});
	for (const auto &[name, value] : csi::Texts{{"nsid", "1"},
						    {"addresses", "target.example"},
						    {"fencing", "perhaps"},
						    {"hdr-digest", "yes"},
						    {"nr-io-queues", "0"},
						    {"nr-io-queues ", "1"},
						    {"dhchap-key", "./host.key"},
						    {"tls", "sometimes"},
						    {"tls-key", "./tls.key"},
						    {"transport", "loop"},
						    {"mkfsOptions", "-J device=/dev/sda"},
						    {"requiredBytes", "1G"}}) {
		csi::Texts wrong = texts;
		wrong[name] = value;
		CAPTURE(name);
		CHECK_FALSE(csi::parseVolume(wrong));
	}
}

TEST_CASE("mkfs options apply to the volume's disk only", "[csi]")
{
	using Words = std::vector<std::string>;
	for (const Words &good : {Words{}, Words{"-E", "stride=32,stripe_width=512"}, Words{"-d", "su=131072,sw=16"},
				  Words{"-L", "data"}, Words{"-m0", "-T", "largefile4"}, Words{"-dagcount=8"}})
		CHECK(csi::checkMkfsOptions(good));
	for (const Words &bad :
	     {Words{"-J", "device=UUID=1"}, Words{"-Jdevice=x"}, Words{"-l", "logdev=sdb"}, Words{"-r", "rtdev=sdb"},
	      Words{"-d", "name=sdb"}, Words{"-d", "etc"}, Words{"-detc"}, Words{"-d"}, Words{"-z", "undo"},
	      Words{"-pproto"}, Words{"-c", "options=x"}, Words{"/dev/sda"}})
		CHECK_FALSE(csi::checkMkfsOptions(bad));
}

TEST_CASE("mount options are translated to flags and data", "[csi]")
{
	Result<csi::MountOptions> options = csi::mountOptions("xfs", {"noatime", "logbufs=8", "ro", "swalloc", "rw"});
	REQUIRE(options);
	CHECK(options->flags == MS_NOATIME);
	CHECK(options->data == "logbufs=8,swalloc");
	Result<csi::MountOptions> refused = csi::mountOptions("xfs", {"nobarrier"});
	REQUIRE_FALSE(refused);
	CHECK(refused.error().message.find("4.19") != std::string::npos);
	CHECK(csi::mountOptions("ext4", {"nobarrier"}));
	CHECK_FALSE(csi::mountOptions("ext4", {"a,b"}));
	for (const char *option : {"journal_path=/dev/sda1", "journal_dev=2049", "logdev=/dev/sda1", "rtdev=/dev/sda1"})
		CHECK_FALSE(csi::mountOptions("ext4", {option}));
	for (const char *option : {"bind", "remount", "rshared"})
		CHECK_FALSE(csi::mountOptions("ext4", {option}));
	options = csi::mountOptions("ext4", {"_netdev", "nofail", "data=ordered", "defaults"}); // options of fstab
	REQUIRE(options);
	CHECK(options->flags == 0);
	CHECK(options->data == "data=ordered");
	CHECK_FALSE(csi::mountOptions("vfat", {}));
}
