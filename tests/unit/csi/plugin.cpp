// SPDX-License-Identifier: LGPL-2.1-or-later
// The plugin behind its socket, on a fake machine.
#include "fake_machine.h"

#include <filesystem>
#include <iostream>
#include <sstream>

#include "local_machine.h"

using namespace nvmeof;
using namespace plugin_test;
namespace volume = nofctl::volume;

TEST_CASE("the plugin follows the CSI specification at its socket", "[csi]")
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

TEST_CASE("a node reports which services it reaches, and whether its module is loaded", "[csi]")
{
	Served served;
	sanity::v1::NodeGetInfoResponse info;
	REQUIRE(sanity::call(*served.plugin.node, &sanity::v1::Node::Stub::NodeGetInfo, {}, &info) ==
		grpc::StatusCode::OK);
	CHECK(info.accessible_topology().segments().size() == 3);
	for (const char *key : {"csi.nvmeof/node", "csi.nvmeof/service-near", "csi.nvmeof/service-said"})
		CHECK(info.accessible_topology().segments().at(key) == "true");
	served.machine.module = false;
	sanity::v1::ProbeRequest request;
	sanity::v1::ProbeResponse response;
	CHECK(sanity::call(*served.plugin.identity, &sanity::v1::Identity::Stub::Probe, request, &response) ==
	      grpc::StatusCode::OK);
	CHECK(response.has_ready());
	CHECK_FALSE(response.ready().value());
	CHECK(csi::checkPlugin(served.endpoint).ok()); // alive; a restart loads no module
	CHECK_FALSE(csi::checkPlugin(served.endpoint + ".other").ok());
	csi::IdentityService controller(nullptr); // the controller service needs no module
	CHECK(controller.Probe(nullptr, &request, &response).ok());
	CHECK(response.ready().value());
	csi::NodeService bounded(served.machine, {"node1", served.scratch.path() / "staged", "", {}, 7});
	REQUIRE(bounded.NodeGetInfo(nullptr, nullptr, &info).ok());
	CHECK(info.max_volumes_per_node() == 7);
}

TEST_CASE("a disk with data is not formatted", "[csi]")
{
	Served served;
	for (const char *content : {"xfs", "?"}) {
		served.machine.content = content;
		CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::FAILED_PRECONDITION);
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
	}
	served.machine.content = "";
	CHECK(served.player.stage(sanity::mountCapability("ext4", sanity::Mode::SINGLE_NODE_READER_ONLY)) ==
	      grpc::StatusCode::FAILED_PRECONDITION); // an empty disk, and no permission to write
	CHECK(served.machine.formats == 0);
}

TEST_CASE("an xfs that mkfs has not finished is formatted again only if this plugin was formatting it", "[csi]")
{
	Served served;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	csi::Staged record{{{"nqn", testNqn}, {"nsid", "1"}, {"addresses", "10.0.0.1"}},
			   served.player.staging(),
			   "xfs",
			   {},
			   static_cast<int>(sanity::Mode::SINGLE_NODE_WRITER)};
	auto stage = [&](const std::string &content, std::optional<bool> formatting) {
		served.machine.content = content;
		record.formatting = formatting.value_or(false);
		if (formatting)
			REQUIRE(records.add(served.player.volume, record));
		const grpc::StatusCode code = served.player.stage(sanity::mountCapability("xfs"));
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
		return code;
	};
	CHECK(stage(csi::unfinishedXfs, {}) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(stage(csi::unfinishedXfs, false) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(stage("?", true) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(stage("xfs", true) == grpc::StatusCode::OK); // mkfs had ended, only the record had not been written
	CHECK(served.machine.formats == 0);
	CHECK(stage(csi::unfinishedXfs, true) == grpc::StatusCode::OK);
	CHECK(served.machine.formats == 1);
	CHECK(served.machine.mkfsOptions == std::vector<std::string>{"-f"});
	// the record says that mkfs is at work
	int recorded = 0;
	served.machine.duringFormat = [&] { recorded = records.find(served.player.volume)->formatting ? 1 : -1; };
	served.machine.content = "";
	CHECK(served.player.stage(sanity::mountCapability("xfs")) == grpc::StatusCode::OK);
	CHECK(recorded == 1);
	CHECK(served.machine.mkfsOptions.empty());
	CHECK_FALSE(records.find(served.player.volume)->formatting);
}

TEST_CASE("a failed stage keeps the mark that mkfs has not finished", "[csi]")
{
	Served served;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	auto stage = [&] { return served.player.stage(sanity::mountCapability("xfs")); };
	served.machine.failFormat = true;
	CHECK(stage() == grpc::StatusCode::INTERNAL);
	CHECK_FALSE(served.machine.attached);
	REQUIRE(records.find(served.player.volume)); // as a killed plugin leaves it
	CHECK(records.find(served.player.volume)->formatting);
	served.machine.unreachable = true;
	CHECK(stage() == grpc::StatusCode::DEADLINE_EXCEEDED);
	served.machine.unreachable = false;
	CHECK(stage() == grpc::StatusCode::INTERNAL); // mkfs fails again
	CHECK(served.machine.formats == 2);
	served.machine.failFormat = false;
	CHECK(stage() == grpc::StatusCode::OK);
	CHECK(served.machine.mkfsOptions == std::vector<std::string>{"-f"});
	CHECK(served.player.unstage() == grpc::StatusCode::OK);

	served.machine.content = ""; // an unstage removes the mark
	served.machine.failFormat = true;
	CHECK(stage() == grpc::StatusCode::INTERNAL);
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK_FALSE(records.find(served.player.volume));
	CHECK(stage() == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK_FALSE(records.find(served.player.volume));
}

TEST_CASE("an xfs that mkfs has not finished is recognised by its superblock", "[csi]")
{
	// xfs_dsb of version 4: big-endian numbers at their offsets
	std::string image(16 << 20, '\0');
	auto put = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
		for (std::size_t i = 0; i < bytes; i++)
			image[at + i] = static_cast<char>(value >> 8 * (bytes - 1 - i));
	};
	constexpr unsigned blocks = (16 << 20) / 4096;
	image.replace(0, 4, "XFSB");
	put(4, 4096, 4);   // block size
	put(8, blocks, 8); // size of the file system
	image.replace(32, 16, "0123456789abcdef");
	put(80, 1, 4);       // extent of the real-time part, in blocks
	put(84, blocks, 4);  // blocks of an allocation group
	put(88, 1, 4);       // allocation groups
	put(96, 512, 4);     // blocks of the log
	put(100, 0xb4b4, 2); // version and features
	put(102, 512, 2);    // sector
	put(104, 256, 2);    // inode
	put(106, 16, 2);     // inodes of a block
	put(120, 12, 1);     // binary logarithms: block,
	put(121, 9, 1);      // sector,
	put(122, 8, 1);      // inode,
	put(123, 4, 1);      // inodes of a block,
	put(124, 12, 1);     // blocks of an allocation group
	put(127, 25, 1);     // share of inodes, percent
	const Scratch scratch;
	csi::LocalMachine machine;
	auto content = [&] {
		scratch.write("image", image);
		Result<std::string> found = machine.contentOf(scratch.path() / "image");
		return found ? *found : found.error().message;
	};
	CHECK(content() == "xfs");
	put(126, 1, 1); // sb_inprogress
	CHECK(content() == csi::unfinishedXfs);
	image.replace(0, 4, "none");
	CHECK(content().empty());
}

TEST_CASE("a failed stage leaves nothing behind, and a corrected request succeeds", "[csi]")
{
	Served served;
	served.machine.failMount = true;
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::INTERNAL);
	CHECK_FALSE(served.machine.attached);
	CHECK(served.player.publish(sanity::mountCapability()) == grpc::StatusCode::NOT_FOUND);
	served.machine.failMount = false;
	auto corrected = sanity::mountCapability();
	corrected.mutable_mount()->add_mount_flags("noatime");
	CHECK(served.player.stage(corrected) == grpc::StatusCode::OK);
	served.machine.failMount = true; // a second stage request that fails does not undo the first one
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::ALREADY_EXISTS);
	CHECK(served.machine.attached);
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	served.machine.attached = true; // attached by an administrator
	CHECK(served.player.stage(corrected) == grpc::StatusCode::INTERNAL);
	CHECK(served.machine.attached);
}

TEST_CASE("a stage that a crash interrupted is undone by an unstage or another stage", "[csi]")
{
	Served served;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	const csi::Staged cut{{{"nqn", testNqn}, {"nsid", "1"}, {"addresses", "10.0.0.1"}},
			      served.player.staging(),
			      "xfs",
			      {},
			      static_cast<int>(sanity::Mode::SINGLE_NODE_WRITER),
			      false};
	for (bool another : {false, true}) {
		CAPTURE(another);
		REQUIRE(records.add(served.player.volume, cut));
		served.machine.attached = true;
		served.machine.mounted = {{"/dev/nvmeof0n1", served.player.staging(), false}};
		if (another)
			CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
		CHECK_FALSE(served.machine.attached);
		CHECK(served.machine.mounted.empty());
	}
	CHECK(served.machine.content == "ext4");
	csi::Staged gone = cut; // the namespace has been removed meanwhile
	gone.context["nsid"] = "2";
	gone.fileSystem = "ext4";
	REQUIRE(records.add(served.player.volume, gone));
	served.machine.attached = true;
	auto request = served.player.stageRequest(sanity::mountCapability());
	(*request.mutable_volume_context())["nsid"] = "2";
	CHECK(served.player.stage(request) == grpc::StatusCode::NOT_FOUND);
	CHECK_FALSE(served.machine.attached);
	CHECK_FALSE(records.find(served.player.volume));
}

TEST_CASE("a volume without a record is unstaged by what is mounted at its path", "[csi]")
{
	Served served;
	REQUIRE(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	std::filesystem::remove_all(served.scratch.path() / "staged");
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK(served.machine.mounted.empty());
	CHECK_FALSE(served.machine.attached);
	REQUIRE(served.player.stage(sanity::blockCapability()) == grpc::StatusCode::OK);
	CHECK(served.machine.mounted.size() == 1);
	std::filesystem::remove_all(served.scratch.path() / "staged");
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK(served.machine.mounted.empty());
	CHECK_FALSE(served.machine.attached);
	served.machine.mounted = {{"/dev/sda1", served.player.staging(), false}};
	CHECK(served.player.unstage() == grpc::StatusCode::FAILED_PRECONDITION); // the mount is not of a volume
	CHECK(served.machine.mounted.size() == 1);
}

TEST_CASE("a volume staged by release 0.1.0 is used and unstaged as before", "[csi]")
{
	Served served;
	const std::string record = R"({"access_mode": 1, "context": {"addresses": "10.0.0.1", "nqn": "nqn.test", "nsid":
		"1"}, "file_system": "ext4", "options": [], "path": ")" +
				   served.player.staging() + "\"}";
	served.scratch.write("staged/pvc-1.json", record);
	served.machine.attached = true;
	served.machine.content = "ext4";
	served.machine.mounted = {{"/dev/nvmeof0n1", served.player.staging(), false}};
	for (auto mode : {sanity::Mode::SINGLE_NODE_WRITER, sanity::Mode::SINGLE_NODE_MULTI_WRITER}) {
		CHECK(served.player.publish(sanity::mountCapability("ext4", mode)) == grpc::StatusCode::OK);
		CHECK(served.player.stage(sanity::mountCapability("ext4", mode)) == grpc::StatusCode::OK);
	}
	CHECK(served.player.stats() == grpc::StatusCode::OK);
	CHECK(served.player.expand(size) == grpc::StatusCode::OK);
	CHECK(served.player.unstage() == grpc::StatusCode::FAILED_PRECONDITION); // it is still published
	CHECK(served.machine.mounted.size() == 2);
	CHECK(served.machine.detaches == 0);
	CHECK(served.player.unpublish() == grpc::StatusCode::OK);
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK_FALSE(served.machine.attached);
}

TEST_CASE("an unreadable record is ignored and does not affect other volumes", "[csi]")
{
	Served served;
	for (const char *text : {"", "{", "[]", "7", R"({"volume": 7})", R"({"context": {"nqn": 1}, "path": []})"}) {
		CAPTURE(text);
		served.scratch.write("staged/pvc-2.json", text);
		CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
		served.scratch.write("staged/pvc-1.json", text);
		CHECK(served.player.publish(sanity::mountCapability()) == grpc::StatusCode::NOT_FOUND);
		CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
	}
}

TEST_CASE("a volume with an unreadable publication is not published to another node", "[csi]")
{
	Served served;
	const std::filesystem::path file = served.scratch.path() / "published/pvc-1.json";
	const auto refused = [&] {
		sanity::v1::ControllerPublishVolumeRequest request;
		sanity::v1::ControllerPublishVolumeResponse response;
		request.set_volume_id("pvc-1");
		request.set_node_id("b");
		*request.mutable_volume_capability() = sanity::mountCapability();
		for (const auto &[name, value] : csi::Texts{{"nqn", testNqn}, {"nsid", "1"}, {"addresses", "10.0.0.1"}})
			(*request.mutable_volume_context())[name] = value;
		const grpc::Status status = served.controller.ControllerPublishVolume(nullptr, &request, &response);
		CHECK(status.error_code() == grpc::StatusCode::INTERNAL);
		CHECK(status.error_message().find("published/pvc-1.json") != std::string::npos);
		sanity::v1::DeleteVolumeRequest remove;
		remove.set_volume_id("pvc-1");
		CHECK(sanity::call(*served.plugin.controller, &sanity::v1::Controller::Stub::DeleteVolume, remove) ==
		      grpc::StatusCode::INTERNAL);
	};
	for (const char *text :
	     {"", "{", "[]", "7", "{}", R"({"last": 1, "nodes": {"a": 7}})", R"({"last": 1, "nodes": []})"}) {
		CAPTURE(text);
		served.scratch.write("published/pvc-1.json", text);
		refused();
		CHECK(served.scratch.read("published/pvc-1.json") == text);
	}
	std::filesystem::remove(file);
	std::filesystem::create_directory(file); // a directory can be opened, but not read
	refused();
	CHECK(std::filesystem::is_directory(file));
}

TEST_CASE("an unstage while the volume is published changes nothing", "[csi]")
{
	Served served;
	const auto capability = sanity::mountCapability();
	REQUIRE(served.player.stage(capability) == grpc::StatusCode::OK);
	REQUIRE(served.player.publish(capability) == grpc::StatusCode::OK);
	CHECK(served.player.unstage() == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(served.machine.mounted.size() == 2);
	CHECK(served.machine.detaches == 0);
	CHECK(served.player.publish(capability, "second") == grpc::StatusCode::OK);
}

TEST_CASE("paths through symbolic links are the same paths", "[csi]")
{
	Served served;
	const auto capability = sanity::mountCapability();
	auto stage = served.player.stageRequest(capability);
	stage.set_staging_target_path("/link/staging");
	CHECK(served.player.stage(stage) == grpc::StatusCode::OK);
	CHECK(served.player.stage(stage) == grpc::StatusCode::OK);
	CHECK(served.machine.mounted.size() == 1);
	stage.set_staging_target_path("/folder/staging");
	CHECK(served.player.stage(stage) == grpc::StatusCode::OK);
	auto publish = served.player.publishRequest(capability, "target");
	publish.set_staging_target_path("/folder/staging");
	publish.set_target_path("/link/pod");
	CHECK(served.player.publish(publish) == grpc::StatusCode::OK);
	CHECK(served.player.publish(publish) == grpc::StatusCode::OK);
	CHECK(served.machine.mounted.size() == 2);
}

TEST_CASE("of two volumes on one namespace, the last unstage detaches it", "[csi]")
{
	Served served;
	const auto capability = sanity::mountCapability();
	for (int again = 0; again < 2; again++) {
		auto second = served.player.stageRequest(capability);
		second.set_volume_id("pvc-2");
		second.set_staging_target_path(served.player.staging() + "-2");
		CHECK(served.player.stage(capability) == grpc::StatusCode::OK);
		CHECK(served.player.stage(second) == grpc::StatusCode::OK);
		sanity::v1::NodeUnstageVolumeRequest request;
		request.set_volume_id("pvc-2");
		request.set_staging_target_path(second.staging_target_path());
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
		CHECK(served.machine.attached);
		CHECK(served.machine.mounted.size() == 1);
		CHECK(sanity::call(*served.plugin.node, &sanity::v1::Node::Stub::NodeUnstageVolume, request) ==
		      grpc::StatusCode::OK);
		CHECK_FALSE(served.machine.attached);
		CHECK(served.machine.mounted.empty());
	}
}

TEST_CASE("a read-only block volume makes its disk read-only", "[csi]")
{
	Served served;
	const auto capability = sanity::blockCapability();
	REQUIRE(served.player.stage(capability) == grpc::StatusCode::OK);
	CHECK(served.player.publish(capability, "target", true) == grpc::StatusCode::OK);
	CHECK(served.machine.readOnly);
	CHECK(served.player.publish(capability, "target", true) == grpc::StatusCode::OK);
	CHECK(served.player.publish(capability, "second") == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(served.machine.readOnly);
	CHECK(served.player.unpublish() == grpc::StatusCode::OK);
	CHECK(served.player.publish(capability, "second") == grpc::StatusCode::OK);
	CHECK_FALSE(served.machine.readOnly);
	CHECK(served.player.publish(capability, "target", true) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(served.player.unpublish("second") == grpc::StatusCode::OK);
	CHECK(served.player.publish(capability, "target", true) == grpc::StatusCode::OK);
	CHECK(served.player.unpublish() == grpc::StatusCode::OK);
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK_FALSE(served.machine.readOnly);
}

TEST_CASE("a volume that is staged read-only can be published repeatedly", "[csi]")
{
	Served served;
	served.machine.content = "ext4";
	auto capability = sanity::mountCapability();
	capability.mutable_mount()->add_mount_flags("ro");
	REQUIRE(served.player.stage(capability) == grpc::StatusCode::OK);
	CHECK(served.player.publish(capability) == grpc::StatusCode::OK);
	CHECK(served.player.publish(capability) == grpc::StatusCode::OK);
}

TEST_CASE("a service that was reached once counts as reached while it does not answer", "[csi]")
{
	Served served;
	auto has = [&](const char *name) {
		sanity::v1::NodeGetInfoResponse info;
		REQUIRE(sanity::call(*served.plugin.node, &sanity::v1::Node::Stub::NodeGetInfo, {}, &info) ==
			grpc::StatusCode::OK);
		return info.accessible_topology().segments().contains(std::string("csi.nvmeof/service-") + name);
	};
	served.machine.reach["10.0.0.1"] = csi::Reach::unknown;
	CHECK_FALSE(has("near"));
	served.machine.reach["10.0.0.1"] = csi::Reach::yes;
	CHECK(has("near"));
	served.machine.reach["10.0.0.1"] = csi::Reach::unknown;
	CHECK(has("near"));
	CHECK_FALSE(has("far"));
	csi::NodeService moved(served.machine, {"node1",
						served.scratch.path() / "staged",
						served.scratch.path() / "reached",
						{{"near", Address{"10.0.0.3", "8009"}}}});
	sanity::v1::NodeGetInfoResponse info;
	REQUIRE(moved.NodeGetInfo(nullptr, nullptr, &info).ok());
	CHECK_FALSE(info.accessible_topology().segments().contains("csi.nvmeof/service-near"));
	served.machine.reach["10.0.0.1"] = csi::Reach::no;
	CHECK_FALSE(has("near"));
	served.machine.reach["10.0.0.1"] = csi::Reach::unknown;
	CHECK_FALSE(has("near"));
}

TEST_CASE("a single-writer volume is reserved at its target", "[csi]")
{
	Served served;
	served.machine.reservations = writeExclusiveRegistrants;
	const volume::FenceKey key = volume::FenceKey::make("pvc-1", 7);
	auto stage = [&](const sanity::v1::VolumeCapability &capability, const std::string &reservation,
			 const std::string &given) {
		auto request = served.player.stageRequest(capability);
		(*request.mutable_volume_context())["reservation"] = reservation;
		if (!given.empty())
			(*request.mutable_publish_context())["csi.nvmeof/fence"] = given;
		return served.player.stage(request);
	};
	const auto writer = sanity::mountCapability();
	auto staged = [&](auto... how) {
		CHECK(stage(how...) == grpc::StatusCode::OK);
		const std::uint64_t fence = served.machine.fence;
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
		CHECK(served.machine.fence == 0);
		return fence;
	};
	CHECK(staged(writer, "auto", key.toString()) == key.value);
	CHECK(staged(sanity::blockCapability(), "required", key.toString()) == key.value);
	CHECK(staged(writer, "off", key.toString()) == 0);
	CHECK(staged(writer, "auto", "") == 0); // the request does not have the volume for this node alone
	CHECK(staged(sanity::mountCapability("ext4", sanity::Mode::MULTI_NODE_READER_ONLY), "auto", key.toString()) ==
	      0);
	CHECK(staged(sanity::blockCapability(sanity::Mode::MULTI_NODE_MULTI_WRITER), "auto", key.toString()) == 0);
	CHECK(stage(writer, "required", "") == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(stage(writer, "auto", "0000000000000001") == grpc::StatusCode::INVALID_ARGUMENT);
	CHECK(stage(writer, "perhaps", "") == grpc::StatusCode::INVALID_ARGUMENT);
	served.machine.content = "";
	served.machine.formats = 0;
	served.machine.fenceRefused = true;
	CHECK(stage(writer, "auto", key.toString()) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(served.machine.formats == 0);
	CHECK_FALSE(served.machine.attached);
	served.machine.reservations = 0;
	CHECK(stage(writer, "required", key.toString()) == grpc::StatusCode::FAILED_PRECONDITION);
	std::ostringstream log;
	std::streambuf *const before = std::cerr.rdbuf(log.rdbuf());
	const auto code = stage(writer, "auto", key.toString());
	std::cerr.rdbuf(before);
	CHECK(code == grpc::StatusCode::OK);
	CHECK(log.str() == "nvmeof-csi: pvc-1: staged without a reservation; another node could stage it as well: "
			   "/dev/nvmeof0n1 has "
			   "none of the type write-exclusive-registrants\n");
}

TEST_CASE("the registration at the target is removed when the disk has no user", "[csi]")
{
	Served served;
	served.machine.reservations = writeExclusiveRegistrants;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	const volume::FenceKey key = volume::FenceKey::make("pvc-1", 7);
	auto stage = [&](const sanity::v1::VolumeCapability &capability) {
		auto request = served.player.stageRequest(capability);
		(*request.mutable_publish_context())["csi.nvmeof/fence"] = key.toString();
		return served.player.stage(request);
	};
	REQUIRE(stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	served.machine.opened = true;
	CHECK(served.player.unstage() != grpc::StatusCode::OK);
	CHECK(served.machine.fence == key.value);
	served.machine.opened = false;
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK(served.machine.fence == 0);

	REQUIRE(stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	csi::Staged cut = *records.find("pvc-1");
	cut.complete = false;
	REQUIRE(records.add("pvc-1", cut));
	served.machine.failUnmount = true;
	CHECK(stage(sanity::mountCapability("xfs")) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(served.machine.fence == key.value);
	CHECK(served.machine.attached);
	REQUIRE(records.find("pvc-1"));
	CHECK(records.find("pvc-1")->fileSystem == "ext4");
	served.machine.failUnmount = false;
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK(served.machine.fence == 0);
}

TEST_CASE("a failed stage that cannot be undone is recorded", "[csi]")
{
	Served served;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	served.machine.failMount = served.machine.opened = true;
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::INTERNAL);
	REQUIRE(records.find("pvc-1"));
	CHECK_FALSE(records.find("pvc-1")->complete);
	served.machine.opened = false;
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::INTERNAL);
	CHECK_FALSE(served.machine.attached);
	CHECK_FALSE(records.find("pvc-1"));

	auto request = served.player.stageRequest(sanity::mountCapability()); // unknown namespace, half attached
	(*request.mutable_volume_context())["nsid"] = "2";
	served.machine.opened = served.machine.failHalfway = true;
	CHECK(served.player.stage(request) == grpc::StatusCode::NOT_FOUND);
	REQUIRE(records.find("pvc-1"));
	served.machine.opened = false;
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK_FALSE(served.machine.attached);
}

TEST_CASE("the blocks that only root may use are neither used nor available", "[csi]")
{
	Served served;
	REQUIRE(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	REQUIRE(served.player.publish(sanity::mountCapability()) == grpc::StatusCode::OK);
	sanity::v1::NodeGetVolumeStatsResponse stats;
	REQUIRE(served.player.stats(&stats) == grpc::StatusCode::OK);
	REQUIRE(stats.usage_size() == 2);
	CHECK(stats.usage(0).total() == 1000);
	CHECK(stats.usage(0).used() == 550);
	CHECK(stats.usage(0).available() == 400);
	CHECK(stats.usage(1).used() == 10);
}

TEST_CASE("an empty disk in use is not formatted", "[csi]")
{
	Served served;
	served.machine.mounted = {{"/dev/nvmeof0n1", "/data", false}};
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(served.machine.formats == 0);
	CHECK(served.machine.mounted.size() == 1);
}

TEST_CASE("an unstage keeps the registration of another volume that may be the same namespace", "[csi]")
{
	Served served;
	served.machine.reservations = writeExclusiveRegistrants;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	const volume::FenceKey key = volume::FenceKey::make("pvc-1", 7);
	auto request = served.player.stageRequest(sanity::mountCapability());
	(*request.mutable_publish_context())["csi.nvmeof/fence"] = key.toString();
	REQUIRE(served.player.stage(request) == grpc::StatusCode::OK);
	csi::Staged other = *records.find("pvc-1");
	other.context.erase("nsid");
	other.context["uuid"] = testUuid;
	REQUIRE(records.add("pvc-2", other));
	served.machine.unreportedId = std::string("uuid.") + testUuid;
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK(served.machine.fence == key.value);
}

TEST_CASE("a call for a disk that another call uses is aborted and changes nothing", "[csi]")
{
	Served served;
	const csi::StagedVolumes records(served.scratch.path() / "staged");
	auto second = served.player.stageRequest(sanity::blockCapability());
	second.set_volume_id("pvc-2");
	second.set_staging_target_path(served.player.staging() + "-2");
	second.mutable_volume_context()->erase("nsid");
	(*second.mutable_volume_context())["uuid"] = testUuid;
	served.machine.duringMount = [&] {
		served.machine.attached = false;
		CHECK(served.player.stage(second) == grpc::StatusCode::ABORTED);
	};
	REQUIRE(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	CHECK(served.machine.detaches == 0);
	REQUIRE(records.find("pvc-2"));
	CHECK_FALSE(records.find("pvc-2")->complete);
	REQUIRE(served.player.stage(second) == grpc::StatusCode::OK);
	served.machine.mounted.clear();
	records.remove("pvc-1");
	auto publish = served.player.publishRequest(sanity::blockCapability(), "target");
	publish.set_volume_id("pvc-2");
	publish.set_staging_target_path(second.staging_target_path());
	served.machine.duringMount = [&] { CHECK(served.player.publish(publish) == grpc::StatusCode::ABORTED); };
	REQUIRE(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	CHECK(served.player.publish(publish) == grpc::StatusCode::OK);
}

TEST_CASE("a single-writer volume is published to one node", "[csi]")
{
	Served served;
	using Controller = sanity::v1::Controller::Stub;
	auto publish = [&](const std::string &node, const sanity::v1::VolumeCapability &capability,
			   std::uint64_t *key = nullptr) {
		sanity::v1::ControllerPublishVolumeRequest request;
		request.set_volume_id("pvc-1");
		request.set_node_id(node);
		*request.mutable_volume_capability() = capability;
		for (const auto &[name, value] : csi::Texts{{"nqn", testNqn}, {"nsid", "1"}, {"addresses", "10.0.0.1"}})
			(*request.mutable_volume_context())[name] = value;
		sanity::v1::ControllerPublishVolumeResponse response;
		const auto code = sanity::call(*served.plugin.controller, &Controller::ControllerPublishVolume, request,
					       &response);
		if (key)
			*key = volume::FenceKey::parse(response.publish_context().at("csi.nvmeof/fence"))->value;
		return code;
	};
	auto unpublish = [&](const std::string &node) {
		sanity::v1::ControllerUnpublishVolumeRequest request;
		request.set_volume_id("pvc-1");
		request.set_node_id(node);
		return sanity::call(*served.plugin.controller, &Controller::ControllerUnpublishVolume, request);
	};
	const auto writer = sanity::mountCapability();
	const auto reader = sanity::mountCapability("ext4", sanity::Mode::MULTI_NODE_READER_ONLY);
	std::uint64_t first = 0, again = 0, second = 0;
	CHECK(publish("a", writer, &first) == grpc::StatusCode::OK);
	CHECK(publish("a", writer, &again) == grpc::StatusCode::OK);
	CHECK(first == again);
	CHECK(publish("a", reader) == grpc::StatusCode::ALREADY_EXISTS);
	CHECK(publish("b", writer) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(publish("b", reader) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(unpublish("a") == grpc::StatusCode::OK);
	CHECK(unpublish("a") == grpc::StatusCode::OK);
	CHECK(publish("b", writer, &second) == grpc::StatusCode::OK);
	CHECK(second > first);
	csi::ControllerService restarted(served.scratch.path() / "created", served.scratch.path() / "published");
	sanity::v1::DeleteVolumeRequest remove;
	sanity::v1::DeleteVolumeResponse removed;
	remove.set_volume_id("pvc-1");
	CHECK(restarted.DeleteVolume(nullptr, &remove, &removed).error_code() == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(unpublish("") == grpc::StatusCode::OK);
	CHECK(publish("a", reader) == grpc::StatusCode::OK);
	CHECK(publish("b", reader) == grpc::StatusCode::OK);
	CHECK(publish("c", writer) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK(publish("c", sanity::mountCapability("ext4", sanity::Mode::SINGLE_NODE_READER_ONLY)) ==
	      grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("a file system is checked before it is mounted writable", "[csi]")
{
	Served served;
	const auto writer = sanity::mountCapability();
	const auto reader = sanity::mountCapability("ext4", sanity::Mode::SINGLE_NODE_READER_ONLY);
	REQUIRE(served.player.stage(writer) == grpc::StatusCode::OK);
	CHECK(served.machine.checks == 0); // the file system was just created
	REQUIRE(served.player.unstage() == grpc::StatusCode::OK);
	served.machine.broken = true;
	CHECK(served.player.stage(writer) == grpc::StatusCode::INTERNAL);
	CHECK(served.machine.checks == 1);
	CHECK_FALSE(served.machine.attached);
	CHECK(served.player.stage(reader) == grpc::StatusCode::OK);
	CHECK(served.machine.checks == 1);
}

TEST_CASE("a single-pod volume is published once", "[csi]")
{
	Served served;
	for (const auto &capability : {sanity::mountCapability("ext4", sanity::Mode::SINGLE_NODE_SINGLE_WRITER),
				       sanity::blockCapability(sanity::Mode::SINGLE_NODE_SINGLE_WRITER)}) {
		REQUIRE(served.player.stage(capability) == grpc::StatusCode::OK);
		CHECK(served.player.publish(capability) == grpc::StatusCode::OK);
		CHECK(served.player.publish(capability) == grpc::StatusCode::OK);
		CHECK(served.player.publish(capability, "second") == grpc::StatusCode::FAILED_PRECONDITION);
		CHECK(served.player.unpublish() == grpc::StatusCode::OK);
		CHECK(served.player.publish(capability, "second") == grpc::StatusCode::OK);
		CHECK(served.player.unpublish("second") == grpc::StatusCode::OK);
		CHECK(served.player.unstage() == grpc::StatusCode::OK);
	}
}

TEST_CASE("mounts of a dead disk are removed even while they are used", "[csi]")
{
	Served served;
	const auto capability = sanity::mountCapability();
	REQUIRE(served.player.stage(capability) == grpc::StatusCode::OK);
	REQUIRE(served.player.publish(capability) == grpc::StatusCode::OK);
	CHECK(served.player.unpublish() == grpc::StatusCode::OK);
	CHECK_FALSE(served.machine.lazy);
	REQUIRE(served.player.publish(capability) == grpc::StatusCode::OK);
	served.machine.paths = 0;
	CHECK(served.player.unpublish() == grpc::StatusCode::OK);
	CHECK(served.machine.lazy);
	CHECK(served.player.unstage() == grpc::StatusCode::OK);
	CHECK(served.machine.opens == 0);
}

TEST_CASE("nvmeof.toml has the connection settings that the volume does not set", "[csi]")
{
	Served served;
	served.machine.defaults.fastIoFail = std::chrono::seconds(20);
	served.machine.defaults.ioQueues = 3;
	auto request = served.player.stageRequest(sanity::mountCapability());
	(*request.mutable_volume_context())["nr-io-queues"] = "2";
	REQUIRE(served.player.stage(request) == grpc::StatusCode::OK);
	CHECK(served.machine.asked.fastIoFail == std::chrono::seconds(20));
	CHECK(served.machine.asked.ioQueues == 2);
}

TEST_CASE("[[security]] of the node holds for volumes, too", "[csi]")
{
	Served served;
	served.machine.rulesUnknown = true;
	CHECK(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::FAILED_PRECONDITION);
	CHECK_FALSE(served.machine.attached);
	served.machine.rulesUnknown = false;
	served.machine.defaults.security = SecurityRule{{}, SecurityUse::required, "/etc/nvmeof/nvmeof.toml:3"};
	REQUIRE(served.player.stage(sanity::mountCapability()) == grpc::StatusCode::OK);
	CHECK(served.machine.asked.security == served.machine.defaults.security);
}

TEST_CASE("an unreadable directory of staged volumes is an error", "[csi]")
{
	const Scratch scratch;
	csi::LocalMachine machine;
	const std::string tooLong = scratch.path() / std::string(300, 'x');
	CHECK_FALSE(machine.bind(tooLong, scratch.path() / "target", false));
	CHECK_FALSE(std::filesystem::exists(scratch.path() / "target"));
}

TEST_CASE("a failed program's error has its output", "[csi]")
{
	CHECK(csi::runProgram({"true"}));
	CHECK_FALSE(csi::runProgram({"sh", "-c", "exit 1"}));
	CHECK(csi::runProgram({"sh", "-c", "echo repaired; exit 1"}, 1));
	Result<void> failed = csi::runProgram({"sh", "-c", "echo RUN fsck MANUALLY; exit 4"}, 1);
	REQUIRE_FALSE(failed);
	CHECK(failed.error().message.find("RUN fsck MANUALLY") != std::string::npos);
	CHECK_FALSE(csi::runProgram({"sh", "-c", "kill -9 $$"}, 1));
	CHECK_FALSE(csi::runProgram({"/no/such/program"}));
}
