// SPDX-License-Identifier: LGPL-2.1-or-later
#include "service.h"

#include <algorithm>
#include <chrono>

#include <syslog.h>

#include <fmt/format.h>
#include <nvmeof/rendezvous.h>
#include <nvmeof/uuid.h>

#include "instance_id.h"
#include "listening.h"
#include "serving/journal.h"
#include "wall_clock.h"

namespace cdc {

using namespace serving;
using namespace nofctl::wire;
using namespace std::chrono_literals;
using nvmeof::Address;
using nvmeof::Result;

namespace {

constexpr std::size_t most_happenings = 256, most_named = 100; // records of each
constexpr auto lease_every = 5s;

initiator::Who whoReads(const Rules &rules, const Identity &identity)
{
	initiator::Who who{rules.hostnqn.empty() ? nqnOf(identity.id) : rules.hostnqn, {}};
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
	: rules_(std::move(rules)), hall_(std::move(identity), rules_.front), store_(std::move(store)),
	  model_(hall_.identity.id), mailbox_(loop), leases_(loop, [this] { endLeases(); }),
	  pull_(loop, whoReads(rules_, hall_.identity), model_,
		[this](std::vector<Change> changes, const std::function<void(bool)> &done) {
			write(std::move(changes), [done](const Result<void> &written) { done(written.ok()); });
		}),
	  started_(static_cast<std::int64_t>(wallSeconds()))
{
	hall_.registration = [this](Worker &worker, RegistrationRequest request) {
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
	if (Result<void> listening = listen(); !listening)
		return listening;
	return store_->start([this](const News &news) { told(news); });
}

std::vector<std::string> Service::ownAddresses() const
{
	std::vector<std::string> addresses;
	for (const Address &address : rules_.advertise.empty() ? rules_.listen : rules_.advertise) {
		if (!everywhere(address)) {
			addresses.push_back(address.toString());
			continue;
		}
		const bool six = address.traddr == "::";
		for (const std::string &own : nvmeof::ownAddresses())
			if ((own.find(':') != own.npos) == six && own != "127.0.0.1" && own != "::1" &&
			    !own.starts_with("fe80:"))
				addresses.push_back(Address{own, address.trsvcid}.toString());
	}
	return addresses;
}

void Service::join()
{
	store_->join({hall_.identity.id, hall_.identity.nqn, ownAddresses(), draining_});
}

// The store has told what there is.
void Service::begin()
{
	for (auto &sockets : std::exchange(sockets_, {}))
		workers_.push_back(std::make_unique<Worker>(hall_, std::move(sockets), views_));
	join();
	writeFile();
	pull_.setSources(rules_.pulls);
	leases_.start(lease_every);
	serving_();
}

void Service::writeFile()
{
	write(fileChanges(model_, hall_.identity.id, rules_.targets, rules_.zones), [](Result<void> done) {
		if (!done)
			say(LOG_ERR, "what the configuration tells is not in the store: " + done.error().message);
	});
}

// Each source is read by one of the instances that stay.
void Service::shareSources()
{
	std::vector<std::string> ids;
	for (const auto &[key, service] : model_.instances())
		if (!service.instance.draining)
			ids.push_back(service.instance.id);
	pull_.setInstances(std::move(ids), hall_.identity.id);
	pull_.modelChanged();
}

void Service::told(const News &news)
{
	for (const std::string &problem : model_.apply(news))
		say(LOG_WARNING, problem);
	copy_.reset();
	const bool first = !views_;
	publish();
	note(news);
	shareSources();
	if (first)
		begin();
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
	for (auto &worker : workers_)
		worker->publish(views_);
	count(hall_.counters.pushed);
}

void Service::note(const News &news)
{
	Happening happening{++lastHappening_, wallSeconds(), news.generation, {}, {}, 0, news.whole};
	const std::size_t named = news.whole ? 0 : std::min(news.changes.size(), most_named);
	for (std::size_t i = 0; i < named; i++)
		(news.changes[i].value ? happening.put : happening.removed).push_back(news.changes[i].key);
	happening.more = news.whole ? 0 : news.changes.size() - named;
	happenings_.push_back(std::move(happening));
	if (happenings_.size() > most_happenings)
		happenings_.pop_front();
	for (const auto &listener : listeners_)
		listener(happenings_.back());
}

void Service::write(std::vector<Change> changes, Done done)
{
	if (changes.empty())
		return done({});
	store_->write(std::move(changes), std::move(done));
}

void Service::take(Worker &worker, RegistrationRequest request)
{
	const std::int64_t ends =
		rules_.leaseSeconds ? static_cast<std::int64_t>(wallSeconds()) + rules_.leaseSeconds : 0;
	auto changes = registrationChanges(model_, request.task, request.registration, ends);
	if (!changes) {
		say(LOG_WARNING, fmt::format("a registration is refused: {}", changes.error().message),
		    {.nqn = request.registration.nqn});
		return worker.registered(request.connection, request.cid, st_invalid_field | st_dnr);
	}
	write(*std::move(changes), [&worker, connection = request.connection, cid = request.cid](Result<void> done) {
		worker.registered(connection, cid, done ? st_ok : st_internal); // to be tried again
	});
}

// By one instance, as long as all see the same
void Service::endLeases()
{
	leases_.start(lease_every);
	std::vector<std::string> ids;
	for (const auto &[key, service] : model_.instances())
		ids.push_back(service.instance.id);
	std::vector<Change> mine;
	for (Change &change : endedChanges(model_, static_cast<std::int64_t>(wallSeconds())))
		if (ids.empty() || ids[nvmeof::rendezvousOrder(change.key, ids)[0]] == hall_.identity.id)
			mine.push_back(std::move(change));
	write(std::move(mine), [](Result<void>) {}); // else in a while
}

void Service::reload(Rules rules)
{
	rules_.targets = std::move(rules.targets);
	rules_.zones = std::move(rules.zones);
	rules_.leaseSeconds = rules.leaseSeconds;
	rules_.advertise = std::move(rules.advertise);
	if (rules_.views.unzoned != rules.views.unzoned)
		say(LOG_NOTICE, "what hosts without a zone see is changed by a restart");
	rules_.pulls = std::move(rules.pulls);
	if (!views_)
		return; // begin() does the rest
	join();
	writeFile();
	pull_.setSources(rules_.pulls);
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

// Where the store does not take that, it finds out by itself.
void Service::leave(std::function<void()> done)
{
	store_->leave([done = std::move(done)](const Result<void> &left) {
		if (!left)
			say(LOG_NOTICE, "the store was not told that this instance ends: " + left.error().message);
		done();
	});
}

void Service::census(std::function<void(std::vector<Guest>)> done)
{
	struct Count {
		std::size_t left;
		std::vector<Guest> guests;
	};
	auto all = std::make_shared<Count>(Count{workers_.size(), {}});
	if (workers_.empty())
		return done({});
	for (auto &worker : workers_)
		worker->census([this, all, done](std::vector<Guest> guests) {
			mailbox_.post([all, done, guests = std::move(guests)]() mutable {
				std::ranges::move(guests, std::back_inserter(all->guests));
				if (--all->left == 0)
					done(std::move(all->guests));
			});
		});
}

} // namespace cdc
