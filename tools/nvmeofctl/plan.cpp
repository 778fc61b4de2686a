// SPDX-License-Identifier: LGPL-2.1-or-later
// plan: computes what a system of GPUs and storage needs, and compares it with this system.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/snapshot.h>

#include "context.h"
#include "gpu_documents.h"
#include "libctl/base/file.h"
#include "libctl/sizing/sizing.h"
#include "machine.h"
#include "svg.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::sizing;

namespace {

// "12e9", "12G", "10T", "128K". @base: 1000, or 1024 for sizes of requests and chunks
std::optional<double> quantity(const std::string &text, double base)
{
	constexpr std::string_view units = "KMGTP";
	double value = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
	if (error != std::errc() || !std::isfinite(value) || value <= 0)
		return std::nullopt;
	if (unit.empty())
		return value;
	const std::size_t power = units.find(unit[0]);
	return unit.size() == 1 && power != units.npos ? std::optional(value * std::pow(base, power + 1))
						       : std::nullopt;
}

struct Quantity {
	const char *option;
	double Demand::*member;
	double base, min, max;
};

constexpr double decimal = 1000, binary = 1024;

constexpr Quantity quantities[] = {
	{"card-gbps", &Demand::cardGigabits, decimal, 0.1, 1e5},
	{"target-gbps", &Demand::targetGigabits, decimal, 0.1, 1e6},
	{"read-rate", &Demand::readRate, decimal, 1e3, 1e15},
	{"write-rate", &Demand::writeRate, decimal, 1e3, 1e15},
	{"io", &Demand::io, binary, 512, 1e12},
	{"chunk", &Demand::chunk, binary, 512, 1e9},
	{"parameters", &Demand::parameters, decimal, 1, 1e18},
	{"target-connect-rate", &Demand::targetConnects, decimal, 1, 1e9},
};

struct Count {
	const char *option;
	unsigned Demand::*member;
};

constexpr Count counts[] = {
	{"gpus", &Demand::gpus},
	{"cards", &Demand::cards},
	{"targets", &Demand::targets},
	{"namespaces", &Demand::namespaces},
	{"paths", &Demand::paths},
	{"depth", &Demand::depth},
	{"queues", &Demand::queues},
	{"agents", &Demand::agents},
	{"hosts", &Demand::hosts},
	{"pcie-generation", &Demand::cardGeneration},
	{"pcie-lanes", &Demand::cardLanes},
};

Result<Demand> demandOf(const Args &args)
{
	Demand demand;
	for (const Count &one : counts)
		if (auto number = args.number(one.option))
			demand.*one.member = *number;
	for (const Quantity &one : quantities) {
		const std::optional<std::string> text = args.text(one.option);
		if (!text)
			continue;
		const std::optional<double> value = quantity(*text, one.base);
		if (!value || *value < one.min || *value > one.max)
			return usageError(fmt::format("--{}: '{}' is not a valid number, such as 12e9 or 12G",
						      one.option, *text));
		demand.*one.member = *value;
	}
	if (auto time = args.seconds("window"))
		demand.window = static_cast<double>(time->count()) / 1000;
	if (auto time = args.seconds("latency"))
		demand.latency = static_cast<double>(time->count()) / 1000;
	if (auto payload = args.number("max-payload"))
		demand.payload = *payload;
	demand.rdma = args.textOr("transport", "rdma") == "rdma";
	return demand;
}

// Lowers @of to @value, which may be 0. An empty @of has no value yet.
template <typename T> void min(std::optional<T> &of, T value)
{
	of = std::min(of.value_or(value), value);
}

void addMachine(Live &live, const nofctl::gpu::Node &node)
{
	using namespace nofctl::gpu;
	live.gpus = static_cast<unsigned>(node.pci.of(Kind::gpu).size());
	const std::vector<const PciDevice *> cards = railCards(node);
	live.cards = static_cast<unsigned>(cards.size());
	for (const PciDevice *card : cards)
		for (const std::string &name : card->nets)
			if (auto found = node.interfaces.find(name);
			    found != node.interfaces.end() && found->second.megabits)
				min(live.cardGigabits, static_cast<double>(*found->second.megabits) / 1000);
	for (const auto &[name, disk] : node.disks)
		if (disk.kind == Disk::Kind::mapper)
			live.stripeWidth =
				std::max(live.stripeWidth.value_or(0), static_cast<unsigned>(disk.members.size()));
}

void addDriver(Live &live, const Snapshot &all)
{
	live.targets = static_cast<unsigned>(all.subsystems.size());
	live.namespaces = static_cast<unsigned>(all.namespaces.size());
	for (const Namespace &ns : all.namespaces)
		min(live.minPaths, static_cast<unsigned>(ns.usablePaths));
	for (const Controller &controller : all.controllers) {
		if (controller.state != ControllerState::live || controller.ioQueues == 0)
			continue; // not connected, or a discovery controller
		min(live.minDepth, static_cast<unsigned>(controller.queueSize));
		min(live.minQueues, static_cast<unsigned>(controller.ioQueues));
	}
}

Result<Live> readLive(const Args &args)
{
	Result<std::unique_ptr<nofctl::gpu::Tree>> tree = openMachine(args);
	if (!tree)
		return tree.error();
	Live live;
	addMachine(live, nofctl::gpu::readNode(**tree));
	if (!args.has("root"))
		if (Result<Snapshot> all = readSnapshot())
			addDriver(live, *all);
	return live;
}

const char *verdictWord(Verdict verdict)
{
	return verdict == Verdict::none ? "" : verdict == Verdict::enough ? "enough" : "SHORT";
}

std::string textOf(const Sizing &sizing, const std::vector<Shortage> &shortages, bool sources)
{
	std::vector<Table::Column> columns{{"Group"}, {"What"}, {"Value", Align::right}, {""}, {"How"}};
	if (sources)
		columns.push_back({"Source"});
	Table table(columns);
	for (const Line &one : sizing.lines)
		table.add({one.group, one.name, formatValue(one.value, one.unit), verdictWord(one.verdict), one.formula,
			   one.source});
	std::string text = table.render();
	if (std::ranges::any_of(sizing.lines, &Line::emulated))
		text += "\nmeasured in an emulator: in QEMU without KVM; real machines have other times and, over "
			"RDMA, "
			"need less memory\n";
	if (shortages.empty())
		return text;
	Table compared({{"This system"}, {"Required", Align::right}, {"Present", Align::right}, {""}, {"Next step"}});
	for (const Shortage &one : shortages)
		compared.add({one.what, formatValue(one.wanted, ""),
			      one.there ? formatValue(*one.there, "") : "unknown", one.enough ? "enough" : "SHORT",
			      one.step});
	return text + "\n" + compared.render();
}

// RFC 4180
std::string field(const std::string &text)
{
	std::string out = "\"";
	for (char c : nofctl::printable(text))
		out += c == '"' ? "\"\"" : std::string(1, c);
	return out + "\"";
}

std::string csvOf(const Sizing &sizing)
{
	std::string text = "group,name,value,unit,formula,verdict,source\r\n";
	for (const Line &one : sizing.lines)
		text += fmt::format("{},{},{},{},{},{},{}\r\n", field(one.group), field(one.name), one.value,
				    field(one.unit), field(one.formula), field(verdictWord(one.verdict)),
				    field(one.source));
	return text;
}

std::string svgOf(const Sizing &sizing)
{
	constexpr int left = 160, width = 480, bar = 16, row = 48, top = 40;
	double max = 0;
	for (const Stage &one : sizing.stages)
		max = std::max({max, one.read, one.write});
	Svg svg;
	svg.text(10, 20, "Bandwidth of each stage, read and write; the narrowest in red", "start", 14);
	int y = top;
	for (std::size_t i = 0; i < sizing.stages.size(); i++, y += row) {
		const Stage &one = sizing.stages[i];
		svg.text(left - 8, y + bar + 4, one.name, "end");
		int at = y;
		for (double value : {one.read, one.write}) {
			const bool narrow = i == sizing.narrowest && at != y;
			svg.box(left, at, std::max(1, static_cast<int>(width * value / max)), bar,
				narrow    ? "#c02020"
				: at == y ? "#9bc0e8"
					  : "#4878a8");
			svg.text(left + 6, at + bar - 4, formatValue(value, "B/s"), "start", 11);
			at += bar + 2;
		}
	}
	return svg.file();
}

} // namespace

int runPlan(Context &context)
{
	const Args &args = context.args();
	Result<Demand> demand = demandOf(args);
	if (!demand)
		return context.fail("", demand.error());
	const Sizing sizing = size(*demand);
	std::vector<Shortage> shortages;
	if (args.has("compare")) {
		Result<Live> live = readLive(args);
		if (!live)
			return context.fail("", live.error());
		shortages = compare(*demand, *live);
	}
	if (args.has("svg"))
		if (Result<void> done = nofctl::replaceFile(args.textOr("svg", ""), svgOf(sizing)); !done)
			return context.fail("", done.error());
	if (context.json())
		context.print(sizingDocument(sizing, shortages));
	else if (args.has("csv"))
		context.out() << csvOf(sizing);
	else
		context.out() << textOf(sizing, shortages, args.has("sources"));
	return anyShort(shortages) ? static_cast<int>(ExitCode::failed) : 0;
}
