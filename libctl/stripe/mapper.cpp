// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mapper.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <libdevmapper.h>

#include "libctl/base/make_error.h"
#include "libctl/gpu/tree.h"
#include "plan.h"

namespace nofctl::stripe {

using namespace nvmeof;

namespace {

std::optional<std::uint64_t> number(std::string_view text)
{
	std::uint64_t value = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

constexpr const char *uuidStart = "NVMEOF-STRIPE-"; // of our stripes

// Last error message of libdevmapper, captured instead of printed to stderr
thread_local std::string lastWords;

__attribute__((format(printf, 5, 6))) void keepWords(int level, const char *, int, int, const char *format, ...)
{
	constexpr int errors = 3; // _LOG_ERR; lower values are more severe
	constexpr int levelBits = 7;
	if ((level & levelBits) > errors)
		return;
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	std::vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lastWords = text;
}

class Task {
public:
	explicit Task(int kind, const std::string &name = "")
	{
		dm_log_with_errno_init(keepWords);
		lastWords.clear();
		task_.reset(dm_task_create(kind));
		if (task_ && !name.empty() && !dm_task_set_name(task_.get(), name.c_str()))
			task_.reset();
		name_ = name;
	}
	dm_task *get() const { return task_.get(); }
	int number() const { return task_ ? dm_task_get_errno(task_.get()) : ENOMEM; }
	bool run() { return task_ && dm_task_run(task_.get()); }
	// Waits until udev has processed the device.
	bool runWithNodes()
	{
		std::uint32_t cookie = 0;
		if (!task_ || !dm_task_set_cookie(task_.get(), &cookie, 0))
			return false;
		const bool done = run();
		return dm_udev_wait(cookie) && done;
	}
	Error error(const char *what) const
	{
		const int number = this->number();
		Error error = errorFromErrno(number ? number : EIO);
		if (number != EPERM && number != EACCES)
			error.code = ErrorCode::failed;
		error.message = fmt::format("{}: {} {}", name_.empty() ? "device mapper" : name_, what,
					    lastWords.empty() ? std::strerror(number ? number : EIO) : lastWords);
		return error;
	}

private:
	struct Destroy {
		void operator()(dm_task *task) const { dm_task_destroy(task); }
	};
	std::unique_ptr<dm_task, Destroy> task_;
	std::string name_;
};

bool addTargets(const Task &task, const std::vector<Target> &table)
{
	for (const Target &one : table)
		if (!task.get() ||
		    !dm_task_add_target(task.get(), one.start, one.length, one.type.c_str(), one.parameters.c_str()))
			return false;
	return true;
}

std::vector<Target> targetsOf(const Task &task)
{
	std::vector<Target> table;
	void *next = nullptr;
	do {
		std::uint64_t start = 0, length = 0;
		char *type = nullptr, *parameters = nullptr;
		next = dm_get_next_target(task.get(), next, &start, &length, &type, &parameters);
		if (type)
			table.push_back({start, length, type, parameters ? parameters : ""});
	} while (next);
	return table;
}

Result<void> change(int kind, const std::string &name, const char *what)
{
	Task task(kind, name);
	return task.runWithNodes() ? Result<void>() : Result<void>(task.error(what));
}

Result<void> createMapped(const std::string &name, const std::vector<Target> &table)
{
	Task task(DM_DEVICE_CREATE, name);
	if (!task.get() || !dm_task_set_uuid(task.get(), (uuidStart + name).c_str()) || !addTargets(task, table) ||
	    !task.runWithNodes())
		return task.error("cannot be created:");
	return {};
}

// Replaces the table after outstanding I/O has completed.
Result<void> replaceTable(const std::string &name, const std::vector<Target> &table)
{
	Task load(DM_DEVICE_RELOAD, name);
	if (!addTargets(load, table) || !load.run())
		return load.error("refuses the table:");
	if (Result<void> done = change(DM_DEVICE_SUSPEND, name, "cannot be suspended:"); !done)
		return done;
	Result<void> resumed = change(DM_DEVICE_RESUME, name, "cannot be resumed:");
	if (!resumed) { // resume with the old table, so that I/O does not stay blocked
		Task(DM_DEVICE_CLEAR, name).run();
		static_cast<void>(change(DM_DEVICE_RESUME, name, ""));
	}
	return resumed;
}

// Status of the first target; empty if there is none.
Result<std::string> mappedStatus(const std::string &name)
{
	Task task(DM_DEVICE_STATUS, name);
	if (!task.run())
		return task.error("cannot be queried:");
	const std::vector<Target> table = targetsOf(task);
	return table.empty() ? std::string() : table.front().parameters;
}

} // namespace

std::uint64_t Mapped::sectors() const
{
	return table.empty() ? 0 : table.back().start + table.back().length;
}

Result<std::optional<Mapped>> findMapped(const std::string &name)
{
	Task task(DM_DEVICE_TABLE, name);
	dm_info info{};
	if (!task.run())
		return task.number() == ENXIO ? Result<std::optional<Mapped>>(std::nullopt)
					      : Result<std::optional<Mapped>>(task.error("cannot be queried:"));
	if (!dm_task_get_info(task.get(), &info))
		return task.error("cannot be queried:");
	if (!info.exists)
		return std::optional<Mapped>();
	const char *uuid = dm_task_get_uuid(task.get());
	return std::optional(Mapped{name, uuid ? uuid : "", info.open_count, info.suspended != 0, targetsOf(task)});
}

Result<std::vector<std::string>> mappedNames()
{
	Task task(DM_DEVICE_LIST);
	std::vector<std::string> names;
	if (!task.run())
		return task.error("cannot list its devices:");
	const dm_names *entry = dm_task_get_names(task.get());
	if (!entry || !entry->dev)
		return names;
	for (;; entry = reinterpret_cast<const dm_names *>(reinterpret_cast<const char *>(entry) + entry->next)) {
		names.emplace_back(entry->name);
		if (!entry->next)
			return names;
	}
}

Result<void> removeMapped(const std::string &name)
{
	return change(DM_DEVICE_REMOVE, name, "cannot be removed:");
}

Parts membersOfStripe(const ConfigStripe &stripe, const Snapshot &all)
{
	Parts parts;
	std::uint64_t smallest = UINT64_MAX;
	for (const std::string &wwid : stripe.members) {
		auto found = std::ranges::find(all.namespaces, wwid, &Namespace::wwid);
		const bool there = found != all.namespaces.end() && found->size >= stripe.chunk && found->usablePaths;
		parts.disks.push_back(there ? found->name : "");
		if (there)
			smallest = std::min(smallest, found->size);
		else
			parts.missing.push_back(wwid);
	}
	if (parts.whole() && !parts.disks.empty())
		parts.bytes = smallest / stripe.chunk * stripe.chunk * parts.disks.size();
	return parts;
}

Target stripedTarget(const std::vector<std::string> &disks, std::uint64_t chunk, std::uint64_t bytes)
{
	std::vector<std::string> devices;
	for (const std::string &disk : disks)
		devices.push_back("/dev/" + disk);
	return {0, bytes / sector, "striped", stripedParameters(devices, chunk)};
}

Result<void> makeStripe(const std::string &name, const Target &target)
{
	return createMapped(name, {target});
}

bool isStripe(const Mapped &mapped)
{
	return mapped.uuid == uuidStart + mapped.name;
}

// ---- moving a stripe

namespace {

constexpr std::uint64_t regionSectors = 1024; // region size of the mirror: unit of copying and of write tracking

std::string device(const std::string &name)
{
	return "/dev/mapper/" + name;
}

// Gives @name the table of @from, then removes both devices below
Result<void> replaceMirrorBy(const std::string &name, const std::string &from)
{
	Result<std::optional<Mapped>> below = findMapped(from);
	if (!below)
		return below.error();
	if (!*below)
		return invalidError(from + " does not exist");
	if (Result<void> done = replaceTable(name, (*below)->table); !done)
		return done;
	for (const std::string &part : {oldName(name), newName(name)})
		if (Result<void> done = removeMapped(part); !done)
			return done;
	return {};
}

} // namespace

std::string oldName(const std::string &name)
{
	return name + "-old";
}

std::string newName(const std::string &name)
{
	return name + "-new";
}

// "4 256 259:3 0 259:5 0 ...": number of disks, sectors of a chunk, then each disk and its offset
ConfigStripe stripeOf(const std::string &name, const Mapped &striped, const Snapshot &all)
{
	ConfigStripe stripe;
	stripe.name = name;
	if (striped.table.size() != 1 || striped.table[0].type != "striped")
		return stripe;
	const std::vector<std::string> words = gpu::wordsOf(striped.table[0].parameters);
	if (words.size() > 1)
		stripe.chunk = number(words[1]).value_or(0) * sector;
	for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
		std::error_code ignored;
		const std::string disk =
			std::filesystem::read_symlink("/sys/dev/block/" + words[i], ignored).filename();
		const auto found = std::ranges::find(all.namespaces, disk, &Namespace::name);
		stripe.members.push_back(found == all.namespaces.end() ? "" : found->wwid);
	}
	return stripe;
}

std::optional<CopyState> parseCopy(const std::string &status)
{
	const std::vector<std::string> words = gpu::wordsOf(status);
	const std::optional<std::uint64_t> sides = words.empty() ? std::nullopt : number(words[0]);
	constexpr std::uint64_t maxSides = 8;
	if (!sides || *sides > maxSides || words.size() < *sides + 4)
		return std::nullopt;
	const std::string &ratio = words[*sides + 1], &health = words[*sides + 3];
	const std::size_t slash = ratio.find('/');
	if (slash == ratio.npos)
		return std::nullopt;
	const auto done = number(std::string_view(ratio).substr(0, slash)),
		   of = number(std::string_view(ratio).substr(slash + 1));
	if (!done || !of || *done > *of)
		return std::nullopt;
	return CopyState{*done, *of, health.find_first_not_of('A') != health.npos};
}

Result<void> beginCopy(const Mapped &stripe, const Target &to)
{
	const std::string &name = stripe.name;
	if (to.length < stripe.sectors())
		return invalidError("the new stripe is smaller than the existing one");
	const std::string before = oldName(name), after = newName(name);
	if (Result<void> made = createMapped(before, stripe.table); !made)
		return made;
	if (Result<void> made = createMapped(after, {to}); !made) {
		static_cast<void>(removeMapped(before));
		return made;
	}
	const Target mirror{
		0, stripe.sectors(), "mirror",
		fmt::format("core 1 {} 2 {} 0 {} 0 1 handle_errors", regionSectors, device(before), device(after))};
	Result<void> done = replaceTable(name, {mirror});
	if (!done)
		for (const std::string &part : {before, after})
			static_cast<void>(removeMapped(part));
	return done;
}

bool isCopying(const Mapped &stripe)
{
	return stripe.table.size() == 1 && stripe.table[0].type == "mirror";
}

Result<CopyState> copyState(const std::string &name)
{
	Result<std::string> status = mappedStatus(name);
	if (!status)
		return status.error();
	const std::optional<CopyState> state = parseCopy(*status);
	return state ? Result<CopyState>(*state) : Result<CopyState>(invalidError(name + " is not being copied"));
}

Result<void> endCopy(const std::string &name)
{
	return replaceMirrorBy(name, newName(name));
}

Result<void> undoCopy(const std::string &name)
{
	return replaceMirrorBy(name, oldName(name));
}

} // namespace nofctl::stripe
