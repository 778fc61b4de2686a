// SPDX-License-Identifier: LGPL-2.1-or-later
// nvme-cli and other tools on our nodes: runs each line of the tables in Documentation/namespaces.md.
#include "formats.h"
#include "namespaces_document.h"
#include "support/multi.h"
#include "support/rig.h"
#include "support/zoned.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace guest::passthru_nvme_cli {

namespace {

struct Row {
	std::string command, outcome;
};

constexpr const char *programs[] = {"nvme", "smartctl", "sg_inq", "sg_readcap", "sg_persist", "blkzone", "fio"};

bool isCommand(const std::string &line)
{
	return std::ranges::any_of(programs, [&](auto p) { return line.starts_with(std::string("| `") + p + " "); });
}

// Parses "| `nvme ...` | done |" and "| `nvme ...` | refused: WORDS |".
std::vector<Row> rowsOf(const std::string &document)
{
	std::vector<Row> rows;
	std::istringstream lines(document);
	const std::string middle = "` | ";
	for (std::string line; std::getline(lines, line);) {
		auto at = line.find(middle);
		if (!isCommand(line) || at == std::string::npos || !line.ends_with(" |"))
			continue;
		auto from = at + middle.size();
		rows.push_back({line.substr(3, at - 3), line.substr(from, line.size() - from - 2)});
	}
	return rows;
}

bool asTold(const Output &output, const std::string &outcome)
{
	const std::string refused = "refused: ";
	if (outcome == "done")
		return output.status == 0;
	return outcome.starts_with(refused) && output.status != 0 &&
	       output.text.find(outcome.substr(refused.size())) != std::string::npos;
}

} // namespace

TEST_CASE("nvme-cli and other tools: each line of the documentation's tables has the documented outcome",
	  "[passthru][nvme-cli][short]")
{
	auto rows = rowsOf(namespacesDocument);
	CHECK(rows.size() > 60);
	NullDisk zones({});
	Rig rig;
	rig.subsystem.addNamespace(2, zones.device());
	auto c = rig.connect();
	auto disk = rig.disk(), zoned = rig.host.disk(2);
	REQUIRE_FALSE(zoned.empty());
	must("head -c 4096 /dev/urandom > /tmp/data && head -c 4096 /dev/zero > /tmp/zeroes");
	std::string names = "ctrl=/dev/" + c.name + " disk=" + disk + " node=/dev/ng" + disk.substr(5) +
			    " zoned=/dev/ng" + zoned.substr(5) + " zones=" + zoned + "; cd /tmp; ";
	unsigned done = 0;
	for (auto &row : rows) {
		auto output = run(names + row.command);
		INFO(row.command << ": " << output.status << "\n" << output.text);
		// the targets of newer kernels support other commands than the one that the tables describe
		auto others = formats::kernelFrom(6, 13) &&
			      (output.status == 0 || output.text.find("NVMe status") != std::string::npos);
		CHECK((others || asTold(output, row.outcome)));
		done += row.outcome == "done";
	}
	CHECK(rig.host.waitState(c.name, nvmeof::ControllerState::live));
	std::printf("figure: other tools: %zu lines, %u of them done, the others refused by the target\n", rows.size(),
		    done);
}

} // namespace guest::passthru_nvme_cli
