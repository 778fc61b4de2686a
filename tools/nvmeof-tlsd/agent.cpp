// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <syslog.h>
#include <utility>

#include <fmt/format.h>

namespace tlsd {

using namespace std::chrono_literals;
using nvmeof::Result;
using runtime::say;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Agent::Peer Agent::peerOf(int socket)
{
	sockaddr_storage address{};
	socklen_t length = sizeof(address);
	char host[NI_MAXHOST], port[NI_MAXSERV];
	if (::getpeername(socket, reinterpret_cast<sockaddr *>(&address), &length) < 0 ||
	    ::getnameinfo(reinterpret_cast<sockaddr *>(&address), length, host, sizeof(host), port, sizeof(port),
			  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return {"", "an unknown peer"};
	if (address.ss_family == AF_INET)
		return {host, fmt::format("{}:{}", host, port)};
	if (address.ss_family != AF_INET6)
		return {"", "a local peer"};
	const std::string name = fmt::format("[{}]:{}", host, port);
	in6_addr &bytes = reinterpret_cast<sockaddr_in6 &>(address).sin6_addr;
	if (IN6_IS_ADDR_V4MAPPED(&bytes) || IN6_IS_ADDR_LINKLOCAL(&bytes))
		return {host, name};
	std::fill(bytes.s6_addr + 8, bytes.s6_addr + 16, 0); // a machine can have any address of its /64
	return {inet_ntop(AF_INET6, &bytes, host, sizeof(host)), name};
}

namespace {

const char *roleName(TlsRole role)
{
	return role == TlsRole::client ? "client" : "server";
}

} // namespace

class Agent::Running : runtime::Poller::Handler, runtime::Wheel::Alarm {
public:
	Running(Agent &agent, HandshakeRequest request, Peer peer)
		: agent_(agent), request_(std::move(request)), peer_(std::move(peer)),
		  handshake_(agent.contexts_, agent.store_, request_.role, fd(), request_.keys, request_.keyring)
	{
	}
	~Running()
	{
		if (watched_)
			agent_.poller_.remove(fd(), *this);
	}

	const std::string &host() const { return peer_.host; }
	bool server() const { return request_.role == TlsRole::server; }
	bool heard() const { return handshake_.heard(); }
	steady_clock::duration age() const { return steady_clock::now() - begun_; }

	// The object does not exist afterwards if the handshake has ended.
	void start()
	{
		const milliseconds wanted = request_.timeout.count() ? request_.timeout : agent_.limits_.usualTimeout;
		agent_.wheel_.set(*this, std::min(wanted, agent_.limits_.longestTimeout));
		advance();
	}

	// Ends the handshake, and the object. @status: 0 or a positive errno.
	void finish(int status, nofctl::KeySerial key, const std::string &reason)
	{
		if (watched_)
			agent_.poller_.remove(fd(), *this);
		watched_ = false;
		const Result<void> told = agent_.queue_.done(fd(), status, key);
		if (status)
			agent_.report(request_, peer_.name, handshake_.identity(), reason);
		else if (!told && told.error().sysErrno != EBUSY) // EBUSY: its user has not waited
			agent_.report(request_, peer_.name, handshake_.identity(),
				      "the kernel does not take the connection: " + told.error().message +
					      "; its user will try again");
		else if (agent_.debug_)
			say(LOG_DEBUG, fmt::format("handshake with {} as {}: done in {} ms, identity '{}', {}",
						   peer_.name, roleName(request_.role),
						   duration_cast<milliseconds>(steady_clock::now() - begun_).count(),
						   handshake_.identity(), reason));
		agent_.erase(*this);
	}

private:
	int fd() const { return request_.socket.get(); }
	void ready(std::uint32_t) override { advance(); }
	void threw() override { finish(EIO, 0, "the agent failed; is there memory left?"); }
	void onDeadline() override
	{
		if (!runtime::guarded([this] {
			    finish(ETIMEDOUT, 0,
				   handshake_.heard() ? "the peer did not finish it in time; see its log"
						      : "the peer does not answer; does it expect TLS there?");
		    }))
			agent_.erase(*this);
	}

	void advance()
	{
		switch (handshake_.advance()) {
		case TlsHandshake::State::wantsRead:
			return watch(EPOLLIN);
		case TlsHandshake::State::wantsWrite:
			return watch(EPOLLOUT);
		case TlsHandshake::State::failed:
			return finish(handshake_.failure().status, 0, handshake_.failure().reason);
		case TlsHandshake::State::done:
			return install();
		}
	}

	void watch(std::uint32_t events)
	{
		if (watched_) {
			if (std::exchange(watched_, events) != events)
				agent_.poller_.want(fd(), events, *this);
			return;
		}
		if (!agent_.poller_.add(fd(), events, *this))
			return finish(EIO, 0, "the agent cannot watch the socket");
		watched_ = events;
	}

	void install()
	{
		const Result<SessionKeys> keys = sessionKeysOf(handshake_);
		const Result<void> installed = keys ? agent_.install_(fd(), *keys) : keys.error();
		if (!installed)
			return finish(EIO, 0, installed.error().message);
		finish(0, handshake_.serial(), toString(keys->cipher));
	}

	Agent &agent_;
	const HandshakeRequest request_;
	const Peer peer_;
	const steady_clock::time_point begun_ = steady_clock::now();
	std::uint32_t watched_ = 0; // epoll events, 0: not registered
	TlsHandshake handshake_;
};

Agent::Agent(runtime::Loop &loop, const TlsContexts &contexts, PskStore &store, HandshakeQueue &queue, Install install,
	     bool debug, const AgentLimits &limits)
	: contexts_(contexts), store_(store), queue_(queue), install_(std::move(install)), debug_(debug),
	  limits_(limits), poller_(loop), wheel_(loop), more_(loop, [this] { drained_ ? startWaiting() : serve(); })
{
}

Agent::~Agent() = default;

void Agent::serve()
{
	constexpr int most = 32; // before the handshakes that run have their turn
	if (ending_)
		return;
	startWaiting();
	drained_ = false;
	for (int i = 0; i < most && running_.size() < limits_.handshakes; i++)
		if (!take())
			return;
	// erase() calls earlier if all are running
	if (running_.size() < limits_.handshakes)
		more_.start(0ms);
	else
		more_.startUnlessRunning(limits_.silence);
}

bool Agent::take()
{
	Result<std::optional<HandshakeRequest>> request = queue_.accept();
	if (!request) { // one handshake is lost: the kernel has ended it, or its user's timeout will
		say(logLimit_, LOG_ERR, request.error().message);
		more_.start(100ms);
		return false;
	}
	if (!*request) {
		drained_ = true;
		if (!waiting_.empty())
			more_.startUnlessRunning(limits_.silence);
		return false;
	}
	add(*std::move(*request));
	return true;
}

void Agent::add(HandshakeRequest request)
{
	Peer peer = peerOf(request.socket.get());
	if (request.auth != AuthMode::psk)
		return refuse(
			request, peer.name, EOPNOTSUPP,
			"its user wants a handshake without a pre-shared key, which this agent does not do; install "
			"ktls-utils and start tlshd.service: nvmeof-tlsd leaves the handshakes to it");
	if (request.role == TlsRole::server && withPeer(peer.host) >= limits_.ofPeer)
		return refuse(request, peer.name, EAGAIN,
			      fmt::format("{} handshakes with this peer are running; it may try again later",
					  limits_.ofPeer));
	if (request.role == TlsRole::client || (waiting_.empty() && makeRoom()))
		return start(std::move(request), std::move(peer));
	if (waiting_.size() >= limits_.waiting)
		return refuse(request, peer.name, EAGAIN,
			      fmt::format("{} handshakes wait already; it may try again later", limits_.waiting));
	waiting_.push_back({std::move(request), std::move(peer), steady_clock::now()});
}

void Agent::startWaiting()
{
	const auto now = steady_clock::now();
	const auto left = [&](const Waiting &waiting) {
		const milliseconds timeout = waiting.request.timeout;
		return (timeout.count() ? timeout : limits_.usualTimeout) -
		       duration_cast<milliseconds>(now - waiting.since);
	};
	// first: no handshake that runs gives way to one that is over
	std::erase_if(waiting_, [&](const Waiting &waiting) {
		if (left(waiting) > 0ms)
			return false;
		refuse(waiting.request, waiting.peer.name, ETIMEDOUT, "other handshakes took too long; try again");
		return true;
	});
	while (!waiting_.empty() && makeRoom()) {
		Waiting next = std::move(waiting_.front());
		waiting_.pop_front();
		next.request.timeout = left(next);
		start(std::move(next.request), std::move(next.peer));
	}
	if (!waiting_.empty())
		more_.startUnlessRunning(limits_.silence);
}

bool Agent::makeRoom()
{
	const auto servers =
		std::ranges::count_if(running_, &Running::server, [](const auto &r) -> const Running & { return *r; });
	if (static_cast<std::size_t>(servers) < limits_.asServer && running_.size() < limits_.handshakes)
		return true;
	Running *slow = oldestSlow();
	if (slow)
		slow->finish(ETIMEDOUT, 0,
			     slow->heard() ? "the peer is slow while others wait"
					   : "the peer does not answer while others wait; does it speak TLS?");
	return slow;
}

void Agent::start(HandshakeRequest request, Peer peer)
{
	const int fd = request.socket.get();
	try {
		running_.push_back(std::make_unique<Running>(*this, std::move(request), std::move(peer)));
	} catch (const std::bad_alloc &) {
		// the socket is closed; its user waits for its own timeout
		say(logLimit_, LOG_ERR, fmt::format("no memory for the handshake on socket {}; free some", fd));
		return;
	}
	running_.back()->start();
}

void Agent::refuse(const HandshakeRequest &request, const std::string &peer, int status, const std::string &reason)
{
	if (const Result<void> told = queue_.done(request.socket.get(), status, 0); !told)
		say(logLimit_, LOG_ERR, "the kernel does not take an answer: " + told.error().message);
	report(request, peer, "", reason);
}

// The oldest handshake as a server whose peer has not sent one byte for a while, or else one that takes long: the one
// to end, so that stalled peers do not keep others out.
Agent::Running *Agent::oldestSlow() const
{
	const auto find = [this](milliseconds limit, bool heard) {
		const auto found = std::ranges::find_if(running_, [&](const auto &running) {
			return running->server() && (heard || !running->heard()) && running->age() >= limit;
		});
		return found == running_.end() ? nullptr : found->get();
	};
	Running *silent = find(limits_.silence, false);
	return silent ? silent : find(limits_.slow, true);
}

std::size_t Agent::withPeer(const std::string &host) const
{
	return static_cast<std::size_t>(
		std::ranges::count_if(running_, [&](const auto &running) { return running->host() == host; }) +
		std::ranges::count_if(waiting_, [&](const auto &waiting) { return waiting.peer.host == host; }));
}

void Agent::erase(const Running &handshake)
{
	const bool full = running_.size() >= limits_.handshakes || !waiting_.empty();
	std::erase_if(running_, [&](const auto &running) { return running.get() == &handshake; });
	if (full && !ending_)
		more_.start(0ms);
}

void Agent::report(const HandshakeRequest &request, const std::string &peer, const std::string &identity,
		   const std::string &reason)
{
	if (logLimit_.full()) {
		std::uint64_t leftOut = 0;
		logLimit_.allow(leftOut); // counts it
		return;
	}
	say(logLimit_, LOG_WARNING,
	    fmt::format("TLS handshake with {}{} as {} failed{}: {}", peer,
			request.peerName.empty() ? "" : " (" + request.peerName + ")", roleName(request.role),
			identity.empty() ? "" : ", identity '" + identity + "'", reason),
	    {.address = peer});
}

void Agent::end()
{
	constexpr const char *reason = "the agent ends; start nvmeof-tlsd again";
	ending_ = true;
	while (!running_.empty())
		running_.front()->finish(EIO, 0, reason);
	for (const Waiting &waiting : waiting_)
		refuse(waiting.request, waiting.peer.name, EIO, reason);
	waiting_.clear();
}

} // namespace tlsd
