// SPDX-License-Identifier: LGPL-2.1-or-later
// Several paths to one namespace: paths that do not match, refuse queues, stall or fall silent.
#include "hostile_ports.h"
#include "hostile_tally.h"
#include "support/reproduce.h"
#include "support/selection.h"
#include "support/fio.h"
#include "support/stalled_writes.h"
#include "support/multi.h"
#include "support/ports.h"
#include "target/acts.h"
#include "target/connection.h"
#include "target/identify.h"

#include <algorithm>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace guest::hostile_paths {

using nvmeof::ControllerState;
using target::Misbehaviour;
using target::When;
using target::acts::always;
using target::acts::failed;
using target::acts::poke;
using target::acts::verdict;
using target::acts::when;

namespace {

// Alternates writes and reads for a duration. Returns the longest time that one took, or -1 ms if one failed.
Millis longest(const Disk &disk, Millis duration)
{
	Buffer buffer(4096);
	Stopwatch all;
	Millis max{0};
	for (std::uint32_t i = 1; all.elapsed() < duration; i++) {
		buffer.fill(i);
		Stopwatch one;
		int err = i % 2 ? disk.write(i % 64 * 4096, buffer) : disk.read(i % 64 * 4096, buffer);
		if (err)
			return Millis(-1);
		max = std::max(max, one.elapsed());
	}
	return max;
}

// The second path of a namespace is refused with a message. The first path and the disk are not affected.
void playJoining(const Misbehaviour &m)
{
	recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
	Ports ports(std::vector<target::Config>(2));
	auto first = ports.connect(0);
	Disk disk(ports.disk());
	auto size = disk.size();
	REQUIRE(ports.work(disk) == 0);
	Watch watch;
	ports[1].script().arm(m, target::Script::forever);
	auto second = ports.host.client().connect(ports.options(1), nvmeof::WaitFor::namespaces, scaled(5s));
	CHECK(ports[1].script().strikes() > 0);
	tellPlayed(m, ports[1].script().strikes());
	auto event = watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; }, 3s);
	REQUIRE(event);
	CHECK_FALSE(event->reason.empty());
	CHECK(ports.host.paths().size() == 1);
	CHECK(take(ports.host.client().namespaces()).size() == 1);
	CHECK(disk.size() == size);
	CHECK(disk.blockSize() == 512);
	CHECK(ports.work(disk) == 0);

	ports[1].script().disarm(); // once the port behaves, the path joins
	if (second)
		REQUIRE(ports.host.client().rescan(second->name).ok());
	else
		ports.connect(1);
	CHECK(eventually([&] { return ports.host.paths().size() == 2; }));
	CHECK(ports.work(disk) == 0);
	(void)first;
}

// Reads 4 KiB with a passthrough command at the node of a disk or controller. Returns 0, an NVMe status or a negative
// errno.
int readByPassthrough(const std::string &node, std::chrono::milliseconds timeout)
{
	int fd = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	Buffer buffer(4096);
	nvme_passthru_cmd cmd{};
	cmd.opcode = target::op_read;
	cmd.nsid = 1;
	cmd.addr = reinterpret_cast<std::uintptr_t>(buffer.data());
	cmd.data_len = 4096;
	cmd.cdw12 = 4096 / 512 - 1;
	cmd.timeout_ms = static_cast<std::uint32_t>(timeout.count());
	int ret = ::ioctl(fd, NVME_IOCTL_IO_CMD, &cmd);
	int err = errno;
	::close(fd);
	return ret < 0 ? -err : ret;
}

// Starts a read every 20 ms without waiting for earlier ones. Returns the longest time; -1 ms if one failed.
Millis longestRead(const std::shared_ptr<Disk> &disk, unsigned count)
{
	std::vector<Pending> reads;
	Millis max{0};
	for (unsigned i = 0; i < count; i++) {
		reads.emplace_back([disk] {
			Buffer buffer(4096);
			return disk->read(0, buffer);
		});
		std::this_thread::sleep_for(20ms);
	}
	for (auto &read : reads) {
		if (!read.join(10s) || read.status())
			return Millis(-1);
		max = std::max(max, read.took());
	}
	return max;
}

} // namespace

TEST_CASE("a second path to a different namespace is refused", "[hostile][table][paths][trap27]")
{
	for (auto &m : target::misbehaviours())
		if (m.when == When::joining && played(m))
			DYNAMIC_SECTION(m.name)
			{
				playJoining(m);
			}
}

TEST_CASE("a namespace that changes on one path only", "[hostile][paths][trap27]")
{
	Ports ports(std::vector<target::Config>(2));
	ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.host.paths().size() == 2);
	Watch watch;
	ports[1].script().arm(*target::findMisbehaviour("path-other-uuid"), target::Script::forever);
	ports[1].namespacesChanged();
	auto event = watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; }, 5s);
	CHECK(event);
	CHECK(eventually([&] { return ports.host.paths().size() == 1; }));
	CHECK(ports.work(disk) == 0);
	ports[1].script().disarm();
	ports[1].namespacesChanged();
	CHECK(eventually([&] { return ports.host.paths().size() == 2; }));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("a refused path does not change the limits of the disk", "[hostile][paths][trap27]")
{
	std::vector<target::Config> configs(2);
	configs[1].mdts = 1; // 8 KiB
	Ports ports(configs);
	ports.connect(0);
	auto node = ports.disk();
	auto limit = "/sys/block/" + node.substr(5) + "/queue/max_hw_sectors_kb";
	auto before = readFile(limit);
	REQUIRE(std::stoul(before) > 8);
	Watch watch;
	ports[1].script().arm(*target::findMisbehaviour("path-smaller"), target::Script::forever);
	(void)ports.host.client().connect(ports.options(1), nvmeof::WaitFor::namespaces, scaled(5s));
	CHECK(watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; }, 3s));
	CHECK(readFile(limit) == before);
	CHECK(ports.work(Disk(node)) == 0);
}

TEST_CASE("a namespace that matches two disks by different identifiers narrows only its own disk",
	  "[hostile][paths][trap27]")
{
	static const auto nguidOnly = always(target::Hook::adminData, [](target::Strike &s) {
		return when(s.identify(target::cns_descs), [&] { std::fill(s.data->begin() + 20, s.data->end(), 0); });
	});
	static const auto privateUuid = always(target::Hook::adminData, [](target::Strike &s) {
		auto uuidAlone = [&] {
			std::copy(s.data->begin() + 20, s.data->end(), s.data->begin());
			std::fill(s.data->end() - 20, s.data->end(), 0);
		};
		auto unshared = [&] {
			std::fill_n(s.data->begin() + 104, 16, 0); // NGUID
			(*s.data)[target::at::nmic] = 0;
		};
		return when(s.identify(target::cns_descs), uuidAlone) || when(s.identify(target::cns_ns), unshared);
	});
	static const auto smaller = always(target::Hook::adminData, [](target::Strike &s) {
		return poke<std::uint8_t>(s.identify(target::cns_ctrl), s, target::at::mdts, 1); // 8 KiB
	});
	Ports ports(std::vector<target::Config>(2));
	ports[0].script().arm(nguidOnly, target::Script::forever);
	ports[1].script().arm(privateUuid, target::Script::forever);
	ports.connectAll();
	auto disks = [&] { return take(ports.host.client().namespaces()); };
	REQUIRE(eventually([&] { return disks().size() == 2; }));
	auto limit = [](const nvmeof::Namespace &disk) {
		return std::stoul(readFile("/sys/block/" + disk.name + "/queue/max_hw_sectors_kb"));
	};
	auto sum = limit(disks()[0]) + limit(disks()[1]);
	ports[1].script().arm(smaller, target::Script::forever); // now shared, with both identifiers
	ports[1].dropConnections();
	REQUIRE(eventually([&] { return limit(disks()[0]) + limit(disks()[1]) < sum; }, scaled(10s)));
	CHECK(disks().size() == 2);
	CHECK(std::max(limit(disks()[0]), limit(disks()[1])) == sum / 2); // only its own disk was narrowed
	for (std::size_t i : {0, 1})
		ports[i].script().disarm();
	ports.host.disconnectAll(); // no object stays behind
	CHECK(eventually([&] { return take(ports.host.client().subsystems()).empty(); }, scaled(5s)));
}

TEST_CASE("passthrough at a controller's node goes to that controller", "[hostile][paths][passthrough]")
{
	Ports ports(std::vector<target::Config>(2));
	auto list = ports.connectAll();
	REQUIRE(ports.disk().size());
	for (unsigned i : {0, 1, 1, 0, 1}) {
		auto here = ports[i].counters().reads.load(), there = ports[1 - i].counters().reads.load();
		CHECK(readByPassthrough("/dev/" + list[i].name, 5s) == 0);
		CHECK(ports[i].counters().reads == here + 1);
		CHECK(ports[1 - i].counters().reads == there);
	}
}

TEST_CASE("passthrough without a usable path waits for its timeout, and no longer", "[hostile][paths][passthrough]")
{
	target::Config config;
	config.ana = true;
	Ports ports({config});
	auto c = ports.connectAll()[0];
	auto node = ports.disk();
	// Wait until the partition table is read: open() waits for that without a bound.
	REQUIRE(ports.work(Disk(node)) == 0);
	ports[0].setAnaState(1, target::ana_inaccessible);
	REQUIRE(eventually([&] { return !ports.host.paths().at(0).usable; }));
	for (auto &where : {node, "/dev/" + c.name}) {
		INFO(where);
		Stopwatch time;
		CHECK(readByPassthrough(where, 3s) < 0);
		CHECK(time.elapsed() >= 2s);
		CHECK(time.elapsed() < scaled(6s));
	}
	Pending waits([node] { return readByPassthrough(node, 20s); });
	std::this_thread::sleep_for(1s);
	ports[0].setAnaState(1, target::ana_optimized);
	CHECK(waits.join(5s));
	CHECK(waits.status() == 0);
}

namespace {

// Connect command of any I/O queue but the first
bool furtherQueue(const target::Strike &s)
{
	return s.is(target::op_fabrics) && s.cmd->fctype() == target::fc_connect && s.cmd->cdw10 >> 16 > 1;
}

const auto refusesQueue = always(target::Hook::command, [](target::Strike &s) {
	return failed(furtherQueue(s), s, target::st_connect_param | target::st_dnr);
});
const auto closesQueue = always(target::Hook::command, [](target::Strike &s) {
	auto *conn = &s.conn;
	return when(furtherQueue(s), [&] {
		s.verdict = target::Verdict::drop;
		s.after = [conn] { conn->end(true); };
	});
});
const auto ignoresQueue = always(target::Hook::command,
				 [](target::Strike &s) { return verdict(furtherQueue(s), s, target::Verdict::drop); });

} // namespace

TEST_CASE("a target that refuses one I/O queue is used with the others", "[hostile][paths][queues]")
{
	auto &how = *std::array{&refusesQueue, &closesQueue, &ignoresQueue}[std::size_t(GENERATE(0, 1, 2))];
	Ports ports(std::vector<target::Config>(1));
	ports[0].script().arm(how, target::Script::forever);
	auto c = ports.connect(0);
	CHECK(ports.host.controller(c.name).ioQueues == 1);
	CHECK(ports.host.controller(c.name).lastError.find("1 of 2 I/O queues") != std::string::npos);
	Disk disk(ports.disk());
	CHECK(ports.work(disk) == 0);
	// also after a reconnect
	dropAndWaitReconnected(ports, {0});
	CHECK(ports.host.controller(c.name).ioQueues == 1);
	CHECK(ports.work(disk) == 0);
	// all queues once the target accepts them
	ports[0].script().disarm();
	dropAndWaitReconnected(ports, {0});
	CHECK(ports.host.controller(c.name).ioQueues == 2);
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("a path that answers keep-alives and no I/O", "[hostile][paths][stall][trap22]")
{
	static const auto ignore = always(target::Hook::command, [](target::Strike &s) {
		if (s.io())
			s.verdict = target::Verdict::drop;
		return s.io();
	});
	Ports ports(std::vector<target::Config>(2));
	ports.connectAll();
	auto disk = std::make_shared<Disk>(ports.disk());
	REQUIRE(ports.work(*disk) == 0);
	ports.set("iopolicy=round-robin");
	auto connects = ports[0].counters().adminConnects.load();
	ports[0].script().arm(ignore, target::Script::forever);
	auto gap = longestRead(disk, 100);
	CHECK(gap >= 0ms);       // no error
	CHECK(gap < scaled(1s)); // the other path completes reads meanwhile
	std::printf("longest read %ld ms\n", gap.count());
	CHECK(ports[0].counters().adminConnects == connects); // a late answer would still count
	// No answer comes, so the request timeout ends the association.
	CHECK(eventually([&] { return ports[0].counters().adminConnects > connects; }, scaled(90s)));
	ports[0].script().disarm();
	CHECK(eventually([&] { return ports.work(*disk) == 0; }));
}

TEST_CASE("an avoided path is used again after one completion, even with other requests outstanding",
	  "[hostile][paths][stall]")
{
	static const auto holdWrites = always(target::Hook::command, [](target::Strike &s) {
		return verdict(s.ioWrite(), s, target::Verdict::hold);
	});
	Ports ports(std::vector<target::Config>(2));
	ports.connectAll();
	auto node = ports.disk();
	REQUIRE(ports.work(Disk(node)) == 0);
	auto leftOut = [&] {
		for (auto &p : ports.host.paths())
			if (p.degraded)
				return true;
		return false;
	};
	for (std::size_t i : {0, 1})
		ports[i].script().arm(holdWrites, target::Script::forever);
	Pending write([node] { return writeTo(Disk(node), 0, 7); });
	REQUIRE(eventually([&] { return ports[0].script().strikes() + ports[1].script().strikes() == 1; }));
	auto &held = ports[ports[0].script().strikes() ? 0 : 1];
	held.setLatency(1800ms);
	Pending read([node] {
		Buffer buffer(4096);
		return Disk(node).read(65536, buffer);
	});
	REQUIRE(eventually(leftOut, scaled(4s)));
	REQUIRE(read.join(scaled(1s))); // by the other path; the answer of this path comes later
	CHECK(read.status() == 0);
	CHECK(eventually([&] { return !leftOut(); }, scaled(2s)));
	CHECK(write.waits());
	held.setLatency(0s);
	for (std::size_t i : {0, 1}) {
		ports[i].script().disarm();
		ports[i].releaseHeld();
	}
	REQUIRE(write.join(scaled(5s)));
	CHECK(write.status() == 0);
}

TEST_CASE("a path whose target accepts connections and no longer answers", "[hostile][paths][silent][trap22]")
{
	Ports ports(std::vector<target::Config>(2));
	auto list = ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports.set("iopolicy=round-robin");
	std::thread silencer([&] {
		std::this_thread::sleep_for(500ms);
		ports[0].silence(true);
	});
	auto gap = longest(disk, 5s);
	silencer.join();
	CHECK(gap >= 0ms);
	CHECK(gap < scaled(3s)); // keep-alive detects it at the latest
	CHECK(ports.host.waitState(list[0].name, ControllerState::connecting));
	gap = longest(disk, 3s); // failing connect attempts do not delay I/O
	CHECK(gap >= 0ms);
	CHECK(gap < scaled(1200ms));
	ports[0].silence(false);
	CHECK(ports.live(list[0].name));
	CHECK(ports.work(disk) == 0);
}

} // namespace guest::hostile_paths
