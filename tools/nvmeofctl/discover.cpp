// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discover.h"

#include <csignal>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "connect_plan.h"
#include "context.h"
#include "signals.h"
#include "table.h"

using namespace nvmeof;

namespace {

constexpr std::uint16_t firstOfNone = 0xfff0; // controller IDs from here on are none

std::string addressOf(const DiscoveryEntry &entry)
{
	if (entry.addressFamily == "ipv4" || entry.addressFamily == "ipv6")
		return Address{entry.traddr, entry.trsvcid}.toString();
	return entry.trsvcid.empty() ? entry.traddr : entry.traddr + " " + entry.trsvcid;
}

std::string notesOf(const DiscoveryEntry &entry)
{
	std::vector<std::string> notes;
	if (!entry.defect.empty())
		notes.push_back("unusable: " + entry.defect);
	if (entry.secureChannel == SecureChannel::required)
		notes.emplace_back("needs a secure channel");
	if (entry.persistent)
		notes.emplace_back("persistent");
	if (entry.duplicate)
		notes.emplace_back("duplicate");
	return fmt::format("{}", fmt::join(notes, ", "));
}

Json entryJson(const DiscoveryEntry &entry)
{
	Json json{{"kind", toString(entry.kind)},
		  {"transport", entry.transport},
		  {"address_family", entry.addressFamily},
		  {"traddr", entry.traddr},
		  {"trsvcid", entry.trsvcid},
		  {"nqn", entry.subsysnqn},
		  {"port_id", entry.portId},
		  {"admin_queue_size", entry.adminQueueSize},
		  {"secure_channel", toString(entry.secureChannel)},
		  {"sq_flow_off", entry.sqFlowOff},
		  {"persistent", entry.persistent},
		  {"duplicate", entry.duplicate},
		  {"usable", entry.defect.empty()}};
	if (entry.cntlid < firstOfNone)
		json["cntlid"] = entry.cntlid;
	if (!entry.defect.empty())
		json["defect"] = entry.defect;
	return json;
}

int reportOne(Context &context, const ConnectOptions &options, const Result<DiscoveryLog> &log, Json &results)
{
	std::string address = options.address.toString();
	Json entry{{"address", address}};
	int code = 0;
	if (log) {
		entry["log"] = toJson(*log);
		if (!context.json())
			context.out() << address << ": " << formatLog(*log);
	} else {
		entry["error"] = toJson(log.error());
		code = context.complain(address, log.error(), connectNextStep(log.error(), options));
	}
	results.push_back(entry);
	return code;
}

} // namespace

std::string formatLog(const DiscoveryLog &log)
{
	std::string text = fmt::format("{} entr{}, generation {}\n", log.entries.size(),
				       log.entries.size() == 1 ? "y" : "ies", log.generation);
	if (log.entries.empty())
		return text;
	Table table({{"KIND"}, {"TRANSPORT"}, {"ADDRESS"}, {"PORT", Align::right}, {"NQN"}, {"NOTES"}});
	for (const DiscoveryEntry &entry : log.entries)
		table.add({toString(entry.kind), entry.transport, addressOf(entry), std::to_string(entry.portId),
			   entry.subsysnqn, notesOf(entry)});
	return text + table.render();
}

Json toJson(const DiscoveryLog &log)
{
	Json entries = Json::array();
	for (const DiscoveryEntry &entry : log.entries)
		entries.push_back(entryJson(entry));
	return Json{{"generation", log.generation}, {"entries", entries}};
}

// An interruption waits until the controller that was made for it is gone: nobody else would remove it.
int runDiscover(Context &context)
{
	Result<ConnectPlan> plan = planConnect(context.args(), {discoveryNqn, discoveryPort});
	if (!plan)
		return context.fail("", plan.error());
	Result<Client> client = Client::open({"nvmeof_" + plan->options.front().transport});
	if (!client)
		return context.fail("", client.error());
	Signals signals{SIGINT, SIGTERM, SIGHUP};
	Json results = Json::array();
	int code = 0;
	for (const ConnectOptions &options : plan->options) {
		int one = reportOne(context, options, client->discover(options, plan->timeout), results);
		code = code ? code : one; // of the first that failed
		if (int signal = signals.next())
			dieOf(signal);
	}
	if (context.json())
		context.print(Json{{"results", results}});
	return code;
}
