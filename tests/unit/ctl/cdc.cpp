// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeofctl cdc: its requests to a service, which the test plays, and its output for the answers.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cdc.h"
#include "context.h"
#include "tests/unit/scratch.h"
#include "parse.h"

namespace {

struct Outcome {
	int code;
	std::string out, err;
};

Outcome run(std::vector<std::string> words)
{
	CommandLine line = parseCommandLine(words);
	if (!line.command)
		return {line.exitCode, "", line.text};
	std::ostringstream out, err;
	Context context(*line.command, line.args, out, err);
	const int code = line.command->run(context);
	return {code, out.str(), err.str()};
}

// Accepts one connection, reads one line, sends its answer and closes.
class FakeService {
public:
	explicit FakeService(std::string answer) : answer_(std::move(answer))
	{
		sockaddr_un address{};
		address.sun_family = AF_UNIX;
		std::ranges::copy(path(), address.sun_path);
		socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		REQUIRE(::bind(socket_, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
		REQUIRE(::listen(socket_, 1) == 0);
		thread_ = std::thread([this] { serve(); });
	}
	~FakeService()
	{
		::shutdown(socket_, SHUT_RDWR); // ends accept() if no client has connected
		thread_.join();
		::close(socket_);
	}

	std::string path() const { return dir_.path() / "control"; }
	Outcome run(std::vector<std::string> words)
	{
		words.insert(words.begin(), {"cdc", "--socket", path()});
		return ::run(words);
	}
	Json asked() const { return Json::parse(line_, nullptr, false); }

private:
	void serve()
	{
		const int socket = ::accept(socket_, nullptr, nullptr);
		if (socket < 0)
			return;
		char c;
		while (::recv(socket, &c, 1, 0) == 1 && c != '\n')
			line_ += c;
		::send(socket, answer_.data(), answer_.size(), MSG_NOSIGNAL);
		::close(socket);
	}

	Scratch dir_;
	std::string answer_, line_;
	int socket_ = -1;
	std::thread thread_;
};

Json askedBy(std::vector<std::string> words)
{
	FakeService service("{\"done\": \"x\"}\n");
	const Outcome outcome = service.run(std::move(words));
	CHECK(outcome.code == 0);
	return service.asked();
}

} // namespace

TEST_CASE("an error about a service that does not run has the next step", "[cdc]")
{
	Scratch dir;
	const Outcome outcome = run({"cdc", "status", "--socket", dir.path() / "none"});
	CHECK(outcome.code == 3);
	CHECK(outcome.err.find("nvmeof-cdc is not running, or its control socket is not") != std::string::npos);
	CHECK(outcome.err.find("systemctl start nvmeof-cdc") != std::string::npos);
	CHECK(run({"cdc", "status", "--socket", std::string(200, '/')}).code == 2);
	CHECK(run({"cdc", "status", "--json", "--socket", dir.path() / "none"}).out.find("\"no_such_object\"") !=
	      std::string::npos);
}

TEST_CASE("'set' sends the records", "[cdc]")
{
	const Json target = askedBy({"target", "set", "-n", "nqn.a", "-a", "10.0.0.1", "-a", "[fd00::1]:4421", "-t",
				     "rdma", "--state", "inaccessible"});
	CHECK(target.dump() ==
	      R"({"command":"set","targets":[{"nqn":"nqn.a","transport":"rdma","traddr":"10.0.0.1","trsvcid":"4420",)"
	      R"("state":"inaccessible"},{"nqn":"nqn.a","transport":"rdma","traddr":"fd00::1","trsvcid":"4421",)"
	      R"("state":"inaccessible"}]})");
	CHECK(askedBy({"target", "set", "nqn.a", "-a", "10.0.0.1"})["targets"][0]["nqn"] == "nqn.a");
	CHECK(askedBy({"zone", "set", "rack1", "--demand-auth", "required", "--demand-tls", "off"}).dump() ==
	      R"({"command":"set","zones":[{"name":"rack1","hosts":[],"targets":[],"auth":"required","tls":"off"}]})");
	CHECK(askedBy({"zone", "set", "rack1", "--host", "nqn.h*", "--target", "nqn.a", "--target", "nqn.b"}).dump() ==
	      R"({"command":"set","zones":[{"name":"rack1","hosts":["nqn.h*"],"targets":["nqn.a","nqn.b"]}]})");
	CHECK(askedBy({"zone", "remove", "rack1", "--force"}).dump() ==
	      R"({"command":"remove","zones":["rack1"],"force":true})");
	CHECK(askedBy({"host", "remove", "nqn.h"}).dump() == R"({"command":"remove","hosts":["nqn.h"]})");
	for (const char *kind : {"host", "target", "zone"})
		CHECK(askedBy({kind, "list"}).dump() == fmt::format(R"({{"command":"{}s"}})", kind));
}

TEST_CASE("the old spellings of cdc verbs send the same requests", "[cdc]")
{
	CHECK(askedBy({"hosts"}).dump() == R"({"command":"hosts"})");
	CHECK(askedBy({"targets"}).dump() == R"({"command":"targets"})");
	CHECK(askedBy({"zones"}).dump() == R"({"command":"zones"})");
	CHECK(askedBy({"set", "target", "nqn.a", "-a", "10.0.0.1"})["targets"][0]["nqn"] == "nqn.a");
	CHECK(askedBy({"set", "zone", "rack1"})["zones"][0]["name"] == "rack1");
	CHECK(askedBy({"remove", "target", "nqn.a", "-a", "10.0.0.1"})["command"] == "remove");
	CHECK(askedBy({"remove", "zone", "rack1"}).dump() == R"({"command":"remove","zones":["rack1"]})");
	CHECK(askedBy({"remove", "host", "nqn.h"}).dump() == R"({"command":"remove","hosts":["nqn.h"]})");
}

TEST_CASE("records from a file are sent as they were printed", "[cdc]")
{
	Scratch dir;
	dir.write("records.json", R"({"schema_version": 1, "generation": 7, "targets": [{"nqn": "nqn.a"}]})");
	CHECK(askedBy({"record", "set", "--file", dir.path() / "records.json"}).dump() ==
	      R"({"command":"set","targets":[{"nqn":"nqn.a"}]})");
	dir.write("other.json", "[]");
	CHECK(run({"cdc", "record", "set", "--file", dir.path() / "other.json"}).code == 2);
	CHECK(run({"cdc", "record", "set", "--file", dir.path() / "none.json"}).code == 3);
}

TEST_CASE("an incomplete change is refused without a request", "[cdc]")
{
	auto refused = [](std::vector<std::string> words) {
		words.insert(words.begin(), "cdc");
		const Outcome outcome = run(words);
		CHECK(outcome.code == 2);
		return outcome.err;
	};
	CHECK(refused({"target", "set", "-n", "nqn.a"}).find("--traddr ADDR[:PORT] is missing") != std::string::npos);
	CHECK(refused({"target", "set", "-a", "10.0.0.1"}).find("NQN is missing") != std::string::npos);
	CHECK(refused({"record", "set"}).find("--file FILE is missing") != std::string::npos);
	CHECK(refused({"zone", "set"}).find("NAME is missing") != std::string::npos);
	CHECK(refused({"target", "set", "-n", "nqn.a", "-a", "not an address"}) != "");
	CHECK(refused({"fly"}) != "");
}

TEST_CASE("an error of the service keeps its code", "[cdc]")
{
	for (const auto &[code, exit] : {std::pair("not_permitted", 7), std::pair("invalid", 2), std::pair("failed", 1),
					 std::pair("no_such_object", 3), std::pair("of_tomorrow", 1)}) {
		FakeService service(fmt::format(R"({{"error": {{"code": "{}", "message": "no"}}}})", code) + "\n");
		const Outcome outcome = service.run({"reload"});
		CHECK(outcome.code == exit);
		CHECK(outcome.err.find("no") != std::string::npos);
	}
	CHECK(FakeService("rubbish\n").run({"status"}).code == 1);
	CHECK(FakeService("").run({"status"}).err.find("closed the connection") != std::string::npos);
}

TEST_CASE("a reload that could not use a key file says which, and fails", "[cdc]")
{
	const std::string problem = "/k/nqn.a.dhchap: its mode is 0644, and must be 0600 or stricter";
	FakeService service(fmt::format(R"({{"done": "reload", "problems": ["{}", 7]}})", problem) + "\n");
	const Outcome outcome = service.run({"reload"});
	CHECK(outcome.code == 1);
	CHECK(outcome.out == "nvmeof-cdc: reload\n");
	CHECK(outcome.err.find("warning: " + problem + " (correct that, and reload again)") != std::string::npos);
	FakeService other(fmt::format(R"({{"done": "reload", "problems": ["{}"]}})", problem) + "\n");
	const Outcome json = other.run({"reload", "--json"});
	CHECK(json.code == 1);
	CHECK(Json::parse(json.out)["problems"] == Json{problem});
	CHECK(FakeService("{\"done\": \"reload\", \"problems\": []}\n").run({"reload"}).code == 0);
	CHECK(FakeService("{\"done\": \"reload\"}\n").run({"reload"}).code == 0); // of an older version
}

TEST_CASE("documents are passed on with the schema version", "[cdc]")
{
	FakeService service("{\"generation\": 7, \"hosts\": []}\n");
	const Outcome outcome = service.run({"hosts", "--json"});
	CHECK(Json::parse(outcome.out).dump() == R"({"schema_version":1,"generation":7,"hosts":[]})");
}

TEST_CASE("changes are followed line by line until the service ends", "[cdc]")
{
	const std::string lines = "{\"change\": {\"generation\": 7, \"put\": [\"zones/a\"]}}\n{\"synced\": true}\n"
				  "{\"dropped\": 3}\n";
	FakeService service(lines);
	const Outcome outcome = service.run({"changes", "--follow"});
	CHECK(outcome.code == 1);
	CHECK(outcome.out == "- generation 7\n  + zone a\n3 changes were dropped: this client reads too slowly\n");
	CHECK(service.asked().dump() == R"({"command":"changes","follow":true})");
	FakeService other(lines);
	const Outcome json = other.run({"changes", "--follow", "--json"});
	CHECK(json.out.starts_with(R"({"schema_version":1,"change":{"generation":7,"put":["zones/a"]}})"));
}

TEST_CASE("documents are printed as tables", "[cdc]")
{
	const Json hosts = Json::parse(R"({"hosts": [
		{"nqn": "nqn.a", "state": "current", "generation": 7, "persistent": true, "first_choice": true,
		 "targets": 2, "zones": ["x", "y"], "connections": [{"address": "10.0.0.1",
		 "authentication": {"hash": "SHA-256", "dhgroup": "ffdhe2048", "mutual": false},
		 "tls": {"cipher": "TLS_AES_128_GCM_SHA256"}}]},
		{"nqn": "nqn.b\n", "state": "away", "persistent": false, "first_choice": false, "connections": []}]})");
	CHECK(cdcHostsText(hosts) == "Host    Address   Log      Generation  Events      First choice  Authenticated   "
				     "   TLS                     Targets  Zones\n"
				     "------  --------  -------  ----------  ----------  ------------  "
				     "-----------------  ----------------------  -------  -----\n"
				     "nqn.a   10.0.0.1  current           7  subscribed  here          SHA-256 "
				     "ffdhe2048  TLS_AES_128_GCM_SHA256        2  x, y\n"
				     "nqn.b?  -         away              -  -           elsewhere     -               "
				     "   -                             -  -\n");
	const Json targets = Json::parse(R"({"targets": [{"nqn": "nqn.t", "transport": "tcp", "traddr": "fd00::1",
		"trsvcid": "4420", "state": "optimized", "source": "push", "owner": "nqn.d", "visible_to": 12}]})");
	CHECK(cdcTargetsText(targets) == "NQN    Port                State      Source      Visible to\n"
					 "-----  ------------------  ---------  ----------  ----------\n"
					 "nqn.t  tcp [fd00::1]:4420  optimized  push nqn.d          12\n");
	const Json zones = Json::parse(R"({"zones": [{"name": "z", "hosts": ["a", "b", "c", "d"], "targets": ["t"],
		"auth": "required", "source": "file", "hosts_now": 3}]})");
	CHECK(cdcZonesText(zones).find("z             3  a, b, and 2 more  t        required  -    file\n") !=
	      std::string::npos);
	CHECK(cdcInstancesText(Json::parse(R"({"instances": [{"nqn": "nqn.i", "addresses": ["10.0.0.1:8009"],
		"draining": true, "self": true}]})"))
		      .find("10.0.0.1:8009  nqn.i  draining, this one\n") != std::string::npos);
	CHECK(cdcHostsText(Json::object()) == "no host is connected, and none has registered\n");
	CHECK(cdcTargetsText(Json::parse("[1]")) == "no target is known\n");
}

TEST_CASE("the status of a service in trouble begins with the trouble", "[cdc]")
{
	const std::string text = cdcStatusText(Json::parse(R"({"serving": false, "generation": 7,
		"instance": {"nqn": "nqn.self", "draining": true}, "store": {"engine": "etcd", "place": "x",
		"writable": false, "trouble": "no quorum"}, "counters": {"events": 3}})"));
	CHECK(text.starts_with("not serving hosts: the store has not loaded its records yet\n"
			       "draining: handing hosts over to other instances\n"
			       "the store cannot be written: no quorum\n\n"
			       "Instance      : -\n"));
	CHECK(text.find("\nCounters since the start:\nevents : 3\n") != std::string::npos);
	CHECK(cdcStatusText(Json::parse("{}")) != "");
	CHECK(cdcStatusText(Json::parse("[]")) != "");
}

TEST_CASE("cdc: a service that accepts no connection, or never ends its line, times out", "[cdc]")
{
	using namespace nvmeof;
	using namespace std::chrono_literals;
	const Scratch dir;
	const std::string path = dir.path() / "control";
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	std::ranges::copy(path, address.sun_path);
	const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	REQUIRE(::bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
	REQUIRE(::listen(listening, 0) == 0);
	Result<CdcSocket> first = CdcSocket::open(path, 50ms);
	REQUIRE(first);
	Result<CdcSocket> second = CdcSocket::open(path, 50ms); // the queue of connections is full
	REQUIRE_FALSE(second);
	CHECK(second.error().code == ErrorCode::timedOut);

	const int accepted = ::accept(listening, nullptr, nullptr);
	REQUIRE(accepted >= 0);
	std::atomic<bool> stop = false;
	std::thread trickle([&] {
		while (!stop && ::send(accepted, " ", 1, MSG_NOSIGNAL) == 1)
			std::this_thread::sleep_for(5ms);
	});
	Result<Json> answer = first->receive(100ms); // each byte comes in time, the end of the line does not
	stop = true;
	trickle.join();
	REQUIRE_FALSE(answer);
	CHECK(answer.error().code == ErrorCode::timedOut);
	::close(accepted);
	::close(listening);
}
