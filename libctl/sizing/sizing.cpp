// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sizing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace nofctl::sizing {

namespace {

constexpr double kibibyte = 1024, bitsOfByte = 8, giga = 1e9;

std::string sourceOf(std::initializer_list<const char *> names)
{
	std::string text;
	for (const char *name : names)
		text += (text.empty() ? "" : "; ") + std::string(constant(name).source);
	return text;
}

// Fraction of the link rate that is data
double wireEfficiency(bool rdma)
{
	const double payload = constant(rdma ? "roce-payload" : "tcp-payload").value;
	return payload / (payload + constant(rdma ? "roce-overhead" : "tcp-overhead").value);
}

std::vector<Stage> stagesOf(const Demand &demand)
{
	const double wire = wireEfficiency(demand.rdma);
	auto gigabits = [&](double count, double each) { return count * each * giga / bitsOfByte * wire; };
	// resources shared by all hosts count per host
	const double share = 1.0 / demand.hosts;
	const double drives = demand.namespaces * share,
		     targets = gigabits(demand.targets, demand.targetGigabits) * share;
	const double express = demand.cardLanes * laneBytesPerSecond(demand.cardGeneration) * demand.payload /
			       (demand.payload + constant("tlp").value);
	const double cards = gigabits(demand.cards, demand.cardGigabits);
	return {{"drives", drives * demand.readRate, drives * demand.writeRate},
		{"links of targets", targets, targets},
		{"network cards", cards, cards},
		{"PCIe of cards", demand.cards * express, demand.cards * express},
		{"PCIe of GPUs", demand.gpus * express, demand.gpus * express}};
}

void addBandwidth(Sizing &sizing, const Demand &demand)
{
	const char *wire[] = {demand.rdma ? "roce-payload" : "tcp-payload",
			      demand.rdma ? "roce-overhead" : "tcp-overhead"};
	const std::string sources[] = {"", sourceOf({wire[0], wire[1]}), sourceOf({wire[0], wire[1]}),
				       sourceOf({"tlp"}), sourceOf({"tlp"})};
	for (std::size_t i = 0; i < sizing.stages.size(); i++) {
		const Stage &stage = sizing.stages[i];
		const bool same = stage.write == stage.read;
		sizing.lines.push_back({"bandwidth", stage.name + (same ? "" : ", read"), stage.read, "B/s",
					"of one host", sources[i], Verdict::none});
		if (!same)
			sizing.lines.push_back({"bandwidth", stage.name + ", write", stage.write, "B/s", "of one host",
						sources[i], Verdict::none});
	}
	sizing.lines.push_back({"bandwidth", "narrowest for reads",
				std::ranges::min(sizing.stages, {}, &Stage::read).read, "B/s",
				std::ranges::min(sizing.stages, {}, &Stage::read).name, "", Verdict::none});
	sizing.lines.push_back({"bandwidth", "narrowest for writes", sizing.stages[sizing.narrowest].write, "B/s",
				sizing.stages[sizing.narrowest].name, "", Verdict::none});
}

void addStripe(Sizing &sizing, const Demand &demand)
{
	const Stage &cards = sizing.stages[2];
	const double width = std::ceil(std::min(cards.write, sizing.stages[3].write) / demand.writeRate);
	sizing.lines.push_back({"stripe", "members needed to saturate the NICs, writing", width, "",
				"network cards divided by what one namespace writes", "",
				width <= demand.namespaces ? Verdict::enough : Verdict::insufficient});
	sizing.lines.push_back({"stripe", "full stripe", demand.namespaces * demand.chunk, "B",
				fmt::format("{} members of {}", demand.namespaces, formatValue(demand.chunk, "B")), "",
				Verdict::none});
	sizing.lines.push_back({"stripe", "members that one request keeps busy",
				std::min<double>(demand.namespaces, std::ceil(demand.io / demand.chunk)), "",
				"request divided by chunk", "", Verdict::none});
}

void addCheckpoint(Sizing &sizing, const Demand &demand)
{
	if (demand.parameters <= 0)
		return;
	const double bytes = demand.parameters * constant("parameter").value;
	const double all = sizing.stages[sizing.narrowest].write * demand.hosts;
	const double needed = bytes / demand.window, takes = bytes / all;
	const std::string source = sourceOf({"parameter"});
	sizing.lines.push_back(
		{"checkpoint", "state", bytes, "B", "parameters times bytes of each", source, Verdict::none});
	sizing.lines.push_back({"checkpoint", "needed in the window", needed, "B/s",
				fmt::format("state divided by {}", formatValue(demand.window, "s")), source,
				needed <= all ? Verdict::enough : Verdict::insufficient});
	sizing.lines.push_back({"checkpoint", "takes", takes, "s", "state divided by what all hosts write", source,
				takes <= demand.window ? Verdict::enough : Verdict::insufficient});
}

void addQueues(Sizing &sizing, const Demand &demand)
{
	const double one = demand.depth * (constant("sqe").value + constant("cqe").value);
	const double queues = static_cast<double>(demand.gpus) * demand.agents;
	const double flight =
		std::ceil(std::ranges::min(sizing.stages, {}, &Stage::read).read * demand.latency / demand.io);
	const std::string entries = sourceOf({"sqe", "cqe"});
	sizing.lines.push_back({"queues", "requests in flight to saturate it", flight, "",
				"bandwidth times latency, in requests (Little)", "", Verdict::none});
	sizing.lines.push_back(
		{"queues", "requests in flight that fit",
		 static_cast<double>(demand.queues) * demand.depth * demand.paths * demand.targets, "",
		 "queues times entries, over all paths", "",
		 static_cast<double>(demand.queues) * demand.depth * demand.paths * demand.targets >= flight
			 ? Verdict::enough
			 : Verdict::insufficient});
	sizing.lines.push_back({"queues", "queue pairs of the GPUs' agents", queues, "",
				fmt::format("{} GPUs times {} agents", demand.gpus, demand.agents), "", Verdict::none});
	sizing.lines.push_back({"queues", "memory of a queue pair", one, "B", fmt::format("{} entries", demand.depth),
				entries, Verdict::none});
	sizing.lines.push_back({"queues", "memory of them all", one * queues, "B", "pairs times memory of one", entries,
				Verdict::none});
	sizing.lines.push_back({"queues", "doorbells", queues * 2 * constant("doorbell").value, "B", "two of each pair",
				sourceOf({"doorbell"}), Verdict::none});
	sizing.lines.push_back({"queues", "command identifiers of a queue", constant("cids").value, "",
				fmt::format("{} needed", demand.depth), sourceOf({"cids"}),
				demand.depth <= constant("cids").value ? Verdict::enough : Verdict::insufficient});
}

void addExpress(Sizing &sizing, const Demand &demand)
{
	const std::string source = sourceOf({"sqe", "cqe", "doorbell", "tlp"});
	for (double bytes : {512.0, 4096.0, 65536.0, demand.io}) {
		const std::string name = formatValue(bytes, "B");
		sizing.lines.push_back({"PCIe", "data fraction on PCIe, at " + name,
					100 * expressEfficiency(bytes, bytes), "%", "data in one TLP, as published",
					source, Verdict::none});
		sizing.lines.push_back({"PCIe", fmt::format("data fraction, MaxPayload {}", demand.payload),
					100 * expressEfficiency(bytes, demand.payload), "%",
					"data in TLPs of that size", source, Verdict::none});
	}
}

// A line that uses measured constants
Line measured(const char *group, const char *name, double value, const char *unit, std::string formula,
	      std::initializer_list<const char *> names)
{
	const bool emulated = std::ranges::any_of(names, [](const char *one) { return constant(one).emulated; });
	if (emulated)
		formula += ", measured in an emulator";
	return {group, name, value, unit, std::move(formula), sourceOf(names), Verdict::none, emulated};
}

double controllersOf(const Demand &demand)
{
	return static_cast<double>(demand.targets) * demand.paths;
}

void addOperation(Sizing &sizing, const Demand &demand)
{
	const double controllers = controllersOf(demand);
	const char *controller = demand.rdma ? "controller-rdma" : "controller-tcp",
		   *queue = demand.rdma ? "queue-rdma" : "queue-tcp";
	const char *silent = demand.rdma ? "silent-rdma" : "silent-tcp";
	const double memory =
		controllers * (constant(controller).value + (demand.queues - 1) * constant(queue).value) * kibibyte;
	sizing.lines.push_back(
		{"operation", "controllers of a host", controllers, "", "targets times paths", "", Verdict::none});
	sizing.lines.push_back(measured("operation", "time to connect a host",
					controllers / constant("connect-rate").value, "s",
					"controllers by the rate of one host", {"connect-rate"}));
	sizing.lines.push_back(measured("operation", "time to connect a host, in-tree",
					controllers / constant("intree-connect-rate").value, "s",
					"controllers by the rate of one host", {"intree-connect-rate"}));
	sizing.lines.push_back(measured("operation", "delay by a silent path", constant(silent).value, "s",
					"longest time without a completion", {silent}));
	sizing.lines.push_back(measured("operation", "kernel memory of a host", memory, "B",
					"controllers and their queues", {controller, queue}));
	if (!demand.rdma)
		sizing.lines.push_back(measured("operation", "instructions a second to read at full rate, in 128 KiB",
						std::ranges::min(sizing.stages, {}, &Stage::read).read /
							(128 * kibibyte) * constant("instructions-128k").value,
						"1/s", "requests times instructions of each", {"instructions-128k"}));
}

// All hosts boot at the same moment: they read the discovery log, then connect.
void addBootStorm(Sizing &sizing, const Demand &demand)
{
	const double queues = demand.queues + 1; // with the admin queue
	const double target = static_cast<double>(demand.hosts) * demand.paths * queues;
	const double discovery = demand.hosts * constant("discovery-host").value;
	const double accepts = demand.targetConnects > 0 ? target / demand.targetConnects : 0;
	const double host = controllersOf(demand) / constant("connect-rate").value;
	sizing.lines.push_back({"boot storm", "connections of all hosts", target * demand.targets, "",
				"hosts times controllers times queues", "", Verdict::none});
	sizing.lines.push_back({"boot storm", "connections of a target when all hosts boot", target, "",
				"hosts times paths times queues", "", Verdict::none});
	sizing.lines.push_back(measured("boot storm", "one processor of nvmeof-cdc answers all hosts in", discovery,
					"s", "hosts by processor time of each", {"discovery-host"}));
	if (accepts > 0)
		sizing.lines.push_back({"boot storm", "a target accepts its connections in", accepts, "s",
					"connections by --target-connect-rate", "", Verdict::none});
	sizing.lines.push_back(measured("boot storm", "the last host is connected after",
					discovery + std::max(accepts, host), "s",
					accepts > 0 ? "discovery, then the slower of host and target"
						    : "discovery, then a host; the targets' rate is not known",
					{"discovery-host", "connect-rate"}));
}

template <typename T>
void addShortage(std::vector<Shortage> &all, const char *what, double wanted, const std::optional<T> &there,
		 const char *step)
{
	Shortage one{what, wanted, std::nullopt, false, step};
	if (there)
		one.there = static_cast<double>(*there);
	one.enough = one.there && *one.there >= wanted;
	if (one.enough)
		one.step.clear();
	all.push_back(one);
}

std::string scaled(double value, double base, std::initializer_list<const char *> units)
{
	auto unit = units.begin();
	while (std::abs(value) >= base && unit + 1 != units.end()) {
		value /= base;
		++unit;
	}
	std::string digits = fmt::format("{:.{}f}", value, value == std::floor(value) ? 0 : value < 10 ? 2 : 1);
	return digits + " " + *unit;
}

} // namespace

Sizing size(const Demand &demand)
{
	Sizing sizing;
	sizing.stages = stagesOf(demand);
	sizing.narrowest = static_cast<std::size_t>(std::ranges::min_element(sizing.stages, {}, &Stage::write) -
						    sizing.stages.begin());
	addBandwidth(sizing, demand);
	addStripe(sizing, demand);
	addCheckpoint(sizing, demand);
	addQueues(sizing, demand);
	addExpress(sizing, demand);
	addOperation(sizing, demand);
	addBootStorm(sizing, demand);
	return sizing;
}

std::vector<Shortage> compare(const Demand &demand, const Live &live)
{
	std::vector<Shortage> all;
	addShortage(all, "GPUs", demand.gpus, live.gpus, "'nvmeofctl map' shows them");
	addShortage(all, "network cards", demand.cards, live.cards, "'nvmeofctl map' shows their state");
	addShortage(all, "Gb/s of the slowest card", demand.cardGigabits, live.cardGigabits,
		    "look at its link, and at the switch's port");
	addShortage(all, "targets", demand.targets, live.targets, "'nvmeofctl connect-all'");
	addShortage(all, "namespaces", demand.namespaces, live.namespaces,
		    "'nvmeofctl connect-all', or more on the targets");
	addShortage(all, "usable paths of each namespace", demand.paths, live.minPaths,
		    "'nvmeofctl list-subsys' shows the missing ones");
	addShortage(all, "entries of each queue", demand.depth, live.minDepth,
		    "connect with --queue-size; the target may grant less");
	addShortage(all, "queues of each controller", demand.queues, live.minQueues,
		    "connect with --nr-io-queues; the target may grant less");
	addShortage(all, "members of the widest stripe", demand.namespaces, live.stripeWidth,
		    "'nvmeofctl stripe plan'");
	return all;
}

bool anyShort(const std::vector<Shortage> &shortages)
{
	return !std::ranges::all_of(shortages, &Shortage::enough);
}

std::string formatValue(double value, const std::string &unit)
{
	constexpr double tera = 1e12;
	if (unit == "B/s") {
		const std::string bytes = scaled(value, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
		const double bits = value * bitsOfByte;
		return bits < tera ? bytes : fmt::format("{} ({})", bytes, scaled(bits / tera, tera, {"Tb/s"}));
	}
	if (unit == "B")
		return value < 1e9 ? scaled(value, kibibyte, {"B", "KiB", "MiB", "GiB"})
				   : scaled(value, 1000, {"B", "kB", "MB", "GB", "TB", "PB"});
	if (unit == "%")
		return fmt::format("{:.1f} %", value);
	if (unit == "s")
		return value >= 120 ? fmt::format("{:.1f} min", value / 60)
		       : value < 1  ? fmt::format("{:.0f} ms", value * 1e3)
				    : fmt::format("{:.1f} s", value);
	if (unit == "1/s")
		return scaled(value, 1000, {"/s", "k/s", "M/s", "G/s", "T/s"});
	return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

// ---- constants

namespace {

constexpr Constant table[] = {
	{"sqe", 64, "B", "NVM Express Base 2.0, 3.3.3.1: submission queue entry"},
	{"cqe", 16, "B", "NVM Express Base 2.0, 3.3.3.2: completion queue entry"},
	{"doorbell", 4, "B", "NVM Express over PCIe Transport 1.0, 3.1.2: a doorbell, at the least stride"},
	{"cids", 65535, "", "NVM Express Base 2.0, 3.3.3.1: 16 bits, of which FFFFh is kept free"},
	{"tlp", 24, "B", "PCI Express Base 3.0: header of 16, framing and sequence number of 4, LCRC of 4"},
	{"parameter", 14, "B",
	 "Rajbhandari et al., ZeRO (2020): weights of 2, and of Adam master weights, momentum, variance of 4 each"},
	{"roce-overhead", 98, "B", "Ethernet 38 with preamble and gap, IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4"},
	{"roce-payload", 4096, "B", "InfiniBand Architecture 1.4, 9.2: the largest path MTU"},
	{"tcp-overhead", 90, "B", "Ethernet 38 with preamble and gap, IPv4 20, TCP with timestamps 32"},
	{"tcp-payload", 8948, "B", "an MTU of 9000, less the headers of IPv4 and TCP"},
	{"connect-rate", 42.7, "1/s",
	 "nvmeof, Documentation/performance.md: connect/64, 64 controllers of 4 queues in 1.50 s", true},
	{"intree-connect-rate", 4.0, "1/s", "nvmeof, Documentation/performance.md: connect/64, in-tree, 15.93 s", true},
	{"silent-rdma", 0.349, "s", "nvmeof, Documentation/performance.md: rdma/silent-gap", true},
	{"silent-tcp", 0.325, "s", "nvmeof, Documentation/performance.md: tcp/silent-gap", true},
	{"controller-tcp", 696, "KiB", "nvmeof, Documentation/performance.md: mem/controller, with one queue", true},
	{"controller-rdma", 2001, "KiB",
	 "nvmeof, Documentation/performance.md: rdma/mem/controller, with one queue and the memory of rxe", true},
	{"queue-tcp", 82, "KiB", "nvmeof, Documentation/performance.md: mem/queue", true},
	{"queue-rdma", 1800, "KiB", "nvmeof, Documentation/performance.md: rdma/mem/queue, with the memory of rxe",
	 true},
	{"instructions-4k", 11281, "", "nvmeof, Documentation/performance.md: host/randread/4k/qd16, TCP", true},
	{"instructions-128k", 70545, "", "nvmeof, Documentation/performance.md: host/read/128k/qd4, TCP", true},
	{"discovery-host", 266e-6, "s",
	 "nvmeof, Documentation/performance.md: cdc/storm1000/view16/cpu_us_per_host, on a machine with two "
	 "processors"},
};

} // namespace

std::span<const Constant> constants()
{
	return table;
}

const Constant &constant(std::string_view name)
{
	for (const Constant &one : table)
		if (name == one.name)
			return one;
	std::abort();
}

double laneGigatransfers(unsigned generation)
{
	constexpr double rates[] = {0, 2.5, 5, 8, 16, 32, 64};
	return generation < std::size(rates) ? rates[generation] : 0;
}

double laneBytesPerSecond(unsigned generation)
{
	constexpr unsigned lastOf8b10b = 2, firstOfFlits = 6;
	// 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s; at 64 GT/s, flits with 242 of 256 bytes for TLPs
	const double kept = generation <= lastOf8b10b   ? 8.0 / 10
			    : generation < firstOfFlits ? 128.0 / 130
							: 242.0 / 256;
	return laneGigatransfers(generation) * 1e9 / 8 * kept;
}

double expressEfficiency(double bytes, double payload)
{
	constexpr double otherTlps = 5; // two doorbells, read request and completion of the SQ entry, CQ entry
	const double entries = constant("sqe").value + constant("cqe").value + 2 * constant("doorbell").value;
	const double tlps = otherTlps + std::ceil(bytes / payload);
	return bytes / (bytes + entries + tlps * constant("tlp").value);
}

} // namespace nofctl::sizing
