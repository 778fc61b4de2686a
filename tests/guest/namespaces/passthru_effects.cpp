// SPDX-License-Identifier: LGPL-2.1-or-later
// Effects of admin commands as the effects log reports them, and firmware activation
#include "control/nobody.h"
#include "support/stalled_writes.h"
#include "target/acts.h"
#include "target/connection.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <future>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace guest::passthru_effects {

using nvmeof::ControllerState;
using target::Hook;
using target::acts::always;

namespace {

constexpr std::uint32_t supported = 1, alone = 1 << 16, relaxed = 1 << 14, changesInventory = 1 << 3;
constexpr std::uint8_t opAlone = 0xc2, opPlain = 0xc4, opRelaxed = 0xc6, opInventory = 0xc8, opSanitize = 0x84,
		       opSecurityReceive = 0x82;
constexpr Millis work = 700ms; // execution time at the target
constexpr std::uint32_t processingPaused = 1 << 5;

target::Config config()
{
	target::Config c;
	c.ana = true;
	c.adminEffects = {{opAlone, supported | alone},
			  {opPlain, supported},
			  {opRelaxed, supported | alone | relaxed},
			  {opInventory, supported | changesInventory},
			  {opSecurityReceive, supported | alone}};
	return c;
}

std::atomic<bool> begun{false};

// An admin command that only this test's target supports
bool takesLong(target::Strike &s)
{
	if (!s.admin(opSanitize) && !s.admin(opSecurityReceive) && (s.qid || !s.cmd || s.cmd->opcode < 0xc0))
		return false;
	begun = true;
	std::this_thread::sleep_for(work);
	return target::acts::failed(true, s, target::st_ok);
}

const auto slow = always(Hook::command, takesLong);

int admin(const std::string &controller, std::uint8_t opcode)
{
	int fd = ::open(("/dev/" + controller).c_str(), O_RDWR | O_CLOEXEC);
	nvme_passthru_cmd cmd{};
	cmd.opcode = opcode;
	auto got = ::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);
	::close(fd);
	return got < 0 ? -errno : got;
}

bool bothUsable(Ports &ports)
{
	auto paths = ports.host.paths();
	return std::ranges::count_if(paths, [](auto &p) { return p.usable; }) == 2;
}

// Duration of a read that is sent while the target executes the command
Millis readBeside(Ports &ports, const std::string &controller, std::uint8_t opcode)
{
	Disk disk(ports.disk());
	Buffer data(length);
	begun = false;
	ports[0].script().arm(slow);
	Pending command([&] { return admin(controller, opcode); });
	REQUIRE(eventually([] { return begun.load(); }));
	Stopwatch watch;
	CHECK(disk.read(0, data) == 0);
	auto took = watch.elapsed();
	REQUIRE(command.join(scaled(10s)));
	CHECK(command.status() == 0);
	// namespaces have been scanned again
	CHECK(eventually([&] { return bothUsable(ports); }));
	return took;
}

bool paused(target::Strike &s)
{
	if (!s.cmd || s.cmd->cdw11 != target::prop_csts)
		return false;
	*s.value |= processingPaused;
	return true;
}

const auto pausedOnce = always(Hook::property, paused);

target::Config activates(std::uint16_t mtfa)
{
	target::Config c;
	c.mtfa = mtfa;
	c.ana = true;
	return c;
}

constexpr std::uint32_t propNssr = 0x20, nssrReset = 0x4e564d65;
constexpr std::uint64_t capNssrs = 1ull << 36;
std::atomic<unsigned> subsystemResets{0};

const auto hasSubsystemReset = always(Hook::property, [](target::Strike &s) {
	return target::acts::when(s.cmd && s.cmd->cdw11 == target::prop_cap, [&] { *s.value |= capNssrs; });
});
const auto resets = always(Hook::command, [](target::Strike &s) {
	bool asked = s.is(target::op_fabrics) && s.cmd->fctype() == target::fc_property_set && s.cmd->cdw11 == propNssr;
	subsystemResets += asked && s.cmd->cdw12 == nssrReset;
	return target::acts::failed(asked, s, target::st_ok);
});
// The connection may end before the response, as the specification permits.
const auto resetsAtOnce = always(Hook::response, [](target::Strike &s) {
	bool asked = s.is(target::op_fabrics) && s.cmd->fctype() == target::fc_property_set && s.cmd->cdw11 == propNssr;
	return target::acts::verdict(asked, s, target::Verdict::abort);
});

// 0 or an errno
int resetSubsystem(const std::string &name)
{
	int fd = ::open(("/dev/" + name).c_str(), O_RDWR | O_CLOEXEC);
	auto got = ::ioctl(fd, NVME_IOCTL_SUBSYS_RESET);
	auto error = got < 0 ? errno : 0;
	::close(fd);
	return error;
}

} // namespace

TEST_CASE("no I/O runs during an admin command whose effects forbid it", "[passthru][effects][short]")
{
	// a port that executes the command answers nothing else; reads use the other port
	Ports ports({config(), config()});
	ports[0].setAnaState(1, target::ana_non_optimized);
	auto c = ports.connectAll()[0];
	REQUIRE_FALSE(ports.disk().empty());
	REQUIRE(eventually([&] { return bothUsable(ports); }));
	for (auto opcode : {opAlone, opInventory, opSanitize}) {
		INFO("opcode " << int(opcode));
		CHECK(readBeside(ports, c.name, opcode) > work / 2);
	}
	// a relaxed restriction, and one that does not concern I/O
	for (auto opcode : {opPlain, opRelaxed, opSecurityReceive}) {
		INFO("opcode " << int(opcode));
		CHECK(readBeside(ports, c.name, opcode) < work / 2);
	}
	CHECK(ports.host.state(c.name) == ControllerState::live);
	CHECK(ports.host.controller(c.name).reconnects == c.reconnects);
}

TEST_CASE("Property Get by passthrough transfers no data", "[passthru][fabrics]")
{
	Ports ports({config()});
	const int fd = ::open(("/dev/" + ports.connectAll()[0].name).c_str(), O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	Buffer data(length);
	nvme_passthru_cmd cmd{};
	cmd.opcode = target::op_fabrics;
	cmd.nsid = target::fc_property_get; // Fabrics Command Type, in the same place
	cmd.cdw11 = 8;                      // Version
	CHECK(::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd) == 0);
	CHECK(cmd.result != 0);
	cmd.addr = reinterpret_cast<std::uintptr_t>(data.data());
	cmd.data_len = length;
	CHECK(::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd) < 0);
	CHECK(errno == EINVAL);
	::close(fd);
}

TEST_CASE("a refused Set Features of the keep-alive timeout changes nothing", "[passthru][effects]")
{
	Ports ports({config()});
	auto c = ports.connectAll()[0];
	// Get Features fails as well
	const auto refused = always(Hook::command, [](target::Strike &s) {
		return target::acts::failed(s.admin(target::op_set_features) || s.admin(target::op_get_features), s,
					    target::st_invalid_field);
	});
	ports[0].script().arm(refused, target::Script::forever);
	int fd = ::open(("/dev/" + c.name).c_str(), O_RDWR | O_CLOEXEC);
	nvme_passthru_cmd cmd{};
	cmd.opcode = target::op_set_features;
	cmd.cdw10 = target::feat_keep_alive;
	cmd.cdw11 = 60000;
	CHECK(::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd) > 0);
	::close(fd);
	CHECK(ports.host.controller(c.name).keepAlive == c.keepAlive);
	auto sent = ports[0].counters().keepAlives.load();
	CHECK(eventually([&] { return ports[0].counters().keepAlives > sent + 1; }, c.keepAlive * 2));
}

TEST_CASE("a controller that activates firmware gets no I/O until it processes commands again",
	  "[passthru][effects][firmware][short]")
{
	Ports ports({activates(50)}); // 5 s
	auto c = ports.connectAll()[0];
	Disk disk(ports.disk());
	Buffer data(length);
	ports[0].script().arm(pausedOnce, 8); // the host polls every 100 ms
	ports[0].sendEvent(target::event_firmware_activation);
	REQUIRE(eventually([&] { return ports.host.controller(c.name).firmwareLeft.has_value(); }));
	CHECK(*ports.host.controller(c.name).firmwareLeft <= 5s);
	CHECK(run("nvmeofctl show " + c.name).text.find("firmware activation") != std::string::npos);
	Stopwatch watch;
	CHECK(disk.read(0, data) == 0);
	CHECK(watch.elapsed() > 200ms);
	CHECK(watch.elapsed() < scaled(4s));
	CHECK_FALSE(ports.host.controller(c.name).firmwareLeft);
	CHECK(ports.host.controller(c.name).reconnects == c.reconnects);
	// a second activation is reported, too
	ports[0].script().arm(pausedOnce, 2);
	ports[0].sendEvent(target::event_firmware_activation);
	CHECK(eventually([&] { return ports.host.controller(c.name).firmwareLeft.has_value(); }));
	CHECK(eventually([&] { return !ports.host.controller(c.name).firmwareLeft; }, 5s));
}

TEST_CASE("a disconnect during firmware activation waits for it, and loses no data",
	  "[passthru][effects][firmware][delete]")
{
	Ports ports({activates(50)});
	auto c = ports.connectAll()[0];
	Buffer data(length);
	data.fill(7);
	const nobody::File open(ports.disk(), O_RDWR);
	REQUIRE(::pwrite(open.fd, data.data(), length, 0) == static_cast<ssize_t>(length)); // into the page cache
	ports[0].script().arm(pausedOnce, 40); // the host polls every 100 ms
	ports[0].sendEvent(target::event_firmware_activation);
	REQUIRE(eventually([&] { return ports.host.controller(c.name).firmwareLeft.has_value(); }));
	const Stopwatch watch;
	REQUIRE(ports.host.client().disconnect(c.name));
	CHECK(watch.elapsed() > 200ms); // not after the activation
	CHECK(ports.stored(0, length, 7));
}

TEST_CASE("a write that waits for firmware during a disconnect goes on waiting when another path changes",
	  "[passthru][effects][firmware][delete]")
{
	Ports ports({activates(50), activates(50)});
	ports[1].setAnaState(1, target::ana_inaccessible);
	const std::string name = ports.connectAll()[0].name;
	const Disk disk(ports.disk());
	Buffer data(length);
	data.fill(7);
	ports[0].script().arm(pausedOnce, 40);
	ports[0].sendEvent(target::event_firmware_activation);
	REQUIRE(eventually([&] { return ports.host.controller(name).firmwareLeft.has_value(); }));
	auto written = std::async(std::launch::async, [&] { return disk.write(0, data); });
	auto disconnected = std::async(std::launch::async, [&] { return run("nvmeofctl disconnect " + name).status; });
	REQUIRE(eventually([&] { return ports.host.state(name) == ControllerState::deleting; }));
	ports[1].setAnaState(1, target::ana_persistent_loss);
	REQUIRE(eventually([&] {
		return std::ranges::any_of(take(ports.host.client().paths()), [](const nvmeof::Path &path) {
			return path.anaState == nvmeof::AnaState::persistentLoss;
		});
	}));
	CHECK(ports.host.state(name) == ControllerState::deleting);
	CHECK(written.get() == 0);
	CHECK(disconnected.get() == 0);
	CHECK(ports.stored(0, length, 7));
}

TEST_CASE("firmware activation works during a namespace scan", "[passthru][effects][firmware]")
{
	auto c = activates(50);
	c.adminEffects = {{opInventory, supported | changesInventory}};
	Ports ports({c});
	auto name = ports.connectAll()[0].name;
	ports[0].script().arm(pausedOnce, 8);
	ports[0].sendEvent(target::event_firmware_activation);
	REQUIRE(eventually([&] { return ports.host.controller(name).firmwareLeft.has_value(); }));
	admin(name, opInventory); // the target refuses it, which does not matter
	CHECK(eventually([&] { return !ports.host.controller(name).firmwareLeft; }, 5s));
	Disk disk(ports.disk());
	Buffer data(length);
	CHECK(disk.read(0, data) == 0);
}

TEST_CASE("during firmware activation I/O uses another path", "[passthru][effects][firmware]")
{
	Ports ports({activates(50), activates(50)});
	ports[1].setAnaState(1, target::ana_non_optimized);
	auto c = ports.connectAll()[0];
	Disk disk(ports.disk());
	Buffer data(length);
	ports[0].script().arm(pausedOnce, target::Script::forever);
	ports[0].sendEvent(target::event_firmware_activation);
	REQUIRE(eventually([&] { return ports.host.controller(c.name).firmwareLeft.has_value(); }));
	Stopwatch watch;
	CHECK(disk.read(0, data) == 0);
	CHECK(watch.elapsed() < scaled(100ms));
	CHECK(ports.host.controller(c.name).firmwareLeft);
	ports[0].script().disarm();
	CHECK(eventually([&] { return !ports.host.controller(c.name).firmwareLeft; }, 5s));
}

TEST_CASE("firmware that is not active in time makes the host reconnect", "[passthru][effects][firmware]")
{
	Ports ports({activates(5)});
	auto c = ports.connectAll()[0];
	Disk disk(ports.disk());
	Buffer data(length);
	ports[0].script().arm(pausedOnce, target::Script::forever);
	ports[0].sendEvent(target::event_firmware_activation);
	CHECK(eventually([&] { return ports.host.controller(c.name).reconnects > c.reconnects; }, 10s));
	CHECK(kernelLogHas(c.name + ": firmware was not active in time"));
	ports[0].script().disarm();
	CHECK(ports.host.waitState(c.name, ControllerState::live, 10s));
	CHECK(disk.read(0, data) == 0);
	CHECK_FALSE(ports.host.controller(c.name).firmwareLeft);
}

TEST_CASE("an NVM Subsystem Reset goes to the controller, and the host reconnects", "[passthru][subsystem-reset]")
{
	Ports ports({config()});
	auto c = ports.connectAll()[0];
	CHECK(resetSubsystem(c.name) == ENOTTY); // not supported by this controller; errno as in-tree
	ports.host.disconnectAll();
	ports[0].script().arm(hasSubsystemReset, target::Script::forever);
	c = ports.connectAll()[0];
	Disk disk(ports.disk());
	const std::string told = "/tmp/uevents";
	auto tells = [&](const char *text) {
		return eventually([&] { return run("cat " + told).text.find(text) != std::string::npos; }, 10s);
	};
	Background monitor("exec udevadm monitor --kernel --property --subsystem-match=nvmeof > " + told);
	REQUIRE(tells("KERNEL - "));
	ports[0].script().arm(resets, target::Script::forever);
	CHECK(resetSubsystem(c.name) == 0);
	CHECK(subsystemResets == 1);
	ports[0].script().disarm();
	CHECK(eventually([&] { return ports.host.controller(c.name).reconnects > c.reconnects; }, 10s));
	Buffer data(length);
	CHECK(disk.read(0, data) == 0);
	// variables for udev rules, named as by the in-tree driver
	for (auto variable : {"NVME_EVENT=connected", "NVME_TRTYPE=", "NVME_TRADDR=", "NVME_TRSVCID=",
			      "NVME_HOST_TRADDR=", "NVME_HOST_IFACE="}) {
		INFO(variable);
		CHECK(tells(variable));
	}
	ports[0].sendEvent({1, 1, 2}); // temperature threshold, in the SMART log
	ports[0].sendEvent({1, 2, 2}); // immediately afterwards: available spare is low
	CHECK(tells("NVME_AEN=0x020101"));
	CHECK(tells("NVME_AEN=0x020201"));
}

TEST_CASE("an NVM Subsystem Reset succeeds even without a response", "[passthru][subsystem-reset]")
{
	Ports ports({config()});
	ports[0].script().arm(hasSubsystemReset, target::Script::forever);
	auto c = ports.connectAll()[0];
	Disk disk(ports.disk());
	ports[0].script().arm(resetsAtOnce, target::Script::forever);
	CHECK(resetSubsystem(c.name) == 0);
	CHECK(ports[0].script().strikes() > 0);
	ports[0].script().disarm();
	CHECK(eventually([&] { return ports.host.controller(c.name).reconnects > c.reconnects; }, 10s));
	Buffer data(length);
	CHECK(disk.read(0, data) == 0);
}

} // namespace guest::passthru_effects
