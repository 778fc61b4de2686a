// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <fmt/format.h>

#include <nvmeof/address.h>

#include "backup.h"
#include "feeds.h"
#include "libctl/base/make_error.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "reload.h"

namespace cdc {

using namespace runtime;
using namespace std::chrono_literals;
using nofctl::invalidError;
using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;
using What = ControlRequest::What;

namespace {

constexpr int controlBacklog = 64;
constexpr mode_t socketMode = 0660;
constexpr auto controlSweepInterval = 1s;
constexpr std::chrono::milliseconds maxWorkTime = 10min; // on one request
constexpr std::size_t readAtOnce = 65536;

Json errorJson(const Error &error)
{
	return {{"error", {{"code", nvmeof::toString(error.code)}, {"message", error.message}}}};
}

Result<sockaddr_un> addressOf(const std::filesystem::path &path)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	const std::string text = path.string();
	if (text.size() >= sizeof(address.sun_path))
		return invalidError(fmt::format("{}: the path of a socket is limited to {} characters", text,
						sizeof(address.sun_path) - 1));
	std::ranges::copy(text, address.sun_path);
	return address;
}

bool somebodyAnswers(const sockaddr_un &address)
{
	const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const bool answers = ::connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 ||
			     errno == EAGAIN;
	::close(socket);
	return answers;
}

// Replaces a stale socket of a process that did not exit cleanly. Other users cannot open the socket before its mode is
// set.
Result<int> listenAt(const std::filesystem::path &path)
{
	Result<sockaddr_un> address = addressOf(path);
	if (!address)
		return address.error();
	auto failed = [&](int error, const char *why) {
		return nvmeof::errorFromErrno(
			error, fmt::format("cannot create the control socket {}: {}", path.string(), why));
	};
	if (somebodyAnswers(*address))
		return failed(EADDRINUSE,
			      "another nvmeof-cdc uses this socket; set a different 'control' in the configuration");
	std::error_code ignored;
	std::filesystem::create_directories(path.parent_path(), ignored);
	if (std::filesystem::is_socket(path, ignored))
		std::filesystem::remove(path, ignored);
	const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (socket < 0)
		return failed(errno, std::strerror(errno));
	::fchmod(socket, 0600); // bind() creates the file with the mode of the socket
	if (::bind(socket, reinterpret_cast<const sockaddr *>(&*address), sizeof(*address)) == 0 &&
	    ::chmod(path.c_str(), socketMode) == 0 && ::listen(socket, controlBacklog) == 0)
		return socket;
	const int error = errno;
	::close(socket);
	return failed(error, std::strerror(error));
}

// Empty: credentials not available
std::optional<ucred> peerOf(int socket)
{
	ucred peer{};
	socklen_t length = sizeof(peer);
	if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return {};
	return peer;
}

const char *verbOf(const ControlRequest &request)
{
	return request.what == What::set ? "set" : "remove";
}

Json lossJson(const Loss &loss)
{
	return {{"nqn", loss.hostnqn}, {"sees", loss.before}, {"loses", loss.lost}, {"targets", loss.targets}};
}

Json dryRunJson(const char *what, std::size_t records, const std::vector<Loss> &losses)
{
	Json json{{"would", what}, {"records", records}, {"hosts", Json::array()}};
	for (const Loss &loss : losses)
		json["hosts"].push_back(lossJson(loss));
	return json;
}

} // namespace

// A connected client. Its next request is processed after the previous response was sent in full.
class Control::Client {
public:
	Client(Control &control, std::uint64_t id, int socket)
		: control_(control), id_(id), socket_(socket), peer_(peerOf(socket)), since_(Clock::now()),
		  watched_(control.loop_, socket, EPOLLIN, [this](std::uint32_t events) {
			  if (!guarded([&] { ready(events); }))
				  control_.end(id_);
		  })
	{
	}
	~Client() { ::close(socket_); }

	bool trusted() const { return peer_ && (peer_->uid == 0 || peer_->uid == ::geteuid()); }
	std::string who() const { return fmt::format("uid {}, pid {}", peer_->uid, peer_->pid); }
	bool follows() const { return follows_; }

	void send(const Json &json)
	{
		const bool idle = out_.empty();
		out_ += lineOf(json);
		if (idle)
			since_ = Clock::now();
		flush();
	}
	void answered()
	{
		busy_ = false;
		since_ = Clock::now();
		control_.again(id_);
	}
	// Processes the next request if it is complete and no other one is pending.
	void work()
	{
		const std::size_t end = in_.find('\n');
		if (!busy_ && !ends_ && !follows_ && out_.empty() && end != in_.npos) {
			const std::string line = in_.substr(0, end);
			in_.erase(0, end + 1);
			busy_ = true;
			control_.take(id_, line);
		} else if (end == in_.npos && in_.size() > maxRequestSize && !ends_) {
			send(errorJson(invalidError("the line is too long")));
			endWhenSent();
		}
		if (over_ && !busy_ && !follows_ && out_.empty() && in_.find('\n') == in_.npos)
			control_.end(id_);
		watch();
	}
	void follow() { follows_ = true; }
	// Sends a change to a following client, or drops it if the client is too far behind
	void tell(const Json &json)
	{
		if (out_.size() - sent_ > control_.limits_.waiting)
			dropped_++;
		else
			send(json);
	}
	void endWhenSent()
	{
		ends_ = true;
		flush();
	}
	bool late(Clock::time_point now) const
	{
		if (!out_.empty())
			return now - since_ > control_.limits_.stalled;
		return !follows_ && now - since_ > (busy_ ? maxWorkTime : control_.limits_.idle);
	}

private:
	void ready(std::uint32_t events)
	{
		if (events & (EPOLLERR | EPOLLHUP))
			return control_.end(id_);
		if (events & EPOLLOUT)
			flush();
		if (events & EPOLLIN)
			receive();
	}
	void receive()
	{
		char room[readAtOnce];
		const ssize_t n = ::recv(socket_, room, sizeof(room), 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			over_ = true; // EOF: a response may still be pending
		else
			in_.append(room, static_cast<std::size_t>(n));
		work();
	}
	void flush()
	{
		while (sent_ < out_.size()) {
			const ssize_t n = ::send(socket_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
			if (n < 0 && errno != EAGAIN && errno != EINTR)
				return control_.end(id_);
			if (n < 0)
				break;
			sent_ += static_cast<std::size_t>(n);
			since_ = Clock::now();
		}
		if (sent_ == out_.size())
			emptied();
		watch();
	}
	void emptied()
	{
		out_.clear();
		out_.shrink_to_fit();
		sent_ = 0;
		if (ends_)
			return control_.end(id_);
		if (const std::size_t dropped = std::exchange(dropped_, 0))
			return send({{"dropped", dropped}});
		control_.again(id_);
	}
	void watch()
	{
		const bool reads = !over_ && !busy_ && !ends_ && out_.empty() && in_.size() <= maxRequestSize;
		watched_.want((reads ? EPOLLIN : 0u) | (out_.empty() ? 0u : EPOLLOUT));
	}

	Control &control_;
	const std::uint64_t id_;
	int socket_;
	const std::optional<ucred> peer_;
	bool busy_ = false, follows_ = false, over_ = false, ends_ = false;
	std::string in_, out_;
	std::size_t sent_ = 0, dropped_ = 0;
	Clock::time_point since_; // the last request, or the last progress in sending
	Watched watched_;
};

Control::Control(Loop &loop, Service &service, Hooks hooks) : Control(loop, service, std::move(hooks), Limits()) {}

Control::Control(Loop &loop, Service &service, Hooks hooks, Limits limits)
	: loop_(loop), service_(service), hooks_(std::move(hooks)), limits_(limits),
	  deferredTimer_(loop, [this] { runDeferred(); }), sweep_(loop, [this] { sweep(); })
{
	service_.onChangeEvent([this, alive = std::weak_ptr(alive_)](const ChangeEvent &changeEvent) {
		if (!alive.expired())
			onChange(changeEvent);
	});
}

Control::~Control()
{
	clients_.clear();
	accepting_.reset();
	if (socket_ < 0)
		return;
	::close(socket_);
	std::error_code ignored;
	std::filesystem::remove(path_, ignored);
}

Result<void> Control::start(const std::filesystem::path &path)
{
	Result<int> socket = listenAt(path);
	if (!socket)
		return socket.error();
	socket_ = *socket;
	path_ = path;
	accepting_ = std::make_unique<Readable>(loop_, socket_, [this] { accept(); });
	return {};
}

void Control::accept()
{
	const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (socket < 0)
		return;
	const std::uint64_t id = ++lastId_;
	auto &client = clients_[id] = std::make_unique<Client>(*this, id, socket);
	if (clients_.size() > limits_.clients) {
		client->send(errorJson(nvmeof::errorFromErrno(EBUSY, "too many connections")));
		client->endWhenSent();
	}
	sweep_.startUnlessRunning(controlSweepInterval);
}

void Control::take(std::uint64_t id, std::string_view line)
{
	Result<ControlRequest> request = parseControlRequest(line);
	if (!request)
		return refuse(id, request.error());
	if (request->changes() && !clients_.at(id)->trusted())
		return refuse(
			id,
			nvmeof::errorFromErrno(
				EPERM, "permission denied: only root and the user of the service may change records"));
	run(id, *request);
}

void Control::run(std::uint64_t id, const ControlRequest &request)
{
	switch (request.what) {
	case What::set:
	case What::remove:
		return change(id, request);
	case What::drain:
		return drain(id);
	case What::reload:
		return reload(id, request);
	case What::changes:
		if (request.follow)
			return follow(id);
		[[fallthrough]];
	default:
		return show(id, request);
	}
}

void Control::reload(std::uint64_t id, const ControlRequest &request)
{
	const ReloadMode mode = request.dryRun  ? ReloadMode::dryRun
				: request.force ? ReloadMode::forced
						: ReloadMode::judged;
	hooks_.reload(mode, [this, id, mode, alive = std::weak_ptr(alive_)](const Result<Reloaded> &reloaded) {
		if (alive.expired())
			return;
		if (!reloaded)
			return refuse(id, reloaded.error());
		if (!reloaded->unwritten.empty())
			return refuse(
				id,
				nofctl::makeError(fmt::format(
					"the configuration applies, but its records are not in the store yet, which "
					"the service tries again: {}",
					reloaded->unwritten)));
		Json json = mode == ReloadMode::dryRun ? dryRunJson("reload", reloaded->records, reloaded->losses)
						       : Json{{"done", "reload"}};
		json["problems"] = reloaded->problems;
		answer(id, json);
	});
}

void Control::show(std::uint64_t id, const ControlRequest &request)
{
	takeSnapshot(service_, [this, id, what = request.what, alive = std::weak_ptr(alive_)](SnapshotPtr snapshot) {
		if (alive.expired() || !clients_.contains(id))
			return;
		switch (what) {
		case What::hosts:
			return answer(id, hostsJson(*snapshot));
		case What::targets:
			return answer(id, targetsJson(*snapshot));
		case What::zones:
			return answer(id, zonesJson(*snapshot));
		case What::instances:
			return answer(id, instancesJson(*snapshot));
		case What::changes:
			return answer(id, changesJson(*snapshot));
		case What::backup:
			return answer(id, backupJson(*snapshot->model, snapshot->time));
		default:
			return answer(id, statusJson(*snapshot));
		}
	});
}

void Control::follow(std::uint64_t id)
{
	Client &client = *clients_.at(id);
	client.follow();
	for (const ChangeEvent &changeEvent : service_.changeEvents())
		client.send({{"change", changeEventJson(changeEvent)}});
	client.send({{"synced", true}});
	client.answered();
}

void Control::onChange(const ChangeEvent &changeEvent)
{
	Json line;
	for (auto &[id, client] : clients_) {
		if (!client->follows())
			continue;
		if (line.is_null())
			line = {{"change", changeEventJson(changeEvent)}};
		client->tell(line);
	}
}

void Control::change(std::uint64_t id, const ControlRequest &request)
{
	if (!service_.sharedViews())
		return refuse(id, nvmeof::errorFromErrno(EAGAIN, "the store has not loaded its records yet"));
	service_.knownHosts([this, id, request, alive = std::weak_ptr(alive_)](const std::set<std::string> &hosts) {
		if (alive.expired() || !clients_.contains(id))
			return;
		Result<std::vector<Change>> changes = controlChanges(service_.model(), request);
		if (!changes)
			return refuse(id, changes.error());
		if (!request.dryRun && request.force)
			return write(id, request, *std::move(changes));
		const std::vector<Loss> losses =
			lossesBy(service_.model(), changedBy(*changes), service_.rules().views, hosts);
		if (request.dryRun)
			return answer(id, dryRunJson(verbOf(request), changes->size(), losses));
		if (std::ranges::any_of(losses, &Loss::large))
			return refuse(id, tooLarge(losses, "use --dry-run to list them, --force to apply"));
		write(id, request, *std::move(changes));
	});
}

// The model after the changes and after the configuration's records that they make room for
Model Control::changedBy(const std::vector<Change> &changes) const
{
	Model changed = service_.model();
	changed.apply({false, changes, changed.generation() + 1});
	changed.apply({false, service_.fileChanges(changed), changed.generation()});
	return changed;
}

// A second write restores records of the configuration that no stronger source replaces any more.
void Control::write(std::uint64_t id, const ControlRequest &request, std::vector<Change> changes)
{
	const char *what = verbOf(request);
	auto done = [this, id, what, count = changes.size(),
		     alive = std::weak_ptr(alive_)](const Result<void> &written) {
		if (alive.expired())
			return;
		if (!written)
			return refuse(id, written.error());
		service_.writeFile();
		answer(id, {{"done", what}, {"records", count}, {"generation", service_.model().generation()}});
	};
	service_.write(std::move(changes), std::move(done), {clients_.at(id)->who()});
}

void Control::drain(std::uint64_t id)
{
	if (service_.draining())
		return refuse(id, nvmeof::errorFromErrno(EALREADY, "already draining"));
	hooks_.drain([this, id, alive = std::weak_ptr(alive_)] {
		if (!alive.expired())
			answer(id, {{"done", "drain"}});
	});
}

void Control::answer(std::uint64_t id, const Json &json)
{
	auto found = clients_.find(id);
	if (found == clients_.end())
		return;
	found->second->send(json);
	found->second->answered();
}

void Control::refuse(std::uint64_t id, const Error &error)
{
	answer(id, errorJson(error));
}

// Deferred: the client may be on the call stack.
void Control::end(std::uint64_t id)
{
	closed_.push_back(id);
	deferredTimer_.start(0ms);
}

// One request per client at a time, so that a client with many requests does not delay the others.
void Control::again(std::uint64_t id)
{
	again_.push_back(id);
	deferredTimer_.start(0ms);
}

void Control::runDeferred()
{
	for (std::uint64_t id : std::exchange(closed_, {}))
		clients_.erase(id);
	for (std::uint64_t id : std::exchange(again_, {}))
		if (auto found = clients_.find(id); found != clients_.end())
			if (!guarded([&] { found->second->work(); }))
				end(id);
}

void Control::sweep()
{
	const auto now = Clock::now();
	if (!clients_.empty())
		sweep_.start(controlSweepInterval);
	for (auto &[id, client] : clients_)
		if (client->late(now))
			end(id);
}

// ---- requests

namespace {

// Members in a tree: with the ordered kind, parsing an object takes quadratic time in the number of its members.
using Plain = nlohmann::json;

constexpr int maxDepth = 5;                      // nesting: list in record in list in request
constexpr std::size_t maxRequestRecords = 10000; // of a request

constexpr std::pair<const char *, What> commands[] = {
	{"status", What::status}, {"hosts", What::hosts},         {"targets", What::targets},
	{"zones", What::zones},   {"instances", What::instances}, {"changes", What::changes},
	{"set", What::set},       {"remove", What::remove},       {"drain", What::drain},
	{"reload", What::reload}, {"backup", What::backup},
};

Plain parseBounded(std::string_view line, bool &tooDeep)
{
	auto bounded = [&tooDeep](int depth, Plain::parse_event_t, Plain &) {
		tooDeep = tooDeep || depth > maxDepth;
		return depth <= maxDepth;
	};
	return Plain::parse(line, bounded, false);
}

Result<What> commandOf(const Plain &json)
{
	auto found = json.find("command");
	if (found == json.end() || !found->is_string())
		return invalidError("command is missing");
	for (const auto &[name, what] : commands)
		if (*found == name)
			return what;
	return invalidError(fmt::format("unknown command '{}'", found->get<std::string>().substr(0, 64)));
}

bool takes(What what, const std::string &member)
{
	if (member == "command")
		return true;
	if (member == "follow")
		return what == What::changes;
	if (member == "hosts")
		return what == What::remove;
	const bool records = what == What::set || what == What::remove;
	if (member == "force" || member == "dry_run")
		return records || what == What::reload;
	return records && (member == "targets" || member == "zones");
}

Result<void> checkMembers(const Plain &json, What what)
{
	for (const auto &[name, value] : json.items()) {
		if (!takes(what, name))
			return invalidError(fmt::format("'{}' is not expected here", name.substr(0, 64)));
		const bool flag = name == "follow" || name == "force" || name == "dry_run";
		if (flag && !value.is_boolean())
			return invalidError(name + " must be true or false");
		if (!flag && name != "command" && (!value.is_array() || value.size() > maxRequestRecords))
			return invalidError(
				fmt::format("{} must be a list of at most {} elements", name, maxRequestRecords));
	}
	return {};
}

bool flagOf(const Plain &json, const char *name)
{
	return json.value(name, false);
}

using Names = std::span<const std::string_view>;

constexpr std::string_view targetMembers[] = {"nqn",  "type",    "transport", "traddr", "trsvcid", "portid",
					      "treq", "sectype", "qptype",    "prtype", "state"};
constexpr std::string_view zoneMembers[] = {"name", "hosts", "targets", "auth", "tls"};
// Members that status output adds; accepted and ignored in requests. "seen_by" is the old name, for one version
constexpr std::string_view outputMembers[] = {"source", "owner",      "ends",    "registered_from",
					      "proved", "visible_to", "seen_by", "hosts_now"};

bool isIn(Names names, std::string_view name)
{
	return std::ranges::find(names, name) != names.end();
}

// The members of a record, without those of the output
Result<Json> membersOf(const Plain &json, Names members)
{
	Json record = Json::object();
	if (!json.is_object())
		return invalidError("a record must be an object");
	for (const auto &[name, value] : json.items()) {
		if (isIn(members, name))
			record[name] = value;
		else if (!isIn(outputMembers, name))
			return invalidError(fmt::format("'{}' is not expected in a record", name.substr(0, 64)));
	}
	return record;
}

template <typename T>
Result<void> records(const Plain &json, const char *name, Names members, std::vector<T> &to,
		     std::vector<Json> *given = nullptr)
{
	auto list = json.find(name);
	if (list == json.end())
		return {};
	for (const Plain &one : *list) {
		Result<Json> its = membersOf(one, members);
		if (!its)
			return its.error();
		Result<T> record = T::of(*its);
		if (!record)
			return record.error();
		to.push_back(*std::move(record));
		if (given)
			given->push_back(*std::move(its));
	}
	return {};
}

Result<void> names(const Plain &json, const char *list, Kind kind, std::vector<std::string> &keys)
{
	auto found = json.find(list);
	if (found == json.end())
		return {};
	for (const Plain &one : *found) {
		// or a zone, as it is listed
		const auto name = one.is_object() && kind == Kind::zone ? one.find("name") : one.end();
		const Plain &text = name != one.end() ? *name : one;
		if (!text.is_string())
			return invalidError(fmt::format("{} must be a list of strings", list));
		keys.push_back(std::string(prefixOf(kind)) + text.get<std::string>());
	}
	return {};
}

Result<void> readRecords(const Plain &json, ControlRequest &request)
{
	if (Result<void> read = records(json, "targets", targetMembers, request.targets, &request.given); !read)
		return read;
	if (request.what == What::set) {
		for (const Target &target : request.targets)
			if (!nvmeof::conformingNqn(target.nqn))
				return invalidError(
					fmt::format("'{}' is not an NQN: it does not begin with 'nqn.'", target.nqn));
		return records(json, "zones", zoneMembers, request.zones);
	}
	for (const Target &target : std::exchange(request.targets, {}))
		request.keys.push_back(target.key());
	if (Result<void> read = names(json, "zones", Kind::zone, request.keys); !read)
		return read;
	return names(json, "hosts", Kind::host, request.keys);
}

const Origin *originOf(const Model &model, const std::string &key)
{
	const Origin *origin = nullptr;
	model.visit(key, [&](const auto &record) { origin = &record.origin; });
	return origin;
}

// The source of a record, for messages
std::string sourceName(const Origin &origin)
{
	if (origin.source == "file")
		return fmt::format("the configuration of the instance {}", origin.owner);
	if (origin.source == "pull")
		return fmt::format("the discovery service {}", origin.owner);
	if (origin.source == "push")
		return fmt::format("the registration of {}", origin.owner);
	return "another source";
}

std::string keyText(const std::string &key)
{
	constexpr const char *kinds[] = {"target", "zone", "host", "instance"};
	const auto kind = static_cast<std::size_t>(kindOf(key).value_or(Kind::target));
	return fmt::format("{} {}", kinds[kind], nameOf(key).substr(0, 300));
}

template <typename T> std::optional<Error> conflictWith(const Model &model, const std::vector<T> &records)
{
	for (const T &record : records) {
		const Origin *there = originOf(model, record.key());
		if (there && !mayReplace(*there, record.origin))
			return invalidError(fmt::format(
				"the {} is not changed: it is defined by {}, which has precedence; change it there",
				keyText(record.key()), sourceName(*there)));
	}
	return {};
}

Result<std::vector<Change>> removal(const Model &model, const ControlRequest &request)
{
	std::vector<Change> changes;
	for (const std::string &key : request.keys) {
		const Origin *there = originOf(model, key);
		if (!there) {
			Error error = invalidError(fmt::format("there is no {}", keyText(key)));
			error.code = ErrorCode::noSuchObject;
			return error;
		}
		const bool itsFile = there->source == "file" && there->owner == model.self();
		const bool back = there->source == "file" || there->source == "pull";
		if (itsFile || (back && !request.force))
			return invalidError(
				fmt::format("the {} is defined by {}, which would write it again: remove it there{}",
					    keyText(key), sourceName(*there), itsFile ? "" : ", or use --force"));
		changes.push_back({key, {}});
	}
	return changes;
}

// The targets of a request, with the members that it lacks from the records that they replace
Result<std::vector<Target>> targetsOf(const Model &model, const ControlRequest &request)
{
	std::vector<Target> targets = request.targets;
	for (std::size_t i = 0; i < request.given.size(); i++) {
		const auto there = model.targets().find(targets[i].key());
		if (there == model.targets().end())
			continue;
		Json record = Json::object(), had = there->second.target.json();
		for (const auto &[name, value] : had.items())
			if (isIn(targetMembers, name))
				record[name] = value;
		record.update(request.given[i]);
		Result<Target> target = Target::of(record);
		if (!target)
			return target.error();
		targets[i] = *std::move(target);
	}
	return targets;
}

} // namespace

Result<ControlRequest> parseControlRequest(std::string_view line)
{
	bool tooDeep = false;
	const Plain json = parseBounded(line, tooDeep);
	if (tooDeep || !json.is_object())
		return invalidError("the line is not a JSON object");
	Result<What> what = commandOf(json);
	if (!what)
		return what.error();
	if (Result<void> good = checkMembers(json, *what); !good)
		return good.error();
	ControlRequest request{.what = *what,
			       .follow = flagOf(json, "follow"),
			       .force = flagOf(json, "force"),
			       .dryRun = flagOf(json, "dry_run")};
	if (*what != What::set && *what != What::remove)
		return request;
	if (Result<void> read = readRecords(json, request); !read)
		return read.error();
	if (request.targets.empty() && request.zones.empty() && request.keys.empty())
		return invalidError("the request names no record");
	return request;
}

Result<std::vector<Change>> controlChanges(const Model &model, const ControlRequest &request)
{
	if (request.what == What::remove)
		return removal(model, request);
	if (auto error = conflictWith(model, request.targets))
		return *error;
	if (auto error = conflictWith(model, request.zones))
		return *error;
	const Result<std::vector<Target>> targets = targetsOf(model, request);
	if (!targets)
		return targets.error();
	std::vector<Change> changes = putAll(model, *targets);
	std::ranges::move(putAll(model, request.zones), std::back_inserter(changes));
	return changes;
}

} // namespace cdc
