// SPDX-License-Identifier: LGPL-2.1-or-later
// Several paths to one namespace; one or all of them misbehave.
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
using target::Expect;
using target::Misbehaviour;
using target::When;
using target::acts::always;
using target::acts::failed;
using target::acts::poke;
using target::acts::verdict;
using target::acts::when;

namespace {

target::Config withAna(std::uint32_t groups = 4)
{
	target::Config config;
	config.ana = true;
	config.anaGroups = groups;
	return config;
}

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

// Drops the connections of these ports and waits until the host has reconnected.
void dropAndWaitReconnected(Ports &ports, const std::vector<std::size_t> &which)
{
	auto connects = [&] {
		std::uint64_t sum = 0;
		for (auto i : which)
			sum += ports[i].counters().adminConnects;
		return sum;
	};
	auto before = connects();
	for (auto i : which)
		ports[i].dropConnections();
	CHECK(eventually(
		[&] {
			return connects() == before + which.size() &&
			       std::ranges::all_of(ports.host.paths(), [](auto &p) { return p.usable; });
		},
		15s));
}

std::optional<nvmeof::Path> pathOf(Ports &ports, const std::string &controller)
{
	for (auto &p : ports.host.paths())
		if (p.controller == controller)
			return p;
	return {};
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

const auto pathError =
	always(target::Hook::command, [](target::Strike &s) { return failed(s.io(), s, target::st_path_internal); });
const auto inaccessible = always(target::Hook::command, [](target::Strike &s) {
	return failed(s.io(), s, target::st_ana_inaccessible); // although the ANA log reports optimized
});

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

TEST_CASE("two live paths that both fail: the retries of a request are bounded", "[hostile][paths][trap30]")
{
	static const auto transition = always(
		target::Hook::command, [](target::Strike &s) { return failed(s.io(), s, target::st_ana_transition); });
	const Misbehaviour *how = nullptr;
	SECTION("internal path error")
	{
		how = &pathError;
	}
	SECTION("ANA inaccessible, contrary to the log")
	{
		how = &inaccessible;
	}
	SECTION("ANA transition, contrary to the log")
	{
		how = &transition;
	}
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	for (std::size_t i : {0, 1})
		ports[i].script().arm(*how, target::Script::forever);
	Buffer buffer(4096);
	Stopwatch time;
	CHECK(disk.read(0, buffer) < 0);
	CHECK(time.elapsed() < scaled(10s));
	auto tries = ports[0].script().strikes() + ports[1].script().strikes();
	CHECK(tries >= 2);
	CHECK(tries <= 64);
	for (std::size_t i : {0, 1})
		ports[i].script().disarm();
	for (auto &c : list)
		CHECK(ports.live(c.name));
	CHECK(eventually([&] { return ports.work(disk) == 0; }, 5s));
}

TEST_CASE("one of two paths fails every request: the other path completes them", "[hostile][paths][trap30]")
{
	Ports ports({withAna(), withAna()});
	ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].script().arm(pathError, target::Script::forever);
	for (int i = 0; i < 5; i++)
		CHECK(ports.work(disk) == 0);
	CHECK(ports[0].script().strikes() > 0);
	ports[0].script().disarm();
}

// The next path may have no polled queue, and the request may have to wait: REQ_POLLED and REQ_NOWAIT are cleared.
TEST_CASE("polled and no-wait requests move like others", "[hostile][paths][trap25][short]")
{
	Ports ports({withAna(), withAna()});
	for (std::size_t i : {0, 1}) {
		auto o = ports.options(i);
		o.pollQueues = 1;
		CHECK(ports.host.connect(o).pollQueues == 1);
	}
	ports.set("iopolicy=round-robin");
	FioLoad polled({.file = ports.disk(),
			.blocks = "4k",
			.depth = 4,
			.size = "1m",
			.engine = "io_uring",
			.seconds = 60,
			.more = "--hipri"});
	FioLoad impatient({.file = ports.disk(),
			   .blocks = "4k",
			   .depth = 1,
			   .size = "1m",
			   .engine = "pvsync2",
			   .seconds = 60,
			   .more = "--nowait=1 --offset=4m"});
	for (std::size_t i : {0, 1, 0, 1}) {
		ports[i].script().arm(pathError, 20);
		CHECK(ports[i].script().waitStrikes(20, scaled(10s)));
		ports[i].script().disarm();
		dropAndWaitReconnected(ports, {i});
	}
	dropAndWaitReconnected(ports, {0, 1}); // no usable path for a while
	for (auto *load : {&polled, &impatient})
		expectGoodUntilNow(*load);
}

TEST_CASE("an Internal Error from one of two paths is retried on the other", "[hostile][paths][trap30]")
{
	static const auto internal =
		always(target::Hook::command, [](target::Strike &s) { return failed(s.io(), s, target::st_internal); });
	Ports ports({withAna(), withAna()});
	ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	for (std::size_t i : {0, 1}) { // the policy may prefer either
		ports[i].script().arm(internal, target::Script::forever);
		for (int n = 0; n < 5; n++)
			CHECK(ports.work(disk) == 0);
		ports[i].script().disarm();
	}
	CHECK(ports[0].script().strikes() + ports[1].script().strikes() > 0);
}

TEST_CASE("a write is retried until the only path stops answering with path errors", "[hostile][paths][trap30]")
{
	const Misbehaviour *how = nullptr;
	SECTION("internal path error")
	{
		how = &pathError;
	}
	SECTION("ANA inaccessible, ahead of the log")
	{
		how = &inaccessible;
	}
	Ports ports({withAna()});
	ports.connect(0);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].script().arm(*how, target::Script::forever);
	int written = 1;
	std::jthread writer([&] {
		Buffer buffer(4096);
		buffer.fill(7);
		written = disk.write(0, buffer);
	});
	REQUIRE(ports[0].script().waitStrikes(1, scaled(5s)));
	std::this_thread::sleep_for(200ms); // retries without a delay would be used up
	ports[0].script().disarm();
	writer.join();
	CHECK(written == 0);
}

TEST_CASE("a new namespace in an ANA group missing from the last log becomes usable", "[hostile][paths][ana]")
{
	Ports ports({withAna()});
	auto c = ports.connect(0);
	Disk disk(ports.disk());
	ports.subsystem().stores().add(2, 4 << 20, 9, 3);
	take(ports.host.client().controller(c.name));
	CHECK(ports.host.client().rescan(c.name).ok()); // without an ANA change event
	CHECK(eventually([&] {
		for (auto &p : ports.host.paths())
			if (p.nsid == 2 && p.usable)
				return true;
		return false;
	}));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("degrade: a path by which requests fail is avoided until it recovers", "[hostile][paths][degrade]")
{
	static std::atomic<unsigned> turn; // fails every other request, so that no series of probes succeeds
	turn = 0;
	static const auto flaky = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.io() && turn++ % 2, s, target::st_internal); // without DNR
	});
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	ports.set("iopolicy=round-robin");
	ports.set("degrade=on");
	auto bad = pathOf(ports, list[0].name)->name;
	Watch watch;
	auto told = [&](nvmeof::EventType type) {
		return watch.find([&](auto &e) { return e.type == type && e.name() == bad; }, 20s).has_value();
	};
	FioLoad load({.file = ports.disk(), .size = "4m", .seconds = 120});
	ports[0].script().arm(flaky, target::Script::forever);
	CHECK(told(nvmeof::EventType::degraded));
	CHECK(pathOf(ports, list[0].name)->degraded);
	auto failed = ports[0].script().strikes();
	CHECK(failed >= 5);
	std::this_thread::sleep_for(1s);
	CHECK(ports[0].script().strikes() < failed + 40); // only probes, at most 20 per second
	CHECK(pathOf(ports, list[0].name)->degraded);
	ports[0].script().disarm();
	CHECK(told(nvmeof::EventType::restored));
	CHECK_FALSE(pathOf(ports, list[0].name)->degraded);
	CHECK(load.running());
	auto result = load.finish(90s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("ANA logs of every shape from one of two live ports do not disturb the load", "[hostile][paths][ana][trap17]")
{
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	FioLoad load({.file = ports.disk(), .size = "4m", .seconds = 300});
	for (auto &m : target::misbehaviours()) {
		if (std::string_view name = m.name; !name.starts_with("ana-") || name.ends_with("-never"))
			continue;
		INFO(m.name);
		ports[0].script().arm(m, target::Script::forever);
		ports[0].sendEvent(target::event_ana_changed);
		CHECK(ports[0].script().waitStrikes(1, scaled(5s)));
		std::this_thread::sleep_for(100ms);
		CHECK(load.running());
		ports[0].script().disarm();
		CHECK(ports.live(list[0].name)); // the host reconnects after an unusable log
		ports[0].sendEvent(target::event_ana_changed);
		CHECK(eventually([&] {
			auto p = pathOf(ports, list[0].name);
			return p && p->usable && p->anaState == nvmeof::AnaState::optimized;
		}));
	}
	auto result = load.finish(90s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a disk appears when its first path becomes usable, and stays", "[hostile][paths][ana][trap39]")
{
	Ports ports({withAna(), withAna()});
	for (std::size_t i : {0, 1})
		ports[i].setAnaState(1, target::ana_inaccessible);
	auto first = ports.connect(0);
	auto disks = [&] { return take(ports.host.client().namespaces()).size(); };
	auto shown = [] { return run("ls /sys/block | grep -c ^nvmeof").text != "0\n"; };
	CHECK(disks() == 0);
	CHECK_FALSE(shown());
	CHECK(run("nvmeofctl list --json").status == 0);
	SECTION("the connected path becomes usable")
	{
		ports[0].setAnaState(1, target::ana_optimized);
	}
	SECTION("another path becomes usable after it has connected")
	{
		ports.connect(1);
		CHECK(disks() == 0);
		ports[1].setAnaState(1, target::ana_non_optimized);
	}
	SECTION("another path is usable when it connects")
	{
		ports[1].setAnaState(1, target::ana_optimized);
		ports.connect(1);
		CHECK(disks() == 1); // connect waits for the disk
	}
	SECTION("no path becomes usable")
	{
		ports.host.disconnectAll();
		CHECK_FALSE(shown());
		return;
	}
	CHECK(eventually([&] { return disks() == 1; }));
	Disk disk(ports.disk());
	CHECK(ports.work(disk) == 0);
	for (std::size_t i : {0, 1})
		ports[i].setAnaState(1, target::ana_inaccessible);
	CHECK(eventually([&] { return std::ranges::none_of(ports.host.paths(), [](auto &p) { return p.usable; }); }));
	CHECK(disks() == 1);
	ports[0].setAnaState(1, target::ana_optimized);
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("an ANA log larger than a transfer, which changes while it is read", "[hostile][paths][ana][trap17]")
{
	constexpr std::uint32_t groups = 600; // 19 KiB without a single NSID
	auto config = withAna(groups);
	config.mdts = 1; // 8 KiB
	Ports ports({config, config});
	target::AnaStates states;
	for (std::uint32_t g = 1; g <= groups; g++)
		states[g] = g == 1 ? target::ana_non_optimized : target::ana_inaccessible;
	ports[0].setAnaStates(states);
	auto list = ports.connectAll();
	auto stateOf = [&](std::size_t i) {
		auto p = pathOf(ports, list[i].name);
		return p ? p->anaState : nvmeof::AnaState::none;
	};
	CHECK(stateOf(0) == nvmeof::AnaState::nonOptimized);
	CHECK(stateOf(1) == nvmeof::AnaState::optimized);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);

	// The states change between the first and the second Get Log Page command, without another event. A host that
	// combines both pieces gets a state that never existed.
	static const auto tear = always(target::Hook::adminData, [](target::Strike &s) {
		if (!s.log(target::log_ana) || s.cmd->cdw12 != 0 || s.data->size() < 1000)
			return false;
		s.conn.server().setAnaState(1, target::ana_optimized, false);
		return true;
	});
	ports[0].script().arm(tear, 1);
	ports[0].sendEvent(target::event_ana_changed);
	REQUIRE(ports[0].script().waitStrikes(1, scaled(5s)));
	CHECK(eventually([&] { return stateOf(0) == nvmeof::AnaState::optimized; }, 5s));

	// A log that changes at each read: the number of reads is bounded, and I/O goes on.
	static std::atomic<std::uint64_t> reads;
	reads = 0;
	static const auto moving = always(target::Hook::adminData, [](target::Strike &s) {
		if (!s.log(target::log_ana))
			return false;
		reads++;
		s.conn.server().setAnaState(600, target::ana_inaccessible, false);
		return true;
	});
	ports[0].script().arm(moving, target::Script::forever);
	ports[0].sendEvent(target::event_ana_changed);
	CHECK(ports[0].script().waitStrikes(1, scaled(5s)));
	for (int i = 0; i < 10; i++)
		CHECK(ports.work(disk) == 0);
	std::this_thread::sleep_for(1s);
	CHECK(reads < 500);
	ports[0].script().disarm();
	CHECK(ports.live(list[0].name));
	CHECK(eventually([&] { return stateOf(0) == nvmeof::AnaState::optimized; }, 5s));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("ANA states that change on both ports at random, under load", "[hostile][paths][ana][trap18]")
{
	Ports ports({withAna(), withAna()});
	ports.connectAll();
	FioLoad load({.file = ports.disk(), .size = "4m", .seconds = 8});
	constexpr target::AnaState bad[] = {target::ana_inaccessible, target::ana_change, target::ana_non_optimized};
	for (unsigned i = 0; load.running(); i++) {
		auto &port = ports[i % 2];
		port.setAnaState(1, bad[i / 2 % 3], i % 5 != 0); // sometimes without an event
		std::this_thread::sleep_for(Millis(5 + i * 7 % 60));
		port.setAnaState(1, target::ana_optimized);
		std::this_thread::sleep_for(20ms);
	}
	auto result = load.wait(30s);
	INFO(result.text);
	CHECK(result.good());
	CHECK(ports[0].counters().anaRefusals + ports[1].counters().anaRefusals > 0);
}

TEST_CASE("persistent loss reported by status alone moves I/O to the other path", "[hostile][paths][ana]")
{
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].setAnaState(1, target::ana_persistent_loss, false);
	for (int i = 0; i < 5; i++)
		CHECK(ports.work(disk) == 0);
	ports[1].setAnaState(1, target::ana_persistent_loss, true);
	Buffer buffer(4096);
	Stopwatch time;
	CHECK(eventually([&] { return disk.read(0, buffer) < 0; }, 5s)); // no path may return
	ports[0].setAnaState(1, target::ana_optimized);
	ports[1].setAnaState(1, target::ana_optimized);
	CHECK(eventually([&] { return ports.work(disk) == 0; }));
}

TEST_CASE("a request that all paths refuse waits even while the path set changes", "[hostile][paths][ana][trap18]")
{
	static const Misbehaviour holdLog{"hold-ana-log",
					  17,
					  target::Hook::command,
					  When::idle,
					  Expect::harmless,
					  target::Needs::ana,
					  [](target::Strike &s) {
						  return target::acts::verdict(s.log(target::log_ana), s,
									       target::Verdict::hold);
					  }};
	Ports ports({withAna(), withAna()});
	auto first = ports.connect(0), second = ports.connect(1);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	// The ANA log of the first port is still being read when its state changes again.
	ports[0].script().arm(holdLog);
	ports[0].setAnaState(2, target::ana_inaccessible);
	REQUIRE(ports[0].script().waitStrikes(1, scaled(3s)));
	for (std::size_t i = 0; i < 2; i++)
		ports[i].setAnaState(1, target::ana_inaccessible, false);
	auto refused = [&] { return ports[0].counters().anaRefusals + ports[1].counters().anaRefusals; };
	std::atomic<int> written = 1;
	std::jthread writer([&] {
		Buffer buffer(4096);
		buffer.fill(7);
		written = disk.write(0, buffer);
	});
	REQUIRE(eventually([&] { return refused() >= 2; }));
	auto before = refused();
	nvmeof::ControllerSettings settings;
	for (int i = 1; i <= 12; i++) { // each change publishes a new path set
		settings.reconnectDelay = std::chrono::seconds(i);
		CHECK(ports.host.client().set(second.name, settings).ok());
	}
	CHECK(refused() <= before + 1);
	CHECK(written == 1);
	ports[0].releaseHeld();
	ports[0].setAnaState(1, target::ana_optimized);
	CHECK(eventually([&] { return written != 1; }));
	writer.join();
	CHECK(written == 0);
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

TEST_CASE("a status with a Command Retry Delay is retried after that delay", "[hostile][paths][crdt]")
{
	static const auto delays = always(target::Hook::adminData, [](target::Strike &s) {
		return poke<std::uint16_t>(s.identify(target::cns_ctrl), s, 130, 8); // CRDT2: 800 ms
	});
	static const auto notNow = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.ioRead(), s, target::st_internal | 2 << 11);
	});
	for (unsigned n : {1u, 2u}) { // one path, then two
		INFO(n << " paths");
		Ports ports(std::vector(n, target::Config()));
		for (unsigned i = 0; i < n; i++)
			ports[i].script().arm(delays, target::Script::forever);
		ports.connectAll();
		Disk disk(ports.disk());
		REQUIRE(ports.work(disk) == 0);
		for (unsigned i = 0; i < n; i++) {
			ports[i].script().disarm();
			ports[i].script().arm(notNow, n == 1 ? 1 : target::Script::forever);
		}
		Pending read([node = ports.disk()] {
			Buffer buffer(4096);
			return Disk(node).read(0, buffer);
		});
		REQUIRE(read.waits());
		std::this_thread::sleep_for(500ms);
		for (unsigned i = 0; i < n; i++)
			ports[i].script().disarm();
		REQUIRE(read.join(5s));
		CHECK(read.status() == 0);
		CHECK(read.took() >= 750ms);
	}
}

TEST_CASE("a read completes although the target always exceeds the request timeout", "[hostile][slow]")
{
	static const auto slow = always(target::Hook::command, [](target::Strike &s) {
		if (s.ioRead())
			s.verdict = target::Verdict::hold;
		return s.ioRead();
	});
	Ports ports(std::vector<target::Config>(1));
	ports.connectAll();
	auto node = ports.disk();
	REQUIRE(ports.work(Disk(node)) == 0);
	writeFile("/sys/block/" + node.substr(5) + "/queue/io_timeout", "1000");
	ports[0].script().arm(slow, target::Script::forever);
	std::jthread answers([&](std::stop_token stop) {
		// Answers each read after 2.5 s. The host sends an Abort after 1 s and would end the association 1 s
		// later.
		for (std::uint64_t seen = 0; !stop.stop_requested(); std::this_thread::sleep_for(20ms)) {
			if (ports[0].script().strikes() == seen)
				continue;
			seen = ports[0].script().strikes();
			std::this_thread::sleep_for(2500ms);
			ports[0].releaseHeld();
		}
	});
	Pending read([node] {
		Buffer buffer(4096);
		return Disk(node).read(0, buffer);
	});
	CHECK(read.join(scaled(15s)));
	CHECK(read.status() == 0);
	answers.request_stop();
	answers.join();
	ports[0].script().disarm();
	ports[0].releaseHeld();
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

TEST_CASE("a request is retried over lost connections until fast_io_fail_tmo, or else ctrl_loss_tmo",
	  "[hostile][losses][trap30]")
{
	static const auto cut = always(target::Hook::command, [](target::Strike &s) {
		auto *conn = &s.conn;
		return when(s.ioRead(), [&] {
			s.verdict = target::Verdict::drop;
			conn->end(true);
		});
	});
	constexpr int more = 20; // more than NOF_MAX_LOSSES, which are allowed at any time
	Ports ports(std::vector<target::Config>(1));
	auto o = ports.options(0);
	struct {
		Millis loss, fail;
		bool ends;
	} const limits[] = {{-1ms, -1ms, false}, {scaled(60s), -1ms, false}, {1s, -1ms, true}, {scaled(60s), 1s, true}};
	auto &limit = limits[GENERATE(0, 1, 2, 3)];
	INFO("ctrl_loss_tmo " << limit.loss.count() << " fast_io_fail_tmo " << limit.fail.count());
	o.ctrlLoss = limit.loss;
	o.fastIoFail = limit.fail;
	auto c = ports.host.connect(o);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].script().arm(cut, limit.ends ? target::Script::forever : more);
	Buffer buffer(4096);
	CHECK((disk.read(0, buffer) == 0) == !limit.ends);
	CHECK(ports[0].script().strikes() >= (limit.ends ? 16 : more)); // reconnects are quick: no controller is lost
	ports[0].script().disarm();
	CHECK(ports.live(c.name));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("a read completes although both paths take longer than the timeouts", "[hostile][paths][slow]")
{
	Ports ports(std::vector<target::Config>(2));
	ports.connectAll();
	auto node = ports.disk();
	REQUIRE(ports.work(Disk(node)) == 0);
	for (std::size_t i : {0, 1})
		ports[i].setLatency(70s);
	Pending read([node] {
		Buffer buffer(4096);
		return Disk(node).read(0, buffer);
	});
	// The read is detached once and times out once; then the host waits long enough.
	CHECK(read.join(scaled(240s)));
	CHECK(read.status() == 0);
	CHECK(ports[0].counters().reads + ports[1].counters().reads <= 8);
	for (std::size_t i : {0, 1})
		ports[i].setLatency(0s);
	CHECK(eventually([&] { return ports.work(Disk(node)) == 0; }, 15s));
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
