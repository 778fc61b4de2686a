// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "libctl/sizing/sizing.h"

using namespace nofctl::sizing;

namespace {

const Line &find(const Sizing &sizing, const std::string &name)
{
	auto found = std::ranges::find(sizing.lines, name, &Line::name);
	REQUIRE(found != sizing.lines.end());
	return *found;
}

} // namespace

TEST_CASE("each constant has a source and a unique name", "[sizing]")
{
	std::set<std::string> names;
	for (const Constant &one : constants()) {
		CAPTURE(one.name);
		CHECK(names.insert(one.name).second);
		CHECK(one.value > 0);
		CHECK(std::string(one.source).size() > 10);
		CHECK(constant(one.name).value == one.value);
	}
}

TEST_CASE("the efficiency of PCI Express equals published values", "[sizing]")
{
	CHECK(100 * expressEfficiency(4096, 4096) == Approx(94.6).margin(0.05));
	CHECK(100 * expressEfficiency(512, 512) == Approx(68.8).margin(0.05));
	CHECK(expressEfficiency(4096, 256) < expressEfficiency(4096, 512));
	CHECK(expressEfficiency(1 << 20, 256) == Approx(256.0 / 280).margin(0.001));
	CHECK(laneBytesPerSecond(3) == Approx(984.6e6).margin(1e5));
	CHECK(laneBytesPerSecond(5) == Approx(3.938e9).margin(1e6));
	CHECK(laneBytesPerSecond(1) == Approx(250e6));
	CHECK(laneGigatransfers(0) == 0);
	CHECK(laneGigatransfers(7) == 0);
}

TEST_CASE("a checkpoint of ten trillion parameters over 3.2 Tb/s", "[sizing]")
{
	Demand demand;
	demand.parameters = 10e12;
	demand.namespaces = 128;
	const Sizing sizing = size(demand);
	CHECK(find(sizing, "state").value == Approx(140e12));
	CHECK(find(sizing, "needed in the window").value == Approx(140e12 / 900));
	// 8 cards with 400 Gb/s; 4096 of each 4194 bytes are data
	CHECK(sizing.stages[2].write == Approx(400e9 * 4096 / 4194));
	CHECK(sizing.stages[sizing.narrowest].name == "links of targets");
	CHECK(find(sizing, "takes").value == Approx(140e12 / (400e9 * 4096 / 4194)));
	CHECK(find(sizing, "takes").verdict == Verdict::enough);
	demand.namespaces = 16; // 96 GB/s
	CHECK(find(size(demand), "takes").verdict == Verdict::insufficient);
	CHECK(size(demand).stages[size(demand).narrowest].name == "drives");
	CHECK(find(size(demand), "members needed to saturate the NICs, writing").value ==
	      std::ceil(400e9 * 4096 / 4194 / 6e9));
	demand.parameters = 0;
	CHECK(std::ranges::none_of(size(demand).lines, [](const Line &one) { return one.group == "checkpoint"; }));
}

TEST_CASE("queues of GPUs have the expected number and memory", "[sizing]")
{
	Demand demand;
	demand.depth = 1024;
	const Sizing sizing = size(demand);
	CHECK(find(sizing, "queue pairs of the GPUs' agents").value == 256);
	CHECK(find(sizing, "memory of a queue pair").value == 1024 * 80);
	CHECK(find(sizing, "memory of them all").value == 256 * 1024 * 80);
	CHECK(find(sizing, "doorbells").value == 256 * 8);
	CHECK(find(sizing, "command identifiers of a queue").verdict == Verdict::enough);
	// 192 GB/s for 200 us in requests of 1 MiB
	CHECK(find(sizing, "requests in flight to saturate it").value == std::ceil(16 * 12e9 * 200e-6 / (1 << 20)));
}

TEST_CASE("hosts share targets, and boots and failures take time", "[sizing]")
{
	Demand demand;
	demand.hosts = 100;
	demand.rdma = false;
	const Sizing sizing = size(demand);
	CHECK(sizing.stages[0].read == Approx(16 * 12e9 / 100));
	CHECK(find(sizing, "connections of a target when all hosts boot").value == 100 * 2 * 17);
	CHECK(find(sizing, "delay by a silent path").value == constant("silent-tcp").value);
	CHECK(find(sizing, "kernel memory of a host").value == Approx(8 * (696 + 15 * 82) * 1024.0));
	CHECK(find(sizing, "time to connect a host").value == Approx(8 / constant("connect-rate").value));
}

TEST_CASE("figures that were measured in an emulator are marked as such", "[sizing]")
{
	for (const bool rdma : {true, false}) {
		Demand demand;
		demand.rdma = rdma;
		unsigned marked = 0;
		for (const Line &one : size(demand).lines) {
			CAPTURE(one.name);
			CHECK(one.emulated == one.formula.ends_with(", measured in an emulator"));
			marked += one.emulated;
		}
		CHECK(marked == (rdma ? 5 : 6));
		CHECK(find(size(demand), "delay by a silent path").emulated);
		CHECK_FALSE(find(size(demand), "controllers of a host").emulated);
	}
	for (const Constant &one : constants()) {
		CAPTURE(one.name);
		const bool ours = std::string_view(one.source).starts_with("nvmeof, ");
		CHECK(one.emulated == (ours && one.name != std::string_view("discovery-host")));
	}
}

TEST_CASE("a boot storm counts connections, and the time of discovery and targets", "[sizing]")
{
	Demand demand;
	demand.hosts = 1000;
	const double each = 2 * 17, own = 8 / constant("connect-rate").value, discovery = 1000 * 266e-6;
	const Sizing sizing = size(demand);
	CHECK(find(sizing, "connections of all hosts").value == 1000 * each * 4);
	CHECK(find(sizing, "one processor of nvmeof-cdc answers all hosts in").value == Approx(discovery));
	CHECK_FALSE(find(sizing, "one processor of nvmeof-cdc answers all hosts in").emulated);
	CHECK(find(sizing, "the last host is connected after").value == Approx(discovery + own));
	CHECK(std::ranges::none_of(sizing.lines,
				   [](const Line &one) { return one.name == "a target accepts its connections in"; }));
	demand.targetConnects = 500;
	CHECK(find(size(demand), "a target accepts its connections in").value == Approx(1000 * each / 500));
	CHECK(find(size(demand), "the last host is connected after").value == Approx(discovery + 1000 * each / 500));
	CHECK(std::ranges::count(size(demand).lines, "boot storm", &Line::group) == 5);
}

TEST_CASE("a plan is compared with the present machine", "[sizing]")
{
	Live live;
	live.gpus = 8;
	live.cards = 4;
	live.minPaths = 2;
	const std::vector<Shortage> all = compare({}, live);
	auto of = [&](const char *what) { return *std::ranges::find(all, what, &Shortage::what); };
	CHECK(of("GPUs").enough);
	CHECK(of("GPUs").step == "");
	CHECK_FALSE(of("network cards").enough);
	CHECK(of("network cards").there == 4);
	CHECK_FALSE(of("network cards").step.empty());
	CHECK_FALSE(of("namespaces").there);
	CHECK_FALSE(of("namespaces").enough);
	CHECK(of("usable paths of each namespace").enough);
	CHECK(anyShort(all));
	CHECK_FALSE(anyShort({all.front()}));
	CHECK_FALSE(anyShort({}));
}

TEST_CASE("numbers are printed with units", "[sizing]")
{
	CHECK(formatValue(3.2e12, "B/s") == "3.20 TB/s (25.6 Tb/s)");
	CHECK(formatValue(400e9, "B/s") == "400 GB/s (3.20 Tb/s)");
	CHECK(formatValue(125e9, "B/s") == "125 GB/s (1 Tb/s)");
	CHECK(formatValue(100e9, "B/s") == "100 GB/s");
	CHECK(formatValue(131072, "B") == "128 KiB");
	CHECK(formatValue(140e12, "B") == "140 TB");
	CHECK(formatValue(94.6, "%") == "94.6 %");
	CHECK(formatValue(0.349, "s") == "349 ms");
	CHECK(formatValue(900, "s") == "15.0 min");
	CHECK(formatValue(8, "") == "8");
}
