// SPDX-License-Identifier: LGPL-2.1-or-later
// TLS: with the kernel's target, and with a target that misbehaves. The agent nvmeof-tlsd does the handshakes of both.
#include "control.h"
#include "support/block.h"
#include "support/fio.h"
#include "support/multipath_rig.h"
#include "support/reproduce.h"
#include "support/rig.h"
#include "support/selection.h"
#include "support/tls.h"
#include "tls_proxy.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace guest::tls {

using namespace std::string_literals;
using nvmeof::ControllerState;
using nvmeof::ErrorCode;

namespace {

constexpr const char *hostNqn = "nqn.2014-08.org.nvmexpress:uuid:3e4a0a4a-9c1f-4a1c-8a61-2f3c0a5d7b13";
// A host for which no case inserts a key of its own
constexpr const char *keylessNqn = "nqn.2014-08.org.nvmexpress:uuid:3e4a0a4a-9c1f-4a1c-8a61-2f3c0a5d7b14";
constexpr unsigned proxyPort = 4430;

// A target that requires TLS, and a key of this host
struct Encrypted {
	TlsAgent agent{environment("NVMEOF_TLSHD", "nvmeof-tlsd --debug")};
	Rig rig{{.tls = "required"}};
	std::string key = newTlsKey("host");

	~Encrypted()
	{
		rig.host.disconnectAll();
		std::filesystem::remove_all("/run/keys");
	}

	nvmeof::ConnectOptions options() const
	{
		nvmeof::ConnectOptions o = rig.options();
		o.hostnqn = hostNqn;
		o.tlsKey = key;
		return o;
	}

	nvmeof::Error refusal(const nvmeof::ConnectOptions &o, Millis within = 10s)
	{
		const Stopwatch watch;
		auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(within));
		REQUIRE_FALSE(result);
		INFO(result.error().message);
		CHECK(watch.elapsed() < scaled(within));
		CHECK(take(rig.host.client().controllers()).empty());
		return result.error();
	}
};

// The same without TLS at the kernel's target, behind the proxy
struct Proxied {
	TlsAgent agent;
	Rig rig{{.tls = ""}};
	TlsProxy proxy{proxyPort, 4420};
	std::string key = newTlsKey("host");

	~Proxied()
	{
		rig.host.disconnectAll();
		std::filesystem::remove_all("/run/keys");
	}

	nvmeof::ConnectOptions options() const
	{
		nvmeof::ConnectOptions o = Host::options("127.0.0.1", std::to_string(proxyPort));
		o.hostnqn = hostNqn;
		o.tlsKey = key;
		o.connectTimeout = scaled(2s);
		o.ioQueues = 2;
		return o;
	}
};

void checkData(const std::string &disk)
{
	const Disk d(disk);
	for (const std::size_t length : {512UL, 4096UL, 16384UL, 65536UL, 131072UL, 1048576UL})
		CHECK(d.verified(0, length, static_cast<std::uint32_t>(length)) == 0);
}

// Whether it acts on an established connection, and not during a connect alone
bool concernsLive(const TlsMisbehaviour &m)
{
	return m.outcome != TlsOutcome::refused && (m.hook == TlsHook::live || m.hook == TlsHook::pdus);
}

void tellTls(const TlsMisbehaviour &m, const std::string &told)
{
	static unsigned count = 0;
	std::printf("misbehaviour of TLS %u: %s: %s\n", ++count, m.name, told.c_str());
	std::fflush(stdout);
}

// Handshakes that nvmeof-tlsd has done, by its log with --debug
std::size_t handshakes(const std::string &log)
{
	const std::string text = readFile(log), word = ": done in ";
	std::size_t count = 0;
	for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1))
		count++;
	return count;
}

FioJob steady(const std::string &disk)
{
	return {.file = disk, .blocks = "16k", .depth = 8, .size = "8m", .seconds = 60};
}

} // namespace

TEST_CASE("a connection over TLS carries data of all sizes", "[tls][short]")
{
	Encrypted target;
	const bool digests = GENERATE(false, true);
	nvmeof::ConnectOptions o = target.options();
	o.hdrDigest = o.dataDigest = digests;
	auto c = target.rig.host.connect(o);
	REQUIRE(c.tls);
	CHECK(c.tls->cipher == "AES-GCM-128");
	CHECK(c.tls->key != 0);
	CHECK(c.tls->keyUsed == c.tls->key);
	readKeyNames(c);
	CHECK(c.tls->identity.starts_with("NVMe1R01 "s + hostNqn + " " + testNqn + " "));
	CHECK(c.tls->at >= c.tls->keySince);
	CHECK(c.tls->keySince > 0ns);
	checkData(target.rig.disk());
	const std::string shown = must("nvmeofctl show " + c.name);
	INFO(shown);
	CHECK(namesIt(shown, "AES-GCM-128"));
	auto load = runFio({.file = target.rig.disk(), .depth = 32, .size = "4m"});
	INFO(load.text);
	CHECK(load.good());
}

TEST_CASE("a key with SHA-384 leads to AES-256", "[tls]")
{
	Encrypted target;
	nvmeof::ConnectOptions o = target.options();
	o.tlsKey = newTlsKey("long", "sha384");
	auto c = target.rig.host.connect(o);
	REQUIRE(c.tls);
	CHECK(c.tls->cipher == "AES-GCM-256");
	checkData(target.rig.disk());
}

TEST_CASE("polled queues work over TLS", "[tls]")
{
	Encrypted target;
	nvmeof::ConnectOptions o = target.options();
	o.pollQueues = 1;
	target.rig.host.connect(o);
	auto load =
		runFio({.file = target.rig.disk(), .depth = 4, .size = "2m", .engine = "io_uring", .more = "--hipri"});
	INFO(load.text);
	CHECK(load.good());
}

TEST_CASE("without TLS, a port that requires it refuses the host", "[tls][short]")
{
	Encrypted target;
	nvmeof::ConnectOptions o = target.options();
	o.tlsKey.clear();
	const nvmeof::Error error = target.refusal(o);
	CHECK(error.code != ErrorCode::timedOut);
}

TEST_CASE("with TLS, a port without it is refused, and no data are sent in plain text", "[tls][short]")
{
	TlsAgent agent;
	Rig rig({.tls = ""});
	nvmeof::ConnectOptions o = rig.options();
	o.tlsKey = newTlsKey("host");
	o.connectTimeout = scaled(4s);
	auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(6s));
	REQUIRE_FALSE(result);
	INFO(result.error().message);
	CHECK(namesIt(result.error().message, "TLS"));
	CHECK(take(rig.host.client().controllers()).empty());
	// [[security]] alone requires it, too
	o.tlsKey.clear();
	o.hostnqn = keylessNqn;
	o.security = {{}, nvmeof::SecurityUse::required, "/etc/nvmeof/nvmeof.toml:1"};
	result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(6s));
	REQUIRE_FALSE(result);
	CHECK(namesIt(result.error().message, "the keyring .nvme has no TLS key"));
	must("nvmeofctl key insert " + newTlsKey("other") + " -q " + keylessNqn + " -n " + testNqn);
	result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(6s));
	REQUIRE_FALSE(result);
	INFO(result.error().message);
	CHECK(namesIt(result.error().message, "TLS"));
	CHECK(take(rig.host.client().controllers()).empty());
}

TEST_CASE("without an agent, a connection with TLS fails at once, and says so", "[tls][short]")
{
	Rig rig({.tls = "required"});
	loadModules({"nvme_keyring"});
	nvmeof::ConnectOptions o = rig.options();
	o.tlsKey = newTlsKey("host");
	const Stopwatch watch;
	auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s));
	REQUIRE_FALSE(result);
	INFO(result.error().message);
	CHECK(namesIt(result.error().message, "no TLS agent is running"));
	CHECK(watch.elapsed() < scaled(2s));
}

TEST_CASE("an agent that hangs delays a connect for no longer than its timeout", "[tls]")
{
	Encrypted target;
	target.agent.signal(SIGSTOP);
	nvmeof::ConnectOptions o = target.options();
	o.connectTimeout = scaled(2s);
	const nvmeof::Error error = target.refusal(o, 6s);
	CHECK(namesIt(error.message, "TLS"));
	target.agent.signal(SIGCONT);
	CHECK(target.rig.host.connect(target.options()).tls);
	checkData(target.rig.disk());
}

TEST_CASE("a disconnect does not wait for a handshake", "[tls]")
{
	Encrypted target;
	target.agent.signal(SIGSTOP);
	nvmeof::ConnectOptions o = target.options();
	o.connectTimeout = scaled(20s);
	auto result = target.rig.host.client().connect(o, nvmeof::WaitFor::none);
	REQUIRE(result);
	pause(500ms);
	const Stopwatch watch;
	target.rig.host.disconnectAll();
	CHECK(watch.elapsed() < scaled(2s));
	target.agent.signal(SIGCONT);
}

TEST_CASE("a target with TLS that disappears and returns under verified load causes no I/O error", "[tls]")
{
	Encrypted target;
	auto c = target.rig.host.connect(target.options());
	FioLoad load(steady(target.rig.disk()));
	for (int i = 0; i < 2; i++) {
		pause(1s);
		target.rig.port.unlink(target.rig.subsystem);
		REQUIRE(target.rig.host.waitState(c.name, ControllerState::connecting));
		pause(500ms);
		target.rig.port.link(target.rig.subsystem);
		REQUIRE(target.rig.host.waitState(c.name, ControllerState::live));
	}
	expectGoodUntilNow(load);
	c = target.rig.host.controller(c.name);
	REQUIRE(c.tls);
	CHECK(c.tls->cipher == "AES-GCM-128");
}

TEST_CASE("a revoked key is not used again, and a new one is", "[tls]")
{
	Encrypted target;
	auto c = target.rig.host.connect(target.options());
	REQUIRE(c.tls);
	readKeyNames(c);
	must("nvmeofctl key revoke " + guest::quoted(c.tls->identity));
	// the connection stays
	checkData(target.rig.disk());
	REQUIRE(target.rig.host.client().reset(c.name));
	CHECK(eventually([&] { return namesIt(target.rig.host.controller(c.name).lastError, "revoked"); }));
	const std::string key = newTlsKey("new");
	must("nvmeofctl set " + c.name + " tls-key=" + key);
	REQUIRE(target.rig.host.waitState(c.name, ControllerState::live));
	CHECK(target.rig.host.controller(c.name).tls->key != c.tls->key);
	checkData(target.rig.disk());
}

TEST_CASE("many connections at once wait for their turn", "[tls]")
{
	Proxied target; // whose side of the handshakes needs no agent
	// more handshakes than the kernel lets wait for the agent
	target.agent.signal(SIGSTOP);
	std::vector<std::string> names;
	for (int i = 0; i < 8; i++) {
		nvmeof::ConnectOptions o = target.options();
		o.duplicateConnect = i;
		o.connectTimeout = scaled(30s);
		o.ioQueues = 2;
		names.push_back(take(target.rig.host.client().connect(o, nvmeof::WaitFor::none)).name);
	}
	pause(500ms);
	target.agent.signal(SIGCONT);
	for (const auto &name : names)
		CHECK(target.rig.host.waitState(name, ControllerState::live, 60s));
	checkData(target.rig.disk());
}

TEST_CASE("a target that fails or attacks the handshake is refused", "[tls][hostile]")
{
	Proxied target;
	for (const TlsMisbehaviour &m : tlsMisbehaviours()) {
		if (concernsLive(m) || !isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			continue;
		INFO(m.name);
		recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
		const unsigned strikes = target.proxy.strikes();
		target.proxy.arm(m);
		const Stopwatch watch;
		auto result =
			target.rig.host.client().connect(target.options(), nvmeof::WaitFor::controller, scaled(8s));
		CHECK(watch.elapsed() < scaled(4s));
		const std::string told = result ? "connected" : result.error().message;
		tellTls(m, told);
		CHECK(target.proxy.strikes() > strikes);
		CHECK(bool(result) == (m.outcome == TlsOutcome::harmless));
		CHECK(namesIt(told, m.words));
		if (std::string_view(m.name).ends_with("-never"))
			CHECK(watch.elapsed() > scaled(1s)); // it timed out and was not refused for another reason
		target.proxy.disarm();
		target.rig.host.disconnectAll();
		CHECK(take(target.rig.host.client().controllers()).empty());
	}
	CHECK(target.rig.host.connect(target.options()).tls);
	checkData(target.rig.disk());
}

TEST_CASE("whatever a target sends over TLS, no I/O fails", "[tls][hostile]")
{
	Proxied target;
	nvmeof::ConnectOptions o = target.options();
	o.keepAlive = scaled(2s);
	const std::string name = target.rig.host.connect(o).name;
	FioLoad load({.file = target.rig.disk(), .blocks = "16k", .depth = 8, .size = "8m", .seconds = 600});
	for (const TlsMisbehaviour &m : tlsMisbehaviours()) {
		if (!concernsLive(m) || !isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			continue;
		INFO(m.name);
		recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
		const unsigned strikes = target.proxy.strikes();
		const auto reconnects = target.rig.host.controller(name).reconnects;
		auto returned = [&] { return target.rig.host.controller(name).reconnects > reconnects; };
		target.proxy.arm(m);
		CHECK(eventually([&] { return target.proxy.strikes() > strikes; }));
		if (m.outcome == TlsOutcome::harmless) {
			pause(300ms);
			tellTls(m, "goes on");
			CHECK_FALSE(returned());
		} else {
			CHECK(eventually(
				[&] { return target.rig.host.state(name) != ControllerState::live || returned(); }));
			target.proxy.disarm();
			REQUIRE(eventually(
				[&] { return target.rig.host.state(name) == ControllerState::live && returned(); }));
			const std::string told = target.rig.host.controller(name).lastError;
			tellTls(m, told);
			CHECK_FALSE(told.empty());
			CHECK(namesIt(told, m.words));
		}
		target.proxy.disarm();
		REQUIRE(load.running());
		pause(100ms);
	}
	expectGoodUntilNow(load);
}

TEST_CASE("while a target with TLS is silent, another path does the I/O", "[tls][hostile]")
{
	Proxied target;
	nvmeof::ConnectOptions o = target.options();
	o.keepAlive = scaled(2s);
	const std::string name = target.rig.host.connect(o).name;
	o = target.rig.options(); // without TLS, and of the same host
	o.hostnqn = hostNqn;
	o.ioQueues = 2;
	const std::string other = target.rig.host.connect(o).name;
	REQUIRE(target.rig.host.paths().size() == 2);
	const Disk disk(target.rig.disk());
	for (const TlsMisbehaviour &m : tlsMisbehaviours()) {
		if (!concernsLive(m) || m.outcome != TlsOutcome::silence)
			continue;
		INFO(m.name);
		const unsigned strikes = target.proxy.strikes();
		const auto reconnects = target.rig.host.controller(name).reconnects;
		target.proxy.arm(m);
		// reads that are on the silent path move; each ends long before the keep-alive timeout and a reconnect
		for (std::uint32_t i = 0; i < 16; i++) {
			const Stopwatch watch;
			CHECK(disk.verified(i * 65536, 65536, i) == 0);
			CHECK(watch.elapsed() < scaled(6s));
		}
		CHECK(target.proxy.strikes() > strikes);
		CHECK(eventually([&] {
			return target.rig.host.state(name) != ControllerState::live ||
			       target.rig.host.controller(name).reconnects > reconnects;
		}));
		const Stopwatch watch;
		CHECK(disk.verified(0, 65536, 1) == 0);
		CHECK(watch.elapsed() < scaled(1s));
		target.proxy.disarm();
		REQUIRE(eventually([&] {
			return target.rig.host.state(name) == ControllerState::live &&
			       target.rig.host.controller(name).reconnects > reconnects;
		}));
		CHECK(target.rig.host.controller(other).reconnects == 0);
	}
}

TEST_CASE("many connects to a silent target do not disturb another connection", "[tls][hostile]")
{
	constexpr unsigned many = 64, silentPort = 4431;
	Proxied target;
	TlsProxy silent(silentPort, 4420);
	const TlsMisbehaviour never{"silent", TlsHook::accepted, TlsOutcome::refused, "", [](TlsPeer &, TlsBytes &) {}};
	silent.arm(never);
	const std::string name = target.rig.host.connect(target.options()).name;
	FioLoad load(steady(target.rig.disk()));
	nvmeof::ConnectOptions o = target.options();
	o.address.trsvcid = std::to_string(silentPort);
	o.connectTimeout = scaled(4s);
	for (unsigned i = 0; i < many; i++) {
		o.duplicateConnect = i;
		take(target.rig.host.client().connect(o, nvmeof::WaitFor::none));
	}
	CHECK(eventually([&] { return silent.strikes() >= many / 2; }));
	// a connection that is lost meanwhile returns
	REQUIRE(target.rig.host.client().reset(name));
	CHECK(target.rig.host.waitState(name, ControllerState::live, 6s));
	CHECK(eventually([&] { return take(target.rig.host.client().controllers()).size() == 1; }, 20s));
	CHECK(silent.strikes() >= many);
	expectGoodUntilNow(load);
	CHECK(target.rig.host.controller(name).reconnects == 1);
}

TEST_CASE("small records and session tickets are harmless", "[tls][hostile]")
{
	Proxied target;
	target.proxy.pieces(GENERATE(1U, 23U, 0U));
	nvmeof::ConnectOptions o = target.options();
	o.keepAlive = 60s; // a record for each byte takes long on a kernel with debug checks
	auto c = target.rig.host.connect(o);
	const Disk disk(target.rig.disk());
	CHECK(disk.verified(0, 4096, 1) == 0);
	CHECK(target.rig.host.controller(c.name).reconnects == 0);
}

// Any user may do this. The agent cannot tell it from one.
TEST_CASE("a program that only listens for handshakes keeps nobody from TLS", "[tls]")
{
	Encrypted target;
	Background listener("exec setpriv --reuid=65534 --regid=65534 --clear-groups /nvmeof/tests/wrong_agent listen "
			    "2>/run/listener.log");
	REQUIRE(eventually([] { return namesIt(readFile("/run/listener.log"), "listens"); }));
	pause(1s); // the agent looks for others once a second at most
	const std::string name = target.rig.host.connect(target.options()).name;
	CHECK(namesIt(readFile("/run/tlsd.log"), "another program listens"));
	checkData(target.rig.disk());
	target.agent.signal(SIGTERM);
	REQUIRE(eventually([&] { return !target.agent.running(); }));
	const TlsAgent next; // finds the listener at its start
	CHECK(listener.running());
	REQUIRE(target.rig.host.client().reset(name));
	REQUIRE(target.rig.host.waitState(name, ControllerState::live));
	checkData(target.rig.disk());
}

// tests/system/tlshd/guest starts these.
TEST_CASE("tlshd does the handshakes of host and target", "[.tlshd]")
{
	REQUIRE_FALSE(environment("NVMEOF_TLSHD", "").empty());
	Encrypted target;
	const Background other("exec nvmeof-tlsd --debug 2>/run/other.log"); // leaves the handshakes to it
	REQUIRE(eventually([] { return namesIt(readFile("/run/other.log"), "another program listens"); }));
	for (const char *hash : {"sha256", "sha384"}) {
		INFO(hash);
		nvmeof::ConnectOptions o = target.options();
		o.tlsKey = newTlsKey(hash, hash);
		auto c = target.rig.host.connect(o);
		REQUIRE(c.tls);
		readKeyNames(c);
		CHECK(c.tls->identity.starts_with("NVMe1R0"s + (hash == "sha256"s ? "1 " : "2 ") + hostNqn));
		CHECK(c.tls->keyUsed == c.tls->key);
		std::printf("tlshd: %s: %s\n", hash, c.tls->cipher.c_str());
		CHECK_FALSE(c.tls->cipher.empty());
		checkData(target.rig.disk());
		FioLoad load(steady(target.rig.disk()));
		REQUIRE(target.rig.host.client().reset(c.name));
		REQUIRE(target.rig.host.waitState(c.name, ControllerState::live));
		pause(300ms);
		expectGoodUntilNow(load);
		CHECK(target.rig.host.controller(c.name).reconnects == 1);
		target.rig.host.disconnectAll();
		must("nvmeofctl key revoke " + guest::quoted(c.tls->identity));
	}
	// the key that .nvme has for this host and subsystem
	must("nvmeofctl key insert " + target.key + " -q " + hostNqn + " -n " + testNqn);
	nvmeof::ConnectOptions o = target.options();
	o.tlsKey.clear();
	o.tls = nvmeof::TlsUse::required;
	auto c = target.rig.host.connect(o);
	REQUIRE(c.tls);
	checkData(target.rig.disk());
	target.rig.host.disconnectAll();
	readKeyNames(c);
	must("nvmeofctl key revoke " + guest::quoted(c.tls->identity));
	target.refusal(o);
	CHECK(handshakes("/run/other.log") == 0);
}

TEST_CASE("nvmeof-tlsd leaves handshakes to tlshd that is started later", "[.tlshd]")
{
	loadModules({"tls", "nvme_keyring"});
	Rig rig({.tls = "required"});
	nvmeof::ConnectOptions o = rig.options();
	o.hostnqn = hostNqn;
	o.tlsKey = newTlsKey("host");
	const Background first("exec nvmeof-tlsd --debug 2>/run/first.log");
	REQUIRE(eventually([] { return namesIt(run("nvmeof-tlsd --check").text, "an agent is running"); }));
	const std::string name = rig.host.connect(o).name;
	const std::size_t before = handshakes("/run/first.log");
	CHECK(before > 0);
	TlsAgent second(environment("NVMEOF_TLSHD", ""));
	pause(1s); // it looks for others once a second at most
	FioLoad load(steady(rig.disk()));
	for (int i = 0; i < 2; i++) {
		REQUIRE(rig.host.client().reset(name));
		REQUIRE(rig.host.waitState(name, ControllerState::live));
	}
	CHECK(namesIt(readFile("/run/first.log"), "another program listens"));
	CHECK(handshakes("/run/first.log") == before);
	pause(300ms);
	expectGoodUntilNow(load);
	std::filesystem::remove_all("/run/keys");
}

TEST_CASE("a kernel without TLS says so", "[tls][older]")
{
	Rig rig({.tls = ""});
	nvmeof::ConnectOptions o = rig.options();
	o.tlsKey = newTlsKey("host");
	auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s));
	REQUIRE_FALSE(result);
	INFO(result.error().message);
	CHECK(namesIt(result.error().message, "TLS"));
	o.dhchapKey = o.dhchapCtrlKey = o.tlsKey;
	o.tlsKey.clear();
	o.concat = true;
	result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s));
	std::filesystem::remove_all("/run/keys");
	REQUIRE_FALSE(result);
	CHECK(namesIt(result.error().message, "concat: this kernel has no keyring .nvme for TLS keys"));
	CHECK(take(rig.host.client().controllers()).empty());
}

TEST_CASE("no TLS key is shown or logged", "[tls]")
{
	Encrypted target;
	auto c = target.rig.host.connect(target.options());
	const std::string texts = must("nvmeofctl show " + c.name + "; nvmeofctl show --json " + c.name +
				       "; nvmeofctl list-subsys --json; nvmeofctl stats --prometheus; dmesg; "
				       "nvmeofctl key list; cat /proc/keys; cat /run/tlsd.log");
	const std::string secret = readFile(target.key).substr(16, 40);
	CHECK_FALSE(namesIt(texts, secret.substr(0, 24)));
	CHECK_FALSE(namesIt(texts, secret.substr(16, 24)));
}

} // namespace guest::tls
