// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discover.h"

#include <algorithm>
#include <atomic>
#include <ostream>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/name.h>

#include "configuration.h"
#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "table.h"
#include "terminal.h"

using namespace nvmeof;

namespace {

constexpr std::size_t maxReaders = 16;               // threads
constexpr std::uint16_t firstInvalidCntlid = 0xfff0; // FFF0h to FFFFh are not controller IDs

std::string addressOf(const DiscoveryEntry &entry)
{
	if (entry.addressFamily == "ipv4" || entry.addressFamily == "ipv6")
		return Address{entry.traddr, entry.trsvcid}.toString();
	return entry.trsvcid.empty() ? entry.traddr : entry.traddr + " " + entry.trsvcid;
}

std::string securityNote(const DiscoveryEntry &entry)
{
	const bool required = entry.secureChannel == SecureChannel::required;
	const TcpSecurity security = entry.tcpSecurity.value_or(TcpSecurity::none);
	if (security == TcpSecurity::none)
		return required ? "needs a secure channel" : "";
	const std::string how = security == TcpSecurity::unknown ? "an unknown security type" : toString(security);
	return (required ? "needs " : "offers ") + how;
}

std::string notesOf(const DiscoveryEntry &entry)
{
	std::vector<std::string> notes;
	if (!entry.defect.empty())
		notes.push_back("unusable: " + entry.defect);
	if (std::string note = securityNote(entry); !note.empty())
		notes.push_back(note);
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
	if (entry.tcpSecurity)
		json["tcp_security"] = toString(*entry.tcpSecurity);
	if (entry.rdma)
		json["rdma"] = Json{{"queue_pair", toString(entry.rdma->queuePair)},
				    {"provider", toString(entry.rdma->provider)},
				    {"connection_management", toString(entry.rdma->connectionManagement)},
				    {"partition_key", entry.rdma->partitionKey}};
	if (entry.cntlid < firstInvalidCntlid)
		json["cntlid"] = entry.cntlid;
	if (!entry.defect.empty())
		json["defect"] = entry.defect;
	return json;
}

class DiscoveryReport {
public:
	explicit DiscoveryReport(Context &context) : context_(context) {}

	// @host: the host name that resolved to the address; may be empty
	void add(const char *key, const std::string &subject, const std::string &host, const Result<DiscoveryLog> &log,
		 const std::string &nextStep = "");
	int finish();

private:
	Context &context_;
	Json results_ = Json::array();
	int code_ = 0; // of the first that failed
};

void DiscoveryReport::add(const char *key, const std::string &subject, const std::string &host,
			  const Result<DiscoveryLog> &log, const std::string &nextStep)
{
	if (log) {
		if (!context_.json())
			context_.out() << subject << ": " << formatLog(*log);
	} else {
		int code = context_.complain(subject, log.error(), nextStep);
		code_ = code_ ? code_ : code;
	}
	results_.push_back(discoverEntry(key, subject, host, log));
}

int DiscoveryReport::finish()
{
	if (context_.json())
		context_.print(discoverDocument(results_));
	return code_;
}

int discoverThrough(Context &context, const std::string &name)
{
	for (const char *option : {"transport", "nqn", "trsvcid", "host-traddr", "host-iface", "hostnqn", "hostid",
				   "connect-tmo", "dhchap-key", "dhchap-ctrl-key", "tls", "tls-key", "concat"})
		if (context.args().has(option))
			return context.fail(
				"", usageError(fmt::format("--{} cannot be used with an existing controller", option)));
	Result<Client> client = Client::open();
	if (!client)
		return context.fail("", client.error());
	DiscoveryReport report(context);
	report.add("controller", name, "",
		   client->discover(name, context.args().seconds("timeout").value_or(defaultTimeout)));
	return report.finish();
}

// Reads services in parallel. Each thread has a Client of its own, so that a silent service does not delay others.
class Readers {
public:
	Readers(const std::vector<ConnectOptions> &services, std::chrono::milliseconds timeout, std::stop_token stop)
		: services_(services), timeout_(timeout), stop_(std::move(stop)), logs_(services.size())
	{
	}

	std::vector<Result<DiscoveryLog>> read();
	std::string progress() const { return fmt::format("{} of {} read", done_.load(), services_.size()); }

private:
	void work();

	const std::vector<ConnectOptions> &services_;
	const std::chrono::milliseconds timeout_;
	const std::stop_token stop_;
	std::vector<std::optional<Result<DiscoveryLog>>> logs_;
	std::atomic<std::size_t> next_ = 0, done_ = 0;
};

void Readers::work()
{
	Result<Client> client = Client::open();
	for (std::size_t i = next_++; i < services_.size(); i = next_++) {
		logs_[i] =
			client ? client->discover(services_[i], timeout_, stop_) : Result<DiscoveryLog>(client.error());
		done_++;
	}
}

std::vector<Result<DiscoveryLog>> Readers::read()
{
	{
		std::vector<std::jthread> others;
		try {
			while (others.size() + 1 < std::min(services_.size(), maxReaders))
				others.emplace_back([this] { work(); });
		} catch (const std::system_error &) { // continue with fewer threads
		}
		work();
	}
	std::vector<Result<DiscoveryLog>> logs;
	for (std::optional<Result<DiscoveryLog>> &log : logs_)
		logs.push_back(*std::move(log));
	return logs;
}

// Ends the process on an interruption, after the discovery controllers have been removed.
std::vector<Result<DiscoveryLog>> readAll(const ConnectPlan &plan)
{
	Interruption interruption;
	Readers readers(plan.options, plan.timeout, interruption.token());
	std::vector<Result<DiscoveryLog>> logs;
	{
		Progress progress("discover", [&](Client &) { return readers.progress(); });
		logs = readers.read();
	}
	if (int signal = interruption.caught())
		exitBySignal(signal);
	return logs;
}

int discoverAt(Context &context)
{
	Result<ConnectPlan> plan = planConnect(context.args(), {discoveryNqn, discoveryPort});
	if (!plan)
		return context.fail("", plan.error(), nameStep(plan.error()));
	noteNames(context, *plan);
	if (Result<void> taken = takeSecurity(context, *plan); !taken)
		return context.fail("", taken.error(), configStep(taken.error()));
	Result<Client> client = Client::open({"nvmeof_" + plan->options.front().transport});
	if (!client)
		return context.fail("", client.error());
	std::vector<Result<DiscoveryLog>> logs = readAll(*plan);
	DiscoveryReport report(context);
	for (std::size_t i = 0; i < logs.size(); i++)
		report.add("address", plan->options[i].address.toString(), plan->typed[i], logs[i],
			   logs[i] ? "" : connectNextStep(logs[i].error(), plan->options[i]));
	return report.finish();
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

int runDiscover(Context &context)
{
	const Args &args = context.args();
	if (args.has("traddr") == args.has("NAME"))
		return context.fail("", usageError("give either --traddr or the NAME of a controller"));
	return args.has("NAME") ? discoverThrough(context, plainName(args.textOr("NAME", ""))) : discoverAt(context);
}
