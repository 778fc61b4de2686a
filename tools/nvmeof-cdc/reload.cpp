// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reload.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>

#include <syslog.h>

#include <fmt/format.h>

#include "serving/journal.h"
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

struct Preview {
	Model model;
	std::size_t records = 0; // changed
};

Preview previewOf(const Service &service, const Rules &rules)
{
	Preview preview{service.model()};
	auto apply = [&](const std::vector<Change> &changes) {
		preview.records += changes.size();
		preview.model.apply({false, changes, preview.model.generation()});
	};
	apply(pullRemovals(preview.model, service.rules().pulls, rules.pulls));
	apply(fileChanges(preview.model, service.identity().id, rules.targets, rules.zones));
	apply(registrationRemovals(service, preview.model, rules.registration));
	return preview;
}

void tell(const std::vector<Loss> &losses)
{
	std::size_t told = 0;
	for (const Loss &loss : losses)
		if (loss.large() && told++ < maxListedHosts)
			serving::say(LOG_ERR, "the configuration is not applied: " + textOf(loss));
}

} // namespace

void reload(Service &service, Rules rules, ReloadMode mode, std::function<void(const Result<Reloaded> &)> done)
{
	if (!service.sharedViews()) { // no host is served yet
		if (mode == ReloadMode::dryRun)
			return done(nvmeof::errorFromErrno(EAGAIN, "the store has not loaded its records yet"));
		service.reload(std::move(rules));
		return done(Reloaded());
	}
	// each worker copies the callback
	auto shared = std::make_shared<Rules>(std::move(rules));
	service.knownHosts([&service, shared, mode, done = std::move(done)](const std::set<std::string> &hosts) {
		const Preview preview = previewOf(service, *shared);
		Reloaded reloaded{preview.records, {}};
		if (mode != ReloadMode::forced)
			reloaded.losses = lossesBy(service.model(), preview.model, service.rules().views, hosts,
						   Removed::counted);
		const bool large = std::ranges::any_of(reloaded.losses, &Loss::large);
		if (mode == ReloadMode::judged && large) {
			tell(reloaded.losses);
			return done(tooLarge(reloaded.losses, "'nvmeofctl cdc reload --dry-run' lists them, 'nvmeofctl "
							      "cdc reload --force' applies it"));
		}
		if (mode != ReloadMode::dryRun)
			service.reload(*shared);
		done(reloaded);
	});
}

} // namespace cdc
