// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent with handshakes of a queue in memory: sockets of this process, keys that are only recorded
#include <arpa/inet.h>
#include <deque>
#include <netinet/in.h>

#include "agent.h"
#include "peer.h"

using namespace tlsd_test;
using namespace std::chrono_literals;

namespace {

struct Ended {
	int status;
	KeySerial key;
};

class MemoryQueue : public HandshakeQueue {
public:
	Result<std::optional<HandshakeRequest>> accept() override
	{
		accepts++;
		if (waiting.empty())
			return std::optional<HandshakeRequest>();
		HandshakeRequest request = std::move(waiting.front());
		waiting.pop_front();
		return std::optional(std::move(request));
	}
	Result<void> done(int socket, int status, KeySerial key) override
	{
		sockaddr_in name{};
		socklen_t size = sizeof(name);
		CHECK(::getsockname(socket, reinterpret_cast<sockaddr *>(&name), &size) == 0); // still open
		ended.push_back({status, key});
		return {};
	}
	int count(int status) const { return static_cast<int>(std::ranges::count(ended, status, &Ended::status)); }

	std::deque<HandshakeRequest> waiting;
	std::vector<Ended> ended;
	int accepts = 0;
};

// An agent and its queue
struct Stage {
	explicit Stage(AgentLimits limits = {}) : agent(loop, contexts(), store, queue, install, false, limits)
	{
		store.add(identities[0]);
	}
	// A server's handshake; the other end of its socket
	OwnedFd serverFor(int milliseconds = 10'000, AuthMode auth = AuthMode::psk)
	{
		Pair pair;
		queue.waiting.push_back(requestOf(std::move(pair.one), TlsRole::server, milliseconds, auth));
		return std::move(pair.other);
	}
	HandshakeRequest requestOf(OwnedFd socket, TlsRole role, int milliseconds = 10'000,
				   AuthMode auth = AuthMode::psk)
	{
		HandshakeRequest request;
		request.socket = std::move(socket);
		request.role = role;
		request.auth = auth;
		request.timeout = std::chrono::milliseconds(milliseconds);
		if (role == TlsRole::client)
			request.keys = {1};
		return request;
	}
	// False: not within 30 s
	template <typename Holds> bool turnUntil(Holds holds)
	{
		const auto end = std::chrono::steady_clock::now() + 30s;
		while (!holds()) {
			if (std::chrono::steady_clock::now() > end)
				return false;
			::sd_event_run(loop.event(), 10'000);
		}
		return true;
	}

	runtime::Loop loop{runtime::Loop::Watchdog::none};
	MemoryStore store;
	MemoryQueue queue;
	std::vector<std::string> installed; // keys by which a socket sends and receives
	bool installs = true;
	Agent::Install install = [this](int, const SessionKeys &keys) -> Result<void> {
		if (!installs)
			return nvmeof::errorFromErrno(ENOENT, "no kTLS");
		installed.push_back(std::string(keys.send.key.text()) + std::string(keys.receive.key.text()));
		return {};
	};
	Agent agent;
};

// Both ends of a TCP connection. @accepted: its address is 127.0.0.1, that of the other end @from.
std::pair<OwnedFd, OwnedFd> tcpPair(const char *from)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof(address);
	const OwnedFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr *>(&address), size) == 0);
	REQUIRE(::listen(listener.get(), 1) == 0);
	REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &size) == 0);
	OwnedFd one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	sockaddr_in own{};
	own.sin_family = AF_INET;
	own.sin_addr.s_addr = ::inet_addr(from);
	REQUIRE(::bind(one.get(), reinterpret_cast<sockaddr *>(&own), sizeof(own)) == 0);
	REQUIRE(::connect(one.get(), reinterpret_cast<sockaddr *>(&address), size) == 0);
	OwnedFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
	REQUIRE(accepted.get() >= 0);
	return {std::move(accepted), std::move(one)};
}

} // namespace

TEST_CASE("many handshakes run at the same time over TCP", "[agent]")
{
	constexpr int pairs = 40;
	Stage stage;
	for (int i = 0; i < pairs; i++) {
		auto [accepted, connected] = tcpPair("127.0.0.1");
		stage.queue.waiting.push_back(stage.requestOf(std::move(accepted), TlsRole::server));
		stage.queue.waiting.push_back(stage.requestOf(std::move(connected), TlsRole::client));
	}
	const OwnedFd silent = stage.serverFor(); // does not hold up the others
	stage.agent.serve();
	CHECK(stage.turnUntil([&] { return stage.queue.ended.size() == 2 * pairs; }));
	CHECK(stage.queue.count(0) == 2 * pairs);
	CHECK(std::ranges::all_of(stage.queue.ended, [](const Ended &one) { return one.key == 1; }));
	CHECK(stage.agent.running() == 1);
	// Each pair of ends has the same two keys, in the other order; no two pairs do.
	std::map<std::string, int> seen;
	for (std::string keys : stage.installed) {
		std::string turned = keys.substr(16) + keys.substr(0, 16);
		seen[std::min(keys, turned)]++;
	}
	CHECK(seen.size() == pairs);
	CHECK(std::ranges::all_of(seen, [](const auto &one) { return one.second == 2; }));
	CHECK(stage.queue.waiting.empty());
}

TEST_CASE("a silent peer costs its handshake the time that the request gives", "[agent]")
{
	Stage stage;
	const OwnedFd one = stage.serverFor(100), other = stage.serverFor(60'000);
	const auto begun = std::chrono::steady_clock::now();
	stage.agent.serve();
	REQUIRE(stage.turnUntil([&] { return !stage.queue.ended.empty(); }));
	CHECK(stage.queue.ended[0].status == ETIMEDOUT);
	CHECK(stage.queue.ended[0].key == 0);
	CHECK(std::chrono::steady_clock::now() - begun >= 100ms);
	CHECK(stage.agent.running() == 1);
}

TEST_CASE("the time limit has a default and a bound", "[agent]")
{
	AgentLimits limits;
	limits.usualTimeout = 50ms;
	limits.longestTimeout = 100ms;
	Stage stage(limits);
	const OwnedFd one = stage.serverFor(0), other = stage.serverFor(3'600'000);
	stage.agent.serve();
	CHECK(stage.turnUntil([&] { return stage.queue.count(ETIMEDOUT) == 2; }));
}

TEST_CASE("a peer that trickles bytes ends at its deadline", "[agent]")
{
	Stage stage;
	const OwnedFd peer = stage.serverFor(200);
	stage.agent.serve();
	const std::string hello =
		std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + std::string(300, 'r');
	std::size_t sent = 0;
	CHECK(stage.turnUntil([&] {
		if (sent < hello.size())
			sent += ::send(peer.get(), &hello[sent], 1, MSG_NOSIGNAL) == 1;
		return !stage.queue.ended.empty();
	}));
	CHECK(stage.queue.ended[0].status == ETIMEDOUT);
}

TEST_CASE("handshakes beyond the bound wait until one has ended", "[agent]")
{
	AgentLimits limits;
	limits.asServer = 4;
	limits.waiting = 6;
	limits.silence = limits.slow = 1h;
	Stage stage(limits);
	std::vector<OwnedFd> peers;
	for (int i = 0; i < 11; i++)
		peers.push_back(stage.serverFor());
	stage.agent.serve();
	CHECK(stage.agent.running() == 4);
	CHECK(stage.agent.waiting() == 6);
	CHECK(stage.queue.count(EAGAIN) == 1);
	stage.agent.serve();
	CHECK(stage.agent.running() == 4);
	peers[0] = OwnedFd();
	peers[1] = OwnedFd();
	CHECK(stage.turnUntil([&] { return stage.agent.waiting() == 4; }));
	CHECK(stage.queue.count(ECONNRESET) == 2);
	CHECK(stage.agent.running() == 4);
	stage.agent.end();
	CHECK(stage.queue.count(EIO) == 8);
}

TEST_CASE("handshakes that wait end in time", "[agent]")
{
	AgentLimits limits;
	limits.asServer = 1;
	limits.silence = 100ms;
	Stage stage(limits);
	const OwnedFd first = stage.serverFor(), second = stage.serverFor(20);
	stage.agent.serve();
	CHECK(stage.agent.waiting() == 1);
	CHECK(stage.turnUntil([&] { return stage.queue.count(ETIMEDOUT) == 1; }));
	CHECK(stage.agent.waiting() == 0);
	CHECK(stage.agent.running() == 1); // none waits for its place
}

TEST_CASE("handshakes of this host do not wait for those of its targets", "[agent]")
{
	AgentLimits limits;
	limits.asServer = 2;
	limits.silence = limits.slow = 1h;
	Stage stage(limits);
	std::vector<OwnedFd> peers;
	for (int i = 0; i < 4; i++)
		peers.push_back(stage.serverFor());
	OwnedFd targets;
	{
		Pair pair;
		stage.queue.waiting.push_back(stage.requestOf(std::move(pair.one), TlsRole::client));
		targets = std::move(pair.other);
	}
	stage.agent.serve();
	CHECK(stage.agent.running() == 3);
	CHECK(stage.agent.waiting() == 2);
	CHECK_FALSE(receiveAll(targets.get()).empty()); // its first message
}

TEST_CASE("peers that send one byte make room for others, later than silent ones", "[agent]")
{
	AgentLimits limits;
	limits.asServer = 2;
	limits.silence = 20ms;
	limits.slow = 150ms;
	Stage stage(limits);
	std::vector<OwnedFd> peers;
	for (int i = 0; i < 2; i++)
		sendAll(peers.emplace_back(stage.serverFor()).get(), "\x16");
	const auto begun = std::chrono::steady_clock::now();
	stage.agent.serve();
	const OwnedFd other = stage.serverFor();
	stage.agent.serve();
	CHECK(stage.turnUntil([&] { return stage.agent.waiting() == 0; }));
	CHECK(std::chrono::steady_clock::now() - begun >= 150ms);
	CHECK(stage.queue.count(ETIMEDOUT) == 1);
	CHECK(stage.agent.running() == 2);
}

TEST_CASE("silent peers make room for others", "[agent]")
{
	AgentLimits limits;
	limits.asServer = 4;
	limits.silence = 50ms;
	Stage stage(limits);
	std::vector<OwnedFd> peers;
	for (int i = 0; i < 4; i++)
		peers.push_back(stage.serverFor());
	stage.agent.serve();
	sendAll(peers[0].get(), "\x16"); // is no longer silent
	auto [accepted, connected] = tcpPair("127.0.0.1");
	stage.queue.waiting.push_back(stage.requestOf(std::move(accepted), TlsRole::server));
	stage.queue.waiting.push_back(stage.requestOf(std::move(connected), TlsRole::client));
	CHECK(stage.turnUntil([&] {
		stage.agent.serve();
		return stage.queue.count(0) == 2;
	}));
	CHECK(stage.queue.count(ETIMEDOUT) == 1); // the client's has a place of its own
	CHECK(stage.agent.running() == 3);
}

TEST_CASE("one address has a part of the handshakes", "[agent]")
{
	AgentLimits limits;
	limits.ofPeer = 2;
	Stage stage(limits);
	std::vector<OwnedFd> peers;
	for (const char *from : {"127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3"}) {
		auto [accepted, connected] = tcpPair(from);
		stage.queue.waiting.push_back(stage.requestOf(std::move(accepted), TlsRole::server));
		peers.push_back(std::move(connected));
	}
	stage.agent.serve();
	CHECK(stage.agent.running() == 3);
	REQUIRE(stage.queue.ended.size() == 1);
	CHECK(stage.queue.ended[0].status == EAGAIN);
}

TEST_CASE("handshakes with certificates, or without authentication, are refused", "[agent]")
{
	Stage stage;
	const OwnedFd one = stage.serverFor(1000, AuthMode::x509), other = stage.serverFor(1000, AuthMode::none);
	stage.agent.serve();
	CHECK(stage.queue.count(EOPNOTSUPP) == 2);
	CHECK(stage.agent.running() == 0);
	CHECK(receiveAll(one.get()).empty());
}

TEST_CASE("a kernel that does not take the keys is an error of the agent", "[agent]")
{
	Stage stage;
	stage.installs = false;
	auto [accepted, connected] = tcpPair("127.0.0.1");
	stage.queue.waiting.push_back(stage.requestOf(std::move(accepted), TlsRole::server));
	stage.queue.waiting.push_back(stage.requestOf(std::move(connected), TlsRole::client));
	stage.agent.serve();
	CHECK(stage.turnUntil([&] { return stage.queue.count(EIO) == 2; }));
}

TEST_CASE("a missing key is reported at once", "[agent]")
{
	Stage stage;
	Pair pair;
	HandshakeRequest request = stage.requestOf(std::move(pair.one), TlsRole::client);
	request.keys = {44};
	stage.queue.waiting.push_back(std::move(request));
	stage.agent.serve();
	REQUIRE(stage.queue.ended.size() == 1);
	CHECK(stage.queue.ended[0].status == ENOKEY);
}

TEST_CASE("the users of handshakes hear of the end of the agent", "[agent]")
{
	Stage stage;
	const OwnedFd one = stage.serverFor(), other = stage.serverFor();
	stage.agent.serve();
	stage.agent.end();
	CHECK(stage.queue.count(EIO) == 2);
	CHECK(stage.agent.running() == 0);
}

TEST_CASE("an agent that is destroyed leaves its loop usable", "[agent]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	MemoryStore store;
	MemoryQueue queue;
	Pair pair;
	{
		Agent agent(loop, contexts(), store, queue, {}, false);
		HandshakeRequest request;
		request.socket = std::move(pair.one);
		request.role = TlsRole::server;
		request.auth = AuthMode::psk;
		queue.waiting.push_back(std::move(request));
		agent.serve();
		CHECK(agent.running() == 1);
	}
	CHECK(::sd_event_run(loop.event(), 1000) >= 0);
	CHECK(::recv(pair.other.get(), nullptr, 0, MSG_DONTWAIT) == 0); // closed
}
