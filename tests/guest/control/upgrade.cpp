// SPDX-License-Identifier: LGPL-2.1-or-later
// The report of `nvmeofctl version` after an upgrade, about the loaded and the installed modules
#include "support/host.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace guest::upgrade {

using Json = nlohmann::json;

namespace {

constexpr const char *otherSource = "00112233deadbeef";

Json version()
{
	return Json::parse(must("nvmeofctl version --json 2>/dev/null"));
}

std::string codes(const Json &version)
{
	std::string text;
	for (auto &finding : version["findings"])
		text += finding["code"].get<std::string>() + " ";
	return text;
}

// Restores the installed modules; loaded modules are left alone.
class Installed {
public:
	Installed() { must("cp -a " + folder() + " /tmp/updates"); }
	~Installed() { run("rm -rf " + folder() + " && mv /tmp/updates " + folder() + " && depmod"); }
	Installed(const Installed &) = delete;
	Installed &operator=(const Installed &) = delete;

	static std::string folder() { return "/lib/modules/$(uname -r)/updates"; }
	static std::string file(const std::string &module) { return folder() + "/" + module + ".ko"; }
	// Replaces the source version in both places of the module, as if it was built from other sources.
	static void change(const std::string &module, const std::string &source)
	{
		must("sed -i s/" + source + "/" + otherSource + "/g " + file(module));
	}
};

} // namespace

TEST_CASE("version: modules and command of the same source agree", "[version]")
{
	Host host;
	auto all = version();
	INFO(all.dump(1));
	CHECK(codes(all).empty());
	REQUIRE(all["modules"].size() == 3);
	CHECK(!all["modules"][0]["loaded"].is_null());
	CHECK(!all["modules"][1]["loaded"].is_null());
	for (auto &module : all["modules"]) {
		CHECK(module["installed"]["source"] == all["source"]);
		if (module["loaded"].is_null()) // the transport that this run does not use
			continue;
		CHECK(module["loaded"]["source"] == all["source"]);
		CHECK(module["loaded"]["version"] == all["version"]);
		CHECK(module["loaded"]["build_id"].get<std::string>().size() == 40);
		CHECK(module["loaded"]["build_id"] == module["installed"]["build_id"]);
	}
	CHECK(run("nvmeofctl version").text.find("warning") == std::string::npos);
}

TEST_CASE("version: an upgrade while the old modules are loaded asks for a reload", "[version]")
{
	Host host;
	std::string source = version()["source"];
	Installed restore;
	for (auto module : {"nvmeof", "nvmeof_tcp", "nvmeof_rdma"})
		Installed::change(module, source);
	auto all = version();
	INFO(all.dump(1));
	CHECK(codes(all) == "reload_needed reload_needed module_differs module_differs module_differs ");
	CHECK(all["modules"][0]["loaded"]["source"] == source);
	CHECK(all["modules"][0]["installed"]["source"] == otherSource);
	auto told = run("nvmeofctl version");
	CHECK(told.status == 0);
	CHECK(told.text.find("modprobe -r nvmeof_tcp nvmeof") != std::string::npos);

	// after the reload the command is the old part
	host.disconnectAll();
	host.forget();
	REQUIRE(Host::unload().status == 0);
	Host::load();
	CHECK(codes(version()) == "module_differs module_differs module_differs ");
	CHECK(version()["modules"][0]["loaded"]["source"] == otherSource);
	REQUIRE(Host::unload().status == 0); // so that the next test loads the restored modules
}

TEST_CASE("version: a single changed module, then no installed module, is reported", "[version]")
{
	Host host;
	std::string source = version()["source"];
	Installed restore;
	Installed::change("nvmeof_tcp", source);
	CHECK(codes(version()) == "reload_needed installed_modules_differ module_differs ");
	must("rm " + Installed::folder() + "/nvmeof* && depmod");
	CHECK(codes(version()) == "not_installed not_installed ");
	CHECK(version()["modules"][0]["installed"].is_null());
}

} // namespace guest::upgrade
