// SPDX-License-Identifier: LGPL-2.1-or-later
// A target in this process that misbehaves while the host authenticates itself.
#include "hostile_tally.h"
#include "support/block.h"
#include "support/fio.h"
#include "support/multipath_rig.h"
#include "support/ports.h"
#include "support/reproduce.h"
#include "support/selection.h"
#include "support/tls.h"
#include "target/acts.h"
#include "target/identify.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace guest::hostile_auth {

using nvmeof::ControllerState;
using nvmeof::ErrorCode;
using target::Expect;
using target::Misbehaviour;
using target::Needs;

namespace {

// Of bytes 0, 1, 2, ... and 32, 33, ...
const std::string hostSecret = "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
const std::string ctrlSecret = "DHHC-1:00:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj/jBqb2:";

std::string keyFile(const std::string &name, const std::string &secret)
{
	const std::string folder = "/run/keys/", path = folder + name;
	std::filesystem::create_directory(folder);
	writeFile(path, secret + "\n");
	std::filesystem::permissions(path, std::filesystem::perms(0600));
	return path;
}

target::Config configFor(Needs needs)
{
	target::Config config;
	config.authentication = target::Authentication{.hostSecret = hostSecret};
	config.authentication->channel = needs == Needs::channel;
	if (needs == Needs::mutual || needs == Needs::channel)
		config.authentication->ctrlSecret = ctrlSecret;
	if (needs == Needs::dhGroup || needs == Needs::channel)
		config.authentication->group = 1; // ffdhe2048: larger ones take emulated CPUs seconds
	return config;
}

// A target that authenticates hosts, and a host with the right secrets
struct Stage {
	Ports ports;
	target::Server &server = ports[0];
	Host &host = ports.host;
	Needs needs;

	explicit Stage(Needs needed = Needs::nothing) : ports({configFor(needed)}), needs(needed) {}
	~Stage()
	{
		host.disconnectAll();
		std::filesystem::remove_all("/run/keys");
	}

	nvmeof::ConnectOptions options(std::uint32_t queues = 1)
	{
		auto o = ports.options(0);
		o.ioQueues = queues;
		o.dhchapKey = keyFile("host", hostSecret);
		if (needs == Needs::mutual || needs == Needs::channel)
			o.dhchapCtrlKey = keyFile("controller", ctrlSecret);
		o.concat = needs == Needs::channel;
		if (o.concat) // for one or two DH exchanges and a handshake
			o.connectTimeout = scaled(3s);
		return o;
	}

	auto connect(std::uint32_t queues = 1)
	{
		return host.client().connect(options(queues), nvmeof::WaitFor::namespaces, scaled(5s));
	}

	bool works() { return Disk(host.disk(1, 10s, server.config().nqn)).verified(0, 4096, 1) == 0; }
};

bool endsWithNever(const Misbehaviour &m)
{
	return std::string_view(m.name).ends_with("-never");
}

void expectRefused(Stage &stage, const nvmeof::Result<nvmeof::Connection> &result, const Misbehaviour &m)
{
	REQUIRE_FALSE(result.ok());
	const std::string &message = result.error().message;
	INFO(message);
	CHECK_FALSE(message.empty());
	// the message names the matter, unless the connection has ended
	const bool ended = message.find("closed") != std::string::npos || message.find("reset") != std::string::npos ||
			   message.find("the connection ended") != std::string::npos;
	const bool named = message.find("authentication") != std::string::npos ||
			   message.find("Authentication") != std::string::npos ||
			   message.find("secure channel") != std::string::npos ||
			   (stage.needs == Needs::channel && message.find("TLS") != std::string::npos);
	std::printf("told: %s: %s\n", m.name, message.c_str());
	CHECK((named || ended || m.name == std::string_view("auth-challenge-too-long")));
	CHECK((message.find("no answer to Authentication") != std::string::npos) == endsWithNever(m));
	const bool rejected = message.find("status 0x") != std::string::npos; // the code follows the status
	const bool cut = message.find("no answer") != std::string::npos ||
			 message.find("closed during the TLS handshake") != std::string::npos;
	if (named && !rejected && !cut)
		CHECK((result.error().code == ErrorCode::authentication || result.error().code == ErrorCode::failed));
	CHECK(take(stage.host.client().controllers()).empty());
	CHECK(eventually([&] { return stage.server.counters().open == 0; }, 5s));
	CHECK(eventually([&] { return stage.server.associations().all().empty(); }, 5s));
	// the secret is in no message
	CHECK(message.find(hostSecret.substr(10, 24)) == std::string::npos);
}

void play(const Misbehaviour &m)
{
	recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
	Stage stage(m.needs);
	stage.server.script().arm(m, target::Script::forever);
	const std::uint32_t queues = m.name == std::string_view("auth-second-io-queue-never") ? 2 : 1;
	Stopwatch time;
	auto result = stage.connect(queues);
	CHECK(time.elapsed() < scaled(4s)); // the admin queue and the I/O queues have connect_tmo each
	CHECK(stage.server.script().strikes() > 0);
	tellPlayed(m, stage.server.script().strikes());
	if (endsWithNever(m))
		CHECK(time.elapsed() > scaled(1s)); // it timed out and was not refused for another reason
	if (m.expect == Expect::refused) {
		expectRefused(stage, result, m);
	} else {
		INFO((result ? "" : result.error().message));
		REQUIRE(result.ok());
		CHECK(stage.works());
		CHECK(stage.server.counters().adminConnects == (m.needs == Needs::channel ? 2 : 1));
	}
	Stopwatch leaving;
	stage.host.disconnectAll();
	CHECK(leaving.elapsed() < scaled(2s));

	stage.server.script().disarm();
	auto good = stage.connect();
	INFO((good ? "" : good.error().message));
	REQUIRE(good.ok());
	auto c = stage.host.controller(take(stage.host.client().controllers()).at(0).name);
	REQUIRE(c.authentication);
	const bool channel = m.needs == Needs::channel;
	CHECK(c.authentication->mutual == (channel || m.needs == Needs::mutual));
	CHECK(c.authentication->dhGroup == (channel || m.needs == Needs::dhGroup ? "ffdhe2048" : "NULL"));
	CHECK(c.tls.has_value() == channel);
	CHECK(stage.works());
}

// The generated key, as the host's kernel shows it to root: description and state; nothing if it is gone
std::string generatedKey(std::int32_t serial)
{
	char text[32];
	std::snprintf(text, sizeof(text), "%08x", static_cast<unsigned>(serial));
	return run(std::string("grep ^") + text + " /proc/keys || true").text;
}

} // namespace

TEST_CASE("misbehaviour while the host authenticates itself", "[hostile][auth][tcp]")
{
	for (auto &m : target::authMisbehaviours())
		if (isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
			{
				play(m);
			}
}

TEST_CASE("secure channel concatenation: the authentication generates the key of TLS", "[hostile][auth][concat][tcp]")
{
	TlsAgent agent;
	Stage stage(Needs::channel);
	nvmeof::ConnectOptions o = stage.options(2);
	o.security = {nvmeof::SecurityUse::required, nvmeof::SecurityUse::required, "/etc/nvmeof/nvmeof.toml:1"};
	auto c = take(stage.host.client().connect(o, nvmeof::WaitFor::namespaces, scaled(5s)));
	CHECK(stage.works());
	CHECK(c.concat);
	REQUIRE(c.authentication);
	CHECK(c.authentication->mutual);
	REQUIRE(c.tls);
	CHECK(c.tls->generated);
	CHECK(c.tls->cipher == "AES-GCM-128");
	CHECK(c.tls->keySince >= c.authentication->at - 1s);
	CHECK(c.tls->at >= c.tls->keySince);
	nvmeof::Controller named = c;
	readKeyNames(named);
	CHECK(named.tls->identity.starts_with("NVMe1G01 "));
	CHECK(stage.server.counters().adminConnects == 2);
	CHECK(stage.server.counters().ioConnects == 2);
	CHECK(stage.server.violations().empty());
	// nobody finds the key without the controller, and only root sees that there is one
	CHECK(generatedKey(c.tls->key).find("psk") != std::string::npos);
	CHECK(run("nvmeofctl key list").text.find(named.tls->identity) == std::string::npos);
	CHECK(run("setpriv --reuid=65534 --clear-groups cat /proc/keys").text.find("NVMe1G01") == std::string::npos);
	const std::string shown = must("nvmeofctl show " + c.name);
	INFO(shown);
	CHECK(shown.find("generated") != std::string::npos);
	// its TLS key is not replaced by hand
	const auto set = run("nvmeofctl set " + c.name + " tls-key=" + newTlsKey("tls"));
	CHECK(set.status != 0);
	CHECK(set.text.find("generates its TLS key") != std::string::npos);

	// a new secret is tried over TLS at once; the key of TLS stays
	must("nvmeofctl set " + c.name + " dhchap-key=" + keyFile("new", hostSecret));
	const auto renewed = stage.host.controller(c.name);
	REQUIRE(renewed.authentication);
	CHECK(renewed.authentication->at > c.authentication->at);
	REQUIRE(renewed.tls);
	CHECK(renewed.tls->key == c.tls->key);
	CHECK(renewed.reconnects == 0);

	// each connect generates a new key, and revokes the previous one
	REQUIRE(stage.host.client().reset(c.name));
	REQUIRE(eventually([&] {
		const auto now = stage.host.controller(c.name);
		return now.state == ControllerState::live && now.tls && now.tls->key != c.tls->key;
	}));
	CHECK(stage.works());
	CHECK(eventually([&] { return generatedKey(c.tls->key).find("NVMe1G01") == std::string::npos; }));
	const auto again = stage.host.controller(c.name);
	CHECK(again.authentication->at > c.authentication->at);
	stage.host.disconnectAll();
	CHECK(eventually([&] { return generatedKey(again.tls->key).find("NVMe1G01") == std::string::npos; }));
}

TEST_CASE("secure channel concatenation without a proof of the controller", "[hostile][auth][concat][tcp]")
{
	TlsAgent agent;
	Stage stage(Needs::channel);
	nvmeof::ConnectOptions o = stage.options(2);
	o.dhchapCtrlKey.clear();
	auto c = take(stage.host.client().connect(o, nvmeof::WaitFor::namespaces, scaled(5s)));
	CHECK(stage.works());
	REQUIRE(c.authentication);
	CHECK_FALSE(c.authentication->mutual);
	REQUIRE(c.tls);
	CHECK(c.tls->generated);
	// the peer may be an impostor: new keys are used on the next connection only
	must("nvmeofctl set " + c.name + " dhchap-ctrl-key=" + stage.options().dhchapCtrlKey);
	CHECK_FALSE(stage.host.controller(c.name).authentication->mutual);
	REQUIRE(stage.host.client().reset(c.name));
	REQUIRE(eventually([&] {
		const auto now = stage.host.controller(c.name);
		return now.state == ControllerState::live && now.authentication && now.authentication->mutual;
	}));
	CHECK(stage.server.violations().empty());
	stage.host.disconnectAll();

	// a target, or an attacker on the network, that asks for no authentication, or for another one over TLS
	for (const auto &[name, text] : {std::pair("channel-unasked", "does not ask for it"),
					 {"channel-authentication-again", "asks for another authentication"}}) {
		const Misbehaviour *m = target::findMisbehaviour(name);
		REQUIRE(m);
		stage.server.script().arm(*m, target::Script::forever);
		auto refused = stage.host.client().connect(o, nvmeof::WaitFor::controller, scaled(5s));
		REQUIRE_FALSE(refused);
		INFO(refused.error().message);
		CHECK(refused.error().message.find(text) != std::string::npos);
		stage.server.script().disarm();
	}
}

TEST_CASE("a key that arrives during a connect attempt is used once the controller is live", "[hostile][auth][tcp]")
{
	const Needs needs = GENERATE(Needs::mutual, Needs::channel);
	std::optional<TlsAgent> agent;
	if (needs == Needs::channel)
		agent.emplace();
	Stage stage(needs);
	const auto c = take(stage.connect(1));
	REQUIRE(c.authKey);
	// the admin queue is authenticated, with the previous key; with concat, this is the second association
	static const auto hold = target::acts::always(target::Hook::command, [](target::Strike &s) {
		return target::acts::verdict(s.identify(target::cns_ctrl), s, target::Verdict::hold);
	});
	stage.server.script().arm(hold);
	const std::uint64_t strikes = stage.server.script().strikes(), connects = stage.server.counters().adminConnects;
	REQUIRE(stage.host.client().reset(c.name));
	REQUIRE(stage.server.script().waitStrikes(strikes + 1, scaled(5s)));
	must("nvmeofctl set " + c.name + " dhchap-key=" + keyFile("new", hostSecret));
	CHECK(stage.host.state(c.name) != ControllerState::live);
	CHECK(stage.host.controller(c.name).authKey->serial == c.authKey->serial);
	stage.server.releaseHeld();
	CHECK(eventually([&] {
		const auto now = stage.host.controller(c.name);
		return now.state == ControllerState::live && now.authKey->serial != c.authKey->serial;
	}));
	// by the same attempt
	CHECK(stage.server.counters().adminConnects == connects + (needs == Needs::channel ? 2 : 1));
	CHECK(stage.works());
	CHECK(stage.server.violations().empty());
}

TEST_CASE("secure channel concatenation: a lost connection returns under load", "[hostile][auth][concat][tcp]")
{
	TlsAgent agent;
	Stage stage(Needs::channel);
	auto c = take(stage.connect(2));
	FioLoad load({.file = stage.host.disk(1, 10s, stage.server.config().nqn), .size = "4m", .seconds = 60});
	for (const bool rst : {false, true}) {
		const auto before = stage.host.controller(c.name).reconnects;
		stage.server.dropConnections(rst);
		REQUIRE(eventually([&] {
			const auto now = stage.host.controller(c.name);
			return now.state == ControllerState::live && now.reconnects > before;
		}));
		CHECK(stage.host.controller(c.name).tls);
		pause(300ms);
	}
	expectGoodUntilNow(load);
	// a target that lets the host in without TLS meanwhile gets no data
	for (const Misbehaviour &m : target::channelMisbehaviours())
		if (m.name == std::string_view("channel-unasked") || m.name == std::string_view("channel-plain")) {
			stage.server.script().arm(m, target::Script::forever);
			REQUIRE(stage.host.client().reset(c.name));
			CHECK(eventually([&] {
				return !stage.host.controller(c.name).lastError.empty() &&
				       stage.server.script().strikes() > 0;
			}));
			pause(1s);
			CHECK(stage.host.state(c.name) != ControllerState::live);
			// an attempt that is under way may have generated a key
			const auto now = stage.host.controller(c.name);
			CHECK((!now.tls || now.tls->cipher.empty()));
			stage.server.script().disarm();
			CHECK(stage.host.waitState(c.name, ControllerState::live));
		}
}

TEST_CASE("misbehaviour during secure channel concatenation", "[hostile][auth][concat][tcp]")
{
	TlsAgent agent;
	for (auto &m : target::channelMisbehaviours())
		if (isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
			{
				play(m);
			}
}

// tests/system/tlshd/guest starts it.
TEST_CASE("secure channel concatenation with tlshd", "[.tlshd][tcp]")
{
	TlsAgent agent(environment("NVMEOF_TLSHD", "tlshd"));
	Stage stage(Needs::channel);
	auto c = take(stage.connect(2));
	REQUIRE(c.tls);
	CHECK(c.tls->generated);
	CHECK(stage.works());
	CHECK(stage.server.counters().ioConnects == 2);
	REQUIRE(stage.host.client().reset(c.name));
	REQUIRE(eventually([&] {
		const auto now = stage.host.controller(c.name);
		return now.state == ControllerState::live && now.tls && now.tls->key != c.tls->key;
	}));
	CHECK(stage.works());
}

TEST_CASE("secure channel concatenation: TLS with another key than the generated one is refused",
	  "[hostile][auth][concat][tcp]")
{
	TlsAgent agent("/nvmeof/tests/wrong_agent");
	Stage stage(Needs::channel);
	auto result = stage.host.client().connect(stage.options(), nvmeof::WaitFor::controller, scaled(5s));
	REQUIRE_FALSE(result);
	CHECK(result.error().message.find("the TLS agent has used another key than the generated one") !=
	      std::string::npos);
	CHECK(stage.server.counters().adminConnects == 1); // the one that has generated the key
	CHECK(stage.server.counters().ioConnects == 0);
}

TEST_CASE("secure channel concatenation: what cannot be is refused before anything is sent",
	  "[hostile][auth][concat][tcp]")
{
	TlsAgent agent;
	Stage stage(Needs::channel);
	auto refusal = [&](const nvmeof::ConnectOptions &o) {
		auto result = stage.host.client().connect(o, nvmeof::WaitFor::controller, scaled(5s));
		REQUIRE_FALSE(result);
		return result.error().message;
	};
	nvmeof::ConnectOptions o = stage.options();
	o.dhchapCtrlKey.clear();
	o.dhchapKey.clear();
	CHECK(refusal(o).find("concat needs dhchap-key") != std::string::npos);
	o = stage.options();
	o.tls = nvmeof::TlsUse::required;
	CHECK(refusal(o).find("concat excludes tls and tls-key") != std::string::npos);
	CHECK(stage.server.counters().connections == 0);
	// a host that does not ask for it is refused with that advice
	o = stage.options();
	o.concat = false;
	CHECK(refusal(o).find("connect with concat") != std::string::npos);
}

TEST_CASE("the message for a missing secret has the next step, also if I/O queues alone require authentication",
	  "[hostile][auth][tcp]")
{
	Stage stage;
	nvmeof::ConnectOptions keyless = stage.options();
	keyless.dhchapKey.clear();
	auto refusal = [&] {
		auto result = stage.host.client().connect(keyless, nvmeof::WaitFor::controller, scaled(5s));
		REQUIRE_FALSE(result);
		CHECK(result.error().code == ErrorCode::authentication);
		CHECK(take(stage.host.client().controllers()).empty());
		return result.error().message;
	};
	const std::string advice = ": give it the secret of this host (dhchap-key)";
	CHECK(refusal() == "the controller requires authentication" + advice);
	const Misbehaviour *m = target::findMisbehaviour("auth-io-only");
	REQUIRE(m);
	stage.server.script().arm(*m, target::Script::forever);
	CHECK(refusal() == "the controller requires authentication of queue 1, though not of queue 0" + advice);
	stage.server.script().disarm();
}

// As somebody between host and target would do who wants no authentication
TEST_CASE("where authentication is required, a controller that does not ask for it is refused", "[hostile][auth][tcp]")
{
	Stage stage;
	nvmeof::ConnectOptions required = stage.options();
	required.security = {nvmeof::SecurityUse::required, {}, "/etc/nvmeof/nvmeof.toml:1"};
	auto stripped = [](const Misbehaviour &m) {
		const std::string_view name = m.name;
		return name == "auth-unasked" || name == "auth-io-only";
	};
	int played = 0;
	for (const Misbehaviour &m : target::authMisbehaviours()) {
		if (!stripped(m))
			continue;
		INFO(m.name);
		played++;
		stage.server.script().arm(m, target::Script::forever);
		auto result = stage.host.client().connect(required, nvmeof::WaitFor::controller, scaled(5s));
		expectRefused(stage, result, m);
		CHECK(result.error().code == ErrorCode::authentication);
		CHECK(result.error().message.find("authentication is required here") != std::string::npos);
		stage.server.script().disarm();
		// the request disappears between two connections
		auto c = take(stage.host.client().connect(required, nvmeof::WaitFor::namespaces, scaled(5s)));
		CHECK(c.authentication);
		CHECK(c.authRequired);
		stage.server.script().arm(m, target::Script::forever);
		REQUIRE(stage.host.client().reset(c.name));
		CHECK(eventually([&] {
			return stage.host.controller(c.name).lastError.find("authentication is required here") !=
			       std::string::npos;
		}));
		CHECK(stage.host.state(c.name) != ControllerState::live);
		stage.server.script().disarm();
		CHECK(stage.host.waitState(c.name, ControllerState::live));
		stage.host.disconnectAll();
		// without the rule, such a target is accepted
		stage.server.script().arm(m, target::Script::forever);
		CHECK(stage.connect());
		stage.server.script().disarm();
		stage.host.disconnectAll();
	}
	CHECK(played == 2);
	// on I/O queues the host authenticates itself unasked
	for (const Misbehaviour &m : target::authMisbehaviours()) {
		if (m.name != std::string_view("auth-admin-only"))
			continue;
		stage.server.script().arm(m, target::Script::forever);
		CHECK(stage.host.client().connect(required, nvmeof::WaitFor::namespaces, scaled(5s)));
		CHECK(stage.works());
		stage.server.script().disarm();
		stage.host.disconnectAll();
		played++;
	}
	CHECK(played == 3);
	nvmeof::ConnectOptions keyless = required;
	keyless.dhchapKey.clear();
	const std::uint64_t connects = stage.server.counters().adminConnects;
	auto result = stage.host.client().connect(keyless, nvmeof::WaitFor::controller, scaled(5s));
	REQUIRE_FALSE(result);
	CHECK(result.error().message.find("/etc/nvmeof/nvmeof.toml:1") != std::string::npos);
	CHECK(stage.server.counters().adminConnects == connects);
}

} // namespace guest::hostile_auth
