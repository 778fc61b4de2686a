// SPDX-License-Identifier: LGPL-2.1-or-later
// daemon: state and control of nvmeofd, over the system bus.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <systemd/sd-bus.h>

#include "context.h"
#include "daemon_bus.h"
#include "documents.h"
#include "nvmeofd/bus_name.h"
#include "table.h"

using namespace nvmeof;

namespace {

template <typename T, T *(*unref)(T *)> struct Unref {
	void operator()(T *object) const { unref(object); }
};
using Bus = std::unique_ptr<sd_bus, Unref<sd_bus, sd_bus_flush_close_unref>>;
using Message = std::unique_ptr<sd_bus_message, Unref<sd_bus_message, sd_bus_message_unref>>;

// Converts an error of the bus or the daemon. Other errors keep the daemon's message.
Error busError(int result, const sd_bus_error &said)
{
	if (sd_bus_error_has_name(&said, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd_bus_error_has_name(&said, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return {ErrorCode::noSuchObject,
			ESRCH,
			"nvmeofd is not running, or not on the system bus",
			{},
			{},
			{},
			false};
	if (sd_bus_error_has_name(&said, SD_BUS_ERROR_ACCESS_DENIED))
		return errorFromErrno(EPERM, "not allowed");
	if (sd_bus_error_has_name(&said, SD_BUS_ERROR_UNKNOWN_METHOD))
		return {ErrorCode::failed, ENOSYS, "nvmeofd is too old for this call; upgrade it", {}, {}, {}, false};
	if (sd_bus_error_has_name(&said, nvmeofd::busErrorConfig))
		return {ErrorCode::invalid, EINVAL, said.message, {}, {}, {}, false};
	return errorFromErrno(-result, said.message ? said.message : "");
}

// Returns the string that the method answers; empty if it answers none.
Result<std::string> call(const char *method, std::optional<bool> argument)
{
	sd_bus *opened = nullptr;
	int result = sd_bus_open_system(&opened);
	if (result < 0) {
		Error error = errorFromErrno(-result,
					     fmt::format("cannot reach the system bus, which this command needs: {}; "
							 "'systemctl status dbus' shows its state",
							 strerror(-result)));
		error.code = ErrorCode::failed;
		return error;
	}
	Bus bus(opened);
	sd_bus_error said = SD_BUS_ERROR_NULL;
	sd_bus_message *got = nullptr;
	if (argument)
		result = sd_bus_call_method(bus.get(), nvmeofd::busName, nvmeofd::busPath, nvmeofd::busInterface,
					    method, &said, &got, "b", static_cast<int>(*argument));
	else
		result = sd_bus_call_method(bus.get(), nvmeofd::busName, nvmeofd::busPath, nvmeofd::busInterface,
					    method, &said, &got, "");
	Message answer(got);
	if (result < 0) {
		Error error = busError(result, said);
		sd_bus_error_free(&said);
		return error;
	}
	const char *text = "";
	if (!sd_bus_message_is_empty(got) && sd_bus_message_read(got, "s", &text) < 0)
		return errorFromErrno(EPROTO);
	return std::string(text);
}

// Interface on which mDNS found the service, and whether it is no longer announced
std::string mdnsNote(const Json &service)
{
	const Json &mdns = member(service, "mdns");
	if (mdns.is_null())
		return {};
	return fmt::format(" (mDNS on {}{})", memberText(mdns, "interface"),
			   isTrue(mdns, "announced") ? "" : ", no longer announced");
}

std::string services(const Json &status)
{
	Table table({{"Service"},
		     {"State"},
		     {"Controller"},
		     {"Entries", Align::right},
		     {"Age", Align::right},
		     {"Connections", Align::right},
		     {"Error"}});
	for (const Json &one : status["services"])
		table.add({memberText(one, "service") + mdnsNote(one), memberText(one, "state"),
			   memberText(one, "controller"),
			   one["log"].is_null() ? "-" : memberText(one["log"], "entries"),
			   one.contains("age_s") ? fmt::format("{:.0f} s", one["age_s"].get<double>()) : "-",
			   memberText(one, "connections"), memberText(one, "error")});
	return status["services"].empty() ? "no discovery service is configured or found by mDNS\n" : table.render();
}

std::string connections(const Json &status)
{
	Table table({{"Address"}, {"NQN"}, {"State"}, {"Controller"}, {"Error"}});
	for (const Json &one : status["connections"])
		table.add({memberText(one, "transport") + " " + memberText(one, "address"), memberText(one, "nqn"),
			   memberText(one, "state"), memberText(one, "controller"), memberText(one, "error")});
	return status["connections"].empty() ? "no connection is configured or discovered\n" : table.render();
}

std::string stripes(const Json &status)
{
	std::string lines;
	for (const Json &one : listOf(status, "stripes"))
		lines += nofctl::printable(
				 fmt::format("stripe {}: {}{}{}", memberText(one, "name"), memberText(one, "state"),
					     one["missing"].empty() ? "" : ", missing " + one["missing"].dump(),
					     one.contains("error") ? ": " + memberText(one, "error") : "")) +
			 "\n";
	return lines.empty() ? "" : "\n" + lines;
}

std::string refusals(const Json &status)
{
	std::string lines;
	for (const Json &one : listOf(status, "kept"))
		lines += nofctl::printable(fmt::format("{} is kept: {}", memberText(one, "controller"),
						       memberText(one, "reason"))) +
			 "\n";
	for (const Json &one : status["refusals"])
		lines += nofctl::printable(fmt::format("not connected: {}: {}", memberText(one, "what"),
						       memberText(one, "reason"))) +
			 "\n";
	if (status["more_refusals"] != 0)
		lines += fmt::format("and {} more\n", memberText(status, "more_refusals"));
	if (const Json &mdns = member(status, "mdns"); !member(mdns, "error").is_null())
		lines += nofctl::printable(fmt::format("mDNS: {}", memberText(mdns, "error"))) + "\n";
	for (const auto &[name, why] : status["unresolved"].items())
		lines += nofctl::printable(fmt::format("no address found for {}: {}", name, why.get<std::string>())) +
			 "\n";
	return lines;
}

std::string formatStatus(const Json &status)
{
	std::string top = status["paused"].get<bool>() ? "paused: nothing is connected or disconnected\n\n" : "";
	std::string rest = refusals(status);
	return top + services(status) + "\n" + connections(status) + stripes(status) +
	       (rest.empty() ? "" : "\n" + rest);
}

constexpr const char *startIt = "start it with 'systemctl start nvmeofd', or see 'journalctl -u nvmeofd'";

int reportDaemonFailure(Context &context, const Error &error)
{
	return context.fail("", error, error.code == ErrorCode::noSuchObject ? startIt : "");
}

std::string reloadText(const Json &told)
{
	std::string text = "nvmeofd: reload\n";
	for (const Json &line : listOf(told, "lines"))
		text += nofctl::printable(line.get<std::string>()) + "\n";
	return text;
}

std::uint64_t microsecondsUntil(std::chrono::steady_clock::time_point deadline)
{
	const auto left =
		std::chrono::duration_cast<std::chrono::microseconds>(deadline - std::chrono::steady_clock::now());
	return static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 0));
}

// For sd_bus_call(), which takes 0 as its default timeout of 25 s.
std::uint64_t timeoutUntil(std::chrono::steady_clock::time_point deadline)
{
	return std::max<std::uint64_t>(microsecondsUntil(deadline), 1);
}

using QuickBus = std::unique_ptr<sd_bus, Unref<sd_bus, sd_bus_close_unref>>; // no flush, which could block

// Null if there is no bus, or if it is not ready before @deadline.
QuickBus openWithin(std::chrono::steady_clock::time_point deadline)
{
	sd_bus *opened = nullptr;
	if (sd_bus_open_system(&opened) < 0)
		return nullptr;
	QuickBus bus(opened);
	// sd_bus_call() alone would wait for the authentication of the bus beyond the deadline.
	while (sd_bus_is_ready(bus.get()) == 0) {
		const int processed = sd_bus_process(bus.get(), nullptr);
		const std::uint64_t left = microsecondsUntil(deadline);
		if (processed < 0 || !left || (!processed && sd_bus_wait(bus.get(), left) < 0))
			return nullptr;
	}
	return bus;
}

constexpr const char *otherVersion = "cannot parse the answer of nvmeofd, which may be of another version";

// Calls a method, and waits for its answer at most one second. @types, @args: arguments of sd_bus_message_append()
template <typename... Args>
Result<Message> callQuickly(const char *to, const char *path, const char *interface, const char *method,
			    const char *types, Args... args)
{
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
	const QuickBus bus = openWithin(deadline);
	if (!bus)
		return errorFromErrno(ETIMEDOUT, "no answer from the system bus");
	sd_bus_message *made = nullptr, *got = nullptr;
	int result = sd_bus_message_new_method_call(bus.get(), &made, to, path, interface, method);
	const Message question(made);
	if (result >= 0)
		result = sd_bus_message_append(made, types, args...);
	if (result < 0)
		return errorFromErrno(-result);
	sd_bus_error said = SD_BUS_ERROR_NULL;
	result = sd_bus_call(bus.get(), made, timeoutUntil(deadline), &said, &got);
	Message answer(got);
	if (result >= 0)
		return answer;
	Error error =
		result == -ETIMEDOUT ? errorFromErrno(ETIMEDOUT, "no answer within a second") : busError(result, said);
	sd_bus_error_free(&said);
	return error;
}

} // namespace

std::optional<bool> daemonRuns()
{
	Result<Message> answer = callQuickly("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
					     "NameHasOwner", "s", nvmeofd::busName);
	int has = 0;
	if (!answer || sd_bus_message_read(answer->get(), "b", &has) < 0)
		return std::nullopt;
	return has != 0;
}

Result<Json> daemonStatus()
{
	Result<Message> answer = callQuickly(nvmeofd::busName, nvmeofd::busPath, nvmeofd::busInterface, "Status", "");
	if (!answer)
		return answer.error();
	const char *text = "";
	if (sd_bus_message_read(answer->get(), "s", &text) < 0)
		return errorFromErrno(EPROTO);
	Json status = Json::parse(text, nullptr, false);
	if (!status.is_object())
		return errorFromErrno(EPROTO, otherVersion);
	return status;
}

std::optional<bool> unitActive(const std::string &unit)
{
	char *path = nullptr;
	if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &path) < 0)
		return std::nullopt;
	const std::unique_ptr<char, decltype(&::free)> owned(path, ::free);
	Result<Message> answer = callQuickly("org.freedesktop.systemd1", path, "org.freedesktop.DBus.Properties", "Get",
					     "ss", "org.freedesktop.systemd1.Unit", "ActiveState");
	const char *state = nullptr;
	if (!answer || sd_bus_message_read(answer->get(), "v", "s", &state) < 0 || !state)
		return std::nullopt;
	const std::string_view text = state;
	return text == "active" || text == "reloading";
}

bool unitEnabled(const std::string &unit)
{
	std::error_code error;
	for (std::filesystem::directory_iterator at("/etc/systemd/system", error), end; !error && at != end;
	     at.increment(error))
		if (at->path().extension() == ".wants" && std::filesystem::is_symlink(at->path() / unit, error))
			return true;
	return false;
}

int runDaemonStatus(Context &context)
{
	Result<std::string> answer = call("Status", {});
	if (!answer)
		return reportDaemonFailure(context, answer.error());
	Json status = Json::parse(*answer, nullptr, false);
	if (status.is_discarded() || !status.is_object())
		return reportDaemonFailure(context, errorFromErrno(EPROTO, otherVersion));
	if (context.json())
		context.print(status);
	else
		context.out() << formatStatus(status);
	return 0;
}

// An older daemon has only Reload, which answers nothing.
int runDaemonReload(Context &context)
{
	Result<std::string> done = call("ReloadWithReport", {});
	if (!done && done.error().sysErrno == ENOSYS)
		done = call("Reload", {});
	if (!done)
		return reportDaemonFailure(context, done.error());
	Json told = Json::parse(*done, nullptr, false);
	if (!told.is_object())
		told = Json::object();
	if (context.json())
		context.print(reloadDocument(told));
	else
		context.out() << reloadText(told);
	return 0;
}

int runDaemonCall(Context &context)
{
	const std::string &verb = context.command().name;
	Result<std::string> done = verb == "rescan" ? call("Rescan", {}) : call("Pause", verb == "pause");
	if (!done)
		return reportDaemonFailure(context, done.error());
	if (context.json())
		context.print(doneDocument("nvmeofd", verb.c_str()));
	else
		context.out() << fmt::format("nvmeofd: {}\n", verb);
	return 0;
}
