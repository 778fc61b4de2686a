// SPDX-License-Identifier: LGPL-2.1-or-later
#include "server.h"

#include "connection.h"
#include "listener.h"
#include "mutator.h"

#include <poll.h>

namespace target {
namespace {

constexpr std::size_t mostGeneratedKeys = 64;

// Discovery Log Page Change notices go to discovery controllers only, other notices to the others.
bool concerns(const Association &a, AsyncEvent event)
{
	return event.type != 2 || a.discovery == (event.log == log_discovery);
}

} // namespace

struct Server::ServedConnection {
	std::shared_ptr<Connection> conn;
	std::shared_ptr<std::atomic<bool>> over;
	std::jthread thread;
};

Server::Server(Config config, std::shared_ptr<Subsystem> subsystem)
	: config_(std::move(config)), subsystem_(std::move(subsystem)), port_(config_.port),
	  maxIoQueues_(config_.maxIoQueues)
{
	subsystem_->stores().identifyBy(config_.nqn);
	start();
}

Server::~Server()
{
	stop();
}

void Server::start()
{
	stopping_ = false;
	listener_ = config_.transport == Transport::rdma ? listenRdma(*this, config_.address, port_)
							 : listenTcp(*this, config_.address, port_);
	port_ = listener_->port();
	acceptor_ = std::jthread([this] { accept(); });
	subsystem_->discovery().addPort(*this);
}

void Server::stop()
{
	stopping_ = true;
	subsystem_->discovery().removePort(*this);
	wake_.set();
	if (acceptor_.joinable())
		acceptor_.join();
	wake_.clear();
	listener_.reset();
	dropConnections();
	std::list<ServedConnection> all;
	{
		std::lock_guard guard(lock_);
		all.swap(served_);
	}
}

void Server::accept()
{
	while (!stopping_) {
		pollfd fds[] = {{listener_->fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
		::poll(fds, 2, 500);
		removeEnded();
		auto conn = listener_->accept();
		if (conn && !stopping_)
			serve(std::move(conn));
	}
}

void Server::serve(std::shared_ptr<Connection> conn)
{
	counters_.open++; // first, so that a counted connection is over when open is 0
	counters_.connections++;
	auto over = std::make_shared<std::atomic<bool>>(false);
	std::lock_guard guard(lock_);
	served_.push_back({conn, over, std::jthread([this, conn, over] {
				   conn->run();
				   counters_.open--;
				   *over = true;
			   })});
}

// Removes connections that have ended.
void Server::removeEnded()
{
	std::list<ServedConnection> gone;
	std::lock_guard guard(lock_);
	for (auto at = served_.begin(); at != served_.end();) {
		auto next = std::next(at);
		if (*at->over)
			gone.splice(gone.end(), served_, at);
		at = next;
	}
}

void Server::forEach(const std::function<void(Connection &)> &fn) const
{
	std::vector<std::shared_ptr<Connection>> live;
	{
		std::lock_guard guard(lock_);
		for (auto &s : served_)
			if (!*s.over)
				live.push_back(s.conn);
	}
	for (auto &conn : live)
		fn(*conn);
}

void Server::dropConnections(bool rst)
{
	forEach([rst](Connection &c) { c.end(rst); });
}

void Server::stallReads(bool on)
{
	stalled_ = on;
	forEach([](Connection &c) { c.wake(); });
}

void Server::silence(bool on)
{
	silent_ = on;
	forEach([](Connection &c) { c.wake(); });
}

std::uint64_t Server::unreadBytes() const
{
	std::uint64_t sum = 0;
	forEach([&sum](Connection &c) { sum += c.qid() ? c.unreadBytes() : 0; });
	return sum;
}

void Server::releaseHeld()
{
	forEach([](Connection &c) { c.post([&c] { c.releaseHeld(); }); });
}

void Server::sendEvent(AsyncEvent event)
{
	for (auto &a : associations().all()) {
		if (a->port != this || !concerns(*a, event))
			continue;
		std::lock_guard guard(a->lock);
		a->asyncEvents.push_back(event);
		if (auto *conn = a->admin)
			conn->post([conn] { conn->deliverEvents(); });
	}
}

void Server::namespacesChanged()
{
	for (auto &a : associations().all()) {
		std::lock_guard guard(a->lock);
		a->changedNs = a->changedNs || a->port == this;
	}
	sendEvent(event_ns_changed);
}

void Server::setAnaLog(Bytes log)
{
	std::lock_guard guard(lock_);
	anaLog_ = std::move(log);
}

void Server::setAnaState(std::uint32_t group, AnaState state, bool tell)
{
	{
		std::lock_guard guard(lock_);
		anaStates_[group] = state;
		anaChange_++;
	}
	if (tell)
		sendEvent(event_ana_changed);
}

void Server::setAnaStates(AnaStates states, bool tell)
{
	{
		std::lock_guard guard(lock_);
		anaStates_ = std::move(states);
		anaChange_++;
	}
	if (tell)
		sendEvent(event_ana_changed);
}

AnaState Server::anaState(std::uint32_t group) const
{
	std::lock_guard guard(lock_);
	auto at = anaStates_.find(group);
	return at == anaStates_.end() ? ana_optimized : at->second;
}

Bytes Server::anaLog(bool groupsOnly) const
{
	std::lock_guard guard(lock_);
	return anaLog_.empty() ? target::anaLog(stores(), anaStates_, anaChange_, groupsOnly) : anaLog_;
}

void Server::setCcr(CcrPlan plan)
{
	std::lock_guard guard(lock_);
	ccr_ = plan;
}

CcrPlan Server::ccr() const
{
	std::lock_guard guard(lock_);
	return ccr_;
}

void Server::mutate(Mutate mutate)
{
	std::lock_guard guard(lock_);
	mutate_ = std::move(mutate);
}

std::unique_ptr<MutatedStream> Server::mutatedStream() const
{
	Mutate mutate;
	{
		std::lock_guard guard(lock_);
		mutate = mutate_;
	}
	return mutate ? mutate(counters_.open == 1) : nullptr;
}

void Server::keepGeneratedKey(const std::string &identity, Bytes key)
{
	std::lock_guard guard(lock_);
	generatedKeys_.emplace_back(identity, std::move(key));
	if (generatedKeys_.size() > mostGeneratedKeys)
		generatedKeys_.pop_front();
}

std::optional<Bytes> Server::generatedKey(const std::string &identity) const
{
	std::lock_guard guard(lock_);
	for (const auto &[name, key] : generatedKeys_)
		if (name == identity)
			return key;
	return {};
}

void Server::violation(std::string text)
{
	std::lock_guard guard(lock_);
	violations_.push_back(std::move(text));
}

std::vector<std::string> Server::violations() const
{
	std::lock_guard guard(lock_);
	return violations_;
}

} // namespace target
