// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus.h"

#include <syslog.h>

#include <fmt/format.h>

#include "bus_name.h"
#include "libctl/runtime/journal.h"
#include "status.h"

using namespace nvmeof;

namespace nvmeofd {

using namespace runtime;

namespace {

constexpr uint32_t primaryOwner = 1; // reply to RequestName: D-Bus specification

int status(sd_bus_message *call, void *data, sd_bus_error *)
{
	// strings from targets may be invalid UTF-8, which D-Bus does not accept
	std::string text = toJson(static_cast<Bus *>(data)->daemon().status())
				   .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
	return sd_bus_reply_method_return(call, "s", text.c_str());
}

int reload(sd_bus_message *call, void *data, sd_bus_error *error)
{
	Result<Reloaded> done = static_cast<Bus *>(data)->daemon().reload();
	if (!done)
		return sd_bus_error_set(error, busErrorConfig, done.error().message.c_str());
	return sd_bus_reply_method_return(call, "");
}

// Same, with a report of what the reload changed
int reloadWithReport(sd_bus_message *call, void *data, sd_bus_error *error)
{
	Result<Reloaded> done = static_cast<Bus *>(data)->daemon().reload();
	if (!done)
		return sd_bus_error_set(error, busErrorConfig, done.error().message.c_str());
	const std::string text = toJson(*done).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
	return sd_bus_reply_method_return(call, "s", text.c_str());
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
	SD_BUS_METHOD("ReloadWithReport", "", "s", reloadWithReport, 0),
	SD_BUS_METHOD("Rescan", "", "", rescan, 0),
	SD_BUS_METHOD("Pause", "b", "", pause, 0),
	SD_BUS_VTABLE_END,
};

} // namespace

Bus::Bus(Loop &loop, Daemon &daemon)
	: daemon_(daemon),
	  bus_(
		  loop, [this](sd_bus *bus) { return offer(bus); }, [this](const std::string &why) { failed(why); })
{
}

int Bus::offer(sd_bus *bus)
{
	int result = sd_bus_add_object_vtable(bus, nullptr, busPath, busInterface, methods, this);
	if (result < 0)
		return result;
	return sd_bus_request_name_async(
		bus, nullptr, busName, 0,
		[](sd_bus_message *answer, void *data, sd_bus_error *) {
			static_cast<Bus *>(data)->named(answer);
			return 0;
		},
		this);
}

void Bus::named(sd_bus_message *answer)
{
	const sd_bus_error *error = sd_bus_message_get_error(answer);
	uint32_t result = 0;
	if (error)
		bus_.giveUp(error->message ? error->message : "refused");
	else if (sd_bus_message_read(answer, "u", &result) < 0 || result != primaryOwner)
		bus_.giveUp("another process owns the bus name");
	else
		told_ = false;
}

void Bus::failed(const std::string &why)
{
	if (!told_)
		say(LOG_NOTICE, fmt::format("no system bus, so 'nvmeofctl daemon' cannot reach this daemon: {}", why));
	told_ = true;
}

} // namespace nvmeofd
