// SPDX-License-Identifier: LGPL-2.1-or-later
// The plugin behind its socket, on a machine that is made up.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>

#include <sys/mount.h>

#include "controller.h"
#include "ctl_scratch.h"
#include "identity.h"
#include "node.h"
#include "tests/csi/sanity.h"

using namespace nvmeof;
namespace volume = nofctl::volume;

namespace {

constexpr const char *testNqn = "nqn.test";
constexpr std::uint64_t size = 64 << 20;

// One subsystem with namespace 1, and what is mounted
class FakeMachine : public csi::Machine {
public:
	Result<void> ready() override
	{
		return module ? Result<void>() : Result<void>(errorFromErrno(ENODEV, "the module is not loaded"));
	}
	Result<volume::Attached> attach(const volume::AttachOptions &options) override
	{
		attaches++;
		if (!options.id.names(ns()))
			return errorFromErrno(ENOENT, "no such namespace");
		attached = true;
		return volume::Attached{{testNqn, options.id}, {}, ns(), {}, {}, false};
	}
	Result<volume::Detached> detach(const volume::Entry &) override
	{
		for (const csi::Mounted &one : mounted)
			if (one.source == "/dev/nvmeof0n1")
				return errorFromErrno(EBUSY, "in use");
		attached = false;
		return volume::Detached{};
	}
	Result<std::optional<Namespace>> find(const volume::Entry &) override
	{
		return attached ? std::optional(ns()) : std::nullopt;
	}
	Result<std::string> contentOf(const std::string &) override { return content; }
	Result<void> format(const std::string &, const std::string &fileSystem,
			    const std::vector<std::string> &) override
	{
		formats++;
		content = fileSystem;
		return {};
	}
	Result<void> grow(const std::string &, const std::string &) override { return {}; }
	std::vector<csi::Mounted> mounts() override { return mounted; }
	Result<void> mount(const std::string &device, const std::string &target, const std::string &,
			   const csi::MountOptions &options) override
	{
		if (failMount)
			return errorFromErrno(EIO, "the disk is broken");
		mounted.push_back({device, target, (options.flags & MS_RDONLY) != 0});
		return {};
	}
	Result<void> bind(const std::string &, const std::string &target, bool readOnly) override
	{
		mounted.push_back({"/dev/nvmeof0n1", target, readOnly});
		return {};
	}
	Result<void> unmount(const std::string &target, bool) override
	{
		std::erase_if(mounted, [&](const csi::Mounted &one) { return one.target == target; });
		return {};
	}
	Result<csi::Usage> usage(const std::string &) override { return csi::Usage{1000, 400, 100, 90}; }
	bool exists(const std::string &path) override { return mountedAt(path).has_value(); }
	bool reaches(const Address &address) override { return address.traddr == "10.0.0.1"; }

	static Namespace ns()
	{
		Namespace ns;
		ns.name = "nvmeof0n1";
		ns.nsid = 1;
		ns.size = size;
		ns.usablePaths = ns.livePaths = 1;
		ns.expectedPaths = 2;
		return ns;
	}

	bool module = true, attached = false, failMount = false;
	int attaches = 0, formats = 0;
	std::string content;
	std::vector<csi::Mounted> mounted;
};

struct Served {
	Scratch scratch;
	FakeMachine machine;
	csi::IdentityService identity{machine};
	csi::ControllerService controller{scratch.path() / "created"};
	csi::NodeService node{
		machine,
		{"node1", scratch.path() / "staged", {{"near", {"10.0.0.1", "8009"}}, {"far", {"10.0.0.2", "8009"}}}}};
	const std::string endpoint = "unix://" + (scratch.path() / "csi.sock").string();
	std::unique_ptr<grpc::Server> server = [this] {
		grpc::ServerBuilder builder;
		builder.AddListeningPort(endpoint, grpc::InsecureServerCredentials());
		builder.RegisterService(&identity).RegisterService(&controller).RegisterService(&node);
		return builder.BuildAndStart();
	}();
	sanity::Plugin plugin{endpoint};
	sanity::Player player{plugin,
			      {{{"nqn", testNqn}, {"nsid", "1"}, {"addresses", "10.0.0.1"}},
			       {{"nqn", testNqn}, {"nsid", "2"}, {"addresses", "10.0.0.1"}},
			       scratch.path().string(),
			       size}};
};

} // namespace

TEST_CASE("the rules of the interface, at a socket", "[csi]")
{
	Served served;
	served.player.identity();
	served.player.nodeInfo("node1");
	served.player.missingArguments();
	CHECK(served.machine.attaches == 0);
	served.player.refusedWishes();
	served.player.mountedVolume();
	CHECK(served.machine.formats == 1);
	served.player.blockVolume();
	served.player.controller();
	CHECK(served.machine.mounted.empty());
	CHECK_FALSE(served.machine.attached);
}

TEST_CASE("a node tells which services it reaches, and whether its module is there", "[csi]")
{
	Served served;
	sanity::v1::NodeGetInfoResponse info;
	REQUIRE(sanity::call(*served.plugin.node, &sanity::v1::Node::Stub::NodeGetInfo, {}, &info) ==
		grpc::StatusCode::OK);
	CHECK(info.accessible_topology().segments().size() == 1);
	CHECK(info.accessible_topology().segments().at("csi.nvmeof/service-near") == "true");
	served.machine.module = false;
	CHECK(sanity::call(*served.plugin.identity, &sanity::v1::Identity::Stub::Probe, {}) ==
	      grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("what is on a disk stays", "[csi]")
{
	Served served;
	for (const char *content : {"xfs", "?"}) {
		served.machine.content = content;
		CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::FAILED_PRECONDITION);
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
	}
	served.machine.content = "";
	CHECK(served.player.stage(sanity::mountCapability("ext4", sanity::Mode::SINGLE_NODE_READER_ONLY)) ==
	      grpc::StatusCode::FAILED_PRECONDITION); // empty, and nobody may write
	CHECK(served.machine.formats == 0);
}

TEST_CASE("a stage that fails in the middle is undone by an unstage, also of a plugin started anew", "[csi]")
{
	Served served;
	served.machine.failMount = true;
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::INTERNAL);
	CHECK(served.machine.attached);
	csi::NodeService again(served.machine, {"node1", served.scratch.path() / "staged", {}});
	sanity::v1::NodeUnstageVolumeRequest request;
	sanity::v1::NodeUnstageVolumeResponse response;
	request.set_volume_id(served.player.volume);
	request.set_staging_target_path(served.player.staging());
	CHECK(again.NodeUnstageVolume(nullptr, &request, &response).ok());
	CHECK_FALSE(served.machine.attached);
}

TEST_CASE("volumes as texts", "[csi]")
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
	csi::Texts bare = texts;
	bare.erase("fast-io-fail-tmo");
	CHECK(csi::parseVolume(bare)->attach.paths[0].fastIoFail == csi::defaultFastIoFail);
	bare["fast-io-fail-tmo"] = "-1";
	CHECK(csi::parseVolume(bare)->attach.paths[0].fastIoFail < std::chrono::seconds(0));
	CHECK(spec->attach.settings.fencing.has_value());
	CHECK(spec->mkfsOptions == std::vector<std::string>{"-E", "nodiscard"});
	for (const auto &[name, value] : csi::Texts{{"nsid", "1"},
						    {"addresses", "target.example"},
						    {"fencing", "perhaps"},
						    {"hdr-digest", "yes"},
						    {"nr-io-queues", "0"},
						    {"nr-io-queues ", "1"},
						    {"transport", "loop"},
						    {"requiredBytes", "1G"}}) {
		csi::Texts wrong = texts;
		wrong[name] = value;
		CAPTURE(name);
		CHECK_FALSE(csi::parseVolume(wrong));
	}
}

TEST_CASE("mount options", "[csi]")
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
	for (const char *option : {"bind", "remount", "rshared"})
		CHECK_FALSE(csi::mountOptions("ext4", {option}));
	options = csi::mountOptions("ext4", {"_netdev", "nofail", "data=ordered", "defaults"}); // of fstab
	REQUIRE(options);
	CHECK(options->flags == 0);
	CHECK(options->data == "data=ordered");
	CHECK_FALSE(csi::mountOptions("vfat", {}));
}
