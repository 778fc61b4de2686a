// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent.h"

#include <algorithm>
#include <cerrno>
#include <netdb.h>
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
	if (address.ss_family != AF_INET && address.ss_family != AF_INET6)
		return {"", "a local peer"};
	return {host,
		address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port)};
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
	bool silentServer(milliseconds since) const
	{
		return request_.role == TlsRole::server && !handshake_.heard() && steady_clock::now() - begun_ >= since;
	}

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
	     bool debug, AgentLimits limits)
	: contexts_(contexts), store_(store), queue_(queue), install_(std::move(install)), debug_(debug),
	  limits_(limits), poller_(loop), wheel_(loop), more_(loop, [this] { serve(); })
{
}

Agent::~Agent() = default;

void Agent::serve()
{
	constexpr int most = 32; // before the handshakes that run have their turn
	for (int i = 0; i < most; i++) {
		if (ending_)
			return;
		const bool full = running_.size() >= limits_.handshakes;
		Running *silent = full ? oldestSilent() : nullptr;
		if (full && !silent) {
			more_.startUnlessRunning(limits_.silence); // erase() calls earlier
			return;
		}
		if (!take())
			return;
		if (silent)
			silent->finish(ETIMEDOUT, 0, "the peer does not answer while others wait; does it speak TLS?");
	}
	more_.start(0ms);
}

bool Agent::take()
{
	Result<std::optional<HandshakeRequest>> request = queue_.accept();
	if (!request) { // one handshake is lost: the kernel has ended it, or its user's timeout will
		say(logLimit_, LOG_ERR, request.error().message);
		more_.start(100ms);
		return false;
	}
	if (!*request)
		return false;
	start(*std::move(*request));
	return true;
}

void Agent::start(HandshakeRequest request)
{
	Peer peer = peerOf(request.socket.get());
	if (request.auth != AuthMode::psk)
		return refuse(
			request, peer.name, EOPNOTSUPP,
			"its user wants a handshake without a pre-shared key, which this agent does not do; install "
			"ktls-utils and start tlshd.service, and nvmeof-tlsd steps aside");
	if (request.role == TlsRole::server && withPeer(peer.host) >= limits_.ofPeer)
		return refuse(request, peer.name, EAGAIN,
			      fmt::format("{} handshakes with this peer are running; it may try again later",
					  limits_.ofPeer));
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

// The oldest handshake as a server whose peer has not sent one byte for a while. It gives way to another one, so that
// peers which only connect cannot keep out others.
Agent::Running *Agent::oldestSilent() const
{
	const auto found = std::ranges::find_if(
		running_, [this](const auto &running) { return running->silentServer(limits_.silence); });
	return found == running_.end() ? nullptr : found->get();
}

std::size_t Agent::withPeer(const std::string &host) const
{
	return static_cast<std::size_t>(
		std::ranges::count_if(running_, [&](const auto &running) { return running->host() == host; }));
}

void Agent::erase(const Running &handshake)
{
	const bool full = running_.size() >= limits_.handshakes;
	std::erase_if(running_, [&](const auto &running) { return running.get() == &handshake; });
	if (ending_ && running_.empty() && ended_)
		std::exchange(ended_, nullptr)();
	else if (full && !ending_)
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

void Agent::stepAside(std::function<void()> ended)
{
	ending_ = true;
	ended_ = std::move(ended);
	if (running_.empty() && ended_)
		std::exchange(ended_, nullptr)();
}

void Agent::end()
{
	ending_ = true;
	ended_ = nullptr;
	while (!running_.empty())
		running_.front()->finish(EIO, 0, "the agent ends; start nvmeof-tlsd again");
}

} // namespace tlsd
