// SPDX-License-Identifier: LGPL-2.1-or-later
// cdc: state and control of nvmeof-cdc, over its control socket.
#include <iostream>
#include <map>

#include <fmt/format.h>

#include <nvmeof/address.h>

#include "cdc_socket.h"
#include "cdc_text.h"
#include "context.h"
#include "libctl/base/file.h"
#include "libctl/base/printable.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s, drainTimeout = 120s;
constexpr auto noTimeout = -1ms;

using Text = std::string (*)(const Json &);

std::string changesText(const Json &document)
{
	std::string text;
	auto list = document.find("changes");
	for (const Json &change : list != document.end() && list->is_array() ? *list : Json::array())
		text += cdcChangeText(change);
	return text.empty() ? "nothing has changed yet\n" : text;
}

const std::map<std::string, Text> &views()
{
	static const std::map<std::string, Text> views{
		{"status", cdcStatusText}, {"hosts", cdcHostsText},         {"targets", cdcTargetsText},
		{"zones", cdcZonesText},   {"instances", cdcInstancesText}, {"changes", changesText},
	};
	return views;
}

int reportFailure(Context &context, const Error &error)
{
	const char *step = "";
	if (error.code == ErrorCode::noSuchObject && error.sysErrno)
		step = "start it with 'systemctl start nvmeof-cdc', see 'journalctl -u nvmeof-cdc', or give another "
		       "socket with --socket";
	else if (error.code == ErrorCode::noSuchObject)
		step = "'nvmeofctl cdc target list', 'cdc zone list' and 'cdc host list' show the existing "
		       "records";
	else if (error.code == ErrorCode::notPermitted)
		step = "run it as root; members of the socket's group may only read";
	return context.fail("", error, step);
}

// ---- set and remove

Result<Json> targetsOf(const Args &args)
{
	Json targets = Json::array();
	for (const std::string &text : args.all("traddr")) {
		Result<Address> address = parseAddress(text, args.textOr("trsvcid", "4420"));
		if (!address)
			return address.error();
		targets.push_back({{"nqn", args.textOr("NQN", "")},
				   {"transport", args.textOr("transport", "tcp")},
				   {"traddr", address->traddr},
				   {"trsvcid", address->trsvcid},
				   {"state", args.textOr("state", "optimized")}});
	}
	return Json{{"targets", targets}};
}

Result<Json> zoneOf(const Args &args)
{
	return Json{
		{"zones",
		 {{{"name", args.textOr("NAME", "")}, {"hosts", args.all("host")}, {"targets", args.all("target")}}}}};
}

Result<std::string> textOf(const std::string &file)
{
	constexpr std::size_t largest = 64 << 20;
	if (file == "-")
		return std::string(std::istreambuf_iterator<char>(std::cin), {});
	return nofctl::readWholeFile(file, largest);
}

// Records in the form in which 'cdc target list' and 'cdc zone list' print them.
Result<Json> recordsIn(const Args &args)
{
	const std::string file = args.textOr("file", "");
	Result<std::string> text = textOf(file);
	if (!text)
		return text.error();
	const Json document = Json::parse(*text, nullptr, false);
	Json records = Json::object();
	for (const char *kind : {"targets", "zones"})
		if (document.is_object() && document.contains(kind))
			records[kind] = document[kind];
	if (records.empty())
		return usageError(file + ": contains neither targets nor zones");
	return records;
}

// ---- answers

// The result of --dry-run.
std::string lossesText(const Json &answer)
{
	std::string text = fmt::format("{} would change {} records; nothing was changed\n", memberText(answer, "would"),
				       memberText(answer, "records"));
	const auto hosts = answer.find("hosts");
	if (hosts == answer.end() || !hosts->is_array() || hosts->empty())
		return text + "no known host would lose a target\n";
	for (const Json &host : *hosts) {
		text += fmt::format("{} would lose {} of {} targets:\n", nofctl::printable(memberText(host, "nqn")),
				    memberText(host, "loses"), memberText(host, "sees"));
		const auto targets = host.find("targets");
		for (const Json &target : targets != host.end() && targets->is_array() ? *targets : Json::array())
			text += fmt::format("  {}\n",
					    target.is_string() ? nofctl::printable(target.get<std::string>()) : "-");
	}
	return text;
}

std::string doneText(const Json &answer)
{
	if (answer.contains("would"))
		return lossesText(answer);
	const std::string done = memberText(answer, "done");
	if (!answer.contains("records"))
		return fmt::format("nvmeof-cdc: {}\n", done);
	return fmt::format("{}: {} records changed, generation {}\n", done, memberText(answer, "records"),
			   memberText(answer, "generation"));
}

int show(Context &context, const Json &answer, const std::string &what)
{
	auto view = views().find(what);
	if (context.json() || what == "backup")
		context.print(answer);
	else
		context.out() << (view != views().end() ? view->second(answer) : doneText(answer));
	return 0;
}

// Prints changes until the service ends the connection. Flushes each line for the reader of a pipe.
int follow(Context &context, CdcSocket &socket)
{
	for (;;) {
		Result<Json> line = socket.receive(noTimeout);
		if (!line)
			return reportFailure(context, line.error());
		if (context.json())
			context.out() << dump(withSchema(*line), -1) << std::endl;
		else if (auto change = line->find("change"); change != line->end())
			context.out() << cdcChangeText(*change) << std::flush;
		else if (line->contains("dropped"))
			context.out() << memberText(*line, "dropped")
				      << " changes were dropped: this client reads too slowly" << std::endl;
		if (!context.out())
			return 0; // the reader has gone; main() reports it
	}
}

Result<CdcSocket> ask(const Args &args, const Json &request)
{
	Result<CdcSocket> socket = CdcSocket::open(args.textOr("socket", "/run/nvmeof-cdc/control"));
	if (!socket)
		return socket;
	Result<void> sent = socket->send(request);
	return sent ? std::move(socket) : Result<CdcSocket>(sent.error());
}

int exchange(Context &context, const std::string &command, const Json &records)
{
	const Args &args = context.args();
	Json request{{"command", command}};
	request.update(records);
	for (const auto &[flag, member] :
	     {std::pair("follow", "follow"), std::pair("force", "force"), std::pair("dry-run", "dry_run")})
		if (args.has(flag))
			request[member] = true;
	Result<CdcSocket> socket = ask(args, request);
	if (!socket)
		return reportFailure(context, socket.error());
	if (args.has("follow"))
		return follow(context, *socket);
	Result<Json> answer = socket->receive(command == "drain" ? drainTimeout : patience);
	return answer ? show(context, *answer, command) : reportFailure(context, answer.error());
}

int change(Context &context, const std::string &command, const Result<Json> &records)
{
	return records ? exchange(context, command, *records) : context.fail("", records.error());
}

} // namespace

int runCdcView(Context &context)
{
	return exchange(context, context.command().name, Json::object());
}

int runCdcHosts(Context &context)
{
	return exchange(context, "hosts", Json::object());
}

int runCdcTargets(Context &context)
{
	return exchange(context, "targets", Json::object());
}

int runCdcZones(Context &context)
{
	return exchange(context, "zones", Json::object());
}

int runCdcSetTarget(Context &context)
{
	return change(context, "set", targetsOf(context.args()));
}

int runCdcSetZone(Context &context)
{
	return change(context, "set", zoneOf(context.args()));
}

int runCdcSetFile(Context &context)
{
	return change(context, "set", recordsIn(context.args()));
}

int runCdcRemoveTarget(Context &context)
{
	return change(context, "remove", targetsOf(context.args()));
}

int runCdcRemoveZone(Context &context)
{
	return exchange(context, "remove", {{"zones", {context.args().textOr("NAME", "")}}});
}

int runCdcRemoveHost(Context &context)
{
	return exchange(context, "remove", {{"hosts", {context.args().textOr("NAME", "")}}});
}

int runCdcRemoveFile(Context &context)
{
	return change(context, "remove", recordsIn(context.args()));
}
