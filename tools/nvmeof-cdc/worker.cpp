// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <syslog.h>
#include <unistd.h>

#include <fmt/format.h>

#include <nvmeof/uuid.h>

#include "libctl/runtime/loop.h"

namespace cdc {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t minReserved = 4096;   // minimum memory charged per registration
constexpr std::size_t receiveSpace = 65536; // free space after an incomplete PDU
constexpr auto workerSweepInterval = 250ms;
constexpr auto acceptRetryDelay = 100ms; // after running out of descriptors
constexpr int maxAtOnce = 64;            // connections accepted in a row, before existing ones are served

void reset(int socket)
{
	const linger hard{1, 0};
	::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	::close(socket);
}

void prepare(int socket)
{
	const int yes = 1;
	::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
}

} // namespace

std::shared_ptr<void> ServerContext::reserve(const Peer &from, std::size_t bytes)
{
	const Peer network = from.network();
	bytes = std::max(bytes, minReserved);
	std::lock_guard lock(mutex_);
	const auto found = reservedFrom_.find(network);
	const std::size_t its = found == reservedFrom_.end() ? 0 : found->second;
	const std::size_t all = rules.registrationBytes;
	const std::size_t share = reserved_ + bytes > all - all / 4 ? all / 64 : all / 8;
	if (reserved_ + bytes > all || its + bytes > share || !registrationRates_.allow(from))
		return nullptr;
	reservedFrom_[network] += bytes;
	reserved_ += bytes;
	return {this,
		[network, bytes](void *context) { static_cast<ServerContext *>(context)->release(network, bytes); }};
}

void ServerContext::release(const Peer &network, std::size_t bytes)
{
	std::lock_guard lock(mutex_);
	reserved_ -= bytes;
	if (auto found = reservedFrom_.find(network); (found->second -= bytes) == 0)
		reservedFrom_.erase(found);
}

std::size_t ServerContext::reserved() const
{
	std::lock_guard lock(mutex_);
	return reserved_;
}

class Worker::Listener final : public runtime::Poller::Handler {
public:
	Listener(Worker &worker, int socket) : worker_(worker), socket_(socket) { begin(); }
	~Listener()
	{
		rest();
		::close(socket_);
	}

	void begin() { worker_.poller_.add(socket_, EPOLLIN, *this); }
	void rest() { worker_.poller_.remove(socket_, *this); }
	void ready(std::uint32_t) override { worker_.accept(socket_); }
	void threw() override {} // the next connection is accepted regardless

private:
	Worker &worker_;
	int socket_;
};

SteadyMs Worker::now()
{
	const auto since = std::chrono::steady_clock::now().time_since_epoch();
	return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Worker::Worker(ServerContext &context, std::vector<int> sockets, std::shared_ptr<const Views> views)
	: context_(context), views_(std::move(views)), reviewed_(context.security.current()),
	  admission_(context.rules.admission), buffer_(4 * receiveSpace), sweep_(loop_, [this] { sweep(); }),
	  deferredTimer_(loop_, [this] { runDeferred(); }), acceptTimer_(loop_, [this] { listen(); }),
	  leaving_(loop_, [this] { disconnectGradually(); })
{
	for (int socket : sockets)
		listeners_.push_back(std::make_unique<Listener>(*this, socket));
	thread_ = std::thread([this] { loop_.run(); });
}

Worker::~Worker()
{
	mailbox_.post([this] { loop_.end(0); });
	thread_.join();
	connections_.clear();
}

// An exception closes only the connection that caused it.
template <typename Call> void Worker::serve(Connection &connection, Call &&call)
{
	if (!runtime::guarded(call))
		connection.threw();
}

void Worker::publish(std::shared_ptr<const Views> views, std::shared_ptr<void> published)
{
	mailbox_.post([this, views = std::move(views), published = std::move(published)]() mutable {
		zonesChanged_ = zonesChanged_ || !views_->sameZones(*views);
		views_ = views;
		for (const auto &entry : connections_)
			serve(*entry.second, [&] { entry.second->tell(views_); });
		published.reset();
	});
}

void Worker::registered(std::uint64_t connection, std::uint16_t cid, std::uint16_t status)
{
	mailbox_.post([=, this] {
		if (auto found = connections_.find(connection); found != connections_.end())
			serve(*found->second, [&] { found->second->registrationDone(cid, status); });
	});
}

void Worker::listSessions(std::function<void(std::vector<HostSession>)> done)
{
	mailbox_.post([this, done = std::move(done)] {
		std::vector<HostSession> sessions;
		for (const auto &[id, connection] : connections_)
			if (const Controller *one = connection->controller(); one && connection->admits())
				sessions.push_back({one->hostnqn(), connection->peer().text(), one->generation(),
						    one->current(), one->wantsEvents(), one->cntlid(),
						    connection->registered(), nvmeof::Uuid{one->hostid()}.toString(),
						    connection->proof(), connection->tlsPeer()});
		done(std::move(sessions));
	});
}

bool Worker::runs(unsigned max)
{
	if (unanswered_.fetch_add(1) >= max)
		return false;
	mailbox_.post([this] { unanswered_ = 0; });
	return true;
}

void Worker::listen()
{
	for (auto &listener : listeners_)
		listener->begin();
}

void Worker::accept(int socket)
{
	for (int i = 0; i < maxAtOnce; i++) {
		sockaddr_storage address{};
		socklen_t length = sizeof(address);
		const int accepted = ::accept4(socket, reinterpret_cast<sockaddr *>(&address), &length,
					       SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (accepted < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
				for (auto &listener : listeners_)
					listener->rest();
				acceptTimer_.start(acceptRetryDelay);
			}
			return;
		}
		const Peer peer = Peer::of(address);
		if (!context_.connectionLimit.admit(peer)) {
			count(context_.counters.tooMany);
			reset(accepted);
			continue;
		}
		count(context_.counters.accepted);
		prepare(accepted);
		const std::uint64_t id = ++lastId_;
		connections_.emplace(id, std::make_unique<Connection>(*this, id, accepted, peer, now()));
		context_.counters.open.fetch_add(1, std::memory_order_relaxed);
		sweep_.startUnlessRunning(workerSweepInterval);
	}
}

Admission::Verdict Worker::ask(const Connection &connection, const std::string &hostnqn)
{
	const Admission::Verdict verdict = admission_.ask(connection.id(), hostnqn, views_->firstChoice(hostnqn));
	deferredTimer_.startUnlessRunning(0ms); // also handles connections that were displaced
	return verdict;
}

void Worker::leave(std::uint64_t connection)
{
	if (admission_.leave(connection) && admission_.waiting() > 0)
		deferredTimer_.startUnlessRunning(0ms);
}

void Worker::end(std::uint64_t connection)
{
	closed_.push_back(connection);
	deferredTimer_.startUnlessRunning(0ms);
}

// Deferred work: connections cannot be destroyed or admitted while they are on the call stack.
void Worker::runDeferred()
{
	for (std::uint64_t id : std::exchange(closed_, {})) {
		admission_.leave(id);
		if (connections_.erase(id))
			context_.counters.open.fetch_sub(1, std::memory_order_relaxed);
	}
	for (std::uint64_t id : admission_.displaced())
		if (auto found = connections_.find(id); found != connections_.end())
			serve(*found->second, [&] { found->second->refuseBusy(); });
	while (auto id = admission_.next()) {
		auto found = connections_.find(*id);
		if (found != connections_.end())
			serve(*found->second, [&] { found->second->admit(); });
		else
			admission_.leave(*id);
	}
	if (!closed_.empty())
		deferredTimer_.start(0ms);
	if (drained_ && connections_.empty())
		std::exchange(drained_, {})();
}

// Rules, keys and zones may demand more than when a session began.
void Worker::review()
{
	std::shared_ptr<const Security::Current> security = context_.security.current();
	if (security == reviewed_ && !zonesChanged_)
		return;
	std::size_t revoked = 0;
	for (auto &[id, connection] : connections_)
		revoked += connection->review(now());
	reviewed_ = std::move(security);
	zonesChanged_ = false;
	if (revoked > 0)
		runtime::say(context_.refusals.sessions, LOG_NOTICE,
			     fmt::format("{} {} not what rules and keys demand now, and will end within {} s", revoked,
					 revoked == 1 ? "session is" : "sessions are",
					 (context_.rules.reviewMs + 999) / 1000));
}

void Worker::sweep()
{
	const SteadyMs time = now();
	if (!connections_.empty())
		sweep_.start(workerSweepInterval);
	review();
	for (auto &[id, connection] : connections_) {
		if (connection->late(time)) {
			count(context_.counters.late);
			end(id);
		} else if (const Refusal why = connection->revoked(time); why != Refusal::none) {
			const std::string &hostnqn = connection->controller()->hostnqn();
			count(context_.counters.revoked);
			runtime::say(context_.refusals.sessions, LOG_WARNING,
				     "a session ends: " + refusalText(why, hostnqn),
				     {.nqn = hostnqn, .address = connection->peer().text()});
			end(id);
		} else if (connection->admissionExpired(time)) {
			connection->releaseAdmission();
		}
	}
}

void Worker::drain(SteadyMs ms, std::function<void()> done)
{
	mailbox_.post([=, this] {
		listeners_.clear();
		drained_ = done;
		leaveBy_ = now() + ms;
		deferredTimer_.start(0ms);
		leaving_.start(std::chrono::milliseconds(ms / 4)); // by then, hosts may have read the new referrals
	});
}

// Spreads the disconnects over the remaining time, so that hosts do not all turn to other instances at once.
void Worker::disconnectGradually()
{
	constexpr SteadyMs step = 20;
	const SteadyMs left = std::max<SteadyMs>(leaveBy_ - now(), 0);
	const std::size_t there = connections_.size() - std::min(closed_.size(), connections_.size());
	std::size_t share = there / static_cast<std::size_t>(left / step + 1) + 1;
	for (auto &[id, connection] : connections_) {
		if (share == 0)
			break;
		if (std::ranges::find(closed_, id) != closed_.end())
			continue;
		end(id);
		share--;
	}
	if (there > 0)
		leaving_.start(std::chrono::milliseconds(step));
}

} // namespace cdc
