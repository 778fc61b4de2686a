// SPDX-License-Identifier: LGPL-2.1-or-later
// The CSI plugin in a guest: its real socket, disks of the in-tree NVMe target over two paths, and real file systems.
#include "sanity.h"

#include "guest/support/multi.h"
#include "guest/support/shell.h"
#include "guest/support/two_hosts.h"
#include "libctl/volume/fence.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/statvfs.h>

using namespace guest;
using nofctl::volume::FenceKey;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t size = 64 << 20;
constexpr const char *folder = "/run/kubelet";

struct Node : Multi {
	std::string context(std::uint32_t nsid) { return nvmet::Subsystem::uuidFor(nsid); }
	sanity::Texts volume(std::uint32_t nsid)
	{
		return {{"nqn", testNqn},
			{"uuid", nvmet::Subsystem::uuidFor(nsid)},
			{"addresses", lane(0).address() + "," + lane(1).address()},
			{"reconnect-delay", "0.2"}};
	}

	Node() : Multi({.lanes = 2, .namespaces = {size}, .device = "", .transports = {}})
	{
		must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon "
		     "--resolve-names=never");
		must("rm -rf /run/nvmeof/csi /run/nvmeof/volumes /run/nvmeof/csi.sock; mkdir -p /run/nvmeof");
		start();
	}
	void start()
	{
		program.emplace("exec nvmeof-csi --node-id guest --service here=" + lane(0).address() + ":4420");
		REQUIRE(eventually([] { return exists("/run/nvmeof/csi.sock"); }, 20s));
		plugin.emplace("unix:///run/nvmeof/csi.sock");
		REQUIRE(plugin->channel->WaitForConnected(std::chrono::system_clock::now() + scaled(20s)));
		sanity::Texts unknown = volume(1);
		unknown["uuid"] = "00000000-0000-4000-8000-00000000ffff";
		player = std::make_unique<sanity::Player>(*plugin, sanity::Stage{volume(1), unknown, folder, size});
	}
	void restart()
	{
		player.reset();
		plugin.reset();
		program->signal(SIGKILL);
		program.reset();
		fs::remove("/run/nvmeof/csi.sock");
		start();
	}
	// The same plugin with another target path, volume context or volume name
	sanity::Player another(const std::string &place, const sanity::Texts &context,
			       const std::string &name = "pvc-1")
	{
		return {*plugin, sanity::Stage{context, context, place, size}, name};
	}
	std::size_t controllers() { return host.client().controllers()->size(); }

	std::optional<Background> program;
	std::optional<sanity::Plugin> plugin;
	std::unique_ptr<sanity::Player> player;
};

} // namespace

TEST_CASE("the plugin follows the CSI specification with real mounts", "[csi]")
{
	Node node;
	node.player->identity();
	node.player->nodeInfo("guest");
	node.player->refusedWishes();
	CHECK(node.controllers() == 0);
	node.player->mountedVolume();
	CHECK(node.controllers() == 0);
	CHECK_FALSE(fs::exists(node.player->target()));
	must("nvmeofctl volume list | grep 'no volume is attached'");
	node.player->controller();
}

TEST_CASE("data survive a new pod, a restart of the plugin and the loss of a path", "[csi]")
{
	Node node;
	auto &player = *node.player;
	const auto capability = sanity::mountCapability();
	REQUIRE(player.stage(capability) == grpc::StatusCode::OK);
	REQUIRE(player.publish(capability) == grpc::StatusCode::OK);
	must("findmnt -n " + player.target() + " || mount | grep " + player.target());
	must("echo kept > " + player.target() + "/file && sync");
	CHECK(node.controllers() == 2);
	node.lane(1).close();
	must("dd if=/dev/zero of=" + player.target() + "/more bs=64k count=16 conv=fsync");
	node.restart();
	CHECK(node.player->stage(capability) == grpc::StatusCode::OK);
	CHECK(node.player->publish(capability) == grpc::StatusCode::OK);
	sanity::v1::NodeGetVolumeStatsResponse usage;
	CHECK(node.player->stats(&usage) == grpc::StatusCode::OK);
	CHECK(usage.volume_condition().message().find("1 of 2 paths are connected") == 0);
	struct statvfs blocks = {};
	REQUIRE(::statvfs(node.player->target().c_str(), &blocks) == 0);
	CHECK(blocks.f_bavail < blocks.f_bfree); // ext4 keeps blocks that only root may use
	REQUIRE(usage.usage_size() == 2);
	CHECK(usage.usage(0).used() == static_cast<std::int64_t>((blocks.f_blocks - blocks.f_bfree) * blocks.f_frsize));
	CHECK(node.player->unpublish() == grpc::StatusCode::OK);
	CHECK(node.player->unstage() == grpc::StatusCode::OK);
	CHECK(node.controllers() == 0);
	node.lane(1).open();
	auto strict = capability;
	for (const char *flag : {"nosuid", "nodev", "noexec"})
		strict.mutable_mount()->add_mount_flags(flag);
	CHECK(node.player->stage(strict) == grpc::StatusCode::OK);
	CHECK(node.player->publish(strict, "target", true) == grpc::StatusCode::OK);
	CHECK(run("grep " + node.player->target() + " /proc/self/mountinfo").text.find(" ro,nosuid,nodev,noexec") !=
	      std::string::npos);
	CHECK(readFile(node.player->target() + "/file") == "kept"); // stage did not format it again
	CHECK(run("touch " + node.player->target() + "/new").status != 0);
	CHECK(node.player->unpublish() == grpc::StatusCode::OK);
	CHECK(node.player->unstage() == grpc::StatusCode::OK);
}

TEST_CASE("kubelet's directory may be behind a symbolic link", "[csi]")
{
	Node node;
	must("mkdir -p /run/kubelet && ln -sfn /run/kubelet /run/linked");
	auto player = node.another("/run/linked", node.volume(1));
	const auto capability = sanity::mountCapability();
	for (int twice = 0; twice < 2; twice++) {
		CHECK(player.stage(capability) == grpc::StatusCode::OK);
		CHECK(player.publish(capability) == grpc::StatusCode::OK);
	}
	CHECK(run("grep -c /run/kubelet /proc/self/mountinfo").text.find("2") == 0);
	CHECK(player.unstage() == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(player.unpublish() == grpc::StatusCode::OK);
	CHECK_FALSE(fs::exists(player.target()));
	CHECK(node.player->publish(capability) == grpc::StatusCode::OK); // by the resolved path
	CHECK(player.unpublish() == grpc::StatusCode::OK);
	CHECK(player.unstage() == grpc::StatusCode::OK);
	CHECK(run("grep /run/kubelet /proc/self/mountinfo").status != 0);
	CHECK(node.controllers() == 0);
}

TEST_CASE("a volume without a record is cleaned up, and so is one with two volume names", "[csi]")
{
	Node node;
	auto &player = *node.player;
	const auto capability = sanity::mountCapability();
	REQUIRE(player.stage(capability) == grpc::StatusCode::OK);
	fs::remove_all("/run/nvmeof/csi/staged");
	CHECK(player.unstage() == grpc::StatusCode::OK);
	CHECK(run("grep /run/kubelet /proc/self/mountinfo").status != 0);
	CHECK(node.controllers() == 0);
	REQUIRE(player.stage(sanity::blockCapability()) == grpc::StatusCode::OK);
	fs::remove_all("/run/nvmeof/csi/staged");
	CHECK(player.unstage() == grpc::StatusCode::OK);
	CHECK(fs::is_empty(player.staging()));
	CHECK(node.controllers() == 0);

	sanity::Texts byNsid = node.volume(1);
	byNsid.erase("uuid");
	byNsid["nsid"] = "1";
	for (const sanity::Texts &context : {byNsid, node.volume(1)}) {
		auto second = node.another("/run/kubelet/second", context, "pvc-2");
		CHECK(player.stage(capability) == grpc::StatusCode::OK);
		CHECK(second.stage(capability) == grpc::StatusCode::OK);
		CHECK(second.publish(capability) == grpc::StatusCode::OK);
		CHECK(player.unstage() == grpc::StatusCode::OK);
		must("echo more > " + second.target() + "/file && sync");
		CHECK(second.unpublish() == grpc::StatusCode::OK);
		CHECK(second.unstage() == grpc::StatusCode::OK);
		CHECK(node.controllers() == 0);
		must("nvmeofctl volume list | grep 'no volume is attached'");
	}
}

TEST_CASE("a failed stage can be repeated with a corrected request", "[csi]")
{
	Node node;
	auto wrong = sanity::mountCapability(), right = wrong;
	wrong.mutable_mount()->add_mount_flags("data=nonsense");
	CHECK(node.player->stage(wrong) == grpc::StatusCode::INTERNAL);
	CHECK(node.controllers() == 0);
	CHECK(node.player->stage(right) == grpc::StatusCode::OK);
	CHECK(node.player->unstage() == grpc::StatusCode::OK);
}

TEST_CASE("read-only volumes are mounted read-only", "[csi]")
{
	Node node;
	auto &player = *node.player;
	const auto block = sanity::blockCapability();
	REQUIRE(player.stage(block) == grpc::StatusCode::OK);
	REQUIRE(player.publish(block, "target", true) == grpc::StatusCode::OK);
	CHECK(run("dd if=/dev/zero of=" + player.target() + " bs=4k count=1 oflag=direct conv=notrunc").status != 0);
	CHECK(run("dd if=/dev/zero of=" + player.target() + " bs=4k count=1 conv=notrunc,fsync").status != 0);
	must("dd of=/dev/null if=" + player.target() + " bs=4k count=1");
	CHECK(player.unpublish() == grpc::StatusCode::OK);
	REQUIRE(player.publish(block) == grpc::StatusCode::OK);
	must("dd if=/dev/zero of=" + player.target() + " bs=4k count=1 conv=notrunc,fsync");
	CHECK(player.unpublish() == grpc::StatusCode::OK);
	CHECK(player.unstage() == grpc::StatusCode::OK);

	const auto writer = sanity::mountCapability();
	REQUIRE(player.stage(writer) == grpc::StatusCode::OK); // creates the file system
	REQUIRE(player.unstage() == grpc::StatusCode::OK);
	auto reader = writer;
	reader.mutable_mount()->add_mount_flags("ro");
	REQUIRE(player.stage(reader) == grpc::StatusCode::OK);
	CHECK(player.publish(reader) == grpc::StatusCode::OK);
	CHECK(player.publish(reader) == grpc::StatusCode::OK);
	CHECK(player.unpublish() == grpc::StatusCode::OK);
	CHECK(player.unstage() == grpc::StatusCode::OK);
}

TEST_CASE("with a dead target, pods and volumes are removed in bounded time", "[csi]")
{
	const bool fails = GENERATE(true, false); // I/O fails after 3 s, or is queued without a limit
	Node node;
	sanity::Texts context = node.volume(1);
	context["fast-io-fail-tmo"] = fails ? "3" : "-1";
	auto player = node.another(folder, context);
	const auto capability = sanity::mountCapability();
	REQUIRE(player.stage(capability) == grpc::StatusCode::OK);
	REQUIRE(player.publish(capability) == grpc::StatusCode::OK);
	must("sync; echo lost > " + player.target() + "/file");
	Background user("exec sleep 600 < " + player.target() + "/file");
	node.lane(0).close();
	node.lane(1).close();
	REQUIRE(eventually([&] { return take(node.host.client().namespaces())[0].usablePaths == 0; }, 20s));
	CHECK(player.unpublish() == grpc::StatusCode::OK); // although a process uses it
	CHECK_FALSE(fs::exists(player.target()));
	user.stop();
	Stopwatch watch;
	const auto code = player.unstage();
	CHECK(watch.elapsed() < scaled(45s));
	CHECK(code == (fails ? grpc::StatusCode::OK : grpc::StatusCode::DEADLINE_EXCEEDED));
	node.lane(0).open();
	node.lane(1).open();
	CHECK(eventually([&] { return player.unstage() == grpc::StatusCode::OK; }, 60s));
	CHECK(node.controllers() == 0);
}

// The plugin runs on one host; the test acts as a second host, which represents another node.
TEST_CASE("a volume moves to another node and back", "[csi]")
{
	TwoHosts two;
	auto b = two.pr(1);
	auto &target = two.reservations();
	const auto options = two.ports.options(0);
	Node node;
	const sanity::Texts context{{"nqn", options.subsysnqn},
				    {"nsid", "1"},
				    {"addresses", options.address.toString()},
				    {"reservation", "required"}};
	auto player = node.another(folder, context);
	auto key = [&](std::uint64_t publication) { return FenceKey::make(player.volume, publication); };
	auto stage = [&](std::uint64_t publication) {
		auto request = player.stageRequest(sanity::mountCapability());
		(*request.mutable_publish_context())["csi.nvmeof/fence"] = key(publication).toString();
		return player.stage(request);
	};
	REQUIRE(stage(1) == grpc::StatusCode::OK);
	REQUIRE(player.publish(sanity::mountCapability()) == grpc::StatusCode::OK);
	CHECK(target.registrants() == 1);
	CHECK(int(target.type()) == PR_WRITE_EXCLUSIVE_REG_ONLY);
	CHECK(two.write(1, 0, 1) == -EBADE);
	must("echo kept > " + player.target() + "/file && sync");

	// This node is lost: the volume is published to the other node, which preempts this node's reservation.
	CHECK(b.registerKey(key(2).value) == 0);
	CHECK(b.preempt(key(2).value, key(1).value, PR_WRITE_EXCLUSIVE_REG_ONLY, true) == 0);
	CHECK(run("dd if=/dev/zero of=" + player.target() + "/late bs=64k count=4 conv=fsync").status != 0);
	CHECK(player.unpublish() == grpc::StatusCode::OK);
	CHECK(player.unstage() == grpc::StatusCode::OK);
	CHECK(target.holds(two.ids[1]));
	CHECK(stage(1) == grpc::StatusCode::FAILED_PRECONDITION); // a late call for the first publication
	CHECK(target.registrants() == 1);
	CHECK(two.write(1, 4 << 20, 1) == 0);

	CHECK(stage(3) == grpc::StatusCode::OK); // moves back to this node
	CHECK(two.write(1, 4 << 20, 2) == -EBADE);
	CHECK(target.registrants() == 1);
	CHECK(player.unstage() == grpc::StatusCode::OK);
	CHECK(target.registrants() == 0);
	CHECK(b.registerKey(0xb) == 0); // a registration by other software
	CHECK(stage(4) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(target.keyOf(two.ids[1]) == 0xb);
	CHECK(b.registerKey(0, 0xb) == 0);
}

TEST_CASE("a block volume is the disk itself, and a disk with data is not formatted", "[csi]")
{
	Node node;
	node.player->blockVolume();
	const auto capability = sanity::blockCapability();
	REQUIRE(node.player->stage(capability) == grpc::StatusCode::OK);
	REQUIRE(node.player->publish(capability) == grpc::StatusCode::OK);
	CHECK(fs::is_block_file(node.player->target()));
	must("mkfs.xfs -q -f " + node.player->target() + " || mkfs.ext4 -q -b 1024 " + node.player->target());
	CHECK(node.player->unpublish() == grpc::StatusCode::OK);
	CHECK(node.player->unstage() == grpc::StatusCode::OK);
	must("true");
}
