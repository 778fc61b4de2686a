// SPDX-License-Identifier: LGPL-2.1-or-later
// Connection loss, targets that disappear and return, deletion and unloading at unfavourable times.
#include "support/block.h"
#include "support/fio.h"
#include "support/multi.h"
#include "support/netns.h"
#include "support/rig.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <linux/nvmeof.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace guest::recovery {

using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

// Runs until the test stops it
FioJob steady(const std::string &disk)
{
	return {.file = disk, .blocks = "16k", .depth = 8, .size = "8m", .seconds = 60};
}

} // namespace

TEST_CASE("a target that disappears and returns under verified load causes no I/O error", "[recovery][reconnect]")
{
	Rig rig;
	auto c = rig.connect();
	FioLoad load(steady(rig.disk()));
	for (int i = 0; i < 2; i++) {
		pause(1s);
		rig.port.unlink(rig.subsystem);
		REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
		pause(1s);
		rig.port.link(rig.subsystem);
		REQUIRE(rig.host.waitState(c.name, ControllerState::live));
	}
	expectGoodUntilNow(load);
	auto now = rig.host.controller(c.name);
	CHECK(now.reconnects >= 2);
	CHECK(now.attempts == 0);
}

TEST_CASE("a link-local address works again after its interface was recreated", "[recovery][reconnect][address][tcp]")
{
	auto named = GENERATE(as<std::string>{}, "", "ll0"); // host_iface
	INFO("interface '" << named << "'");
	// gets another interface index each time
	auto make = [] {
		must("ip link add ll0 type veth peer name ll1 && ip link set ll1 up && ip link set ll0 addrgenmode "
		     "none up");
		must("ip addr add fe80::77/64 dev ll0 nodad");
	};
	make();
	Rig rig({.address = "::"});
	auto o = rig.options();
	o.address.traddr = "fe80::77%ll0";
	o.hostIface = named;
	auto c = rig.host.connect(o);
	must("ip link del ll0");
	REQUIRE(rig.host.client().reset(c.name).ok());
	CHECK(eventually([&] { return kernelLogHas(c.name + ".*: no such interface"); }));
	make();
	CHECK(rig.host.waitState(c.name, ControllerState::live, 30s));
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 65536, 3) == 0);
	must("ip link del ll0");
}

TEST_CASE("reconnect backs off, up to its bound", "[recovery][reconnect]")
{
	Rig rig;
	auto o = rig.options();
	o.reconnectDelay = 1s;
	auto c = rig.host.connect(o);
	Watch watch;
	rig.port.unlink(rig.subsystem);
	pause(scaled(6s));
	std::vector<std::chrono::nanoseconds> times;
	for (auto &e : watch.drain(50ms))
		if (e.type == EventType::connectFailed)
			times.push_back(e.time);
	REQUIRE(times.size() >= 4);
	CHECK(times.size() <= 40 * timeScale());
	CHECK(times[1] - times[0] < scaled(1s)); // short at first
	CHECK(times.back() - times[times.size() - 2] < scaled(2s));
	CHECK(rig.host.controller(c.name).attempts >= 4);
	CHECK_FALSE(rig.host.controller(c.name).lastError.empty());
	rig.port.link(rig.subsystem);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
}

TEST_CASE("ctrl-loss-tmo 0: the controller is lost with its first connection loss", "[recovery][loss]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = 0ms;
	auto c = rig.host.connect(o);
	Disk disk(rig.disk());
	rig.port.unlink(rig.subsystem);
	CHECK(rig.host.waitLost(c.name, 5s));
	Buffer b(4096);
	CHECK(disk.read(0, b) < 0);
}

TEST_CASE("ctrl-loss-tmo bounds the wait for a path; then waiting I/O fails", "[recovery][loss][short]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = 3s;
	auto c = rig.host.connect(o);
	auto node = rig.disk();
	{
		Disk disk(node);
		rig.port.unlink(rig.subsystem);
		Stopwatch watch;
		Buffer b(4096);
		CHECK(disk.write(0, b) < 0);
		CHECK(watch.elapsed() > 2s);
		CHECK(watch.elapsed() < scaled(8s));
	}
	CHECK(rig.host.waitLost(c.name, 5s));
	CHECK(eventually([&] { return !exists(node); }, 5s));
	CHECK(eventually([&] { return kernelLogHas(node.substr(5) + " is removed: its last controller is lost"); }));
	// a lost controller retries about once a minute
	rig.port.link(rig.subsystem);
	CHECK(rig.host.waitState(c.name, ControllerState::live, 70s));
	CHECK(rig.disk() == node);
}

TEST_CASE("a lost controller: how it is shown, how it returns, and how it is deleted", "[recovery][loss][lost]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = 1s;
	auto c = rig.host.connect(o);
	auto node = rig.disk();
	CHECK_FALSE(rig.host.controller(c.name).lossLeft);
	must("nvmeofctl set " + c.name + " ctrl-loss-tmo=60");
	Watch watch;
	rig.port.unlink(rig.subsystem);
	// the remaining part of the 60 s is shown, and decreases
	REQUIRE(rig.host.waitState(c.name, ControllerState::connecting, 5s));
	auto left = rig.host.controller(c.name).lossLeft;
	REQUIRE(left);
	CHECK(*left <= 60s);
	CHECK(*left > 45s);
	CHECK(eventually([&] { return rig.host.controller(c.name).lossLeft < left; }, 2s));
	CHECK(run("nvmeofctl show " + c.name).text.find("lost in") != std::string::npos);
	CHECK(run("nvmeofctl show --json " + c.name).text.find("\"ctrl_loss_left_ms\"") != std::string::npos);
	must("nvmeofctl set " + c.name + " ctrl-loss-tmo=1");
	REQUIRE(rig.host.waitLost(c.name, 10s));
	CHECK_FALSE(rig.host.controller(c.name).lossLeft);
	CHECK(eventually([&] { return !exists(node); }, 5s));
	auto events = watch.drain(100ms);
	CHECK(std::ranges::any_of(events, [&](auto &e) {
		return e.type == EventType::state && e.controller() && e.controller()->state == ControllerState::lost;
	}));
	CHECK(readFile("/sys/class/nvmeof/" + c.name + "/state") == "lost");
	auto shown = run("nvmeofctl show " + c.name);
	CHECK(shown.text.find("'nvmeofctl reset " + c.name + "' retries now") != std::string::npos);
	auto list = run("nvmeofctl list 2>&1");
	INFO(list.text);
	CHECK(list.text.find("was not reachable within its ctrl-loss-tmo") != std::string::npos);
	CHECK(run("nvmeofctl list --json 2>/dev/null").text.find("\"lost_controllers\": [\n") != std::string::npos);
	SECTION("a reset without the target: it stays lost")
	{
		Watch attempts;
		must("nvmeofctl reset " + c.name);
		CHECK(eventually([&] {
			auto told = attempts.drain(50ms);
			return std::ranges::any_of(told, [](auto &e) { return e.type == EventType::connectFailed; });
		}));
		CHECK(rig.host.state(c.name) == ControllerState::lost);
	}
	SECTION("a reset: it reconnects at once")
	{
		rig.port.link(rig.subsystem);
		must("nvmeofctl reset " + c.name);
		CHECK(rig.host.waitState(c.name, ControllerState::live, 5s));
		CHECK(rig.disk() == node);
	}
	SECTION("a connect to the same address: it reconnects at once")
	{
		auto connect = [&] {
			return run("nvmeofctl connect -t " + transport() + " -n " + std::string(testNqn) + " -a " +
				   rig.options().address.traddr + ":4420")
				.text;
		};
		CHECK(connect().find(c.name + " exists for this address in state lost") != std::string::npos);
		rig.port.link(rig.subsystem);
		connect();
		CHECK(rig.host.waitState(c.name, ControllerState::live, 5s));
		CHECK(rig.disk() == node);
	}
	SECTION("a longer ctrl-loss-tmo: it is connecting again")
	{
		must("nvmeofctl set " + c.name + " ctrl-loss-tmo=-1");
		CHECK(rig.host.state(c.name) == ControllerState::connecting);
		rig.port.link(rig.subsystem);
		CHECK(rig.host.waitState(c.name, ControllerState::live, 15s));
		CHECK(rig.disk() == node);
	}
	SECTION("disconnect: it is deleted and does not return")
	{
		Stopwatch stopwatch;
		must("nvmeofctl disconnect " + c.name);
		CHECK(stopwatch.elapsed() < scaled(2s));
		CHECK(rig.host.state(c.name) == ControllerState::dead);
		CHECK(take(rig.host.client().subsystems()).empty());
	}
}

TEST_CASE("a dirty file system without its target is unmounted in bounded time at shutdown", "[recovery][shutdown]")
{
	Rig rig;
	auto c = rig.host.connect(rig.options());
	std::string node = rig.disk();
	must("mkfs.ext4 -q -F " + node + " && mkdir -p /mnt && mount " + node + " /mnt");
	must("dd if=/dev/zero of=/mnt/file bs=1M count=4 2>/dev/null && sync");
	rig.port.unlink(rig.subsystem);
	must("dd if=/dev/zero of=/mnt/file bs=1M count=4 conv=notrunc 2>/dev/null"); // the overwrite needs no read
	// as the systemd unit does before file systems are unmounted
	auto limited = run("nvmeofctl shutdown --limit 2");
	CHECK(limited.text == "lowered the limits of 1 objects: I/O waits for a path for at most 2 s\n");
	CHECK(limited.status == 0);
	Stopwatch watch;
	Background unmount("umount /mnt");
	CHECK(eventually([&] { return !unmount.running(); }, 20s));
	CHECK(watch.elapsed() < scaled(10s));
	CHECK(run("nvmeofctl shutdown --limit 5 --json").text.find("\"set\": []") != std::string::npos); // not raised
	rig.port.link(rig.subsystem);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
}

TEST_CASE("ctrl-loss-tmo -1: reconnects never end, and deletion is still immediate", "[recovery][loss]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = -1ms;
	auto c = rig.host.connect(o);
	CHECK(c.ctrlLoss < 0ms);
	rig.port.unlink(rig.subsystem);
	pause(3s);
	CHECK(rig.host.state(c.name) == ControllerState::connecting);
	Stopwatch watch;
	CHECK(rig.host.client().disconnect(c.name).ok());
	CHECK(watch.elapsed() < scaled(1s));
}

TEST_CASE("fast-io-fail-tmo fails waiting I/O, and the controller keeps reconnecting",
	  "[recovery][loss][trap18][short]")
{
	Rig rig;
	auto o = rig.options();
	o.fastIoFail = 1s;
	auto c = rig.host.connect(o);
	Disk disk(rig.disk());
	rig.port.unlink(rig.subsystem);
	Stopwatch watch;
	Buffer b(4096);
	CHECK(disk.read(0, b) < 0);
	CHECK(watch.elapsed() > 500ms);
	CHECK(watch.elapsed() < scaled(6s));
	CHECK(rig.host.state(c.name) == ControllerState::connecting);
	rig.port.link(rig.subsystem);
	// once the state is "live", no I/O may be refused: no pause in between
	const auto file = "/sys/class/nvmeof/" + c.name + "/state";
	Stopwatch waiting;
	while (readFile(file) != "live" && waiting.elapsed() < scaled(20s))
		;
	CHECK(disk.verified(0, 65536, 4) == 0);
	REQUIRE(rig.host.waitState(c.name, ControllerState::live));
}

TEST_CASE("reset under verified load causes no error", "[recovery][reset][short]")
{
	Rig rig;
	auto c = rig.connect();
	FioLoad load(steady(rig.disk()));
	pause(500ms);
	for (int i = 0; i < 5; i++) {
		pause(500ms);
		REQUIRE(rig.host.waitState(c.name, ControllerState::live));
		CHECK(rig.host.client().reset(c.name).ok());
	}
	expectGoodUntilNow(load);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
	CHECK(rig.host.controller(c.name).reconnects >= 4);
}

TEST_CASE("disconnect under load fails the I/O and does not wait for it", "[recovery][delete]")
{
	Rig rig;
	rig.connect();
	FioLoad load({.file = rig.disk(), .verify = false, .seconds = 30});
	pause(1s);
	Stopwatch watch;
	rig.host.disconnectAll();
	CHECK(watch.elapsed() < scaled(5s));
	auto result = load.wait(20s);
	CHECK(result.status > 0);
}

TEST_CASE("a path that loses all packets is detected and recovers", "[recovery][path][tcp]")
{
	Netns netns("tgt");
	Link link(netns, "v", 6);
	Rig rig({.address = link.targetAddress(), .netns = "tgt"});
	auto o = rig.options();
	o.keepAlive = scaled(2s);
	auto c = rig.host.connect(o);
	FioLoad load(steady(rig.disk()));
	pause(1s);
	link.impair("loss 100%");
	CHECK(rig.host.waitState(c.name, ControllerState::connecting, 12s));
	link.repair();
	CHECK(rig.host.waitState(c.name, ControllerState::live, 20s));
	expectGoodUntilNow(load);
}

TEST_CASE("deletion during connect returns at once", "[recovery][delete][trap22]")
{
	Netns netns("tgt");
	Link link(netns, "v", 7);
	Host host;
	std::string address;
	SECTION("all packets lost")
	{
		link.impair("loss 100%");
		address = link.targetAddress();
	}
	SECTION("an unused address")
	{
		address = "10.7.0.99";
	}
	SECTION("no route")
	{
		address = "203.0.113.1";
	}
	auto c = host.client().start(Host::options(address, "4420"));
	REQUIRE(c.ok()); // the connect attempt fails later
	pause(300ms);
	Stopwatch watch;
	(void)host.client().disconnect(c->name);
	CHECK(watch.elapsed() < scaled(3s)); // connect-tmo is 10 s
	CHECK(host.state(c->name) == ControllerState::dead);
	link.repair();
}

TEST_CASE("deletion works at any point of a connect", "[recovery][delete]")
{
	Rig rig;
	for (int i = 0; i < 20; i++) {
		auto c = take(rig.host.client().start(rig.options()));
		pause(Millis(i * 7));
		Stopwatch watch;
		(void)rig.host.client().disconnect(c.name);
		CHECK(watch.elapsed() < scaled(4s));
		CHECK(rig.host.state(c.name) == ControllerState::dead);
	}
	rig.connect();
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 4096, 1) == 0);
}

TEST_CASE("deletion while all the I/O waits for a path", "[recovery][delete][trap19][short]")
{
	Rig rig;
	auto c = rig.connect();
	FioLoad load({.file = rig.disk(), .verify = false, .seconds = 30});
	pause(1s);
	rig.port.unlink(rig.subsystem);
	REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
	Stopwatch watch;
	rig.host.disconnectAll();
	CHECK(watch.elapsed() < scaled(2s));
	CHECK(load.wait(20s).status > 0);
}

TEST_CASE("unloading", "[recovery][unload][trap24][short]")
{
	Rig rig;
	SECTION("the transport, under load: its controllers are deleted; the core alone is refused")
	{
		rig.connect();
		auto disk = rig.disk();
		rig.host.forget();
		CHECK(run("rmmod nvmeof").status != 0);
		FioLoad load({.file = disk, .verify = false, .seconds = 30});
		pause(1s);
		CHECK(load.running());
		if (exists("/proc/lockdep"))
			CHECK(run("rmmod nvmeof_" + transport()).status != 0);
		rig.host.releaseLockdepReferences();
		Stopwatch watch;
		auto gone = run("rmmod nvmeof_" + transport());
		INFO(gone.text);
		CHECK(gone.status == 0);
		CHECK(watch.elapsed() < scaled(10s));
		CHECK(load.wait(20s).status > 0);
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("under load, after disconnect")
	{
		rig.connect();
		FioLoad load({.file = rig.disk(), .verify = false, .seconds = 30});
		pause(1s);
		rig.host.disconnectAll();
		rig.host.forget();
		load.wait(20s);
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("with a connect attempt in progress, after disconnect")
	{
		Netns netns("tgt");
		Link link(netns, "v", 8);
		link.impair("loss 100%");
		take(rig.host.client().start(Host::options(link.targetAddress(), "4420")));
		pause(200ms);
		rig.host.disconnectAll();
		rig.host.forget();
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("during reconnect, after disconnect")
	{
		auto c = rig.connect();
		rig.port.unlink(rig.subsystem);
		REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
		rig.host.disconnectAll();
		rig.host.forget();
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("a disk open after disconnect: refused until it is closed")
	{
		rig.connect();
		{
			Disk open(rig.disk());
			rig.host.disconnectAll();
			rig.host.forget();
			CHECK(Host::unload().status != 0);
		}
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	Host::load();
	rig.host.reopen();
}

namespace {

// A server that does not speak NVMe: sends its greeting to each client and closes the connection.
class NonNvmeServer {
public:
	explicit NonNvmeServer(std::string words) : words_(std::move(words)), fd_(::socket(AF_INET, SOCK_STREAM, 0))
	{
		sockaddr_in sin = {};
		sin.sin_family = AF_INET;
		sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t length = sizeof(sin);
		if (::bind(fd_, reinterpret_cast<sockaddr *>(&sin), length) || ::listen(fd_, 8) ||
		    ::getsockname(fd_, reinterpret_cast<sockaddr *>(&sin), &length))
			throw std::runtime_error("cannot listen");
		port_ = ntohs(sin.sin_port);
		thread_ = std::thread([this] { serve(); });
	}
	~NonNvmeServer()
	{
		::shutdown(fd_, SHUT_RDWR);
		thread_.join();
		::close(fd_);
	}
	NonNvmeServer(const NonNvmeServer &) = delete;
	NonNvmeServer &operator=(const NonNvmeServer &) = delete;

	std::string port() const { return std::to_string(port_); }

private:
	void serve()
	{
		for (int fd; (fd = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(fd)) {
			::send(fd, words_.data(), words_.size(), MSG_NOSIGNAL);
			char heard[128]; // reads everything, because closing with unread data resets the connection
			::recv(fd, heard, sizeof(heard), MSG_WAITALL);
		}
	}

	std::string words_;
	int fd_;
	unsigned port_ = 0;
	std::thread thread_;
};

// The only connect attempt, as reported by CONNECT_FAILED
nvmeof::Controller failedAttempt(Host &host, const std::string &address, const std::string &service)
{
	Watch watch;
	auto o = Host::options(address, service);
	o.connectTimeout = 1s;
	CHECK_FALSE(host.client().connect(o, nvmeof::WaitFor::controller, scaled(20s)).ok());
	auto event = watch.find([](const nvmeof::Event &e) { return e.type == EventType::connectFailed; });
	REQUIRE(event);
	REQUIRE(event->controller());
	return *event->controller();
}

bool has(const std::string &text, const std::string &words)
{
	return text.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("a failed connect reports a message and an errno for each cause", "[recovery][connect][reasons]")
{
	Host host;
	auto c = failedAttempt(host, here(), "4499");
	CHECK(c.lastErrno == ECONNREFUSED);
	CHECK(has(c.lastError, "connection refused"));

	must("ip route add unreachable 192.0.2.0/24");
	c = failedAttempt(host, "192.0.2.1", "4420");
	must("ip route del unreachable 192.0.2.0/24");
	CHECK((c.lastErrno == EHOSTUNREACH || c.lastErrno == ENETUNREACH));
	CHECK(has(c.lastError, "no route"));

	Netns netns("away");
	Link link(netns, "away", 9);
	link.impair("loss 100%");
	must("ip neigh replace " + link.targetAddress() + " lladdr 02:00:00:00:00:01 dev " + link.hostIface());
	c = failedAttempt(host, link.targetAddress(), "4420");
	CHECK(c.lastErrno == ETIMEDOUT);
	CHECK(has(c.lastError, "timed out"));

	if (notOverRdma("a listener that speaks another protocol"))
		return;
	NonNvmeServer ssh("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
	c = failedAttempt(host, "127.0.0.1", ssh.port());
	CHECK(c.lastErrno == EPROTO);
	CHECK(has(c.lastError, "does not speak NVMe"));

	NonNvmeServer rude("");
	c = failedAttempt(host, "127.0.0.1", rude.port());
	CHECK(c.lastErrno == ECONNRESET);
	CHECK(has(c.lastError, "before ICResp"));
	CHECK(kernelLogHas("before ICResp"));
}

TEST_CASE("failed attempts are logged less and less often, with the number of attempts not logged",
	  "[recovery][reconnect][log]")
{
	pause(6s); // lines of the preceding case count for the rate limit of ten in 5 s
	Rig rig;
	auto o = rig.options();
	o.reconnectDelay = 100ms;
	auto c = rig.host.connect(o);
	rig.port.unlink(rig.subsystem);
	CHECK(eventually([&] { return rig.host.controller(c.name).attempts > 32; }, 30s));
	rig.port.link(rig.subsystem);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
	// one for the loss, for attempts 1, 2, 4, 8, 16, 32, maybe 64, and one for each change of the error
	auto lines = kernelLogCount(c.name + ": .*queue 0");
	CHECK(lines >= 5);
	CHECK(lines <= 12);
	CHECK(kernelLogHas(c.name + ": .*attempt 32, 15 before it not logged"));
}

TEST_CASE("a subsystem that returns gets its old names, which no other subsystem has used meanwhile",
	  "[recovery][names]")
{
	Rig rig;
	auto name = [&] { return take(rig.host.client().subsystems()).at(0).name; };
	rig.connect();
	auto subsystem = name(), disk = rig.disk();
	auto o = rig.options();
	o.duplicateConnect = true;
	auto second = rig.host.connect(o);
	REQUIRE(rig.host.client().disconnect(second.name).ok());
	CHECK(rig.host.connect(o).name == second.name); // the lowest free number
	rig.host.disconnectAll();
	auto other = rig.options();
	other.hostnqn = "nqn.2024-01.io.nvmeof:somebody";
	other.hostid = nvmeof::Uuid::parse("12345678-9abc-4def-8123-456789abcdef");
	rig.host.connect(other);
	CHECK(name() != subsystem);
	rig.host.disconnectAll();
	rig.connect();
	CHECK(name() == subsystem);
	CHECK(rig.disk() == disk);
}

TEST_CASE("discovery controllers do not use low subsystem numbers", "[recovery][names]")
{
	Rig rig;
	auto o = rig.options();
	o.subsysnqn = "nqn.2014-08.org.nvmexpress.discovery";
	rig.host.connect(o);
	CHECK(take(rig.host.client().subsystems()).at(0).name.size() >= std::string("nvmeof1000").size());
}

TEST_CASE("poll queues that the controller does not grant are reported", "[recovery][poll]")
{
	Rig rig;
	rig.connect();
	auto o = rig.options();
	o.duplicateConnect = true;
	o.pollQueues = 1;
	auto c = rig.host.connect(o);
	CHECK(c.pollQueues == 0);
	CHECK(has(rig.host.controller(c.name).lastError, "0 of 1 poll queues"));
	CHECK(kernelLogHas(c.name + ": 0 of 1 poll queues"));
}

TEST_CASE("the loss of some paths, and of all paths, of a disk is reported", "[recovery][paths][events]")
{
	auto is = [](nvmeof_event which) {
		return [which](const nvmeof::Event &e) {
			return e.nameSpace() && e.type == static_cast<EventType>(which);
		};
	};
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Watch watch;
	rig.lane(0).close();
	CHECK(watch.find(is(NVMEOF_EVENT_FEWER_PATHS)));
	rig.lane(1).close();
	CHECK(watch.find(is(NVMEOF_EVENT_NO_PATH)));
	pause(200ms); // the log line follows the events
	CHECK(kernelLogHas("no usable path to nvmeof"));
	rig.lane(1).open();
	auto back = watch.find(is(NVMEOF_EVENT_PATH_BACK), 20s);
	REQUIRE(back);
	CHECK(back->nameSpace()->usablePaths == 1);
	rig.lane(0).open();
	auto all = watch.find(is(NVMEOF_EVENT_ALL_PATHS), 20s);
	REQUIRE(all);
	CHECK(all->nameSpace()->usablePaths == 2);
	CHECK(kernelLogHas("a usable path to nvmeof.* again, after"));
}

} // namespace guest::recovery
