// SPDX-License-Identifier: LGPL-2.1-or-later
#include "service.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/rendezvous.h>
#include <nvmeof/uuid.h>

#include "libctl/base/file.h"
#include "libctl/base/make_error.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"

namespace cdc {

using namespace runtime;
using namespace nofctl::wire;
using namespace std::chrono_literals;
using nvmeof::Address;
using nvmeof::ErrorCode;
using nvmeof::Result;
using nvmeof::Uuid;

namespace {

constexpr std::size_t maxChangeEvents = 256, maxNamedKeys = 100; // of each change
// A single change is published at once; frequent changes are published together.
constexpr TokenBucket::Limits publishRate{20, 0.5};
constexpr std::chrono::milliseconds publishInterval = 20ms; // minimum interval
constexpr std::size_t maxRegistering = 256;                 // being written
constexpr auto watchInterval = 5s;
constexpr std::chrono::milliseconds minFileDelay = 1s, maxFileDelay = 30s; // until a failed write is repeated
constexpr unsigned maxMissedHeartbeats = 6;                                // missed heartbeats: half a minute
constexpr double jumpTolerated = 5;                                        // seconds; of the wall clock
// Of the changes of a host's record. etcd keeps each version until it compacts its history.
constexpr TokenBucket::Limits hostRate{8, 0.1};

initiator::HostIdentity readerIdentity(const Rules &rules, const Identity &identity)
{
	initiator::HostIdentity who{rules.hostnqn.empty() ? nqnOf(identity.id) : rules.hostnqn, {}};
	if (const auto id = nvmeof::Uuid::parse(identity.id))
		who.hostid = id->bytes;
	return who;
}

bool everywhere(const Address &address)
{
	return address.traddr == "0.0.0.0" || address.traddr == "::";
}

} // namespace

Service::Service(Loop &loop, Rules rules, Identity identity, std::unique_ptr<Store> store)
	: rules_(std::move(rules)), context_(std::move(identity), rules_.front), store_(std::move(store)),
	  model_(context_.identity.id), mailbox_(loop), leaseTimer_(loop, [this] { updateLeases(); }),
	  publish_(loop, [this] { publishLater(); }), watch_(loop, [this] { watchWorkers(); }),
	  fileTimer_(loop, [this] { writeFile(); }), fileDelay_(minFileDelay),
	  publishes_(publishRate, TokenBucket::Clock::now()), hostRates_(hostRate), audit_(1000),
	  pull_(loop, readerIdentity(rules_, context_.identity), model_,
		[this](std::vector<Change> changes, Done done) {
			writeInParts(std::move(changes), {"a pull", &audit_}, std::move(done));
		}),
	  started_(static_cast<std::int64_t>(wallSeconds()))
{
	clock_.since(wallSeconds(), bootSeconds());
	context_.registration = [this](Worker &worker, RegistrationRequest request) {
		mailbox_.post([this, &worker, request = std::move(request)] { take(worker, request); });
	};
}

Service::~Service()
{
	workers_.clear();
	for (const auto &sockets : sockets_)
		for (int socket : sockets)
			::close(socket);
}

Result<void> Service::listen()
{
	sockets_.resize(rules_.threads ? rules_.threads : std::max(1u, std::thread::hardware_concurrency()));
	for (const Address &address : rules_.listen) {
		Result<std::vector<int>> sockets = listenAt(address, sockets_.size());
		if (!sockets)
			return sockets.error();
		for (std::size_t i = 0; i < sockets_.size(); i++)
			sockets_[i].push_back((*sockets)[i]);
	}
	return {};
}

Result<void> Service::start(std::function<void()> serving)
{
	serving_ = std::move(serving);
	Result<Security::Loaded> security = context_.security.load(rules_.security);
	if (!security)
		return security.error();
	context_.security.use(*std::move(security));
	if (Result<void> listening = listen(); !listening)
		return listening;
	return store_->start([this](const StoreUpdate &news) { applyUpdate(news); });
}

Result<std::vector<std::string>> Service::addressesToAdvertise() const
{
	auto covers = [](const Address &address, const InterfaceAddress &one) {
		return everywhere(address) && (address.traddr == "::") == one.isIpv6();
	};
	const std::vector<Address> &named = rules_.advertise.empty() ? rules_.listen : rules_.advertise;
	std::vector<InterfaceAddress> own;
	if (std::ranges::any_of(named, everywhere)) {
		Result<std::vector<InterfaceAddress>> all = interfaceAddresses();
		if (!all)
			return all.error();
		auto unused = [&](const InterfaceAddress &one) {
			return std::ranges::none_of(named,
						    [&](const Address &address) { return covers(address, one); });
		};
		std::erase_if(*all, unused);
		own = advertisableAddresses(*all, rules_.advertiseNetworks);
	}
	std::vector<std::string> addresses;
	for (const Address &address : named) {
		if (!everywhere(address))
			addresses.push_back(address.toString());
		for (const InterfaceAddress &one : own)
			if (covers(address, one))
				addresses.push_back(Address{one.address, address.trsvcid}.toString());
	}
	return addresses;
}

void Service::join()
{
	const Result<std::vector<std::string>> found = addressesToAdvertise();
	const std::vector<std::string> addresses = found ? *found : advertised_;
	if (!found)
		say(LOG_ERR, fmt::format("{}; the addresses advertised before are kept", found.error().message));
	else if (addresses.empty())
		say(LOG_WARNING, "no address is advertised, because this machine has only local addresses, or none in "
				 "'advertise-networks': name one with 'advertise'");
	else if (addresses != advertised_)
		say(LOG_INFO, fmt::format("advertises {}", fmt::join(addresses, ", ")));
	advertised_ = addresses;
	store_->join({context_.identity.id, context_.identity.nqn, addresses, draining_, rules_.security.tls});
}

// Called when the store has loaded.
void Service::begin()
{
	for (auto &sockets : std::exchange(sockets_, {}))
		workers_.push_back(std::make_unique<Worker>(context_, std::move(sockets), views_));
	join();
	writeFile();
	pull_.setSources(rules_.pulls);
	scheduleLeaseUpdate();
	watchWorkers();
	serving_();
}

std::vector<Change> Service::fileChanges(const Model &model) const
{
	return cdc::fileChanges(model, context_.identity.id, rules_.targets, rules_.zones);
}

void Service::writeFile(Done done)
{
	fileTimer_.start(maxFileDelay); // retry if this throws
	fileWaiting_.push_back(done ? std::move(done) : [](const Result<void> &) {});
	if (!fileWriting_.expired())
		return;
	const auto underWay = std::make_shared<bool>(true); // released with the last part
	fileWriting_ = underWay;
	auto end = [this, underWay, waiting = std::exchange(fileWaiting_, {})](const Result<void> &written) {
		fileWriting_.reset();
		fileTimer_.stop();
		if (!fileWaiting_.empty()) // the configuration or the store may have changed
			fileTimer_.start(0ms);
		else if (!written)
			fileTimer_.start(fileDelay_);
		fileDelay_ = written ? minFileDelay : std::min(2 * fileDelay_, maxFileDelay);
		if (!written)
			say(failures_, LOG_ERR,
			    fmt::format("cannot write the records of the configuration to the store: {}; this is tried "
					"again",
					written.error().message));
		for (const Done &one : waiting)
			one(written);
	};
	writeInParts(fileChanges(model_), {"the configuration"}, std::move(end));
}

// Each source is read by one of the instances that are not draining.
void Service::shareSources()
{
	std::vector<std::string> ids;
	for (const auto &[key, service] : model_.instances())
		if (!service.instance.draining)
			ids.push_back(service.instance.id);
	pull_.setInstances(std::move(ids), context_.identity.id);
	pull_.modelChanged();
}

// The steps are guarded one by one: a failure of one does not prevent the others.
void Service::applyUpdate(const StoreUpdate &news)
{
	for (const std::string &problem : model_.apply(news))
		say(failures_, LOG_WARNING, problem);
	copy_.reset();
	const bool first = !views_;
	auto kindOfChange = [](const Change &change) { return kindOf(change.key).value_or(Kind::target); };
	const bool before = unpublished_;
	unpublished_ = unpublished_ || first || news.whole || news.generation != views_->generation() ||
		       std::ranges::any_of(news.changes, affectsLogs, kindOfChange);
	if (!before)
		changed_ = Latency::Clock::now();
	const bool instances = std::ranges::find(news.changes, Kind::instance, kindOfChange) != news.changes.end();
	guarded([&] { publishSoon(first || draining_ || instances); });
	guarded([&] { note(news); });
	guarded([&] { shareSources(); });
	if (first)
		begin();
	else if (news.whole) // of a store that has lost records, perhaps
		fileTimer_.start(0ms);
}

std::shared_ptr<const Model> Service::sharedModel()
{
	if (!copy_)
		copy_ = std::make_shared<const Model>(model_);
	return copy_;
}

void Service::publish()
{
	views_ = std::make_shared<const Views>(model_, rules_.views, views_.get());
	std::shared_ptr<void> published;
	if (!workers_.empty()) // otherwise no host is served yet
		published = {nullptr, [this, since = changed_](void *) {
				     context_.latencies.publications.add(Latency::Clock::now() - since);
			     }};
	for (auto &worker : workers_)
		worker->publish(views_, published);
	count(context_.counters.pushed);
	unpublished_ = false;
	publish_.stop();
}

void Service::publishSoon(bool atOnce)
{
	if (!unpublished_)
		return;
	if (atOnce)
		return publish();
	if (publish_.running())
		return count(context_.counters.merged);
	const auto now = TokenBucket::Clock::now();
	const bool apart = now - published_ >= publishInterval;
	published_ = now;
	if (apart && publishes_.take(publishRate, now))
		return publish();
	const auto wait = std::chrono::ceil<std::chrono::milliseconds>(publishes_.wait(publishRate, now));
	publish_.start(std::max(publishInterval, wait));
}

void Service::publishLater()
{
	publish_.start(1s); // retry if this throws
	published_ = TokenBucket::Clock::now();
	publishes_.take(publishRate, published_);
	publish();
}

void Service::note(const StoreUpdate &news)
{
	ChangeEvent changeEvent{++lastChangeEvent_, wallSeconds(), news.generation, {}, {}, 0, news.whole};
	const std::size_t named = news.whole ? 0 : std::min(news.changes.size(), maxNamedKeys);
	for (std::size_t i = 0; i < named; i++)
		(news.changes[i].value ? changeEvent.put : changeEvent.removed).push_back(news.changes[i].key);
	changeEvent.more = news.whole ? 0 : news.changes.size() - named;
	changeEvents_.push_back(std::move(changeEvent));
	if (changeEvents_.size() > maxChangeEvents)
		changeEvents_.pop_front();
	for (const auto &listener : listeners_)
		listener(changeEvents_.back());
}

void Service::write(std::vector<Change> changes, Done done, Author author)
{
	if (changes.empty())
		return done({});
	if (author.who.empty())
		return store_->write(std::move(changes), std::move(done));
	auto lines = auditLines(model_, changes, author.limit && author.limit->full() ? 0 : maxAudited);
	store_->write(std::move(changes), [done = std::move(done), lines = std::move(lines),
					   author = std::move(author)](const Result<void> &written) {
		const std::string end = fmt::format(", by {}{}", author.who, written ? "" : ": not written");
		for (const std::string &line : lines) {
			if (author.limit)
				say(*author.limit, LOG_INFO, line + end);
			else
				say(LOG_INFO, line + end);
		}
		done(written);
	});
}

void Service::refuse(Worker &worker, const RegistrationRequest &request, std::uint16_t status, const std::string &why)
{
	say(refusals_, LOG_WARNING, fmt::format("a registration from {} is refused: {}", request.who.from.text(), why),
	    {.nqn = request.registration.nqn, .address = request.who.from.text()});
	worker.registered(request.connection, request.cid, status);
}

void Service::take(Worker &worker, const RegistrationRequest &request)
{
	const std::pair writer(request.registration.entity, request.registration.nqn);
	// The model lacks a registration that is being written: another one of its owner would not replace it.
	if (registering_ >= maxRegistering || writers_.contains(writer))
		return worker.registered(request.connection, request.cid, st_interrupted | st_crd1);
	const auto security = context_.security.current();
	auto proves = [&](const std::string &nqn) { return mustProve(*security, *views_->zonesOf(nqn), nqn); };
	auto changes = registrationChanges(model_, rules_.registration, request.task, request.registration, request.who,
					   proves, static_cast<std::int64_t>(wallSeconds()));
	if (!changes)
		return refuse(worker, request, changes.error().nvmeStatus.value_or(st_invalid_field) | st_dnr,
			      changes.error().message);
	if (!changes->empty() && request.registration.entity == dim_host && !hostRates_.allow(request.registration.nqn))
		return worker.registered(request.connection, request.cid, st_interrupted | st_crd1);
	std::vector<std::string> keys;
	for (const Change &change : *changes) {
		keys.push_back(change.key);
		writing_[change.key]++;
	}
	registering_++;
	writers_.insert(writer);
	auto done = [this, &worker, writer, keys = std::move(keys), connection = request.connection, cid = request.cid,
		     reservation = request.reservation](const Result<void> &written) {
		registering_--;
		writers_.erase(writer);
		for (const std::string &key : keys)
			if (auto found = writing_.find(key); found != writing_.end() && --found->second == 0)
				writing_.erase(found);
		worker.registered(connection, cid, written ? st_ok : st_internal); // a status to retry
	};
	write(*std::move(changes), std::move(done),
	      {fmt::format("a registration from {}", request.who.from.text()), &audit_});
}

// Renews leases of connected owners and ends expired ones. Rendezvous hashing selects the instance that ends a lease.
void Service::updateLeases()
{
	scheduleLeaseUpdate();
	listSessions([this](const std::vector<HostSession> &sessions) {
		Connected connected;
		for (const HostSession &session : sessions) {
			connected.hosts.insert(session.hostnqn);
			if (!session.registered.empty())
				connected.ddcs.insert(session.registered);
		}
		renew(connected);
	});
}

// A failed write is repeated by the next call. Records that are being written otherwise are skipped.
void Service::renew(Connected connected)
{
	if (!renewing_.expired())
		return; // the model does not have the renewals after a clock jump yet
	std::vector<std::string> ids;
	for (const auto &[key, service] : model_.instances())
		ids.push_back(service.instance.id);
	const double now = wall_();
	if (const double jump = clock_.since(now, bootSeconds()); jump > jumpTolerated) {
		say(LOG_NOTICE, fmt::format("the clock was set forward by {:.0f} s: all leases are renewed", jump));
		renewAll_ = true;
	}
	connected.renewAll = renewAll_;
	const auto security = context_.security.current();
	auto mayStay = [&](const std::string &nqn, bool proved) {
		return mayStayRegistered(*security, *views_->zonesOf(nqn), nqn, proved);
	};
	LeaseChanges changes =
		leaseChanges(model_, rules_.registration, connected, static_cast<std::int64_t>(now), mayStay);
	const auto skipped =
		std::erase_if(changes.renewed, [this](const Change &change) { return writing_.contains(change.key); });
	std::erase_if(changes.ended, [&](const Change &change) {
		return writing_.contains(change.key) ||
		       (!ids.empty() && ids[nvmeof::rendezvousOrder(change.key, ids)[0]] != context_.identity.id);
	});
	for (const std::string &owner : changes.refused)
		say(failures_, LOG_WARNING,
		    fmt::format("the registrations of {} end: [registration] does not allow them", owner));
	for (const std::string &owner : changes.unproved)
		say(failures_, LOG_WARNING,
		    fmt::format(
			    "the registrations of {} end: rules and keys demand a proof of its NQN, which it has not "
			    "given",
			    owner));
	auto done = [this](const Result<void> &written) {
		if (!written)
			say(failures_, LOG_WARNING, "cannot write leases: " + written.error().message);
	};
	Done renewed = done;
	if (renewAll_) {
		const auto underWay = std::make_shared<bool>(true); // released with the last write
		renewing_ = underWay;
		renewed = [this, skipped, underWay, done](const Result<void> &written) {
			renewAll_ = !written || skipped > 0;
			done(written);
		};
	}
	writeInParts(std::move(changes.renewed), {}, std::move(renewed));
	writeInParts(std::move(changes.ended), {"the end of its lease, or of its permission", &audit_}, done);
}

void Service::writeInParts(std::vector<Change> changes, const Author &author, Done end)
{
	struct Parts {
		Done end;
		std::size_t left = 1; // and the last part
		Result<void> outcome = {};
	};
	const auto parts = std::make_shared<Parts>();
	parts->end = std::move(end);
	auto done = [parts](const Result<void> &written) {
		if (!written && parts->outcome)
			parts->outcome = written;
		if (--parts->left == 0)
			parts->end(parts->outcome);
	};
	// Targets before hosts, as hosts see them. Zones restrict who sees which targets, so that they come before the
	// targets and go after them.
	auto order = [](const Change &change) {
		const auto kind = kindOf(change.key);
		return kind == Kind::zone ? (change.value ? 0 : 3) : kind == Kind::target ? 1 : 2;
	};
	std::stable_sort(changes.begin(), changes.end(),
			 [&](const Change &a, const Change &b) { return order(a) < order(b); });
	std::vector<Change> part;
	std::size_t bytes = 0;
	for (Change &change : changes) {
		bytes += change.key.size() + change.value.value_or("").size();
		part.push_back(std::move(change));
		if (part.size() < maxWriteRecords && bytes < maxWriteBytes)
			continue;
		parts->left++;
		write(std::exchange(part, {}), done, author);
		bytes = 0;
	}
	write(std::move(part), done, author);
}

// The watchdog of the service manager covers the main thread only.
void Service::watchWorkers()
{
	watch_.start(watchInterval);
	for (auto &worker : workers_) {
		if (worker->runs(maxMissedHeartbeats))
			continue;
		say(LOG_CRIT, "a worker thread has not responded for 30 s: aborting for a restart");
		std::abort(); // with NVMEOF_CORE_DUMPS=1, the core dump shows where it hangs
	}
}

void Service::scheduleLeaseUpdate()
{
	const std::chrono::seconds part(rules_.registration.leaseSeconds / 8);
	leaseTimer_.start(std::clamp<std::chrono::milliseconds>(part, 500ms, 60s));
}

void Service::reload(Rules rules, Security::Loaded security, Done done)
{
	rules_.targets = std::move(rules.targets);
	rules_.zones = std::move(rules.zones);
	rules_.registration = std::move(rules.registration);
	rules_.advertise = std::move(rules.advertise);
	rules_.advertiseNetworks = std::move(rules.advertiseNetworks);
	rules_.security = std::move(rules.security);
	context_.security.use(std::move(security));
	if (rules_.views.unzoned != rules.views.unzoned)
		say(LOG_NOTICE, "the new value of 'unzoned' takes effect after a restart");
	rules_.pulls = std::move(rules.pulls);
	if (!views_) // begin() does the rest
		return done ? done({}) : void();
	join();
	writeFile(std::move(done));
	pull_.setSources(rules_.pulls);
	updateLeases();
}

void Service::drain(std::function<void()> done)
{
	if (std::exchange(draining_, true))
		return;
	if (workers_.empty())
		return done();
	join();
	auto left = std::make_shared<std::size_t>(workers_.size());
	for (auto &worker : workers_)
		worker->drain(rules_.drainMs, [this, left, done] {
			mailbox_.post([this, left, done] {
				if (--*left == 0)
					leave(done);
			});
		});
}

// If the store fails to record it, other instances notice when the lease expires.
void Service::leave(std::function<void()> done)
{
	store_->leave([done = std::move(done)](const Result<void> &left) {
		if (!left)
			say(LOG_NOTICE, "cannot remove this instance from the store: " + left.error().message);
		done();
	});
}

void Service::knownHosts(const std::function<void(const std::set<std::string> &)> &done)
{
	listSessions([this, done](const std::vector<HostSession> &sessions) {
		std::set<std::string> hosts;
		for (const HostSession &session : sessions)
			hosts.insert(session.hostnqn);
		for (const auto &[key, host] : model_.hosts())
			hosts.insert(host.nqn);
		done(hosts);
	});
}

void Service::listSessions(std::function<void(std::vector<HostSession>)> done)
{
	struct Count {
		std::size_t left;
		std::vector<HostSession> sessions;
	};
	auto all = std::make_shared<Count>(Count{workers_.size(), {}});
	if (workers_.empty())
		return done({});
	for (auto &worker : workers_)
		worker->listSessions([this, all, done](std::vector<HostSession> sessions) {
			mailbox_.post([all, done, sessions = std::move(sessions)]() mutable {
				std::ranges::move(sessions, std::back_inserter(all->sessions));
				if (--all->left == 0)
					done(std::move(all->sessions));
			});
		});
}

// ---- sockets and addresses

namespace {

constexpr int backlog = 65535; // limited by net.core.somaxconn

void set(int socket, int level, int option)
{
	const int yes = 1;
	::setsockopt(socket, level, option, &yes, sizeof(yes));
}

// Returns a socket or a negative errno
int bound(const addrinfo &where, bool shared)
{
	const int socket = ::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (socket < 0)
		return -errno;
	set(socket, SOL_SOCKET, SO_REUSEADDR);
	if (shared)
		set(socket, SOL_SOCKET, SO_REUSEPORT);
	if (where.ai_family == AF_INET6)
		set(socket, IPPROTO_IPV6, IPV6_V6ONLY);
	if (::bind(socket, where.ai_addr, where.ai_addrlen) == 0 && ::listen(socket, backlog) == 0)
		return socket;
	const int error = -errno;
	::close(socket);
	return error;
}

// Interfaces with addresses of one machine only, or, of kube-ipvs0, of services
constexpr const char *localInterfaces[] = {"cali",   "cilium_", "cni",  "docker", "flannel", "kube-", "lxc",
					   "podman", "tap",     "tunl", "veth",   "virbr",   "vnet",  "weave"};

bool isForContainers(const std::string &interface)
{
	const std::size_t dockerNetwork = std::strlen("br-0123456789ab");
	if (interface.starts_with("br-") && interface.size() == dockerNetwork &&
	    interface.find_first_not_of("0123456789abcdef", 3) == interface.npos)
		return true;
	return std::ranges::any_of(localInterfaces, [&](const char *start) { return interface.starts_with(start); });
}

// An address with a scope cannot be parsed, and is local
bool isLocalScope(const std::string &address)
{
	static constexpr const char *local[] = {"127.0.0.0/8", "169.254.0.0/16", "::1/128", "fe80::/10", "fec0::/10"};
	const std::optional<Peer> peer = Peer::parse(address);
	return !peer || std::ranges::any_of(local, [&](const char *one) { return Prefix::of(one)->holds(*peer); });
}

} // namespace

bool isAdvertisable(const InterfaceAddress &own, const std::vector<Prefix> &networks)
{
	if (isLocalScope(own.address))
		return false;
	if (networks.empty())
		return !own.loopback && !isForContainers(own.interface);
	const std::optional<Peer> peer = Peer::parse(own.address);
	return peer && std::ranges::any_of(networks, [&](const Prefix &network) { return network.holds(*peer); });
}

std::vector<InterfaceAddress> advertisableAddresses(const std::vector<InterfaceAddress> &all,
						    const std::vector<Prefix> &networks)
{
	std::vector<InterfaceAddress> found;
	std::ranges::copy_if(all, std::back_inserter(found),
			     [&](const InterfaceAddress &one) { return isAdvertisable(one, networks); });
	if (!found.empty() || !networks.empty())
		return found;
	for (const InterfaceAddress &one : all)
		if (!one.loopback && !isLocalScope(one.address)) {
			say(LOG_NOTICE,
			    fmt::format(
				    "advertises {} of {}, an interface for containers or virtual machines by its name, "
				    "because no other interface has an address; 'advertise' names others",
				    one.address, one.interface));
			found.push_back(one);
		}
	return found;
}

Result<std::vector<InterfaceAddress>> interfaceAddresses()
{
	std::vector<InterfaceAddress> found;
	ifaddrs *all = nullptr;
	if (::getifaddrs(&all)) {
		const int error = errno;
		return nvmeof::errorFromErrno(error, std::string("cannot list the addresses of this machine: ") +
							     std::strerror(error));
	}
	for (const ifaddrs *one = all; one; one = one->ifa_next) {
		char text[NI_MAXHOST];
		const int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
		if (family != AF_INET && family != AF_INET6)
			continue;
		const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
		if (::getnameinfo(one->ifa_addr, size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0)
			found.push_back({one->ifa_name, text, (one->ifa_flags & IFF_LOOPBACK) != 0});
	}
	::freeifaddrs(all);
	return found;
}

Result<std::vector<int>> listenAt(const Address &address, std::size_t count)
{
	addrinfo hints{}, *where = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_STREAM;
	if (int error = ::getaddrinfo(address.traddr.c_str(), address.trsvcid.c_str(), &hints, &where))
		return nvmeof::errorFromErrno(EINVAL, address.toString() + ": " + ::gai_strerror(error));
	std::vector<int> sockets;
	int error = 0;
	// without SO_REUSEPORT first: it would share the address with another process
	if (const int alone = bound(*where, false); alone < 0)
		error = -alone;
	else
		::close(alone);
	while (!error && sockets.size() < count) {
		const int one = bound(*where, true);
		if (one < 0)
			error = -one;
		else
			sockets.push_back(one);
	}
	::freeaddrinfo(where);
	if (!error)
		return sockets;
	for (int socket : sockets)
		::close(socket);
	return nvmeof::errorFromErrno(error, "cannot listen at " + address.toString() + ": " + std::strerror(error));
}

// ---- identity

namespace {

Result<std::string> readId(const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readSmallFile(file);
	if (!text)
		return text;
	std::erase(*text, '\n');
	if (!Uuid::parse(*text))
		return nofctl::invalidError(file.string() +
					    ": it contains no UUID; remove the file, and a new one is created");
	return text;
}

} // namespace

std::string nqnOf(const std::string &id)
{
	return "nqn.2014-08.org.nvmexpress:uuid:" + id;
}

Result<Identity> readIdentity(const Rules &rules)
{
	const std::filesystem::path file = rules.state / "id";
	Result<std::string> id = readId(file);
	if (!id && id.error().code == ErrorCode::noSuchObject) {
		std::error_code ignored;
		std::filesystem::create_directories(rules.state, ignored);
		if (Result<bool> made = nofctl::createFile(file, Uuid::random().toString() + "\n"); !made)
			return made.error();
		id = readId(file);
	}
	if (!id)
		return id.error();
	std::string serial = *id;
	std::erase(serial, '-');
	serial.resize(20);
	return Identity{*id, rules.nqn.empty() ? nqnOf(*id) : rules.nqn, serial, NVMEOF_VERSION};
}

// ---- audit log

namespace {

std::optional<Json> recordIn(const Model &model, const std::string &key)
{
	std::optional<Json> json;
	model.visit(key, [&](const auto &record) { json = record.json(); });
	return json;
}

std::string recordText(std::optional<Json> record)
{
	if (!record)
		return "nothing";
	if (record->is_object())
		record->erase("ends");
	return storedText(*record);
}

} // namespace

// Bounded: a registration can have a thousand records and can arrive a hundred times per second.
std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes, std::size_t max)
{
	const std::size_t maxCompared = std::min(changes.size(), 10 * max);
	std::vector<std::string> lines;
	std::size_t compared = 0;
	for (; compared < maxCompared && lines.size() < max; compared++) {
		const Change &change = changes[compared];
		const std::string before = recordText(recordIn(model, change.key));
		const std::string after = recordText(
			change.value ? std::optional(Json::parse(*change.value, nullptr, false)) : std::nullopt);
		if (before != after)
			lines.push_back(fmt::format("{}: {} -> {}", change.key, before, after));
	}
	if (const std::size_t more = changes.size() - compared; more > 0)
		lines.push_back(fmt::format("and up to {} more records", more));
	return lines;
}

} // namespace cdc
