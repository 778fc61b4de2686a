// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reload.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <syslog.h>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libctl/base/make_error.h"
#include "libctl/runtime/journal.h"
#include "wall_clock.h"

namespace cdc {

using nvmeof::Result;

namespace {

constexpr std::size_t maxListedHosts = 20; // hosts that the journal lists

// Removals of records of services that are no longer configured as sources
std::vector<Change> pullRemovals(const Model &model, const std::vector<PullSource> &before,
				 const std::vector<PullSource> &after)
{
	auto has = [](const std::vector<PullSource> &sources, const std::string &address) {
		return std::ranges::any_of(sources, [&](const auto &one) { return one.address.toString() == address; });
	};
	std::vector<Change> changes;
	for (const auto &[key, port] : model.targets()) {
		if (port.target.origin.source != "pull")
			continue;
		const std::string root = rootOf(port.target.origin.owner);
		if (has(before, root) && !has(after, root))
			changes.push_back({key, {}});
	}
	return changes;
}

// Registrations that expire under the new rules and not under the current ones
std::vector<Change> registrationRemovals(const Service &service, const Model &changed, const RegistrationRules &rules)
{
	const auto now = static_cast<std::int64_t>(wallSeconds());
	const LeaseChanges before = leaseChanges(service.model(), service.rules().registration, {}, now);
	std::set<std::string> ended;
	for (const Change &change : before.ended)
		ended.insert(change.key);
	std::vector<Change> changes = leaseChanges(changed, rules, {}, now).ended;
	std::erase_if(changes, [&](const Change &change) { return ended.contains(change.key); });
	return changes;
}

// Targets of discovery controllers that have not proved their NQN as the new rules and keys demand, or no longer can
std::vector<Change> unprovableRemovals(const Service &service, const Model &changed, const Rules &rules,
				       const Security::Current &security)
{
	const ZoneTable zones(changed.zones(), rules.views.unzoned, nullptr);
	const auto before = service.security();
	std::vector<Change> changes;
	for (const auto &[key, port] : changed.targets()) {
		if (port.target.origin.source != "push")
			continue;
		const std::string &nqn = connectsAs(rules.registration, port.target.origin.owner);
		const bool proved = port.target.origin.proved.value_or(true);
		if (!mayStayRegistered(security, *zones.of(nqn), nqn, proved) &&
		    mayStayRegistered(*before, *service.views().zonesOf(nqn), nqn, proved))
			changes.push_back({key, {}});
	}
	return changes;
}

struct Preview {
	Model model;
	std::size_t records = 0; // changed
};

Preview previewOf(const Service &service, const Rules &rules, const Security::Current &security)
{
	Preview preview{service.model()};
	auto apply = [&](const std::vector<Change> &changes) {
		preview.records += changes.size();
		preview.model.apply({false, changes, preview.model.generation()});
	};
	apply(pullRemovals(preview.model, service.rules().pulls, rules.pulls));
	apply(fileChanges(preview.model, service.identity().id, rules.targets, rules.zones));
	apply(registrationRemovals(service, preview.model, rules.registration));
	apply(unprovableRemovals(service, preview.model, rules, security));
	return preview;
}

void tell(const std::vector<Loss> &losses)
{
	std::size_t told = 0;
	for (const Loss &loss : losses)
		if (loss.large() && told++ < maxListedHosts)
			runtime::say(LOG_ERR, "the configuration is not applied: " + textOf(loss));
}

} // namespace

void reload(Service &service, Rules rules, ReloadMode mode, std::function<void(const Result<Reloaded> &)> done)
{
	Result<Security::Loaded> security = service.loadSecurity(rules);
	if (!security)
		return done(security.error());
	if (!service.sharedViews()) { // no host is served yet
		if (mode == ReloadMode::dryRun)
			return done(nvmeof::errorFromErrno(EAGAIN, "the store has not loaded its records yet"));
		Reloaded reloaded{0, {}, security->problems};
		service.reload(std::move(rules), *std::move(security));
		return done(std::move(reloaded));
	}
	// each worker copies the callback
	auto shared = std::make_shared<Rules>(std::move(rules));
	service.knownHosts([&service, shared, security = *std::move(security), mode,
			    done = std::move(done)](const std::set<std::string> &hosts) {
		const Preview preview = previewOf(service, *shared, *security.current);
		Reloaded reloaded{preview.records, {}, security.problems};
		if (mode != ReloadMode::forced)
			reloaded.losses = lossesBy(service.model(), preview.model, service.rules().views, hosts,
						   Removed::counted);
		const bool large = std::ranges::any_of(reloaded.losses, &Loss::large);
		if (mode == ReloadMode::judged && large) {
			tell(reloaded.losses);
			return done(tooLarge(reloaded.losses, "'nvmeofctl cdc reload --dry-run' lists them, 'nvmeofctl "
							      "cdc reload --force' applies it"));
		}
		if (mode == ReloadMode::dryRun)
			return done(reloaded);
		service.reload(*shared, security, [done, reloaded](const Result<void> &written) mutable {
			if (!written)
				reloaded.unwritten = written.error().message;
			done(reloaded);
		});
	});
}

// ---- losses

namespace {

constexpr std::size_t maxNamedTargets = 20; // of a loss

// Keys of targets by their log entries. A copy of a model shares the entries.
using EntryKeys = std::unordered_map<const void *, std::string_view>;

EntryKeys entryKeysOf(const Model &model)
{
	EntryKeys keys;
	for (const auto &[key, port] : model.targets())
		keys.emplace(port.entry.get(), key);
	return keys;
}

std::vector<std::string_view> seenOn(const Page &page, const EntryKeys &keys)
{
	std::vector<std::string_view> seen;
	for (const Block &entry : page.entries())
		if (auto found = keys.find(entry.get()); found != keys.end())
			seen.push_back(found->second);
	return seen;
}

} // namespace

std::vector<Loss> lossesBy(const Model &model, const Model &changed, const ViewRules &rules,
			   const std::set<std::string> &hosts, Removed removed)
{
	const Views before(model, rules, nullptr), after(changed, rules, nullptr);
	const EntryKeys keysBefore = entryKeysOf(model), keysAfter = entryKeysOf(changed);
	std::map<std::pair<const ZoneSet *, const ZoneSet *>, Loss> known; // shared by hosts in the same zones
	std::vector<Loss> losses;
	for (const std::string &host : hosts) {
		const std::pair zones{before.zonesOf(host), after.zonesOf(host)};
		auto [loss, fresh] = known.try_emplace(zones);
		if (fresh) {
			const auto had = seenOn(*before.of(zones.first), keysBefore);
			const auto has = seenOn(*after.of(zones.second), keysAfter);
			const std::unordered_set<std::string_view> left(has.begin(), has.end());
			loss->second.before = had.size();
			for (std::string_view key : had)
				if (!left.contains(key) &&
				    (removed == Removed::counted || changed.targets().contains(std::string(key)))) {
					loss->second.lost++;
					if (loss->second.targets.size() < maxNamedTargets)
						loss->second.targets.emplace_back(nameOf(key));
				}
		}
		if (loss->second.lost == 0)
			continue;
		losses.push_back(loss->second);
		losses.back().hostnqn = host;
	}
	return losses;
}

std::string textOf(const Loss &loss)
{
	const std::size_t more = loss.lost - loss.targets.size();
	return fmt::format("{} would lose {} of {} targets: {}{}", loss.hostnqn, loss.lost, loss.before,
			   fmt::join(loss.targets, ", "), more ? fmt::format(" and {} more", more) : "");
}

nvmeof::Error tooLarge(const std::vector<Loss> &losses, std::string_view next)
{
	const Loss &worst = *std::ranges::find_if(losses, &Loss::large);
	const auto others = std::ranges::count_if(losses, &Loss::large) - 1;
	return nofctl::invalidError(
		fmt::format("{} would lose {} of {} targets{}; {}", worst.hostnqn, worst.lost, worst.before,
			    others ? fmt::format(", and {} other hosts more than half of theirs", others) : "", next));
}

} // namespace cdc
