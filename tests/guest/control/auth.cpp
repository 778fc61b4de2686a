// SPDX-License-Identifier: LGPL-2.1-or-later
// In-band authentication by DH-HMAC-CHAP, against the kernel's target
#include "control.h"
#include "support/block.h"
#include "support/fio.h"
#include "support/rig.h"
#include "support/tls.h"

#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <filesystem>
#include <sys/utsname.h>
#include <unistd.h>

namespace guest::auth {

using namespace std::string_literals;
using nvmeof::ControllerState;
using nvmeof::ErrorCode;

namespace {

constexpr const char *hostNqn = "nqn.2014-08.org.nvmexpress:uuid:3e4a0a4a-9c1f-4a1c-8a61-2f3c0a5d7b11";
constexpr const char *openNqn = "nqn.2014-08.org.nvmexpress:uuid:00000000-9c1f-4a1c-8a61-2f3c0a5d7b12";

// Of bytes 0, 1, 2, ... by number of hash function; and others
const std::array<std::string, 4> secrets{
	"DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:",
	"DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:",
	"DHHC-1:02:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBQ==:",
	"DHHC-1:03:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P4zODhA=:",
};
const std::string ctrlSecret = "DHHC-1:00:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj/jBqb2:";

constexpr std::array hashes{"sha256", "sha384", "sha512"};
constexpr std::array hashNames{"SHA-256", "SHA-384", "SHA-512"};
constexpr std::array groups{"null", "ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144", "ffdhe8192"};

// Whether the target of this kernel has secure channel concatenation: since 6.15
bool targetConcatenates()
{
	utsname kernel{};
	int major = 0, minor = 0;
	REQUIRE(::uname(&kernel) == 0);
	REQUIRE(std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2);
	return std::pair(major, minor) >= std::pair(6, 15);
}

// A host as the target knows it, with or without secrets
class KnownHost {
public:
	KnownHost(const char *nqn) : nqn_(nqn) { std::filesystem::create_directory(folder()); }
	~KnownHost()
	{
		for (const std::string &link : links_)
			std::filesystem::remove(link);
		::rmdir(folder().c_str());
	}
	KnownHost(const KnownHost &) = delete;
	KnownHost &operator=(const KnownHost &) = delete;

	void set(const std::string &attribute, const std::string &value) const
	{
		writeFile(folder() + "/" + attribute, value + "\n");
	}
	void allow(const nvmet::Subsystem &subsystem)
	{
		links_.push_back(root + "subsystems/" + subsystem.nqn() + "/allowed_hosts/" + nqn_);
		std::filesystem::create_directory_symlink(folder(), links_.back());
	}

private:
	std::string folder() const { return root + "hosts/" + nqn_; }

	static inline const std::string root = "/sys/kernel/config/nvmet/";
	std::string nqn_;
	std::vector<std::string> links_;
};

// A target that lets in two hosts only: one without authentication
struct Guarded {
	Rig rig;
	KnownHost host{hostNqn}, open{openNqn};

	explicit Guarded(const RigOptions &o = {}) : rig(o)
	{
		std::filesystem::create_directory("/run/keys");
		set("dhchap_key", secrets[1]);
		rig.port.unlink(rig.subsystem);
		rig.subsystem.set("attr_allow_any_host", "0");
		host.allow(rig.subsystem);
		open.allow(rig.subsystem);
		rig.port.link(rig.subsystem);
	}
	~Guarded()
	{
		rig.host.disconnectAll();
		rig.port.unlink(rig.subsystem);
		std::filesystem::remove_all("/run/keys");
	}

	void set(const std::string &attribute, const std::string &value) const { host.set(attribute, value); }

	// A file with this secret, as an operator would have it
	static std::string keyFile(const std::string &name, const std::string &secret)
	{
		const std::string path = "/run/keys/" + name;
		writeFile(path, secret + "\n");
		std::filesystem::permissions(path, std::filesystem::perms(0600));
		return path;
	}

	nvmeof::ConnectOptions options(const std::string &secret = secrets[1], const std::string &ctrl = "") const
	{
		nvmeof::ConnectOptions o = rig.options();
		o.hostnqn = hostNqn;
		if (!secret.empty())
			o.dhchapKey = keyFile("host", secret);
		if (!ctrl.empty())
			o.dhchapCtrlKey = keyFile("controller", ctrl);
		return o;
	}

	nvmeof::Error refusal(const nvmeof::ConnectOptions &o)
	{
		auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s));
		REQUIRE_FALSE(result);
		INFO(result.error().message);
		CHECK(take(rig.host.client().controllers()).empty());
		return result.error();
	}
};

} // namespace

TEST_CASE("a host authenticates itself, with each hash function and DH group", "[auth][groups]")
{
	Guarded target;
	for (std::size_t hash = 0; hash < hashes.size(); hash++)
		for (std::size_t group = 0; group < groups.size(); group++) {
			// all groups with one hash function, and all hash functions with one group
			if (hash && group > 1)
				continue;
			INFO(hashes[hash] << ", " << groups[group]);
			const std::string &secret = secrets[(hash + group) % secrets.size()];
			target.set("dhchap_hash", "hmac("s + hashes[hash] + ")");
			target.set("dhchap_dhgroup", groups[group]);
			target.set("dhchap_key", secret);
			nvmeof::ConnectOptions o = target.options(secret);
			// Emulated CPUs take seconds for a group of 8192 bits, while the target's timer runs.
			o.ioQueues = 1;
			o.connectTimeout = scaled(60s);
			o.keepAlive = 60s;
			auto c = target.rig.host.connect(o, 60s);
			REQUIRE(c.authentication);
			CHECK(c.authentication->hash == hashNames[hash]);
			CHECK(c.authentication->dhGroup == (group ? groups[group] : "NULL"));
			CHECK_FALSE(c.authentication->mutual);
			CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
			target.rig.host.disconnectAll();
		}
}

TEST_CASE("host and controller authenticate each other", "[auth][short]")
{
	Guarded target;
	target.set("dhchap_ctrl_key", ctrlSecret);
	for (const char *group : {"null", "ffdhe2048"}) {
		target.set("dhchap_dhgroup", group);
		auto c = target.rig.host.connect(target.options(secrets[1], ctrlSecret));
		REQUIRE(c.authentication);
		CHECK(c.authentication->mutual);
		REQUIRE(c.authKey);
		CHECK(c.authKey->serial != 0);
		CHECK(c.authKey->since > 0ns);
		CHECK(c.authKey->since <= c.authentication->at);
		readKeyNames(c); // of a file: no process can see the key
		CHECK(c.authKey->description.empty());
		CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
		const std::string shown = must("nvmeofctl show " + c.name);
		INFO(shown);
		CHECK(namesIt(shown, "SHA-256"));
		target.rig.host.disconnectAll();
	}
}

TEST_CASE("a host without the right secret is refused, and says why", "[auth][short]")
{
	Guarded target;
	nvmeof::Error error = target.refusal(target.options(""));
	CHECK(error.code == ErrorCode::authentication);
	CHECK(namesIt(error.message, "requires authentication"));
	CHECK(namesIt(error.message, "dhchap-key"));
	Stopwatch watch;
	error = target.refusal(target.options(ctrlSecret));
	CHECK(watch.elapsed() < scaled(5s));
	CHECK(error.code == ErrorCode::authentication);
	// over RDMA the target may end the connection before its reason has been fetched
	if (!overRdma())
		CHECK(namesIt(error.message, "refused the authentication of queue 0"));
	auto out = ctl(connectArgs() + " -q " + hostNqn + " --dhchap-key " + Guarded::keyFile("host", ctrlSecret));
	INFO(out.text);
	CHECK(out.status != done);
	CHECK_FALSE(namesIt(out.text, ctrlSecret.substr(10, 40)));
}

TEST_CASE("a controller that does not prove its identity is refused", "[auth][short]")
{
	Guarded target;
	// it has no secret
	nvmeof::Error error = target.refusal(target.options(secrets[1], ctrlSecret));
	CHECK(error.code == ErrorCode::authentication);
	// it has another one
	target.set("dhchap_ctrl_key", secrets[0]);
	error = target.refusal(target.options(secrets[1], ctrlSecret));
	CHECK(error.code == ErrorCode::authentication);
	CHECK(namesIt(error.message, "the controller does not have the secret"));
	// it does not ask for authentication
	nvmeof::ConnectOptions other = target.options(secrets[1], ctrlSecret);
	other.hostnqn = openNqn;
	error = target.refusal(other);
	CHECK(error.code == ErrorCode::authentication);
	CHECK(namesIt(error.message, "does not ask for authentication"));
	// with a secret of the host alone, that is no reason
	other.dhchapCtrlKey.clear();
	auto c = target.rig.host.connect(other);
	CHECK_FALSE(c.authentication);
}

// The port has to admit connections without TLS, too.
TEST_CASE("secure channel concatenation with the kernel's target", "[auth][concat][short][tcp]")
{
	TlsAgent agent;
	Guarded target({.tls = "not required"});
	target.set("dhchap_ctrl_key", ctrlSecret);
	target.set("dhchap_dhgroup", "ffdhe2048");
	const bool known = targetConcatenates();
	for (const auto &[hash, mutual] : {std::pair("sha256", false), {"sha384", false}, {"sha256", true}}) {
		INFO(hash << ", the controller " << (mutual ? "proves" : "does not prove") << " its identity");
		target.set("dhchap_hash", "hmac("s + hash + ")");
		nvmeof::ConnectOptions o = target.options(secrets[1], mutual ? ctrlSecret : "");
		o.concat = true;
		o.connectTimeout = scaled(20s);
		if (!known) {
			const nvmeof::Error error = target.refusal(o);
			CHECK(error.code == ErrorCode::authentication);
			// that of 6.12 may end the connection before the host has fetched its reason
			INFO(error.message);
			CHECK(namesIt(error.message, "secure channel concatenation"));
			continue;
		}
		auto made = target.rig.host.client().connect(o, nvmeof::WaitFor::namespaces, scaled(30s));
		if (!made) { // 7.3: the target forgets both challenges before it generates the key
			INFO(made.error().message);
			REQUIRE(mutual);
			REQUIRE(namesIt(made.error().message, "the target refused the TLS key"));
			REQUIRE(namesIt(must("dmesg"), "nvmet_auth_insert_psk: ctrl"));
			CHECK(take(target.rig.host.client().controllers()).empty());
			continue;
		}
		nvmeof::Controller c = *made;
		REQUIRE(c.tls);
		CHECK(c.tls->generated);
		readKeyNames(c);
		CHECK(c.tls->identity.starts_with("NVMe1G0"));
		REQUIRE(c.authentication);
		CHECK(c.authentication->mutual == mutual);
		CHECK(Disk(target.rig.disk()).verified(0, 65536, 1) == 0);
		// again, with a new key
		REQUIRE(target.rig.host.client().reset(c.name));
		REQUIRE(eventually([&] {
			const auto now = target.rig.host.controller(c.name);
			return now.state == ControllerState::live && now.tls && now.tls->key != c.tls->key;
		}));
		CHECK(Disk(target.rig.disk()).verified(0, 4096, 2) == 0);
		target.rig.host.disconnectAll();
	}
	// with SHA-512 there is no key of TLS: the target chooses one that the host offers, or refuses
	target.set("dhchap_hash", "hmac(sha512)");
	nvmeof::ConnectOptions o = target.options(secrets[1], ctrlSecret);
	o.concat = true;
	auto result = target.rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(20s));
	if (result)
		CHECK(result->authentication->hash != "SHA-512");
}

TEST_CASE("a reconnect authenticates again, with the key that the controller has then", "[auth]")
{
	Guarded target;
	auto c = target.rig.host.connect(target.options());
	REQUIRE(c.authentication);
	const auto first = c.authentication->at;
	target.set("dhchap_key", secrets[0]);
	REQUIRE(target.rig.host.client().reset(c.name));
	// the old secret is refused until the key is replaced
	CHECK(eventually(
		[&] { return target.rig.host.controller(c.name).lastError.find("refused") != std::string::npos; }));
	CHECK(target.rig.host.state(c.name) != ControllerState::live);
	must("nvmeofctl set " + c.name + " dhchap-key=" + Guarded::keyFile("host", secrets[0]));
	REQUIRE(target.rig.host.waitState(c.name, ControllerState::live));
	c = target.rig.host.controller(c.name);
	REQUIRE(c.authentication);
	CHECK(c.authentication->at > first);
	CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
}

TEST_CASE("new secrets are used at once, without a reconnect", "[auth]")
{
	Guarded target;
	target.set("dhchap_ctrl_key", ctrlSecret);
	auto c = target.rig.host.connect(target.options(secrets[1], ctrlSecret));
	REQUIRE(c.authentication);
	const auto first = c.authentication->at;
	target.set("dhchap_key", secrets[2]);
	must("nvmeofctl set " + c.name + " dhchap-key=" + Guarded::keyFile("host", secrets[2]));
	REQUIRE(eventually([&] {
		c = target.rig.host.controller(c.name);
		return c.authentication && c.authentication->at > first;
	}));
	CHECK(c.state == ControllerState::live);
	CHECK(c.reconnects == 0);
	CHECK(c.authentication->mutual);
	CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
}

TEST_CASE("a wrong new key is refused, and I/O goes on with the previous one", "[auth]")
{
	Guarded target;
	auto c = target.rig.host.connect(target.options());
	FioLoad load({.file = target.rig.disk(), .seconds = 60});
	// the host has the new key before the target
	const Output out = ctl("set " + c.name + " dhchap-key=" + Guarded::keyFile("new", secrets[2]));
	INFO(out.text);
	CHECK(out.status == refused);
	CHECK(namesIt(out.text, "previous keys"));
	CHECK(namesIt(out.text, "compare the keys"));
	CHECK_FALSE(namesIt(out.text, secrets[2].substr(10, 24)));
	// the target may end the connection before its reason has been fetched
	CHECK((namesIt(out.text, "wrong secret") || namesIt(out.text, "secret is probably wrong")));
	REQUIRE(eventually([&] {
		c = target.rig.host.controller(c.name);
		return c.state == ControllerState::live && c.reconnects == 1 && c.authentication;
	}));
	CHECK(namesIt(must("dmesg"), "the new"));
	// the new key is forgotten: the target gets it now, but only "set" uses it
	const auto before = c.authentication->at;
	target.set("dhchap_key", secrets[2]);
	must("nvmeofctl set " + c.name + " dhchap-key=" + Guarded::keyFile("new", secrets[2]));
	c = target.rig.host.controller(c.name);
	REQUIRE(c.authentication);
	CHECK(c.authentication->at > before);
	CHECK(c.state == ControllerState::live);
	CHECK(c.reconnects == 1);
	CHECK(load.running());
	CHECK(load.finish(20s).good());
}

TEST_CASE("a controller that does not prove its identity by a new key keeps the previous one", "[auth]")
{
	Guarded target;
	target.set("dhchap_ctrl_key", ctrlSecret);
	auto c = target.rig.host.connect(target.options(secrets[1], ctrlSecret));
	const Output out = ctl("set " + c.name + " dhchap-ctrl-key=" + Guarded::keyFile("new", secrets[0]));
	INFO(out.text);
	CHECK(out.status == refused);
	CHECK(namesIt(out.text, "the controller does not have the secret"));
	REQUIRE(eventually([&] {
		c = target.rig.host.controller(c.name);
		return c.state == ControllerState::live && c.reconnects == 1;
	}));
	REQUIRE(c.authentication);
	CHECK(c.authentication->mutual);
	target.set("dhchap_ctrl_key", secrets[0]);
	must("nvmeofctl set " + c.name + " dhchap-ctrl-key=" + Guarded::keyFile("new", secrets[0]));
	CHECK(target.rig.host.controller(c.name).reconnects == 1);
	CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
}

TEST_CASE("a lost connection returns with the previous or the new key, whichever the target has", "[auth]")
{
	Guarded target;
	nvmeof::ConnectOptions o = target.options();
	o.reconnectDelay = 500ms;
	auto c = target.rig.host.connect(o);
	auto returns = [&] {
		const auto reconnects = target.rig.host.controller(c.name).reconnects;
		target.rig.port.link(target.rig.subsystem);
		return eventually([&] {
			c = target.rig.host.controller(c.name);
			return c.state == ControllerState::live && c.reconnects > reconnects;
		});
	};
	auto leaves = [&] {
		target.rig.port.unlink(target.rig.subsystem);
		return eventually([&] { return target.rig.host.state(c.name) == ControllerState::connecting; });
	};
	REQUIRE(leaves());
	must("nvmeofctl set " + c.name + " dhchap-key=" + Guarded::keyFile("new", secrets[2]));
	REQUIRE(returns()); // the target has the previous one
	REQUIRE(leaves());
	target.set("dhchap_key", secrets[2]);
	REQUIRE(returns());
	CHECK(namesIt(must("dmesg"), "authenticated with the new keys"));
	// from now on, the new key is the first that is tried
	REQUIRE(leaves());
	const auto notes = must("dmesg | grep -c 'refused the authentication' || true");
	REQUIRE(returns());
	CHECK(must("dmesg | grep -c 'refused the authentication' || true") == notes);
	CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
	// a reconnect that finds neither of two keys uses a third one at once
	REQUIRE(leaves());
	target.set("dhchap_key", secrets[0]);
	must("nvmeofctl set " + c.name + " dhchap-key=" + Guarded::keyFile("other", secrets[3]));
	target.rig.port.link(target.rig.subsystem);
	REQUIRE(eventually([&] { return namesIt(target.rig.host.controller(c.name).lastError, "refused"); }));
	must("nvmeofctl set " + c.name + " dhchap-key=" + Guarded::keyFile("third", secrets[0]));
	REQUIRE(target.rig.host.waitState(c.name, ControllerState::live));
}

TEST_CASE("nvmeofd gives existing controllers a changed key when it reads its configuration again", "[auth]")
{
	Guarded target;
	const std::string folder = "/run/nvmeofd-keys", key = Guarded::keyFile("daemon", secrets[1]);
	must("rm -rf " + folder + " && mkdir -p " + folder);
	writeFile(folder + "/nvmeof.toml", "[limits]\nown-addresses = true\n[[connection]]\nnqn = \""s + testNqn +
						   "\"\nhostnqn = \"" + hostNqn + "\"\ntransport = \"" + transport() +
						   "\"\naddress = \"" + target.rig.port.address() +
						   "\"\ndhchap-key = \"" + key + "\"\n");
	Background daemon("exec nvmeofd --config " + folder + "/nvmeof.toml --state " + folder + "/state --lock " +
			  folder + "/lock > " + folder + "/log 2>&1");
	nvmeof::Controller c;
	auto authenticated = [&](std::chrono::nanoseconds after) {
		return eventually([&] {
			auto all = take(target.rig.host.client().controllers());
			if (all.size() != 1)
				return false;
			c = all[0];
			return c.state == ControllerState::live && c.authentication && c.authentication->at > after;
		});
	};
	const bool connected = authenticated(0ns);
	INFO(readFile(folder + "/log"));
	REQUIRE(connected);
	// an operator replaces the file at both sides
	target.set("dhchap_key", secrets[2]);
	std::filesystem::rename(Guarded::keyFile("new", secrets[2]), key);
	const auto first = c.authentication->at;
	daemon.signal(SIGHUP);
	const bool again = authenticated(first);
	INFO(readFile(folder + "/log"));
	REQUIRE(again);
	CHECK(c.reconnects == 0);
	CHECK(eventually([&] { return namesIt(readFile(folder + "/log"), "the changed keys have been passed on"); }));
	// a refusal is logged, and the next reload passes the key on again
	std::filesystem::rename(Guarded::keyFile("new", secrets[0]), key);
	const auto second = c.authentication->at;
	daemon.signal(SIGHUP);
	CHECK(eventually([&] { return namesIt(readFile(folder + "/log"), "the changed keys are not in use"); }));
	CHECK(authenticated(second)); // with the previous key
	target.set("dhchap_key", secrets[0]);
	const auto third = c.authentication->at;
	const auto reconnects = c.reconnects;
	daemon.signal(SIGHUP);
	CHECK(authenticated(third));
	CHECK(c.reconnects == reconnects);
	daemon.signal(SIGTERM);
	CHECK(daemon.wait(scaled(5s)).status == 0);
}

TEST_CASE("[[security]] of the configuration holds for each command that connects", "[auth]")
{
	struct Folder {
		~Folder() { std::filesystem::remove_all(name); }
		const std::string name = "/etc/nvmeof";
	} folder;
	Guarded target;
	const std::string rule = "[[security]]\nnqn = \""s + testNqn + "\"\nauth = \"required\"\n",
			  connect = connectArgs() + " -q " + hostNqn,
			  key = " --dhchap-key " + Guarded::keyFile("host", secrets[1]);
	std::filesystem::create_directories(folder.name);
	writeFile(folder.name + "/nvmeof.toml", rule + "[[connection]]\nnqn = \"" + testNqn + "\"\nhostnqn = \"" +
							hostNqn + "\"\ntransport = \"" + transport() +
							"\"\naddress = \"" + target.rig.port.address() + "\"\n");
	for (const std::string &command :
	     {connect, "volume attach --nsid 1" + connect.substr(connect.find(' ')), std::string("connect-all")}) {
		const Output out = ctl(command);
		INFO(command << ": " << out.text);
		CHECK(out.status == refused);
		CHECK(namesIt(out.text, "/etc/nvmeof/nvmeof.toml:1"));
		CHECK(namesIt(out.text, "dhchap-key"));
		CHECK(take(target.rig.host.client().controllers()).empty());
	}
	// the target does not ask this host for authentication
	Output out = ctl(connectArgs() + " -q " + openNqn + key);
	INFO(out.text);
	CHECK(out.status == refused);
	CHECK(namesIt(out.text, "authentication is required here"));
	out = ctl(connect + key);
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(take(target.rig.host.client().controllers()).at(0).authRequired);
	target.rig.host.disconnectAll();
	// a mistake in the file does not switch the rule off
	writeFile(folder.name + "/nvmeof.toml", rule + "[limits\n");
	out = ctl(connect + key);
	INFO(out.text);
	CHECK(out.status != done);
	CHECK(namesIt(out.text, "nothing is connected"));
}

TEST_CASE("a controller that breaks a rule of [[security]] is neither accepted as connected nor ended", "[auth]")
{
	struct Folder {
		~Folder() { std::filesystem::remove_all(name); }
		const std::string name = "/etc/nvmeof";
	} folder;
	Guarded target;
	must("nvmeofctl " + connectArgs() + " -q " + openNqn); // without authentication
	const std::string name = take(target.rig.host.client().controllers()).at(0).name;
	std::filesystem::create_directories(folder.name);
	writeFile(folder.name + "/nvmeof.toml",
		  "[limits]\nown-addresses = true\n[[security]]\nnqn = \""s + testNqn +
			  "\"\nauth = \"required\"\n[[connection]]\nnqn = \"" + testNqn + "\"\nhostnqn = \"" + openNqn +
			  "\"\ntransport = \"" + transport() + "\"\naddress = \"" + target.rig.port.address() +
			  "\"\ndhchap-key = \"" + Guarded::keyFile("host", secrets[1]) + "\"\n");
	const std::string words = name + " is connected without it: 'nvmeofctl disconnect " + name + "'";
	for (const char *command : {"connect-all", "connect-all --idempotent"}) {
		const Output out = ctl(command);
		INFO(command << ": " << out.text);
		CHECK(out.status == refused);
		CHECK(namesIt(out.text, words));
	}
	const Output doctor = ctl("doctor --no-probe");
	INFO(doctor.text);
	CHECK(namesIt(doctor.text, name + ": connected without authentication, which [[security]] at"));
	{
		const std::string state = "/run/nvmeofd-rule";
		must("rm -rf " + state + " && mkdir -p " + state);
		Background daemon("exec nvmeofd --state " + state + "/state --lock " + state + "/lock > " + state +
				  "/log 2>&1");
		CHECK(eventually([&] { return namesIt(readFile(state + "/log"), words); }));
		// keys are in its memory
		CHECK(namesIt(readFile("/proc/" + std::to_string(daemon.pid()) + "/limits"),
			      "Max core file size        0                    0 "));
		daemon.signal(SIGTERM);
		CHECK(daemon.wait(scaled(5s)).status == 0);
		INFO(readFile(state + "/log"));
		CHECK_FALSE(namesIt(readFile(state + "/log"), "disconnecting"));
	}
	const auto all = take(target.rig.host.client().controllers());
	REQUIRE(all.size() == 1);
	CHECK(all[0].name == name);
	CHECK(all[0].state == ControllerState::live);
}

TEST_CASE("a failed connect or set does not change the keys of a live controller", "[auth]")
{
	Guarded target;
	auto c = target.rig.host.connect(target.options());
	nvmeof::ConnectOptions wrong = target.options();
	wrong.dhchapKey = Guarded::keyFile("wrong", secrets[0]);
	wrong.duplicateConnect = true;
	CHECK_FALSE(target.rig.host.client().connect(wrong, nvmeof::WaitFor::controller, scaled(10s)));
	// the second file is damaged
	CHECK(ctl("set " + c.name + " dhchap-key=" + Guarded::keyFile("wrong", secrets[0]) +
		  " dhchap-ctrl-key=" + Guarded::keyFile("damaged", "rubbish"))
		      .status != done);
	const auto first = target.rig.host.controller(c.name).authentication->at;
	REQUIRE(target.rig.host.client().reset(c.name));
	REQUIRE(eventually([&] {
		c = target.rig.host.controller(c.name);
		return c.authentication && c.authentication->at > first;
	}));
	CHECK(Disk(target.rig.disk()).verified(0, 4096, 1) == 0);
}

TEST_CASE("a key of the keyring is read again at each reconnect", "[auth]")
{
	Guarded target;
	must("nvmeofctl key insert " + Guarded::keyFile("host", secrets[1]) + " -q " + hostNqn);
	nvmeof::ConnectOptions o = target.options("");
	const std::string description = "nvmeof:dhchap:host:"s + hostNqn + ":*";
	o.dhchapKey = "keyring:" + description;
	auto c = target.rig.host.connect(o);
	REQUIRE(c.authentication);
	readKeyNames(c);
	CHECK(c.authKey->description == description);
	const auto first = c.authentication->at;
	target.set("dhchap_key", secrets[0]);
	must("nvmeofctl key insert " + Guarded::keyFile("host", secrets[0]) + " -q " + hostNqn);
	REQUIRE(target.rig.host.client().reset(c.name));
	CHECK(eventually([&] {
		c = target.rig.host.controller(c.name);
		return c.authentication && c.authentication->at > first;
	}));
	must("nvmeofctl key revoke " + description);
}

TEST_CASE("a kernel without what authentication needs says so", "[auth][older]")
{
	Rig rig;
	nvmeof::ConnectOptions o = rig.options();
	std::filesystem::create_directory("/run/keys");
	o.dhchapKey = Guarded::keyFile("host", secrets[1]);
	auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s));
	std::filesystem::remove_all("/run/keys");
	REQUIRE_FALSE(result);
	INFO(result.error().message);
	CHECK(namesIt(result.error().message, "CONFIG_CRYPTO_DH_RFC7919_GROUPS"));
	CHECK(take(rig.host.client().controllers()).empty());
}

TEST_CASE("no secret is shown, logged or kept in a listing", "[auth]")
{
	Guarded target;
	target.set("dhchap_ctrl_key", ctrlSecret);
	auto c = target.rig.host.connect(target.options(secrets[1], ctrlSecret));
	const std::string texts = must("nvmeofctl show " + c.name + "; nvmeofctl show --json " + c.name +
				       "; nvmeofctl list-subsys --json; nvmeofctl stats --prometheus; dmesg; "
				       "nvmeofctl key list; cat /proc/keys; "
				       "grep -rs . /sys/class/nvmeof/" +
				       c.name + "/ || true");
	for (const std::string &secret : {secrets[1], ctrlSecret}) {
		CHECK_FALSE(namesIt(texts, secret.substr(10, 24)));
		CHECK_FALSE(namesIt(texts, secret.substr(24, 20)));
	}
	// and no keyring that another process can reach has the keys
	CHECK_FALSE(namesIt(must("cat /proc/keys"), "nvmeof:request"));
}

} // namespace guest::auth
