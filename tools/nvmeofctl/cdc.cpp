// SPDX-License-Identifier: LGPL-2.1-or-later
// cdc: state and control of nvmeof-cdc, over its control socket.
#include "cdc.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/address.h>

#include "context.h"
#include "libctl/base/file.h"
#include "libctl/base/make_error.h"
#include "libctl/base/text.h"
#include "parse.h"
#include "table.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s, drainTimeout = 120s;
constexpr auto noTimeout = -1ms;

using Text = std::string (*)(const Json &);

std::string changesText(const Json &document)
{
	std::string text;
	for (const Json &change : listOf(document, "changes"))
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
	Json zone{{"name", args.textOr("NAME", "")}, {"hosts", args.all("host")}, {"targets", args.all("target")}};
	for (const auto &[option, member] : {std::pair("demand-auth", "auth"), std::pair("demand-tls", "tls")})
		if (args.has(option))
			zone[member] = args.textOr(option, "");
	return Json{{"zones", {zone}}};
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
	const Json &hosts = listOf(answer, "hosts");
	if (hosts.empty())
		return text + "no known host would lose a target\n";
	for (const Json &host : hosts) {
		text += fmt::format("{} would lose {} of {} targets:\n", nofctl::printable(memberText(host, "nqn")),
				    memberText(host, "loses"), memberText(host, "sees"));
		for (const Json &target : listOf(host, "targets"))
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

// Warns of the key files that a reload could not use. A script learns of them by the exit code.
int reportProblems(Context &context, const Json &answer)
{
	ExitCode code = ExitCode::done;
	for (const Json &problem : listOf(answer, "problems")) {
		const std::string text = problem.is_string() ? problem.get<std::string>() : "-";
		context.warn("", nofctl::makeError(text), "correct that, and reload again");
		code = ExitCode::failed;
	}
	return static_cast<int>(code);
}

int show(Context &context, const Json &answer, const std::string &what)
{
	auto view = views().find(what);
	if (context.json() || what == "backup")
		context.print(answer);
	else
		context.out() << (view != views().end() ? view->second(answer) : doneText(answer));
	return what == "reload" ? reportProblems(context, answer) : 0;
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
	Result<CdcSocket> socket = CdcSocket::open(args.textOr("socket", usualCdcSocket), patience);
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

// "hosts", of the command "cdc host list"
std::string kindOf(const Command &command)
{
	const std::size_t from = command.path.find(' ') + 1;
	return command.path.substr(from, command.path.rfind(' ') - from) + "s";
}

} // namespace

int runCdcView(Context &context)
{
	return exchange(context, context.command().name, Json::object());
}

int runCdcList(Context &context)
{
	return exchange(context, kindOf(context.command()), Json::object());
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

int runCdcRemoveName(Context &context)
{
	return exchange(context, "remove", {{kindOf(context.command()), {context.args().textOr("NAME", "")}}});
}

int runCdcRemoveFile(Context &context)
{
	return change(context, "remove", recordsIn(context.args()));
}

// ---- socket

namespace {

constexpr std::size_t maxRequestSize = 1u << 20;  // bytes; nvmeof-cdc closes the connection after more
constexpr std::size_t maxLineLength = 256u << 20; // bytes; 100,000 hosts take 60 MB

Error timedOut()
{
	return errorFromErrno(ETIMEDOUT, "timed out waiting for an answer of nvmeof-cdc");
}

Error connectError(int error, const std::string &path)
{
	Error failed = errorFromErrno(error, fmt::format("{}: {}", path, std::strerror(error)));
	if (error == ENOENT || error == ECONNREFUSED) {
		failed.code = ErrorCode::noSuchObject;
		failed.message = fmt::format("nvmeof-cdc is not running, or its control socket is not {}", path);
	}
	if (error == EACCES)
		failed.code = ErrorCode::notPermitted;
	return error == EAGAIN ? timedOut() : failed; // its queue of connections stayed full
}

ErrorCode codeOf(const std::string &name)
{
	for (int i = 0; i <= static_cast<int>(ErrorCode::cancelled); i++)
		if (name == toString(static_cast<ErrorCode>(i)))
			return static_cast<ErrorCode>(i);
	return ErrorCode::failed;
}

Error ended()
{
	return errorFromErrno(EPIPE, "nvmeof-cdc closed the connection");
}

Result<Json> answerIn(const std::string &line)
{
	Json answer = Json::parse(line, nullptr, false);
	if (!answer.is_object())
		return errorFromErrno(EPROTO, "cannot parse the answer of nvmeof-cdc, which may be of another version");
	auto error = answer.find("error");
	if (error == answer.end())
		return answer;
	Error refused;
	refused.code = codeOf(memberText(*error, "code"));
	refused.message = memberText(*error, "message");
	return refused;
}

} // namespace

Result<CdcSocket> CdcSocket::open(const std::string &path, std::chrono::milliseconds time)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address.sun_path))
		return usageError(
			fmt::format("--socket: the path is longer than {} characters", sizeof(address.sun_path) - 1));
	std::ranges::copy(path, address.sun_path);
	CdcSocket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (socket.fd_.get() < 0)
		return errorFromErrno(errno);
	const timeval limit{.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000};
	::setsockopt(socket.fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (::connect(socket.fd_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0)
		return connectError(errno, path);
	return socket;
}

Result<void> CdcSocket::send(const Json &request)
{
	const std::string line = dump(request, -1) + "\n";
	if (line.size() > maxRequestSize)
		return usageError(fmt::format("the request has {} KiB: split the file, a request has at most {} KiB",
					      line.size() >> 10, maxRequestSize >> 10));
	for (std::size_t sent = 0; sent < line.size();) {
		const ssize_t n = ::send(fd_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return timedOut();
		if (n < 0 && errno != EINTR)
			return ended();
		sent += n > 0 ? static_cast<std::size_t>(n) : 0;
	}
	return {};
}

Result<void> CdcSocket::fill(std::chrono::milliseconds time)
{
	pollfd ready{fd_.get(), POLLIN, 0};
	const int polled = ::poll(&ready, 1, static_cast<int>(time.count()));
	if (polled < 0 && errno != EINTR)
		return errorFromErrno(errno);
	if (polled == 0)
		return timedOut();
	char room[65536];
	const ssize_t n = polled > 0 ? ::recv(fd_.get(), room, sizeof(room), 0) : -1;
	if (n == 0 || (n < 0 && errno != EINTR) || read_.size() > maxLineLength)
		return ended();
	read_.append(room, n > 0 ? static_cast<std::size_t>(n) : 0);
	return {};
}

Result<Json> CdcSocket::receive(std::chrono::milliseconds time)
{
	const auto deadline = std::chrono::steady_clock::now() + time;
	std::size_t searched = 0;
	for (;;) {
		const std::size_t end = read_.find('\n', searched);
		if (end != read_.npos) {
			const std::string line = read_.substr(0, end);
			read_.erase(0, end + 1);
			return answerIn(line);
		}
		searched = read_.size();
		auto left = time;
		if (time >= 0ms)
			left = std::chrono::ceil<std::chrono::milliseconds>(deadline -
									    std::chrono::steady_clock::now());
		if (time >= 0ms && left <= 0ms)
			return timedOut();
		if (Result<void> filled = fill(left); !filled)
			return filled.error();
	}
}

// ---- text output

namespace {

std::string listText(const Json &list, const char *between = ", ")
{
	std::string text;
	for (const Json &one : list.is_array() ? list : Json::array())
		text += (text.empty() ? "" : between) + (one.is_string() ? one.get<std::string>() : one.dump());
	return text.empty() ? "-" : text;
}

// The first two, and how many more there are
std::string some(const Json &list)
{
	constexpr std::size_t max = 2;
	if (!list.is_array() || list.size() <= max + 1)
		return listText(list);
	return fmt::format("{}, {}, and {} more", list[0].is_string() ? list[0].get<std::string>() : "-",
			   list[1].is_string() ? list[1].get<std::string>() : "-", list.size() - max);
}

std::string moment(double time)
{
	const auto seconds = static_cast<std::time_t>(time);
	std::tm local{};
	char text[64] = "-";
	if (time > 0 && ::localtime_r(&seconds, &local))
		std::strftime(text, sizeof(text), "%F %T", &local);
	return text;
}

std::string portOf(const Json &target)
{
	const std::string traddr = memberText(target, "traddr");
	const bool six = traddr.find(':') != traddr.npos;
	return fmt::format("{} {}{}{}:{}", memberText(target, "transport"), six ? "[" : "", traddr, six ? "]" : "",
			   memberText(target, "trsvcid"));
}

// How the host of a connection has proved its identity
std::string proofText(const Json &connection)
{
	const Json &authentication = member(connection, "authentication");
	if (authentication.is_null())
		return "-";
	return fmt::format("{} {}{}", memberText(authentication, "hash"), memberText(authentication, "dhgroup"),
			   isTrue(authentication, "mutual") ? ", mutual" : "");
}

std::string cipherText(const Json &connection)
{
	const Json &tls = member(connection, "tls");
	return tls.is_null() ? "-" : memberText(tls, "cipher");
}

std::string sourceText(const Json &record)
{
	const std::string owner = memberText(record, "owner");
	return memberText(record, "source") + (owner == "-" ? "" : " " + owner);
}

std::string alerts(const Json &status)
{
	const Json &store = member(status, "store");
	std::string text;
	if (!isTrue(status, "serving"))
		text += "not serving hosts: the store has not loaded its records yet\n";
	if (isTrue(member(status, "instance"), "draining"))
		text += "draining: handing hosts over to other instances\n";
	if (const double cloned = numberOf(member(status, "counts"), "cloned"); cloned > 0)
		text += fmt::format("{:.0f} host NQNs are used by machines with different host IDs: see 'nvmeofctl cdc "
				    "host list'; a cloned machine needs a hostnqn and hostid of its own\n",
				    cloned);
	if (!isTrue(store, "writable"))
		text += "the store cannot be written: " + nofctl::printable(memberText(store, "trouble")) + "\n";
	if (const double since = numberOf(store, "stale_since"); since > 0)
		text += fmt::format("no changes received from other instances since {}\n", moment(since));
	for (const Json &pull : listOf(status, "pulls"))
		if (const Json &trouble = member(pull, "trouble"); !trouble.is_null())
			text += nofctl::printable(fmt::format("the discovery service {}: {}",
							      memberText(pull, "service"),
							      memberText(pull, "trouble"))) +
				"\n";
	return text.empty() ? text : text + "\n";
}

// The services that this instance reads
std::string pullsText(const Json &pulls)
{
	if (pulls.empty())
		return {};
	Table table({{"Read from"}, {"Log"}, {"Events"}, {"Entries", Align::right}, {"Targets", Align::right}});
	for (const Json &pull : pulls)
		table.add({memberText(pull, "service"), isTrue(pull, "read") ? "read" : "not read",
			   isTrue(pull, "watched") ? "subscribed" : "-", memberText(pull, "entries"),
			   memberText(pull, "targets")});
	return "\n" + table.render();
}

std::string countersText(const Json &counters)
{
	std::vector<std::pair<std::string, std::string>> fields;
	for (const auto &[name, value] : counters.items())
		fields.emplace_back(name, value.dump());
	return fields.empty() ? "" : "\nCounters since the start:\n" + renderFields(fields);
}

std::string keyText(const std::string &key)
{
	const std::size_t slash = key.find('/');
	std::string kind = key.substr(0, slash);
	if (kind.ends_with('s'))
		kind.pop_back();
	return slash == key.npos ? key : kind + " " + key.substr(slash + 1);
}

} // namespace

std::string cdcStatusText(const Json &status)
{
	const Json &instance = member(status, "instance"), &counts = member(status, "counts");
	const Json &store = member(status, "store");
	auto count = [&](const char *key) { return memberText(counts, key); };
	return alerts(status) +
	       renderFields({
		       {"Instance", memberText(instance, "id")},
		       {"NQN", memberText(instance, "nqn")},
		       {"Version", memberText(instance, "version")},
		       {"Running since", moment(numberOf(instance, "since"))},
		       {"Addresses", listText(member(instance, "addresses"))},
		       {"Store", memberText(store, "engine") + " " + memberText(store, "place")},
		       {"Generation", memberText(status, "generation")},
		       {"Hosts", fmt::format("{}: {} current, {} behind, {} have not read, {} away; {} registered",
					     count("hosts"), count("current"), count("behind"), count("unread"),
					     count("away"), count("registered"))},
		       {"Connections", count("connections")},
		       {"Targets", count("targets")},
		       {"Zones", fmt::format("{}, {} views", count("zones"), count("views"))},
		       {"Instances", count("instances")},
	       }) +
	       pullsText(listOf(status, "pulls")) + countersText(member(status, "counters"));
}

std::string cdcHostsText(const Json &document)
{
	Table table({{"Host"},
		     {"Address"},
		     {"Log"},
		     {"Generation", Align::right},
		     {"Events"},
		     {"First choice"},
		     {"Authenticated"},
		     {"TLS"},
		     {"Targets", Align::right},
		     {"Zones"}});
	const Json &hosts = listOf(document, "hosts");
	for (const Json &host : hosts) {
		const Json &connections = listOf(host, "connections");
		std::string address = connections.empty() ? "-" : memberText(connections[0], "address");
		if (const double machines = numberOf(host, "machines"); machines > 1)
			address += fmt::format(" ({:.0f} machines)", machines);
		table.add({memberText(host, "nqn"), address, memberText(host, "state"), memberText(host, "generation"),
			   isTrue(host, "persistent") ? "subscribed" : "-",
			   isTrue(host, "first_choice") ? "here" : "elsewhere",
			   connections.empty() ? "-" : proofText(connections[0]),
			   connections.empty() ? "-" : cipherText(connections[0]), memberText(host, "targets"),
			   listText(member(host, "zones"))});
	}
	return hosts.empty() ? "no host is connected, and none has registered\n" : table.render();
}

std::string cdcTargetsText(const Json &document)
{
	Table table({{"NQN"}, {"Port"}, {"State"}, {"Source"}, {"Visible to", Align::right}});
	const Json &targets = listOf(document, "targets");
	for (const Json &target : targets)
		table.add({memberText(target, "nqn"), portOf(target), memberText(target, "state"), sourceText(target),
			   memberText(target, "visible_to")});
	return targets.empty() ? "no target is known\n" : table.render();
}

std::string cdcZonesText(const Json &document)
{
	Table table({{"Zone"}, {"Hosts now", Align::right}, {"Hosts"}, {"Targets"}, {"Auth"}, {"TLS"}, {"Source"}});
	const Json &zones = listOf(document, "zones");
	for (const Json &zone : zones)
		table.add({memberText(zone, "name"), memberText(zone, "hosts_now"), some(member(zone, "hosts")),
			   some(member(zone, "targets")), memberText(zone, "auth"), memberText(zone, "tls"),
			   sourceText(zone)});
	return zones.empty() ? "no zone is defined\n" : table.render();
}

std::string cdcInstancesText(const Json &document)
{
	Table table({{"Addresses"}, {"NQN"}, {"State"}});
	const Json &instances = listOf(document, "instances");
	for (const Json &instance : instances) {
		const char *state = isTrue(instance, "draining") ? "draining" : "serving";
		table.add({listText(member(instance, "addresses")), memberText(instance, "nqn"),
			   fmt::format("{}{}", state, isTrue(instance, "self") ? ", this one" : "")});
	}
	return instances.empty() ? "no instance is known\n" : table.render();
}

std::string cdcChangeText(const Json &change)
{
	std::string text =
		fmt::format("{} generation {}", moment(numberOf(change, "time")), memberText(change, "generation"));
	if (isTrue(change, "whole"))
		text += ": all records were read from the store again";
	text += "\n";
	for (const auto &[key, sign] : {std::pair("put", '+'), std::pair("removed", '-')})
		for (const Json &one : listOf(change, key))
			text += fmt::format(
				"  {} {}\n", sign,
				nofctl::printable(keyText(one.is_string() ? one.get<std::string>() : one.dump())));
	if (numberOf(change, "more") > 0)
		text += fmt::format("  and {} more\n", memberText(change, "more"));
	return text;
}
