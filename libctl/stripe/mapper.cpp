// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mapper.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <libdevmapper.h>

#include <fmt/format.h>

namespace nofctl::stripe {

using namespace nvmeof;

namespace {

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

Result<void> createMapped(const std::string &name, const std::string &uuid, const std::vector<Target> &table)
{
	Task task(DM_DEVICE_CREATE, name);
	if (!task.get() || !dm_task_set_uuid(task.get(), uuid.c_str()) || !addTargets(task, table) ||
	    !task.runWithNodes())
		return task.error("cannot be created:");
	return {};
}

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

Result<void> removeMapped(const std::string &name)
{
	return change(DM_DEVICE_REMOVE, name, "cannot be removed:");
}

Result<std::string> mappedStatus(const std::string &name)
{
	Task task(DM_DEVICE_STATUS, name);
	if (!task.run())
		return task.error("cannot be queried:");
	const std::vector<Target> table = targetsOf(task);
	return table.empty() ? std::string() : table.front().parameters;
}

} // namespace nofctl::stripe
