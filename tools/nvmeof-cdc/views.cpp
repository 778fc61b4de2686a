// SPDX-License-Identifier: LGPL-2.1-or-later
#include "views.h"

#include <algorithm>
#include <fnmatch.h>
#include <unordered_set>

#include <nvmeof/rendezvous.h>

namespace cdc {

using namespace nofctl::wire;

namespace {

// Best state first
int rank(AnaState state)
{
	switch (state) {
	case ana_optimized:
		return 0;
	case ana_non_optimized:
		return 1;
	case ana_change:
		return 2;
	case ana_inaccessible:
		return 3;
	case ana_persistent_loss:
		return 4;
	}
	return 5;
}

} // namespace

Page::Page(std::vector<Block> entries) : entries_(std::move(entries))
{
	for (std::size_t i = 0; i < entries_.size(); i++) {
		const auto bytes = bytesOf(*entries_[i]);
		if (i > 0 && entries_[i].get() == entries_[i - 1].get() + 1)
			runs_.back().bytes = {runs_.back().bytes.data(), runs_.back().bytes.size() + bytes.size()};
		else
			runs_.push_back({i * discoveryBlock, bytes});
	}
}

void Page::slice(std::uint64_t offset, std::uint64_t length, std::vector<std::span<const std::uint8_t>> &to) const
{
	auto behind = [&](const Run &run) { return run.offset + run.bytes.size() <= offset; };
	auto run = std::partition_point(runs_.begin(), runs_.end(), behind);
	for (; run != runs_.end() && length > 0; ++run) {
		auto piece = run->bytes.subspan(offset - run->offset);
		piece = piece.first(std::min<std::uint64_t>(piece.size(), length));
		to.push_back(piece);
		offset += piece.size();
		length -= piece.size();
	}
}

Views::Views(const Model &model, const ViewRules &rules, const Views *before)
	: cached_(rules.cached), generation_(model.generation())
{
	for (const auto &[key, service] : model.instances()) {
		if (service.instance.draining)
			continue;
		services_.insert(services_.end(), service.entries.begin(), service.entries.end());
		for (const std::string &address : service.instance.addresses)
			members_.push_back({"tcp " + address, service.instance.id == model.self()});
	}
	std::vector<const Model::Port *> order;
	for (const auto &[key, port] : model.targets())
		order.push_back(&port);
	std::ranges::stable_sort(order, {}, [](const Model::Port *port) { return rank(port->target.state); });
	for (const Model::Port *port : order) {
		byNqn_.emplace(port->target.nqn, targets_.size());
		targets_.push_back({port->target.nqn, port->entry});
	}
	if (before && before->zones_->zones() == model.zones())
		zones_ = before->zones_;
	else
		zones_ = std::make_shared<ZoneTable>(model.zones(), rules.unzoned,
						     before ? before->zones_.get() : nullptr);
	if (before && cached_)
		for (const ZoneSet *set : zones_->sets())
			pages_.emplace(set, make(*set, before));
}

// Indexed like targets_
std::vector<bool> Views::seen(const ZoneSet &zones) const
{
	std::vector<bool> seen(targets_.size(), zones.all);
	for (const std::string &name : zones.zones)
		for (const std::string &wanted : zones_->zones().at(Zone::keyOf(name)).targets) {
			if (isPattern(wanted)) {
				for (std::size_t i = 0; i < targets_.size(); i++)
					seen[i] = seen[i] || fits(wanted, targets_[i].nqn);
				continue;
			}
			auto [first, last] = byNqn_.equal_range(wanted);
			for (auto one = first; one != last; ++one)
				seen[one->second] = true;
		}
	return seen;
}

std::shared_ptr<const Page> Views::sameAs(const ZoneSet &zones) const
{
	std::lock_guard lock(mutex_);
	if (auto found = pages_.find(&zones); found != pages_.end())
		return found->second;
	for (const auto &[set, page] : pages_)
		if (*set == zones)
			return page;
	return nullptr;
}

std::shared_ptr<const Page> Views::make(const ZoneSet &zones, const Views *before) const
{
	const std::vector<bool> wanted = seen(zones);
	std::vector<Block> entries = services_;
	for (std::size_t i = 0; i < targets_.size(); i++)
		if (wanted[i])
			entries.push_back(targets_[i].entry);
	if (auto page = before ? before->sameAs(zones) : nullptr; page && page->entries() == entries)
		return page;
	return std::make_shared<const Page>(std::move(entries));
}

std::shared_ptr<const Page> Views::of(const ZoneSet *zones) const
{
	if (!cached_)
		return make(*zones, nullptr);
	std::lock_guard lock(mutex_);
	std::shared_ptr<const Page> &page = pages_[zones];
	if (!page)
		page = make(*zones, nullptr);
	return page;
}

std::shared_ptr<const Page> Views::of(const std::string &hostnqn) const
{
	return of(zonesOf(hostnqn));
}

bool Views::firstChoice(const std::string &hostnqn) const
{
	const Member *first = nullptr;
	std::uint64_t max = 0;
	for (const Member &member : members_) {
		const std::uint64_t weight = nvmeof::rendezvousWeight(hostnqn, member.name);
		if (!first || weight > max) {
			first = &member;
			max = weight;
		}
	}
	return !first || first->own;
}

Views::Extent Views::extentOf(const std::string &zone) const
{
	{
		std::lock_guard lock(mutex_);
		if (auto known = extents_.find(zone); known != extents_.end())
			return known->second;
	}
	Extent extent;
	std::unordered_set<std::string_view> nqns;
	const std::vector<bool> its = seen({{zone}});
	for (std::size_t i = 0; i < targets_.size(); i++) {
		if (!its[i])
			continue;
		extent.targets++;
		nqns.insert(targets_[i].nqn);
	}
	extent.subsystems = nqns.size();
	std::lock_guard lock(mutex_);
	return extents_.emplace(zone, extent).first->second;
}

std::size_t Views::pages() const
{
	std::lock_guard lock(mutex_);
	return pages_.size();
}

// ---- zones

namespace {

constexpr std::size_t maxSets = 10000;        // zone sets
constexpr std::size_t maxKnownHosts = 100000; // hosts; then all are looked up again

} // namespace

bool isPattern(const std::string &text)
{
	return text.find_first_of("*?[\\") != text.npos;
}

namespace {

void demand(ZoneSet &set, const Zone &zone)
{
	set.auth.add(zone.auth);
	set.tls.add(zone.tls);
}

} // namespace

bool fits(const std::string &pattern, const std::string &nqn)
{
	return ::fnmatch(pattern.c_str(), nqn.c_str(), 0) == 0;
}

ZoneTable::ZoneTable(const std::map<std::string, Zone> &zones, Unzoned unzoned, const ZoneTable *before)
	: zones_(zones), all_(unzoned == Unzoned::all || (unzoned == Unzoned::unlessZoned && zones.empty()))
{
	for (const auto &[key, zone] : zones_) {
		demand(none_, zone);
		for (const std::string &host : zone.hosts) {
			if (isPattern(host))
				patterns_.emplace_back(host, zone.name);
			else
				exact_[host].push_back(zone.name);
		}
		const auto had = before ? before->reads_.find(zone.name) : reads_.end();
		const bool goesOn = before && had != before->reads_.end();
		reads_.emplace(zone.name, goesOn ? had->second : std::make_shared<Counter>(0));
	}
	if (!before)
		return;
	std::vector<std::pair<std::string, std::weak_ptr<const void>>> used;
	{
		std::lock_guard lock(before->mutex_);
		for (const auto &[host, known] : before->known_)
			if (!known.use.expired())
				used.emplace_back(host, known.use);
	}
	for (const auto &[host, use] : used) {
		of(host);
		if (auto known = known_.find(host); known != known_.end())
			known->second.use = use;
	}
}

ZoneSet ZoneTable::find(const std::string &hostnqn) const
{
	ZoneSet set;
	if (auto found = exact_.find(hostnqn); found != exact_.end())
		set.zones.insert(found->second.begin(), found->second.end());
	for (const auto &[pattern, zone] : patterns_)
		if (!set.zones.contains(zone) && fits(pattern, hostnqn))
			set.zones.insert(zone);
	set.all = set.zones.empty() && all_;
	for (const std::string &zone : set.zones) {
		demand(set, zones_.at(Zone::keyOf(zone)));
		set.reads.push_back(reads_.at(zone));
	}
	return set;
}

const ZoneSet *ZoneTable::of(const std::string &hostnqn) const
{
	std::lock_guard lock(mutex_);
	return cache(hostnqn);
}

std::shared_ptr<const void> ZoneTable::use(const std::string &hostnqn) const
{
	std::lock_guard lock(mutex_);
	cache(hostnqn);
	const auto known = known_.find(hostnqn);
	if (known == known_.end()) // too many zone sets
		return nullptr;
	std::shared_ptr<const void> use = known->second.use.lock();
	if (!use)
		known->second.use = use = std::make_shared<char>();
	return use;
}

const ZoneSet *ZoneTable::cache(const std::string &hostnqn) const
{
	if (auto known = known_.find(hostnqn); known != known_.end())
		return known->second.set;
	const ZoneSet wanted = find(hostnqn);
	auto found = sets_.find(wanted);
	if (found == sets_.end() && sets_.size() >= maxSets)
		return &none_; // reached only by a client that invents names to match the patterns in many combinations
	if (found == sets_.end())
		found = sets_.insert(wanted).first;
	const ZoneSet *set = &*found;
	if (known_.size() >= maxKnownHosts) // most of them are no longer connected, or were invented
		known_.clear();
	known_.emplace(hostnqn, Known{set});
	return set;
}

ZoneSet ZoneTable::lookUp(const std::string &hostnqn) const
{
	{
		std::lock_guard lock(mutex_);
		if (auto known = known_.find(hostnqn); known != known_.end())
			return *known->second.set;
	}
	return find(hostnqn);
}

std::vector<const ZoneSet *> ZoneTable::sets() const
{
	std::lock_guard lock(mutex_);
	std::vector<const ZoneSet *> sets;
	for (const ZoneSet &set : sets_)
		sets.push_back(&set);
	return sets;
}

std::vector<std::string> ZoneTable::hosts() const
{
	std::lock_guard lock(mutex_);
	std::vector<std::string> hosts;
	for (const auto &[host, set] : known_)
		hosts.push_back(host);
	return hosts;
}

} // namespace cdc
