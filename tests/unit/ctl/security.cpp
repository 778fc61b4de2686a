// SPDX-License-Identifier: LGPL-2.1-or-later
// [[security]]: what connections must have, by NQN pattern
#include <catch2/catch.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <nvmeof/config.h>

#include "libctl/base/security.h"
#include "libctl/netlink/session.h"

using namespace nvmeof;
using namespace nofctl;

namespace {

constexpr const char *nqn = "nqn.2024-01.com.example:flash1";
constexpr const char *place = "/etc/nvmeof/nvmeof.toml:12";

ConnectOptions optionsWith(std::optional<SecurityUse> auth, std::optional<SecurityUse> tls)
{
	ConnectOptions options;
	options.subsysnqn = nqn;
	options.security = {auth, tls, place};
	return options;
}

ConnectOptions applied(ConnectOptions options)
{
	Result<void> good = applySecurity(options);
	INFO((good ? "" : good.error().message));
	REQUIRE(good);
	return options;
}

Error refusal(ConnectOptions options)
{
	Result<void> good = applySecurity(options);
	REQUIRE_FALSE(good);
	CHECK(good.error().message.find(place) != std::string::npos);
	CHECK(good.error().message.find(nqn) != std::string::npos);
	return good.error();
}

bool names(const Error &error, const char *words)
{
	return error.message.find(words) != std::string::npos;
}

const auto useOff = SecurityUse::off, usePreferred = SecurityUse::preferred, useRequired = SecurityUse::required;

// A folder with a configuration
class ConfigFolder {
public:
	explicit ConfigFolder(const std::string &text)
	{
		char name[] = "/tmp/nvmeof-security-XXXXXX";
		folder_ = ::mkdtemp(name);
		std::filesystem::create_directory(folder_ / "nvmeof.d");
		write("nvmeof.toml", text);
	}
	~ConfigFolder() { std::filesystem::remove_all(folder_); }
	ConfigFolder(const ConfigFolder &) = delete;
	ConfigFolder &operator=(const ConfigFolder &) = delete;

	void write(const std::string &name, const std::string &text) { std::ofstream(folder_ / name) << text; }
	ConfigReading read() const { return inspectConfig({folder_ / "nvmeof.toml", {}}); }

private:
	std::filesystem::path folder_;
};

} // namespace

TEST_CASE("the first [[security]] whose pattern matches an NQN applies to its connections", "[security]")
{
	const std::string text = "[[connection]]\nnqn = \"nqn.a:1\"\naddress = \"10.0.0.1\"\ntls = \"preferred\"\n\n"
				 "[[security]]\nnqn = \"nqn.a:1\"\nauth = \"required\"\ntls = \"preferred\"\n\n"
				 "[[security]]\nnqn = \"nqn.a:*\"\ntls = \"required\"\n\n"
				 "[[security]]\nnqn = \"nqn.2014-08.org.nvmexpress.discovery\"\nauth = \"off\"\n";
	const ConfigReading reading = parseConfig(text, "c");
	REQUIRE(reading.problems.empty());
	CHECK(formatConfig(reading.config) == text);
	const Config &config = reading.config;
	CHECK(config.connectSettingsFor("nqn.a:1").security == SecurityRule{useRequired, usePreferred, "c:6"});
	CHECK(config.connectSettingsFor("nqn.a:2").security == SecurityRule{{}, useRequired, "c:11"});
	CHECK_FALSE(config.connectSettingsFor("nqn.b").security);
	const ConnectOptions options = connectionOptions(config, config.connections[0], {"10.0.0.1", "4420"});
	CHECK(options.security == SecurityRule{useRequired, usePreferred, "c:6"});
	ConfigTarget service;
	service.nqn = discoveryNqn;
	CHECK(serviceOptions(config, service, {}).security == SecurityRule{useOff, {}, "c:15"});
	// "config check" says what every connect would be refused for
	REQUIRE(config.notes.size() == 1);
	CHECK(config.notes[0].find("[[connection]]: dhchap-key: authentication is required") != std::string::npos);
	for (const char *wrong : {"nqn = \"nqn.*\"", "tls = \"required\"", "nqn = \"nqn.*\"\nauth = \"yes\"",
				  "nqn = \"nqn.*\"\ntls-key = \"/k\"", "nqn = \"\"\ntls = true"}) {
		CAPTURE(wrong);
		CHECK_FALSE(parseConfig("[[security]]\n" + std::string(wrong) + "\n", "c").problems.empty());
	}
}

TEST_CASE("a connect without what [[security]] requires is refused before anything is sent", "[security]")
{
	Error error = refusal(optionsWith(useRequired, {}));
	CHECK(error.code == ErrorCode::authentication);
	CHECK(error.sysErrno == ENOKEY);
	CHECK(names(error, "give this host's key for it by dhchap-key"));
	ConnectOptions options = optionsWith(useRequired, {});
	options.dhchapKey = "/k/host.key";
	CHECK(applied(options).dhchapKey == "/k/host.key");

	CHECK(applied(optionsWith({}, useRequired)).tls == useRequired); // without a key, the connect fails
	options = optionsWith({}, useRequired);
	options.tls = useOff;
	CHECK(names(refusal(options), "set to off: remove that setting"));
	options.tls = usePreferred;
	CHECK(applied(options).tls == useRequired);
	options.transport = "rdma";
	CHECK(names(refusal(options), "transport rdma has no TLS"));
}

TEST_CASE("[[security]] can prefer or exclude authentication and TLS", "[security]")
{
	ConnectOptions options = optionsWith(usePreferred, usePreferred);
	CHECK(applied(options).tls == usePreferred);
	options.transport = "rdma";
	CHECK(applied(options).dhchapKey.empty());
	options.tls = useOff;
	CHECK(applied(options).tls == useOff);
	options = optionsWith(usePreferred, usePreferred);
	options.tlsKey = "/k/tls.key"; // requires TLS
	CHECK_FALSE(applied(options).tls);

	options = optionsWith(useOff, useOff);
	options.dhchapKey = "/k/host.key";
	options.dhchapCtrlKey = "/k/ctrl.key";
	options.tls = usePreferred;
	const ConnectOptions without = applied(options);
	CHECK(without.dhchapKey.empty());
	CHECK(without.dhchapCtrlKey.empty());
	CHECK(without.tls == useOff);
	// who asks for encryption does not get a connection without it
	options.tls = useRequired;
	CHECK(names(refusal(options), "set tls to off"));
	options.tls.reset();
	options.tlsKey = "/k/tls.key";
	CHECK(names(refusal(options), "set tls to off"));

	options = optionsWith({}, {}); // no rule
	options.dhchapKey = "/k/host.key";
	CHECK(applied(options).dhchapKey == "/k/host.key");
	CHECK_FALSE(applied(options).tls);
}

TEST_CASE("secure channel concatenation fulfils [[security]], and is not dropped by it", "[security]")
{
	ConnectOptions options = optionsWith(useRequired, useRequired);
	options.concat = true;
	options.dhchapKey = options.dhchapCtrlKey = "/k/host.key";
	CHECK_FALSE(applied(options).tls); // it leads to TLS by itself
	CHECK(applied(options).concat);
	options.security.tls = usePreferred;
	CHECK_FALSE(applied(options).tls);
	options.security.tls = useOff;
	CHECK(names(refusal(options), "tls: off for"));
	options.security = {useOff, {}, place};
	CHECK(names(refusal(options), "concat: authentication is off for"));
	options.security = {useRequired, useRequired, place};
	options.dhchapCtrlKey.clear();
	CHECK(names(refusal(options), "with concat alone the controller proves nothing"));
	options.security.tls = usePreferred;
	CHECK(applied(options).concat);
	options.security.tls = useRequired;
	options.dhchapCtrlKey = options.dhchapKey;
	options.transport = "rdma";
	CHECK(names(refusal(options), "transport rdma has no TLS"));

	Controller controller; // between two connections
	controller.concat = controller.authRequired = true;
	CHECK(checkSecurity({useRequired, useRequired, place}, controller));
	controller.authentication.emplace();
	CHECK(names(checkSecurity({useRequired, useRequired, place}, controller).error(), "dhchap-ctrl-key: required"));
	controller.authentication->mutual = true;
	CHECK(checkSecurity({useRequired, useRequired, place}, controller));
	controller.authentication.reset();
	controller.concat = false;
	CHECK_FALSE(checkSecurity({useRequired, useRequired, place}, controller));
}

TEST_CASE("the kernel refuses a controller without authentication if that is required", "[security]")
{
	auto size = [](std::optional<SecurityUse> auth) {
		return nlmsg_hdr(connectRequest(optionsWith(auth, {}), "nqn.h", Uuid()).get())->nlmsg_len;
	};
	CHECK(size(useRequired) == size({}) + 4); // a flag
	CHECK(size(usePreferred) == size({}));
	ConnectOptions plain, concat;
	concat.concat = true;
	CHECK(nlmsg_hdr(connectRequest(concat, "nqn.h", Uuid()).get())->nlmsg_len ==
	      nlmsg_hdr(connectRequest(plain, "nqn.h", Uuid()).get())->nlmsg_len + 4);
}

TEST_CASE("a controller that exists is not used for a connect that requires more", "[security]")
{
	Controller controller;
	controller.name = "nvmeof0c1";
	controller.subsysnqn = nqn;
	const SecurityRule rule{useRequired, useRequired, place};
	Result<void> good = checkSecurity(rule, controller);
	REQUIRE_FALSE(good);
	CHECK(good.error().code == ErrorCode::authentication);
	CHECK(names(good.error(), "'nvmeofctl disconnect nvmeof0c1'"));
	controller.authRequired = true;
	CHECK_FALSE(checkSecurity(rule, controller));
	controller.tls.emplace();
	CHECK(checkSecurity(rule, controller));
	controller.authRequired = false;
	CHECK(names(checkSecurity(rule, controller).error(), "dhchap-key: required"));
	CHECK(checkSecurity({{}, useRequired, place}, controller));
	CHECK(checkSecurity({}, Controller()));
}

TEST_CASE("an error in the configuration does not switch [[security]] off", "[security]")
{
	const std::string rule = "[[security]]\nnqn = \"nqn.*\"\ntls = \"required\"\n",
			  defaults = "[[defaults]]\nkeep-alive-tmo = 7\n", wrong = "[limits]\nunknown = 1\n";
	ConfigFolder folder(rule + defaults);
	Result<ConnectSettings> settings = folder.read().connectSettingsFor("nqn.a");
	REQUIRE(settings);
	CHECK(settings->keepAlive);
	CHECK(settings->security->tls == useRequired);
	// the error is in another file: its rules are known, other settings are not used
	folder.write("nvmeof.d/10.toml", wrong + "# security: none here\n");
	CHECK_FALSE(folder.read().outcome());
	settings = folder.read().connectSettingsFor("nqn.a");
	REQUIRE(settings);
	CHECK_FALSE(settings->keepAlive);
	CHECK(settings->security->tls == useRequired);
	// the file with the error may have had another rule
	for (const std::string &text : {wrong + rule, std::string("[[security\nnqn = 1\n"), rule + "tls = [\n"}) {
		CAPTURE(text);
		folder.write("nvmeof.d/10.toml", text);
		settings = folder.read().connectSettingsFor("nqn.a");
		REQUIRE_FALSE(settings);
		CHECK(names(settings.error(), "10.toml:"));
		CHECK(names(settings.error(), "nothing is connected"));
	}
	folder.write("nvmeof.d/10.toml", "");
	std::filesystem::resize_file(std::filesystem::path(folder.read().config.files[0]), (1 << 20) + 1);
	CHECK_FALSE(folder.read().connectSettingsFor("nqn.a"));
}
