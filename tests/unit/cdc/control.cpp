// SPDX-License-Identifier: LGPL-2.1-or-later
// The control socket: requests, permissions, limits and malformed input.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <grp.h>

#include "caller.h"

using namespace cdc;
using namespace std::chrono_literals;
using What = ControlRequest::What;

namespace {

std::string refusal(const std::string &line)
{
	auto request = parseControlRequest(line);
	REQUIRE_FALSE(request);
	return request.error().message;
}

Target fileTarget(int number, const std::string &owner)
{
	Target target = someTarget(number);
	target.origin = {"file", owner, 0};
	return target;
}

std::string codeIn(const Json &answer)
{
	return answer.contains("error") ? answer["error"]["code"].get<std::string>() : "";
}

} // namespace

TEST_CASE("requests of the control socket are parsed", "[control]")
{
	CHECK(parseControlRequest(R"({"command": "status"})")->what == What::status);
	CHECK(parseControlRequest(R"({"command": "changes", "follow": true})")->follow);
	auto set = parseControlRequest(R"({"command": "set", "targets": [{"nqn": "nqn.a", "traddr": "10.0.0.1",
		"source": "file", "seen_by": 7, "visible_to": 7}],
		"zones": [{"name": "z", "hosts": ["nqn.*"], "targets": []}]})");
	REQUIRE(set);
	CHECK(set->targets[0].origin == Origin{});
	CHECK(set->zones[0].hosts == std::vector<std::string>{"nqn.*"});
	auto gone = parseControlRequest(R"({"command": "remove", "targets": [{"nqn": "nqn.a", "traddr": "10.0.0.1"}],
		"zones": ["z"], "hosts": ["nqn.h"], "force": true})");
	REQUIRE(gone);
	CHECK(gone->force);
	CHECK(gone->keys == std::vector<std::string>{"targets/nqn.a tcp 10.0.0.1 4420", "zones/z", "hosts/nqn.h"});
}

TEST_CASE("invalid requests are refused with a reason", "[control]")
{
	CHECK(refusal("") == "the line is not a JSON object");
	CHECK(refusal("[]") == "the line is not a JSON object");
	CHECK(refusal("{}") == "command is missing");
	CHECK(refusal(R"({"command": 1})") == "command is missing");
	CHECK(refusal(R"({"command": "fly"})") == "unknown command 'fly'");
	CHECK(refusal(R"({"command": "status", "follow": true})") == "'follow' is not expected here");
	CHECK(refusal(R"({"command": "changes", "follow": 1})") == "follow must be true or false");
	CHECK(refusal(R"({"command": "set"})") == "the request names no record");
	CHECK(refusal(R"({"command": "set", "targets": {}})") == "targets must be a list of at most 10000 elements");
	CHECK(refusal(R"({"command": "set", "targets": [1]})") == "a record must be an object");
	CHECK(refusal(R"({"command": "set", "targets": [{"nqn": "nqn.a"}]})") == "target: traddr is missing");
	CHECK(refusal(R"({"command": "set", "targets": [{"nqn": "nqn.a", "traddr": "10.0.0.1", "stat": "x"}]})") ==
	      "'stat' is not expected in a record");
	CHECK(refusal(R"({"command": "set", "zones": [{"name": "a b"}]})") ==
	      "zone: its name is empty, or has a blank or a slash in it");
	CHECK(refusal(R"({"command": "remove", "zones": [1]})") == "zones must be a list of strings");
	CHECK(refusal(std::string(100000, '[')) == "the line is not a JSON object");
	CHECK(refusal(R"({"command": "set", "targets": )" + std::string(1000, '[') + std::string(1000, ']') + "}") ==
	      "the line is not a JSON object");
}

TEST_CASE("a record of another source is not removed by hand, because the source would add it again", "[control]")
{
	Sample sample;
	Target pulled = someTarget(2), pushed = someTarget(3);
	pulled.origin = {"pull", "10.0.0.9:8009", 0};
	pushed.origin = {"push", "nqn.d", 0};
	sample.tell({putOf(fileTarget(0, selfId)), putOf(fileTarget(1, "other")), putOf(pulled), putOf(pushed)});
	auto removal = [&](int number, bool force) {
		return controlChanges(sample.model,
				      {.what = What::remove, .force = force, .keys = {someTarget(number).key()}});
	};
	CHECK(removal(0, true).error().message ==
	      "the target nqn.2024-01.com.example:s0 tcp 10.0.0.1 4420 is defined by the configuration of the "
	      "instance " +
		      std::string(selfId) + ", which would write it again: remove it there");
	CHECK(removal(1, false).error().message.ends_with("remove it there, or use --force"));
	CHECK(removal(1, true).ok());
	CHECK(removal(2, false).error().message.find("the discovery service 10.0.0.9:8009") != std::string::npos);
	CHECK(removal(2, true).ok());
	CHECK(removal(3, false).ok());
	CHECK(removal(4, true).error().code == nvmeof::ErrorCode::noSuchObject);
}

TEST_CASE("records set by hand override all others, and only differences are written", "[control]")
{
	Sample sample;
	sample.tell({putOf(fileTarget(0, selfId)), putOf(someTarget(1))});
	auto changes = controlChanges(sample.model, {.what = What::set, .targets = {someTarget(0), someTarget(1)}});
	REQUIRE(changes);
	REQUIRE(changes->size() == 1);
	CHECK(changes->front().key == someTarget(0).key());
	Target others = someTarget(2);
	others.origin.owner = "somebody"; // written by a version that has owners
	sample.tell({putOf(others)});
	CHECK_FALSE(controlChanges(sample.model, {.what = What::set, .targets = {someTarget(2)}}));
}

TEST_CASE("a record set by hand keeps what the request does not name", "[control]")
{
	Sample sample;
	Target secured = fileTarget(0, selfId);
	secured.treq = nofctl::wire::treq_required;
	secured.sectype = nofctl::wire::sec_tls13;
	secured.portid = 7;
	sample.tell({putOf(secured)});
	auto set = [&](const Json &members) {
		Json record{{"nqn", secured.nqn}, {"traddr", secured.traddr}};
		record.update(members);
		const auto request = parseControlRequest(Json{{"command", "set"}, {"targets", {record}}}.dump());
		REQUIRE(request);
		const auto changes = controlChanges(sample.model, *request);
		REQUIRE(changes);
		REQUIRE(changes->size() == 1);
		return *Target::of(Json::parse(*changes->front().value));
	};
	const Target inaccessible = set({{"state", "inaccessible"}});
	CHECK(inaccessible.state == nofctl::wire::ana_inaccessible);
	CHECK(inaccessible.treq == secured.treq);
	CHECK(inaccessible.sectype == secured.sectype);
	CHECK(inaccessible.portid == 7);
	CHECK(inaccessible.origin.source == "control");
	const Target plain = set({{"treq", 0}, {"sectype", 0}});
	CHECK(plain.treq == 0);
	CHECK(plain.sectype == 0);
	CHECK(plain.portid == 7);
}

TEST_CASE("records that a list prints can be set and removed", "[control]")
{
	ServiceFixture running;
	running.start();
	Target pushed = someTarget(0);
	pushed.origin = {"push", "nqn.ddc", 4000000000, "10.0.0.1", true};
	Zone zone = someZone("z", {"nqn.a"}, {"*"});
	running.write({putOf(pushed), putOf(zone)});
	ControlClient caller(running);
	Json request{{"command", "remove"}};
	for (const char *kind : {"targets", "zones"})
		request[kind] = caller.ask(Json{{"command", kind}}.dump())[kind];
	REQUIRE(request["targets"][0].contains("registered_from"));
	REQUIRE(request["targets"][0].contains("proved"));
	CHECK(caller.ask(request.dump())["records"] == 2);
	request["command"] = "set";
	CHECK(caller.ask(request.dump())["records"] == 2);
	CHECK(caller.ask(R"({"command": "zones"})")["zones"][0]["hosts"] == Json{"nqn.a"});
}

TEST_CASE("records are set, shown and removed over the socket", "[control]")
{
	ServiceFixture running;
	running.rules.targets = {someTarget(0)};
	running.start();
	ControlClient caller(running);
	Json record = someTarget(0).json();
	record["state"] = "inaccessible";
	const Json request{{"command", "set"}, {"targets", {record}}, {"zones", {{{"name", "z"}}}}};
	const Json done = caller.ask(request.dump());
	CHECK(done["done"] == "set");
	CHECK(done["records"] == 2);
	CHECK(done["generation"] > 1);
	const Json targets = caller.ask(R"({"command": "targets"})");
	REQUIRE(targets["targets"].size() == 1);
	CHECK(targets["targets"][0]["state"] == "inaccessible");
	CHECK(targets["targets"][0]["source"] == "control");
	CHECK(caller.ask(R"({"command": "zones"})")["zones"][0]["name"] == "z");
	CHECK(caller.ask(R"({"command": "hosts"})")["hosts"].empty());
	CHECK(caller.ask(R"({"command": "instances"})")["instances"][0]["self"] == true);
	// After the removal, the record of the configuration applies again.
	const Json removal{{"command", "remove"}, {"targets", {record}}, {"zones", {"z"}}};
	CHECK(caller.ask(removal.dump())["records"] == 2);
	const Json after = caller.ask(R"({"command": "targets"})");
	REQUIRE(after["targets"].size() == 1);
	CHECK(after["targets"][0]["source"] == "file");
	CHECK(codeIn(caller.ask(R"({"command": "remove", "zones": ["z"]})")) == "no_such_object");
	CHECK(caller.ask(R"({"command": "changes"})")["changes"].size() >= 3);
}

TEST_CASE("the service executes reload and drain", "[control]")
{
	ServiceFixture running;
	running.start();
	{
		ControlClient caller(running);
		CHECK(caller.ask(R"({"command": "reload"})")["done"] == "reload");
		running.problem = "cdc.toml:3: no";
		CHECK(caller.ask(R"({"command": "reload"})")["error"]["message"] == "cdc.toml:3: no");
		CHECK(running.reloads == 2);
		CHECK(caller.ask(R"({"command": "drain"})")["done"] == "drain");
		CHECK(caller.next().is_null());
	}
	running.stop();
	CHECK_FALSE(std::filesystem::exists(running.rules.control));
}

TEST_CASE("a follower receives each change as it happens", "[control]")
{
	ServiceFixture running;
	running.start();
	ControlClient caller(running);
	Json line = caller.ask(R"({"command": "changes", "follow": true})");
	for (; !line.contains("synced"); line = caller.next())
		CHECK(line.contains("change"));
	for (int i = 0; i < 3; i++) {
		running.write({putOf(someTarget(i))});
		line = caller.next();
		CHECK(line["change"]["put"] == Json{someTarget(i).key()});
	}
}

TEST_CASE("a change of thousands of records lists some of them and counts the rest", "[control]")
{
	ServiceFixture running;
	running.start();
	std::vector<Change> many;
	for (int i = 0; i < 2000; i++)
		many.push_back(putOf(Host{"nqn.h" + std::to_string(i), "", "", "", {}, {"push", "", 0}}));
	running.write(many);
	const Json last = ControlClient(running).ask(R"({"command": "changes"})")["changes"].back();
	CHECK(last["put"].size() == 100);
	CHECK(last["more"] == 1900);
}

TEST_CASE("a follower that does not read uses bounded memory and receives the number of dropped changes", "[control]")
{
	ServiceFixture running({.waiting = 4096});
	running.start();
	ControlClient caller(running);
	REQUIRE(caller.say("{\"command\": \"changes\", \"follow\": true}\n"));
	for (bool synced = false; !synced;) {
		const Json line = caller.next();
		REQUIRE(line.is_object());
		synced = line.contains("synced");
	}
	constexpr int many = 200; // changes of some KiB each: more than the sockets buffer
	for (int i = 0; i < many; i++) {
		std::vector<Change> hosts;
		for (int j = 0; j < 100; j++)
			hosts.push_back(putOf(Host{fmt::format("nqn.2024-01.com.example:host{}-{}", i, j),
						   "",
						   "",
						   "",
						   {},
						   {"push", "", 0}}));
		running.write(hosts);
	}
	std::size_t told = 0, dropped = 0;
	while (told + dropped < many) {
		const Json line = caller.next();
		REQUIRE(line.is_object());
		told += line.contains("change");
		dropped += line.value("dropped", std::size_t(0));
	}
	CHECK(told + dropped == many);
	CHECK(dropped > 0);
}

TEST_CASE("an invalid line gets an error, and the next line is processed", "[control]")
{
	ServiceFixture running;
	running.start();
	ControlClient caller(running);
	CHECK(codeIn(caller.ask("rubbish")) == "invalid");
	CHECK(codeIn(caller.ask(std::string("\0\xff\x80", 3))) == "invalid");
	CHECK(codeIn(caller.ask("{\"command\": \"\xff\"}")) == "invalid");
	std::string many;
	for (int i = 0; i < 2000; i++)
		many += "{}\n";
	REQUIRE(caller.say(many));
	for (int i = 0; i < 2000; i++)
		CHECK(codeIn(caller.next()) == "invalid");
	// Two lines in one write, then end of input: both are answered
	REQUIRE(caller.say("{\"command\": \"status\"}\n{\"command\": \"zones\"}\n"));
	caller.end();
	CHECK(caller.next().contains("instance"));
	CHECK(caller.next().contains("zones"));
	CHECK(caller.next().is_null());
}

TEST_CASE("a line that exceeds the limit is refused", "[control]")
{
	ServiceFixture running;
	running.start();
	ControlClient caller(running);
	(void)caller.say(std::string(maxRequestSize + 200000, 'x'));
	CHECK(codeIn(caller.next()) == "invalid");
	CHECK(caller.next().is_null());
}

TEST_CASE("the number of clients is limited, and idle clients are disconnected", "[control]")
{
	ServiceFixture running({.clients = 2, .idle = 1500ms});
	running.start();
	ControlClient first(running), second(running);
	CHECK(first.ask(R"({"command": "status"})").contains("instance"));
	CHECK(second.ask(R"({"command": "status"})").contains("instance"));
	{
		ControlClient third(running);
		CHECK(codeIn(third.next()) == "failed");
		CHECK(third.next().is_null());
	}
	CHECK(first.next().is_null());
	CHECK(second.next().is_null());
	ControlClient again(running);
	CHECK(again.ask(R"({"command": "status"})").contains("instance"));
}

TEST_CASE("the socket is accessible to its group, and a second instance cannot take it", "[control]")
{
	ServiceFixture running;
	running.start();
	struct stat its {};
	REQUIRE(::stat(running.rules.control.c_str(), &its) == 0);
	CHECK((its.st_mode & 07777) == 0660);
	running.in([&] {
		runtime::Loop loop(runtime::Loop::Watchdog::none);
		Control other(loop, *running.service, {});
		CHECK(other.start(running.rules.control).error().message.find("another nvmeof-cdc uses this socket") !=
		      std::string::npos);
		CHECK(other.start(running.dir.path() / std::string(200, 'x')).error().code ==
		      nvmeof::ErrorCode::invalid);
	});
	ControlClient still(running);
	CHECK(still.ask(R"({"command": "status"})").contains("instance"));
}

TEST_CASE("a socket that a killed instance left behind is replaced", "[control]")
{
	ServiceFixture running;
	const int left = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	std::ranges::copy(running.rules.control.string(), address.sun_path);
	REQUIRE(::bind(left, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
	::close(left);
	running.start();
	ControlClient caller(running);
	CHECK(caller.ask(R"({"command": "status"})").contains("instance"));
}

TEST_CASE("the user of the service may make changes", "[control]")
{
	ServiceFixture running;
	running.start();
	ControlClient caller(running);
	CHECK(caller.ask(R"({"command": "reload"})")["done"] == "reload");
	CHECK(running.reloads == 1);
}

TEST_CASE("other users may read, and change nothing", "[control]")
{
	if (::geteuid() != 0) {
		WARN("not tested: only root can change to another user");
		return;
	}
	ServiceFixture running;
	running.start();
	::chmod(running.dir.path().c_str(), 0755);
	const pid_t child = ::fork();
	REQUIRE(child >= 0);
	if (child == 0) { // a member of the socket's group
		if (::setgroups(0, nullptr) || ::setresuid(65534, 65534, 65534))
			::_exit(2);
		sockaddr_un address{};
		address.sun_family = AF_UNIX;
		std::ranges::copy(running.rules.control.string(), address.sun_path);
		const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
		if (::connect(socket, reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0)
			::_exit(3);
		const std::string lines = "{\"command\": \"status\"}\n{\"command\": \"reload\"}\n";
		std::string read;
		char room[4096];
		for (ssize_t n = ::send(socket, lines.data(), lines.size(), 0); n > 0;) {
			n = ::recv(socket, room, sizeof(room), 0);
			read.append(room, n > 0 ? static_cast<std::size_t>(n) : 0);
			if (read.ends_with("\n") && std::ranges::count(read, '\n') == 2)
				break;
		}
		const bool good = read.find("\"instance\"") != read.npos && read.find("\"not_permitted\"") != read.npos;
		::_exit(good ? 0 : 4);
	}
	int status = 0;
	::waitpid(child, &status, 0);
	CHECK(WEXITSTATUS(status) == 0);
	CHECK(running.reloads == 0);
}
