// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus.h"

#include <cerrno>
#include <cstring>

#include <syslog.h>

#include <fmt/format.h>

#include "bus_name.h"
#include "journal.h"
#include "jitter.h"
#include "status.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace nvmeofd {

namespace {

constexpr std::chrono::milliseconds lookAgain = 30s;
constexpr uint32_t primaryOwner = 1; // of a name: D-Bus specification, RequestName

int status(sd_bus_message *call, void *data, sd_bus_error *)
{
	// what targets sent may be no UTF-8, which the bus insists on
	std::string text = toJson(static_cast<Bus *>(data)->daemon().status())
				   .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
	return sd_bus_reply_method_return(call, "s", text.c_str());
}

int reload(sd_bus_message *call, void *data, sd_bus_error *error)
{
	Result<void> done = static_cast<Bus *>(data)->daemon().reload();
	if (!done)
		return sd_bus_error_set(error, busErrorConfig, done.error().message.c_str());
	return sd_bus_reply_method_return(call, "");
}

int rescan(sd_bus_message *call, void *data, sd_bus_error *)
{
	static_cast<Bus *>(data)->daemon().rescan();
	return sd_bus_reply_method_return(call, "");
}

int pause(sd_bus_message *call, void *data, sd_bus_error *)
{
	int on = 0;
	int result = sd_bus_message_read(call, "b", &on);
	if (result < 0)
		return result;
	static_cast<Bus *>(data)->daemon().pause(on);
	return sd_bus_reply_method_return(call, "");
}

const sd_bus_vtable methods[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Status", "", "s", status, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reload", "", "", reload, 0),
	SD_BUS_METHOD("Rescan", "", "", rescan, 0),
	SD_BUS_METHOD("Pause", "b", "", pause, 0),
	SD_BUS_VTABLE_END,
};

} // namespace

Bus::Bus(Loop &loop, Daemon &daemon) : loop_(loop), daemon_(daemon), again_(loop, [this] { open(); })
{
	open();
}

Bus::~Bus()
{
	close();
}

void Bus::close()
{
	if (bus_)
		sd_bus_close_unref(bus_);
	bus_ = nullptr;
}

int Bus::offer()
{
	int result = sd_bus_open_system(&bus_);
	if (result >= 0)
		result = sd_bus_add_object_vtable(bus_, nullptr, busPath, busInterface, methods, this);
	if (result >= 0)
		result = sd_bus_attach_event(bus_, loop_.event(), SD_EVENT_PRIORITY_NORMAL);
	// nothing waits for a bus that does not answer
	if (result >= 0)
		result = sd_bus_request_name_async(
			bus_, nullptr, busName, 0,
			[](sd_bus_message *answer, void *data, sd_bus_error *) {
				static_cast<Bus *>(data)->named(answer);
				return 0;
			},
			this);
	// when the bus goes, it is looked for again
	if (result >= 0)
		result = sd_bus_match_signal(
			bus_, nullptr, nullptr, "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
			"Disconnected",
			[](sd_bus_message *, void *data, sd_bus_error *) {
				static_cast<Bus *>(data)->again_.start(jittered(lookAgain));
				return 0;
			},
			this);
	return result;
}

void Bus::named(sd_bus_message *answer)
{
	const sd_bus_error *error = sd_bus_message_get_error(answer);
	uint32_t result = 0;
	if (error)
		failed(error->message ? error->message : "refused");
	else if (sd_bus_message_read(answer, "u", &result) < 0 || result != primaryOwner)
		failed("somebody else has the name");
	else
		told_ = false;
}

void Bus::failed(const char *why)
{
	if (!told_)
		say(LOG_NOTICE,
		    fmt::format("no place on the system bus, 'nvmeofctl daemon' will not reach this: {}", why));
	told_ = true;
	again_.start(jittered(lookAgain));
}

void Bus::open()
{
	close();
	int result = offer();
	if (result < 0)
		failed(strerror(-result));
}

} // namespace nvmeofd
