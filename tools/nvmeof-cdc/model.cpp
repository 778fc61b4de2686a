// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include <nvmeof/address.h>

#include "libctl/base/make_error.h"
#include "libctl/runtime/loop.h"
#include "peer_limits.h"

namespace cdc {

using namespace nofctl::wire;
using nvmeof::Result;

namespace {

template <typename T> Result<T> read(const std::string &key, const Json &json)
{
	Result<T> record = T::of(json);
	if (record && record->key() != key) {
		nvmeof::Error error;
		error.message = "its content belongs to the key " + record->key();
		return error;
	}
	return record;
}

template <typename T> Result<void> into(std::map<std::string, T> &records, const std::string &key, const Json &json)
{
	Result<T> record = read<T>(key, json);
	if (!record)
		return record.error();
	records.insert_or_assign(key, *std::move(record));
	return {};
}

std::string networkOf(const std::string &address)
{
	const std::optional<Peer> peer = Peer::parse(address);
	return peer ? peer->network().text() : "";
}

bool tellsTheSame(const Block &before, const DiscoveryEntry &entry)
{
	return before && std::ranges::equal(bytesOf(*before), bytesOf(entry));
}

// Another instance is a referral to the same information (NVMe Base 2.0, figure 295: DUPRETINFO).
DiscoveryEntry entryOf(const Instance &instance, const nvmeof::Address &address, bool itself)
{
	DiscoveryEntry entry = makeEntry(itself ? sub_current : sub_referral, instance.nqn, address.traddr, 0);
	setText(entry.trsvcid, address.trsvcid, ' ');
	entry.treq = instance.tls == Demand::required    ? treq_required
		     : instance.tls == Demand::preferred ? treq_not_required
							 : treq_unspecified;
	entry.tsas[0] = instance.tls == Demand::off ? sec_none : sec_tls13;
	entry.eflags = ef_duplicate | ef_persistent;
	return entry;
}

} // namespace

Result<void> Model::putTarget(const std::string &key, const Json &json)
{
	Result<Target> target = read<Target>(key, json);
	if (!target)
		return target.error();
	Port &port = targets_[key];
	if (!tellsTheSame(port.entry, target->entry())) {
		port.entry.reset();
		changed_.push_back(key);
	}
	port.target = *std::move(target);
	return {};
}

void Model::removeHost(const std::string &key)
{
	const auto host = hosts_.find(key);
	if (host == hosts_.end())
		return;
	const auto from = hostsFrom_.find(networkOf(host->second.origin.from));
	if (from != hostsFrom_.end() && --from->second == 0)
		hostsFrom_.erase(from);
	hosts_.erase(host);
}

Result<void> Model::putHost(const std::string &key, const Json &json)
{
	Result<Host> host = read<Host>(key, json);
	if (!host)
		return host.error();
	removeHost(key);
	hostsFrom_[networkOf(host->origin.from)]++;
	hosts_.emplace(key, *std::move(host));
	return {};
}

std::size_t Model::registeredFrom(const std::string &from) const
{
	const auto found = hostsFrom_.find(networkOf(from));
	return found == hostsFrom_.end() ? 0 : found->second;
}

Result<void> Model::putInstance(const std::string &key, const Json &json)
{
	Result<Instance> instance = read<Instance>(key, json);
	if (!instance)
		return instance.error();
	Service &service = instances_[key];
	std::vector<Block> before = std::move(service.entries);
	service = {*std::move(instance), {}};
	for (const std::string &text : service.instance.addresses) {
		const auto address = nvmeof::parseAddress(text);
		if (!address)
			continue;
		DiscoveryEntry entry = entryOf(service.instance, *address, service.instance.id == self_);
		auto same = std::ranges::find_if(before, [&](const Block &old) { return tellsTheSame(old, entry); });
		service.entries.push_back(same != before.end() ? *same : std::make_shared<const DiscoveryEntry>(entry));
	}
	return {};
}

Result<void> Model::put(const Change &change)
{
	const Json json = Json::parse(*change.value, nullptr, false);
	switch (kindOf(change.key).value_or(Kind::target)) {
	case Kind::target:
		return putTarget(change.key, json);
	case Kind::zone:
		return into(zones_, change.key, json);
	case Kind::host:
		return putHost(change.key, json);
	case Kind::instance:
		return putInstance(change.key, json);
	}
	return {};
}

void Model::remove(const std::string &key)
{
	targets_.erase(key);
	zones_.erase(key);
	removeHost(key);
	instances_.erase(key);
}

// Makes the entries in one block of memory, as they are sent together.
void Model::makeEntries()
{
	std::ranges::sort(changed_);
	auto slab = std::make_shared<std::vector<DiscoveryEntry>>();
	slab->reserve(changed_.size());
	for (const std::string &key : changed_) {
		auto found = targets_.find(key);
		if (found == targets_.end() || found->second.entry)
			continue;
		slab->push_back(found->second.target.entry());
		found->second.entry = Block(slab, &slab->back());
	}
	changed_.clear();
}

// Keeps records that are in @current, so that unchanged entries stay the same objects.
void Model::keepOnly(const std::vector<Change> &current)
{
	std::unordered_set<std::string_view> keys;
	for (const Change &change : current)
		keys.insert(change.key);
	auto gone = [&](const auto &record) { return !keys.contains(record.first); };
	std::erase_if(targets_, gone);
	std::erase_if(zones_, gone);
	for (auto host = hosts_.begin(); host != hosts_.end();) {
		const std::string key = host++->first;
		if (!keys.contains(key))
			removeHost(key);
	}
	std::erase_if(instances_, gone);
}

std::vector<std::string> Model::apply(const StoreUpdate &news)
{
	std::vector<std::string> wrong;
	if (news.whole)
		keepOnly(news.changes);
	for (const Change &change : news.changes) {
		if (!change.value) {
			remove(change.key);
			continue;
		}
		Result<void> done = nofctl::invalidError("it is not valid");
		runtime::guarded([&] { done = put(change); });
		if (!done) {
			remove(change.key);
			wrong.push_back(fmt::format("the record {} is skipped: {}", change.key, done.error().message));
		}
	}
	makeEntries();
	generation_ = news.generation;
	return wrong;
}

} // namespace cdc
