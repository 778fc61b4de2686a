// SPDX-License-Identifier: LGPL-2.1-or-later
// Passthrough commands whose connection is lost: which are retried on another path, and how the others end.
#include "support/stalled_writes.h"
#include "support/intree.h"
#include "support/multi.h"
#include "support/ring.h"
#include "target/acts.h"
#include "target/connection.h"

#include <fcntl.h>
#include <sys/ioctl.h>

namespace guest::passthru_lost {

using target::Hook;
using target::acts::always;

namespace {

constexpr std::uint8_t opCopy = 0x19, opCompare = 0x05, opAcquire = 0x11, opVendor = 0x81, opAppend = 0x7d,
		       opZoneSend = 0x79, opZoneReceive = 0x7a;
constexpr int mayHaveRun = 0x371; // Command Aborted By Host
constexpr int pathError = 0x370;  // Host Pathing Error

target::Config config(bool zoned)
{
	target::Config c;
	c.ana = true;
	c.kas = 1;
	c.zoned = zoned;
	return c;
}

// Cuts the connection on an I/O command without executing it; the host cannot know whether it was executed
bool cutCommand(target::Strike &s)
{
	if (!s.io())
		return false;
	auto *conn = &s.conn;
	s.verdict = target::Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

const auto cut = always(Hook::command, cutCommand);
// No response, but the connection stays
const auto unanswered = always(
	Hook::command, [](target::Strike &s) { return target::acts::verdict(s.io(), s, target::Verdict::drop); });
const auto inaccessible = always(
	Hook::command, [](target::Strike &s) { return target::acts::failed(s.io(), s, target::st_ana_inaccessible); });
const auto hostAborted = always(
	Hook::command, [](target::Strike &s) { return target::acts::failed(s.io(), s, target::st_host_aborted); });
const auto internal =
	always(Hook::command, [](target::Strike &s) { return target::acts::failed(s.io(), s, target::st_internal); });

// The first port gets the commands while it is there.
struct Scene {
	Ports ports;
	std::string controller;
	int fd = -1;
	Buffer data{length};

	explicit Scene(bool zoned = false, std::size_t count = 2)
		: ports(std::vector<target::Config>(count, config(zoned)))
	{
		if (zoned)
			ports.store().makeZoned({.blocks = 2048, .capacity = 2048, .maxOpen = 3, .maxActive = 4});
		if (count > 1)
			ports[1].setAnaState(1, target::ana_non_optimized);
		controller = ports.connectAll()[0].name;
		auto node = ports.disk();
		REQUIRE_FALSE(node.empty());
		// scripts must see only the test's own commands: wait for the partition scan and udev
		int disk = ::open(node.c_str(), O_RDONLY | O_CLOEXEC);
		REQUIRE(disk >= 0);
		::close(disk);
		settle();
		fd = ::open(genericOf(node).c_str(), O_RDWR | O_CLOEXEC);
		REQUIRE(fd >= 0);
		REQUIRE(all(count));
	}
	~Scene() { ::close(fd); }

	bool all(std::size_t count = 2)
	{
		return eventually(
			[this, count] {
				auto paths = ports.host.paths();
				return std::size_t(std::ranges::count_if(paths, [](auto &p) { return p.usable; })) ==
				       count;
			},
			20s);
	}
	nvme_uring_cmd command(std::uint8_t opcode)
	{
		bool plain = opcode == target::op_read || opcode == target::op_write || opcode == opCompare ||
			     opcode == opAppend;
		auto cmd = blocksCommand(opcode, 0, length, plain ? data.data() : nullptr);
		if (opcode == target::op_dsm)
			cmd = dsm();
		if (opcode == opZoneReceive) {
			cmd = blocksCommand(opcode, 0, length, data.data());
			cmd.cdw12 = length / 4 - 1;
			cmd.cdw13 = 1 << 16;
		}
		if (opcode == opZoneSend)
			cmd.cdw13 = 4; // reset
		return cmd;
	}
	int send(std::uint8_t opcode, unsigned ms = 0)
	{
		Ring ring(4);
		auto cmd = command(opcode);
		cmd.timeout_ms = ms;
		auto res = ring.one(fd, NVME_URING_CMD_IO, cmd).res;
		return res < 0 ? res : res & ~0x4000; // without Do Not Retry
	}

private:
	nvme_uring_cmd dsm()
	{
		std::memset(data.data(), 0, 16);
		data.data()[4] = 8; // blocks, from LBA 0 on
		nvme_uring_cmd cmd{};
		cmd.opcode = target::op_dsm;
		cmd.nsid = 1;
		cmd.addr = reinterpret_cast<std::uintptr_t>(data.data());
		cmd.data_len = 16;
		cmd.cdw11 = 4;
		return cmd;
	}
};

} // namespace

TEST_CASE("a command whose path is lost is retried, or fails with Command Aborted By Host", "[passthru][lost][short]")
{
	Scene scene;
	struct {
		std::uint8_t opcode;
		int res;
	} const cases[] = {
		{target::op_read, 0},         {target::op_write, 0},   {target::op_flush, 0},
		{target::op_write_zeroes, 0}, {target::op_dsm, 0},     {opCopy, mayHaveRun},
		{opVendor, mayHaveRun},       {opAcquire, mayHaveRun}, {opZoneReceive, mayHaveRun},
	};
	for (auto &c : cases) {
		INFO("opcode " << int(c.opcode));
		scene.ports[0].script().arm(cut);
		CHECK(scene.send(c.opcode) == c.res);
		CHECK(scene.ports[0].script().strikes() == 1);
		REQUIRE(scene.all());
	}
}

TEST_CASE("Command Aborted By Host sent by a target is a response: the command is not lost", "[passthru][lost][short]")
{
	Scene scene;
	scene.ports[0].script().arm(hostAborted);
	CHECK(scene.send(opVendor) == pathError);
	CHECK(scene.ports[0].script().strikes() == 1);
}

TEST_CASE("zoned namespaces: no command that moves a write pointer is retried", "[passthru][lost][zones]")
{
	Scene scene(true);
	for (auto opcode : {std::uint8_t(target::op_write), opAppend, opZoneSend}) {
		INFO("opcode " << int(opcode));
		scene.ports[0].script().arm(cut);
		CHECK(scene.send(opcode) == mayHaveRun);
		REQUIRE(scene.all());
	}
	for (auto opcode : {std::uint8_t(target::op_read), opZoneReceive}) {
		INFO("opcode " << int(opcode));
		scene.ports[0].script().arm(cut);
		CHECK(scene.send(opcode) == 0);
		REQUIRE(scene.all());
	}
	CHECK(scene.ports.store().zones()->wp(0) == 0);
	CHECK(scene.send(opAppend) == 0);
	CHECK(scene.ports.store().zones()->wp(0) == length / 512);
	CHECK(scene.send(opZoneSend) == 0);
	CHECK(scene.ports.store().zones()->wp(0) == 0);
}

TEST_CASE("passthrough that was lost waits for the fence, as a write does", "[passthru][lost][fencing]")
{
	Scene scene;
	scene.ports.set("quiesce-tmo=0"); // this target honours the CQT it reports
	scene.ports.set("fencing=safe");
	scene.ports[0].script().arm(cut);
	auto begin = Clock::now();
	CHECK(scene.send(target::op_read) == 0);
	CHECK(Clock::now() - begin < scaled(2s));
	REQUIRE(scene.all());
	scene.data.fill(9);
	scene.ports[0].script().arm(cut);
	Pending pending([&scene] { return scene.send(target::op_write); });
	std::this_thread::sleep_for(scaled(1s)); // the fence lasts 2 x 1.5 s
	CHECK(pending.waits());
	CHECK_FALSE(scene.ports.stored(0, length, 9));
	REQUIRE(pending.join(15s));
	CHECK(pending.status() == 0);
	CHECK(scene.ports.stored(0, length, 9));
}

TEST_CASE("passthrough held for longer than its time limit ends", "[passthru][lost][fencing][short]")
{
	Scene scene;
	scene.ports.set("quiesce-tmo=0");
	scene.ports.set("fencing=safe");
	scene.data.fill(9);
	scene.ports[0].script().arm(cut);
	// the fence lasts 2 x 1.5 s
	CHECK(scene.send(target::op_write, static_cast<unsigned>(Millis(scaled(1s)).count())) == mayHaveRun);
	REQUIRE(scene.all());
	CHECK_FALSE(scene.ports.stored(0, length, 9));
}

TEST_CASE("a path error moves repeatable commands to another path; other errors go to the caller", "[passthru][lost]")
{
	Scene scene;
	scene.ports[0].script().arm(inaccessible);
	CHECK(scene.send(target::op_read) == 0);
	REQUIRE(scene.all());
	scene.ports[0].script().arm(inaccessible);
	CHECK(scene.send(opCopy) == target::st_ana_inaccessible);
	REQUIRE(scene.all());
	scene.ports[0].script().arm(internal);
	CHECK(scene.send(target::op_read) == target::st_internal);
	CHECK(scene.ports[0].script().strikes() == 1);
	// a command to a controller node stays with that controller
	int node = ::open(("/dev/" + scene.controller).c_str(), O_RDWR | O_CLOEXEC);
	REQUIRE(node >= 0);
	auto cmd = scene.command(target::op_read);
	nvme_passthru_cmd64 p{};
	std::memcpy(&p, &cmd, offsetof(nvme_passthru_cmd64, timeout_ms));
	scene.ports[0].script().arm(cut);
	CHECK(::ioctl(node, NVME_IOCTL_IO64_CMD, &p) == mayHaveRun);
	::close(node);
}

TEST_CASE("no path in time: a command that was never sent gets an errno, one that was sent a status",
	  "[passthru][lost][short]")
{
	Scene scene(false, 1);
	scene.ports[0].script().arm(unanswered);
	Pending sent([&scene] { return scene.send(target::op_read, 2000); });
	REQUIRE(scene.ports[0].script().waitStrikes(1, scaled(5s)));
	scene.ports[0].stop();
	REQUIRE(scene.ports.host.waitState(scene.controller, nvmeof::ControllerState::connecting, 10s));
	CHECK(scene.send(target::op_read, 1000) == -ENOLINK);
	CHECK(scene.send(opCopy, 1000) == -ENOLINK);
	REQUIRE(sent.join(20s));
	CHECK(sent.status() == mayHaveRun);
	// a waiting command completes if a path returns in time
	Pending waits([&scene] { return scene.send(target::op_read, 20000); });
	scene.ports[0].start();
	REQUIRE(waits.join(20s));
	CHECK(waits.status() == 0);
}

TEST_CASE("reads and writes by passthrough survive the loss of paths", "[passthru][lost][load]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	auto node = rig.disk();
	int fd = ::open(genericOf(node).c_str(), O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	std::atomic<bool> stop{false};
	std::atomic<unsigned> rounds{0};
	Pending load([&stop, &rounds, fd] {
		constexpr unsigned depth = 8;
		Ring ring(depth);
		std::vector<std::unique_ptr<Buffer>> buffers;
		for (unsigned i = 0; i < depth; i++)
			buffers.push_back(std::make_unique<Buffer>(length));
		auto batch = [&](std::uint8_t opcode) {
			for (unsigned i = 0; i < depth; i++)
				ring.add(fd, NVME_URING_CMD_IO,
					 blocksCommand(opcode, i * length / 512, length, buffers[i]->data()), i);
			ring.submit();
			int worst = 0;
			for (unsigned i = 0; i < depth; i++)
				if (int res = ring.next().res)
					worst = res;
			return worst;
		};
		for (std::uint32_t seed = 1; !stop; seed += depth, rounds++) {
			for (unsigned i = 0; i < depth; i++)
				buffers[i]->fill(seed + i);
			if (int res = batch(target::op_write))
				return res < 0 ? res : -res;
			for (auto &buffer : buffers)
				buffer->fill(0);
			if (int res = batch(target::op_read))
				return res < 0 ? res : -res;
			for (unsigned i = 0; i < depth; i++)
				if (!buffers[i]->holds(seed + i))
					return -EILSEQ;
		}
		return 0;
	});
	for (unsigned turn = 0; turn < 6; turn++) {
		auto before = rounds.load();
		CHECK(eventually([&] { return rounds > before + 3 || !load.waits(); }, 20s));
		rig.lane(turn % 2).reopen();
		CHECK(rig.waitPaths(2));
	}
	CHECK(load.waits());
	stop = true;
	REQUIRE(load.join(30s));
	CHECK(load.status() == 0);
	std::printf("figure: passthrough, verified rounds over 6 lost paths: %u\n", rounds.load());
	::close(fd);
}

} // namespace guest::passthru_lost
