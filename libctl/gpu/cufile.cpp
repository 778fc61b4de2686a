// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cufile.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "libctl/base/make_error.h"
#include "rails.h"

namespace nofctl::gpu {

using namespace nvmeof;
using Type = CufileKey::Type;

namespace {

constexpr std::int64_t anyNumber = INT64_MAX / 2;
constexpr std::uint64_t kibibyte = 1 << 10;

// NVIDIA GPUDirect Storage Configuration Guide, GPUDirect Storage Parameters; use_pci_p2pdma: release notes of 1.16
constexpr CufileKey keys[] = {
	{"/properties/allow_compat_mode", Type::flag, 0, 0, nullptr, "true",
	 "fall back to CPU memory where direct transfers fail"},
	{"/properties/use_pci_p2pdma", Type::flag, 0, 0, nullptr, "false", "kernel P2PDMA instead of nvidia-fs"},
	{"/properties/rdma_dev_addr_list", Type::words, 0, 0, nullptr, "none",
	 "addresses of the cards that file systems over RDMA may use"},
	{"/properties/rdma_load_balancing_policy", Type::word, 0, 0,
	 "FirstFit MaxMinFit RoundRobin RoundRobinMaxMin Randomized", "RoundRobin",
	 "policy that selects one of these NICs"},
	{"/properties/rdma_dynamic_routing", Type::flag, 0, 0, nullptr, "false",
	 "route through another GPU or CPU memory if no NIC is near"},
	{"/properties/rdma_dynamic_routing_order", Type::words, 0, 0, "GPU_MEM_NVLINKS GPU_MEM SYS_MEM P2P",
	 "GPU_MEM_NVLINKS GPU_MEM SYS_MEM P2P", "routes in the order in which they are tried"},
	{"/properties/max_direct_io_size_kb", Type::number, 64, 1 << 20, nullptr, "16384",
	 "longest request, a multiple of 64"},
	{"/properties/max_device_cache_size_kb", Type::number, 4, anyNumber, nullptr, "131072",
	 "GPU memory for bounce buffers"},
	{"/properties/per_buffer_cache_size_kb", Type::number, 4, anyNumber, nullptr, "1024", "one bounce buffer"},
	{"/properties/max_device_pinned_mem_size_kb", Type::number, 4, anyNumber, nullptr, "33554432",
	 "GPU memory that may be pinned"},
	{"/properties/use_poll_mode", Type::flag, 0, 0, nullptr, "false", "poll for small requests"},
	{"/properties/poll_mode_max_size_kb", Type::number, 4, 1 << 20, nullptr, "4",
	 "largest request that is polled for"},
	{"/properties/io_batchsize", Type::number, 1, 256, nullptr, "128", "requests in one batch"},
	{"/execution/max_io_threads", Type::number, 0, 1024, nullptr, "4", "host threads for each GPU"},
	{"/execution/max_io_queue_depth", Type::number, 1, 65536, nullptr, "128", "waiting requests"},
	{"/execution/parallel_io", Type::flag, 0, 0, nullptr, "true", "split large requests"},
	{"/execution/min_io_threshold_size_kb", Type::number, 1, anyNumber, nullptr, "8192",
	 "size from which on requests are split"},
	{"/execution/max_request_parallelism", Type::number, 0, 1024, nullptr, "4", "parts of one request"},
	{"/denylist/mounts", Type::words, 0, 0, nullptr, "none", "mounts that use CPU memory"},
	{"/denylist/filesystems", Type::words, 0, 0, nullptr, "none", "file system types that use CPU memory"},
	{"/denylist/devices", Type::words, 0, 0, nullptr, "none", "disks that use CPU memory"},
	{"/denylist/drivers", Type::words, 0, 0, nullptr, "none", "drivers that use CPU memory"},
	{"/logging/level", Type::word, 0, 0, "ERROR WARN NOTICE INFO DEBUG TRACE", "ERROR", "log level of cufile.log"},
	{"/profile/cufile_stats", Type::number, 0, 3, nullptr, "0", "level of the statistics for gds_stats"},
};

bool among(const char *choices, const std::string &word)
{
	const std::vector<std::string> words = wordsOf(choices ? choices : "");
	return words.empty() || std::ranges::find(words, word) != words.end();
}

// Why the value is invalid; empty: it is valid
std::string wrongWith(const CufileKey &key, const CufileJson &value)
{
	switch (key.type) {
	case Type::flag:
		return value.is_boolean() ? "" : "expected true or false";
	case Type::number:
		if (!value.is_number_integer() ||
		    (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
			return "expected an integer";
		if (value.get<std::int64_t>() < key.min || value.get<std::int64_t>() > key.max)
			return key.max == anyNumber ? fmt::format("expected at least {}", key.min)
						    : fmt::format("out of range: {} to {}", key.min, key.max);
		return std::string_view(key.path).ends_with("max_direct_io_size_kb") && value.get<std::int64_t>() % 64
			       ? "not a multiple of 64"
			       : "";
	case Type::word:
		return value.is_string() && among(key.choices, value.get<std::string>())
			       ? ""
			       : fmt::format("expected one of {}", key.choices);
	case Type::words:
		break;
	}
	const bool texts = value.is_array() && std::ranges::all_of(value, [&](const CufileJson &one) {
				   return one.is_string() && among(key.choices, one.get<std::string>());
			   });
	return texts         ? ""
	       : key.choices ? fmt::format("expected a list of values from {}", key.choices)
			     : "expected a list of strings";
}

const CufileJson *at(const CufileJson &file, const std::string &path)
{
	const CufileJson *node = &file;
	for (std::size_t from = 1; from <= path.size();) {
		const std::size_t end = std::min(path.find('/', from), path.size());
		auto found = node->is_object() ? node->find(path.substr(from, end - from)) : node->end();
		if (!node->is_object() || found == node->end())
			return nullptr;
		node = &*found;
		from = end + 1;
	}
	return node;
}

// The failures of check(), for NVIDIA's GPUs, which are the only ones that read cufile.json
Findings failuresOf(const Node &node, const std::vector<const PciDevice *> &gpus)
{
	if (gpus.empty()) // without addresses, check() would take all GPUs
		return {{Level::fail, "gpu", "node", "no NVIDIA GPU was found", "", "gpu", ""}};
	CheckRequest question;
	for (const PciDevice *gpu : gpus)
		question.gpus.push_back(gpu->address);
	Findings findings = check(node, question).findings;
	std::erase_if(findings, [](const Finding &one) { return one.level != Level::fail; });
	return findings;
}

// Why no memory of a GPU can be reached at all, whichever disk or card is used; empty: it can be. A GPU without a
// usable driver is no reason while another GPU has one, and nvmeof_nvfs concerns the disks of this driver only.
std::string unreachable(const Findings &failed, const std::vector<const PciDevice *> &gpus)
{
	auto failsFor = [&](const PciDevice *gpu) {
		return std::ranges::any_of(failed, [&](const Finding &one) {
			return one.check == "driver" && one.subject == gpu->address;
		});
	};
	const bool all = std::ranges::all_of(gpus, failsFor);
	for (const Finding &one : failed) {
		const bool ofGpu = std::ranges::find(gpus, one.subject, &PciDevice::address) != gpus.end();
		const bool driver = one.check == "driver" && one.subject != "nvmeof_nvfs" && (all || !ofGpu);
		if (one.check == "kernel" || one.check == "gpu" || driver)
			return fmt::format("gds check fails: {}: {}", one.subject, one.what);
	}
	return "";
}

bool broken(const Findings &findings)
{
	return worst(findings) == Level::fail;
}

// How data moves between a mount and GPUs
MountMode modeOf(const Node &node, const Mount &mount, P2pMethod means)
{
	Findings findings;
	checkDisk(findings, node, *node.disk(mount.disk));
	std::erase_if(findings, [&](const Finding &one) { return one.check == "mount" && one.subject != mount.point; });
	if (!broken(findings))
		return {mount.point, means == P2pMethod::p2pdma ? "p2pdma" : "nvidia-fs",
			"its file system and all of its paths support it"};
	auto first = std::ranges::find(findings, Level::fail, &Finding::level);
	return {mount.point, "compat", first->subject + ": " + first->what};
}

// Whether the mount is on one of our disks, directly or through stacked devices
bool concerns(const Node &node, const Mount &mount)
{
	const Disk *disk = node.disk(mount.disk);
	return disk &&
	       std::ranges::any_of(node.bottom(*disk), [](const Disk *one) { return one->kind == Disk::Kind::head; });
}

std::vector<std::string> words(const CufileJson *list)
{
	std::vector<std::string> words;
	if (list && list->is_array())
		for (const CufileJson &one : *list)
			if (one.is_string())
				words.push_back(one.get<std::string>());
	return words;
}

void planRouting(CufilePlan &plan, const std::vector<Rail> &rails)
{
	const bool far =
		std::ranges::any_of(rails, [](const Rail &rail) { return rail.pair.state.distance > Distance::pxb; });
	plan.settings.push_back(
		{"/properties/rdma_dynamic_routing", far,
		 far ? "a GPU has no NIC behind its own root port" : "each GPU has a NIC behind its own root port"});
	if (far)
		plan.settings.push_back({"/properties/rdma_dynamic_routing_order",
					 CufileJson::array({"GPU_MEM_NVLINKS", "GPU_MEM", "SYS_MEM", "P2P"}),
					 "another GPU beside a NIC is nearer than the CPU"});
}

void planPinned(CufilePlan &plan, const std::vector<const PciDevice *> &gpus)
{
	std::uint64_t min = 0;
	for (const PciDevice *gpu : gpus)
		if (const Bar *bar = gpu->largestBar(); bar && (!min || bar->size < min))
			min = bar->size;
	constexpr std::uint64_t usual = 33554432 * kibibyte; // bytes
	if (!min || min >= usual)
		return;
	// leaves an eighth of the BAR for other mappings
	plan.settings.push_back({"/properties/max_device_pinned_mem_size_kb", (min - min / 8) / kibibyte,
				 "limited by the BAR of a GPU"});
}

} // namespace

std::span<const CufileKey> cufileKeys()
{
	return keys;
}

Result<CufileJson> parseCufile(std::string_view text)
{
	constexpr std::size_t maxDepth =
		32; // nesting limit: the parser does not recurse, but later walks over the values do
	std::size_t depth = 0;
	auto shallow = [&](int level, CufileJson::parse_event_t, CufileJson &) {
		depth = std::max(depth, static_cast<std::size_t>(level));
		return true;
	};
	CufileJson file = CufileJson::parse(text, shallow, false, true);
	if (file.is_discarded())
		return invalidError("it is not valid JSON (comments are allowed)");
	if (!file.is_object() || depth > maxDepth)
		return invalidError(file.is_object() ? "it is nested too deep" : "expected an object: {...}");
	return file;
}

std::vector<std::string> cufileProblems(const CufileJson &file)
{
	std::vector<std::string> problems;
	for (const CufileKey &key : keys)
		if (const CufileJson *value = at(file, key.path))
			if (std::string wrong = wrongWith(key, *value); !wrong.empty())
				problems.push_back(fmt::format("{}: {}", std::string_view(key.path).substr(1), wrong));
	return problems;
}

CufilePlan planCufile(const Node &node, const std::vector<std::pair<std::string, std::vector<std::string>>> &addresses)
{
	CufilePlan plan;
	std::vector<const PciDevice *> gpus = node.pci.of(Kind::gpu);
	std::erase_if(gpus, [](const PciDevice *gpu) { return gpu->config.vendor != nvidia; });
	const std::vector<Rail> rails = planRails(node, gpus, railCards(node));
	const P2pMethod means = node.modules.contains("nvidia_fs") ? P2pMethod::nvidiaFs : P2pMethod::p2pdma;
	plan.failed = failuresOf(node, gpus);
	const std::string obstacle = unreachable(plan.failed, gpus);
	plan.settings.push_back({"/properties/use_pci_p2pdma", means == P2pMethod::p2pdma && obstacle.empty(),
				 means != P2pMethod::p2pdma ? "nvidia-fs is loaded"
				 : obstacle.empty()         ? "nvidia-fs is not loaded"
							    : obstacle});
	CufileJson list = CufileJson::array();
	for (const Rail &rail : rails)
		for (const auto &[interface, own] : addresses)
			if (interface == rail.interface)
				for (const std::string &address : own)
					if (std::ranges::find(list, CufileJson(address)) == list.end())
						list.push_back(address);
	if (!list.empty())
		plan.settings.push_back({"/properties/rdma_dev_addr_list", list, "the nearest NIC of each GPU"});
	planRouting(plan, rails);
	planPinned(plan, gpus);
	CufileJson denied = CufileJson::array();
	for (const Mount &mount : node.mounts) {
		if (!concerns(node, mount))
			continue;
		plan.mounts.push_back(obstacle.empty() ? modeOf(node, mount, means)
						       : MountMode{mount.point, "compat", obstacle});
		// the list keeps its entries, so an obstacle that can be removed for all mounts adds none
		if (obstacle.empty() && plan.mounts.back().mode == "compat")
			denied.push_back(mount.point);
	}
	plan.settings.push_back({"/properties/allow_compat_mode", true,
				 "transfers that cannot go directly use CPU memory; see gds check"});
	if (!denied.empty())
		plan.settings.push_back({"/denylist/mounts", denied,
					 "they cannot transfer GPU pages: refused at once, not during a transfer"});
	return plan;
}

CufileJson applyCufile(CufileJson file, const CufilePlan &plan)
{
	for (const CufileSetting &one : plan.settings) {
		const CufileJson::json_pointer place(one.path);
		const CufileJson *parent = at(file, place.parent_pointer().to_string());
		if (parent && !parent->is_object())
			file[place.parent_pointer()] = CufileJson::object();
		CufileJson value = one.value;
		if (one.path == "/denylist/mounts") // keep entries that were added by others
			for (const std::string &before : words(at(file, one.path)))
				if (std::ranges::find(value, CufileJson(before)) == value.end())
					value.push_back(before);
		file[place] = value;
	}
	return file;
}

std::string formatCufile(const CufileJson &file)
{
	return file.dump(4, ' ', false, CufileJson::error_handler_t::replace) + "\n";
}

std::string lineDifference(std::string_view before, std::string_view after)
{
	const std::vector<std::string> a = linesOf(before), b = linesOf(after);
	constexpr std::size_t max = 1 << 24; // limit for the number of line pairs
	if (a == b)
		return {};
	if (a.size() * b.size() > max)
		return "@@ too long to be compared\n";
	// length of the longest common subsequence of the remaining lines
	std::vector<std::vector<std::uint32_t>> common(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1, 0));
	for (std::size_t i = a.size(); i-- > 0;)
		for (std::size_t j = b.size(); j-- > 0;)
			common[i][j] =
				a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
	std::vector<std::string> lines;
	for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
		if (i < a.size() && j < b.size() && a[i] == b[j])
			lines.push_back(" " + a[i++]), j++;
		else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1]))
			lines.push_back("-" + a[i++]);
		else
			lines.push_back("+" + b[j++]);
	}
	constexpr std::size_t around = 2; // context lines around a change
	std::string out;
	bool left = false;
	for (std::size_t i = 0; i < lines.size(); i++) {
		const std::size_t from = i > around ? i - around : 0, to = std::min(i + around + 1, lines.size());
		const bool near = std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(from),
					      lines.begin() + static_cast<std::ptrdiff_t>(to),
					      [](const std::string &line) { return line[0] != ' '; });
		if (!near && !left)
			out += "@@\n";
		left = !near;
		if (near)
			out += lines[i] + "\n";
	}
	return out;
}

} // namespace nofctl::gpu
