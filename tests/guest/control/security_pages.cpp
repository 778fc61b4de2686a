// SPDX-License-Identifier: LGPL-2.1-or-later
// The first steps of Documentation/authentication.md and Documentation/tls.md: each command is executed, and its output
// compared with the one that the page shows. Host and target are this machine.
#include "authentication_document.h"
#include "support/host.h"
#include "support/loop.h"
#include "support/nvmet.h"
#include "support/shell.h"
#include "support/tls.h"
#include "tls_document.h"

#include <catch2/catch.hpp>

#include <optional>
#include <regex>
#include <sstream>
#include <vector>

namespace guest::security_pages {
namespace {

struct Step {
	std::string command; // in bash
	std::vector<std::string> output;
};

struct Page {
	std::vector<Step> steps;
	std::vector<std::string> configurations; // texts for nvmeof.toml
};

// The indented blocks of a section: a block is a dialogue with shells ("host# ", "target# "), or a configuration.
Page pageOf(const std::string &document, const std::string &heading)
{
	const auto begin = document.find("\n## " + heading + "\n");
	REQUIRE(begin != std::string::npos);
	std::istringstream text(document.substr(begin + 1, document.find("\n## ", begin + 1) - begin - 1));
	Page page;
	bool inBlock = false, inDialogue = false;
	static const std::regex prompt(R"((host|target)# (.*))");
	for (std::string line; std::getline(text, line);) {
		if (line.rfind("    ", 0) != 0) {
			inBlock = inBlock && line.empty() && !inDialogue;
			continue;
		}
		line.erase(0, 4);
		std::smatch match;
		if (std::regex_match(line, match, prompt)) {
			// commands of the host do not depend on the directory and variables of the target's shell
			std::string command = match[2];
			// the pages begin with a new machine, whose first controller has this name
			command = std::regex_replace(command, std::regex("nvmeof0c1"), "$$(ls /sys/class/nvmeof)");
			if (match[1] == "host")
				command = "(cd /; unset HOST SUBSYSTEM; " + command + ")";
			page.steps.push_back({command, {}});
			inDialogue = true;
		} else if (inBlock && inDialogue) {
			page.steps.back().output.push_back(line);
		} else if (inBlock) {
			page.configurations.back() += line + "\n";
		} else {
			page.configurations.push_back(line + "\n");
			inDialogue = false;
		}
		inBlock = true;
	}
	return page;
}

// A line of a page as a regular expression: numbers may differ, and "..." stands for anything.
std::regex expected(const std::string &line)
{
	std::string text = std::regex_replace(line, std::regex(R"([.*+?()\[\]{}|^$\\])"), R"(\$&)");
	text = std::regex_replace(text, std::regex(R"(\\\.\\\.\\\.)"), ".*");
	return std::regex(std::regex_replace(text, std::regex("[0-9]+"), "[0-9]+"));
}

// The machine of the pages: a subsystem on port 1 of the target, and the host's NQN
struct Machine {
	TlsAgent agent;
	Host host;
	std::string hostNqn = readFile("/etc/nvme/hostnqn"), hostId = readFile("/etc/nvme/hostid");
	Loop backing{64 << 20, 512};
	nvmet::Subsystem subsystem{"nqn.2024-01.com.example:flash1"};
	std::optional<nvmet::Port> port;

	Machine()
	{
		const std::string uuid = "11111111-2222-3333-4444-555555555555";
		writeFile("/etc/nvme/hostnqn", "nqn.2014-08.org.nvmexpress:uuid:" + uuid + "\n");
		writeFile("/etc/nvme/hostid", uuid + "\n");
		must("ip address add 192.168.10.5/32 dev lo");
		subsystem.addNamespace(1, backing.device());
		port.emplace(1, "192.168.10.5", 4420);
		port->link(subsystem);
	}

	~Machine()
	{
		host.disconnectAll();
		port.reset();
		run("cd /sys/kernel/config/nvmet && rm -f subsystems/*/allowed_hosts/*; rmdir hosts/*;"
		    "ip address del 192.168.10.5/32 dev lo; rm -r /etc/nvmeof/keys /root/*.key");
		writeFile("/etc/nvme/hostnqn", hostNqn + "\n");
		writeFile("/etc/nvme/hostid", hostId + "\n");
	}
};

void follow(const Page &page)
{
	const std::string mark = "next step of the page";
	// The agent runs already. Commands of nvme-cli are for versions later than Debian's. The guest has no install.
	std::string script = "ssh() { shift; bash -c \"$*\"; }\n"
			     "systemctl() { nvmeof-tlsd --check; } >/dev/null\n"
			     "nvme() { :; }\n"
			     "install() { mkdir -p -m $3 $4; }\n"
			     "mkdir -p /root\n";
	for (const Step &step : page.steps)
		script += "echo '" + mark + "'\n" + step.command + " || exit\n";
	writeFile("/run/page.sh", script);
	const Output result = run("bash /run/page.sh");
	INFO(result.text);
	CHECK(result.status == 0);
	std::vector<std::vector<std::string>> outputs;
	std::istringstream text(result.text);
	for (std::string line; std::getline(text, line);) {
		if (line == mark)
			outputs.emplace_back();
		else if (!outputs.empty())
			outputs.back().push_back(line);
	}
	REQUIRE(outputs.size() == page.steps.size());
	for (std::size_t i = 0; i < outputs.size(); ++i) {
		INFO(page.steps[i].command);
		if (page.steps[i].output.empty())
			continue; // the page leaves it out
		REQUIRE(outputs[i].size() == page.steps[i].output.size());
		for (std::size_t n = 0; n < outputs[i].size(); ++n) {
			INFO(outputs[i][n]);
			CHECK(std::regex_match(outputs[i][n], expected(page.steps[i].output[n])));
		}
	}
	for (const std::string &configuration : page.configurations) {
		writeFile("/run/page.toml", configuration);
		must("nvmeofctl config check --config /run/page.toml");
	}
}

} // namespace

TEST_CASE("the first steps of the page on TLS work as written")
{
	Machine machine;
	const Page page = pageOf(tlsDocument, "From nothing to TLS in ten minutes");
	REQUIRE(page.steps.size() >= 15);
	REQUIRE_FALSE(page.configurations.empty());
	follow(page);
}

TEST_CASE("the first steps of the page on authentication work as written")
{
	Machine machine;
	const Page page = pageOf(authenticationDocument, "In five minutes");
	REQUIRE(page.steps.size() >= 15);
	REQUIRE_FALSE(page.configurations.empty());
	follow(page);
}

} // namespace guest::security_pages
