// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>

#include <blkid/blkid.h>
#include <fmt/format.h>

#include "libctl/base/make_error.h"
#include "libctl/gpu/tree.h"

namespace nofctl::stripe {

using namespace nvmeof;

namespace {

// Takes one element of each group in turn.
template <typename T> std::vector<T> interleave(std::vector<std::vector<T>> groups)
{
	std::vector<T> all;
	for (std::size_t i = 0, taken = 1; taken; i++) {
		taken = 0;
		for (std::vector<T> &group : groups)
			if (i < group.size()) {
				all.push_back(std::move(group[i]));
				taken++;
			}
	}
	return all;
}

std::vector<std::vector<Member>> groupsBy(std::vector<Member> members, std::string Member::*key)
{
	std::map<std::string, std::vector<Member>> groups;
	for (Member &one : members)
		groups[one.*key].push_back(std::move(one));
	std::vector<std::vector<Member>> list;
	for (auto &[name, group] : groups)
		list.push_back(std::move(group));
	return list;
}

// Orders members so that neighbours belong to different subsystems and, within a subsystem, to different owners.
std::vector<Member> spread(std::vector<Member> members)
{
	std::vector<std::vector<Member>> bySubsystem = groupsBy(std::move(members), &Member::subsystem);
	for (std::vector<Member> &group : bySubsystem)
		group = interleave(groupsBy(std::move(group), &Member::owner));
	return interleave(std::move(bySubsystem));
}

std::uint64_t chunkFor(const std::vector<Member> &members, const Wish &wish)
{
	if (wish.chunk)
		return wish.chunk;
	std::uint64_t optimal = 0;
	for (const Member &one : members)
		optimal = std::max<std::uint64_t>(optimal, one.optimal);
	return optimal ? std::clamp(std::bit_ceil(optimal), minChunk, maxChunk) : defaultChunk;
}

Result<void> checkMembers(const std::vector<Member> &members, const Wish &wish)
{
	constexpr std::size_t min = 2;
	std::set<std::string> seen;
	for (const Member &one : members) {
		if (!seen.insert(one.disk).second)
			return invalidError(one.disk + " is named twice");
		if (one.zoned)
			return invalidError(one.disk +
					    " is zoned: a stripe would have no zones and could not be written");
		if (one.wwid.empty())
			return invalidError(one.disk + " has no identifier by which it could be found again");
		if (one.bytes == 0)
			return invalidError(one.disk + " has no capacity");
	}
	if (members.size() < min || members.size() > maxMembers)
		return invalidError(
			fmt::format("a stripe has from {} to {} members, not {}", min, maxMembers, members.size()));
	if (wish.width > members.size() || wish.width == 1)
		return invalidError(
			fmt::format("{} members requested, but there are only {}", wish.width, members.size()));
	return {};
}

Result<void> checkChunk(const std::vector<Member> &members, std::uint64_t chunk)
{
	if (chunk < minChunk || chunk > maxChunk || !std::has_single_bit(chunk))
		return invalidError(fmt::format("a chunk is a power of two from {} to {}, not {}", sizeText(minChunk),
						sizeText(maxChunk), sizeText(chunk)));
	for (const Member &one : members) {
		if (one.block && chunk % one.block)
			return invalidError(
				fmt::format("{} has blocks of {} bytes, of which the chunk size {} is no multiple",
					    one.disk, one.block, sizeText(chunk)));
		if (one.bytes < chunk)
			return invalidError(one.disk + " is smaller than a chunk");
	}
	return {};
}

void addNotes(Layout &layout)
{
	std::map<std::string, std::size_t> ofSubsystem;
	for (const Member &one : layout.members)
		ofSubsystem[one.subsystem]++;
	auto more = [](const auto &a, const auto &b) { return a.second < b.second; };
	const auto max = std::ranges::max_element(ofSubsystem, more),
		   fewest = std::ranges::min_element(ofSubsystem, more);
	if (max->second > fewest->second)
		layout.notes.push_back(
			fmt::format("{} members are in {}, {} in {}: the first subsystem limits the throughput",
				    max->second, max->first, fewest->second, fewest->first));
	for (const Member &one : layout.members)
		if (one.usable < 2)
			layout.notes.push_back(fmt::format(
				"{} has {} usable path{}: if it loses the last one, the whole stripe stalls", one.disk,
				one.usable, one.usable == 1 ? "" : "s"));
	for (const Member &one : layout.members)
		if (one.optimal && layout.chunk % one.optimal)
			layout.notes.push_back(
				fmt::format("{} prefers requests of {}, of which the chunk size is no multiple",
					    one.disk, sizeText(one.optimal)));
	if (layout.unused)
		layout.notes.push_back(
			fmt::format("{} at the end of larger members are not used", sizeText(layout.unused)));
	layout.notes.push_back("device mapper accepts no peer-to-peer pages: data to and from a GPU pass through CPU "
			       "memory (gds check: stacked)");
}

} // namespace

std::vector<Member> membersOf(const Snapshot &all)
{
	std::vector<Member> members;
	for (const Namespace &ns : all.namespaces) {
		Member one;
		one.disk = ns.name;
		one.wwid = ns.wwid;
		one.bytes = ns.size;
		one.block = ns.lbaSize;
		one.usable = ns.usablePaths;
		if (const Subsystem *subsystem = all.subsystem(ns.subsystem))
			one.subsystem = subsystem->nqn;
		for (const Path *path : all.pathsOf(ns))
			if (path->anaState == AnaState::optimized || path->anaState == AnaState::none)
				one.owner += (one.owner.empty() ? "" : " ") + path->controller;
		members.push_back(one);
	}
	return members;
}

Result<Layout> planStripe(std::vector<Member> members, const Wish &wish)
{
	if (Result<void> good = checkMembers(members, wish); !good)
		return good.error();
	Layout layout;
	layout.members = wish.keepOrder ? std::move(members) : spread(std::move(members));
	if (wish.width)
		layout.members.resize(wish.width);
	layout.chunk = chunkFor(layout.members, wish);
	if (Result<void> good = checkChunk(layout.members, layout.chunk); !good)
		return good.error();
	const std::uint64_t smallest =
		std::ranges::min(layout.members, {}, &Member::bytes).bytes / layout.chunk * layout.chunk;
	layout.bytes = smallest * layout.members.size();
	for (const Member &one : layout.members)
		layout.unused += one.bytes - smallest;
	addNotes(layout);
	return layout;
}

std::string stripedParameters(const std::vector<std::string> &devices, std::uint64_t chunk)
{
	std::string text = fmt::format("{} {}", devices.size(), chunk / sector);
	for (const std::string &device : devices)
		text += " " + device + " 0";
	return text;
}

Result<std::vector<std::string>> mkfsOptions(const std::string &type, std::uint64_t chunk, std::size_t width)
{
	constexpr std::uint64_t block = 4096; // block size of ext4
	if (type == "xfs")
		return std::vector<std::string>{"-d", fmt::format("su={},sw={}", chunk, width)};
	if (type == "ext4")
		return std::vector<std::string>{
			"-b", std::to_string(block), "-E",
			fmt::format("stride={},stripe_width={}", chunk / block, chunk / block * width)};
	return invalidError("'" + type + "' is neither xfs nor ext4");
}

std::string sizeText(std::uint64_t bytes)
{
	constexpr const char *units[] = {"", "KiB", "MiB", "GiB", "TiB"};
	std::size_t unit = 0;
	while (bytes && bytes % 1024 == 0 && unit + 1 < std::size(units)) {
		bytes /= 1024;
		unit++;
	}
	return std::to_string(bytes) + units[unit];
}

std::optional<std::uint64_t> parseSize(std::string_view text)
{
	constexpr std::string_view units = "KMGT";
	const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
	constexpr std::size_t maxDigits = 15;
	if (end == 0 || end > maxDigits)
		return std::nullopt;
	std::uint64_t value = 0;
	for (char digit : text.substr(0, end))
		value = value * 10 + static_cast<std::uint64_t>(digit - '0');
	const std::string_view unit = text.substr(end);
	if (unit.empty())
		return value;
	const std::size_t power = units.find(unit[0]);
	if (power == units.npos || (unit.size() > 1 && unit.substr(1) != "iB"))
		return std::nullopt;
	const unsigned shift = 10 * static_cast<unsigned>(power + 1);
	return value >> (64 - shift) ? std::nullopt : std::optional(value << shift);
}

// ---- checks of disks

namespace {

class Descriptor {
public:
	explicit Descriptor(const std::string &file) : fd_(::open(file.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC)) {}
	~Descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	Descriptor(const Descriptor &) = delete;
	Descriptor &operator=(const Descriptor &) = delete;
	int get() const { return fd_; }

private:
	int fd_;
};

struct FreeProbe {
	void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
};

Error failure(const std::string &disk, int number, const std::string &message)
{
	Error error = errorFromErrno(number);
	if (number != EPERM && number != EACCES)
		error.code = ErrorCode::failed;
	error.message = disk + ": " + (message.empty() ? error.message : message);
	return error;
}

// "xfs", "gpt"; empty: no known content
std::string contentOf(blkid_probe probe)
{
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_enable_partitions(probe, 1);
	if (blkid_do_safeprobe(probe) == 1) // 1: nothing found; 0: found; negative: ambiguous or unreadable
		return {};
	for (const char *name : {"TYPE", "PTTYPE"}) {
		const char *value = nullptr;
		if (blkid_probe_lookup_value(probe, name, &value, nullptr) == 0 && value)
			return value;
	}
	return "something";
}

} // namespace

void readQueueLimits(Member &member)
{
	const gpu::FolderTree tree;
	const std::string queue = "/sys/block/" + member.disk + "/queue/", zoned = tree.text(queue + "zoned");
	member.optimal = static_cast<unsigned>(tree.number(queue + "optimal_io_size").value_or(0));
	member.zoned = !zoned.empty() && zoned != "none";
}

Result<void> checkFree(const Member &member, bool force)
{
	const Descriptor fd("/dev/" + member.disk);
	if (fd.get() < 0)
		return failure(member.disk, errno, errno == EBUSY ? "is in use" : "");
	std::unique_ptr<blkid_struct_probe, FreeProbe> probe(blkid_new_probe());
	if (!probe || blkid_probe_set_device(probe.get(), fd.get(), 0, 0))
		return failure(member.disk, EIO, "cannot be read");
	const std::string content = force ? "" : contentOf(probe.get());
	if (!content.empty())
		return failure(member.disk, EEXIST, "there is " + content + " on it");
	return {};
}

} // namespace nofctl::stripe
