// SPDX-License-Identifier: LGPL-2.1-or-later
// A fake machine, and the plugin that serves it behind a socket.
#pragma once

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/mount.h>

#include "controller.h"
#include "identity.h"
#include "node.h"
#include "tests/system/csi/sanity.h"
#include "tests/unit/scratch.h"

namespace plugin_test {

using namespace nvmeof;
namespace volume = nofctl::volume;

inline constexpr const char *testNqn = "nqn.test";
inline constexpr const char *testUuid = "6f1b2c3d-0000-4000-8000-0123456789ab"; // UUID of namespace 1
inline constexpr std::uint64_t size = 64 << 20;

// A machine with one subsystem, its namespace 1, and a mount table
class FakeMachine : public csi::Machine {
public:
	Result<void> ready() override
	{
		return module ? Result<void>() : Result<void>(errorFromErrno(ENODEV, "the module is not loaded"));
	}
	Result<ConnectSettings> connectDefaults(const std::string &nqn) override
	{
		if (rulesUnknown)
			return errorFromErrno(EINVAL, "nvmeof.toml:3: [[security]] rules are not known");
		return nqn == testNqn ? defaults : ConnectSettings();
	}
	Result<volume::Attached> attach(const volume::AttachOptions &options) override
	{
		attaches++;
		asked = options.paths.front();
		if (unreachable)
			return errorFromErrno(ETIMEDOUT, "no path is connected");
		attached = attached || failHalfway;
		if (!options.id.names(ns()))
			return errorFromErrno(ENOENT, "no such namespace");
		already = attached;
		attached = true;
		return volume::Attached{{testNqn, options.id}, {}, ns(), {}, {}, already};
	}
	Result<volume::Detached> detach(const volume::Entry &) override
	{
		detaches++;
		if (opened || !usersOf("nvmeof0n1", "").empty())
			return errorFromErrno(EBUSY, "in use");
		attached = false;
		return volume::Detached{};
	}
	bool isAttached(const volume::Entry &) override { return attached; }
	Result<std::optional<Namespace>> find(const volume::Entry &entry) override
	{
		if (entry.id.toString() == unreportedId)
			return errorFromErrno(EIO, "the kernel does not answer");
		return attached ? std::optional(ns()) : std::nullopt;
	}
	Result<void> takeFence(const Namespace &, volume::FenceKey key) override
	{
		if (fenceRefused)
			return errorFromErrno(EBUSY, "a later publication has it");
		fence = key.value;
		return {};
	}
	Result<void> dropFence(const Namespace &) override
	{
		if (opened || !usersOf("nvmeof0n1", "").empty())
			return errorFromErrno(EBUSY, "in use");
		fence = 0;
		return {};
	}
	Result<std::string> contentOf(const std::string &) override { return content; }
	Result<void> format(const std::string &, const std::string &fileSystem,
			    const std::vector<std::string> &options) override
	{
		formats++;
		mkfsOptions = options;
		if (duringFormat)
			duringFormat();
		content = failFormat ? csi::unfinishedXfs : fileSystem;
		return failFormat ? Result<void>(errorFromErrno(EIO, "the disk is broken")) : Result<void>();
	}
	Result<void> check(const std::string &, const std::string &) override
	{
		checks++;
		return broken ? Result<void>(errorFromErrno(EIO, "run fsck by hand")) : Result<void>();
	}
	Result<void> grow(const std::string &, const std::string &) override { return {}; }
	std::vector<volume::User> usersOf(const std::string &, const std::string &except) override
	{
		std::vector<volume::User> users;
		for (const csi::Mounted &one : mounted)
			if (one.device == "/dev/nvmeof0n1" && one.target != except)
				users.push_back({"mount", one.target});
		return users;
	}
	Result<std::vector<volume::Entry>> entriesOf(const std::string &disk) override
	{
		if (!attached || disk != "nvmeof0n1")
			return std::vector<volume::Entry>();
		return std::vector<volume::Entry>{{testNqn, *volume::VolumeId::parse("nsid.1")}};
	}
	Result<bool> isReadOnly(const std::string &) override
	{
		opens++;
		return readOnly;
	}
	Result<void> setReadOnly(const std::string &, bool on) override
	{
		readOnly = on;
		return {};
	}
	Result<std::optional<csi::Mounted>> mountedAt(const std::string &target) override
	{
		std::optional<csi::Mounted> found;
		for (const csi::Mounted &one : mounted)
			if (one.target == canonical(target))
				found = one;
		return found;
	}
	std::string canonical(const std::string &path) override
	{
		const std::size_t at = path.find("/link/"); // a symbolic link to /folder/
		return at == path.npos ? path : path.substr(0, at) + "/folder/" + path.substr(at + 6);
	}
	Result<void> mount(const std::string &device, const std::string &target, const std::string &,
			   const csi::MountOptions &options) override
	{
		if (duringMount)
			std::exchange(duringMount, nullptr)();
		if (failMount)
			return errorFromErrno(EIO, "the disk is broken");
		mounted.push_back({device, canonical(target), (options.flags & MS_RDONLY) != 0});
		return {};
	}
	Result<void> bind(const std::string &from, const std::string &target, bool only) override
	{
		Result<std::optional<csi::Mounted>> source = mountedAt(from);
		mounted.push_back({"/dev/nvmeof0n1", canonical(target), only || (*source && (*source)->readOnly)});
		return {};
	}
	Result<void> unmount(const std::string &target, bool, csi::Unmount how) override
	{
		lazy = how == csi::Unmount::lazily;
		if (failUnmount)
			return errorFromErrno(EBUSY, "somebody uses it");
		std::erase_if(mounted, [&](const csi::Mounted &one) { return one.target == canonical(target); });
		return {};
	}
	Result<csi::Usage> usage(const std::string &) override { return csi::Usage{{1000, 550, 400}, {100, 10, 90}}; }
	bool exists(const std::string &path) override { return mountedAt(path)->has_value(); }
	csi::Reach reaches(const Address &address) override { return reach[address.traddr]; }

	Namespace ns() const
	{
		Namespace ns;
		ns.name = "nvmeof0n1";
		ns.nsid = 1;
		ns.uuid = Uuid::parse(testUuid);
		ns.size = size;
		ns.usablePaths = ns.livePaths = paths;
		ns.expectedPaths = 2;
		ns.reservations = reservations;
		return ns;
	}

	bool module = true, attached = false, failMount = false;
	bool already = false, readOnly = false, lazy = false;
	ConnectSettings defaults;
	bool rulesUnknown = false;                // an error in nvmeof.toml
	ConnectOptions asked;                     // options of the latest attach
	bool failHalfway = false;                 // attach fails and leaves a connection
	bool unreachable = false;                 // attach fails
	bool failFormat = false;                  // mkfs.xfs ends with an error when it has written the superblock
	bool failUnmount = false, opened = false; // opened: the kernel counts an opener, no user is found
	std::string unreportedId;                 // identifier of a volume that the kernel does not report
	std::function<void()> duringMount, duringFormat;
	std::vector<std::string> mkfsOptions; // of the latest format
	int opens = 0;                        // number of opens of the disk; an open waits for a path
	int attaches = 0, detaches = 0, formats = 0;
	std::uint32_t paths = 1;
	std::uint8_t reservations = 0;
	std::uint64_t fence = 0;
	bool fenceRefused = false, broken = false;
	int checks = 0;
	std::string content;
	std::map<std::string, csi::Reach> reach{
		{"10.0.0.1", csi::Reach::yes}, {"10.0.0.2", csi::Reach::no}, {"10.0.0.3", csi::Reach::unknown}};
	std::vector<csi::Mounted> mounted;
};

struct Served {
	Scratch scratch;
	FakeMachine machine;
	csi::IdentityService identity{&machine};
	csi::ControllerService controller{scratch.path() / "created", scratch.path() / "published"};
	csi::NodeService node{
		machine,
		{"node1",
		 scratch.path() / "staged",
		 scratch.path() / "reached",
		 {{"near", Address{"10.0.0.1", "8009"}}, {"far", Address{"10.0.0.2", "8009"}}, {"said", {}}}}};
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

} // namespace plugin_test
