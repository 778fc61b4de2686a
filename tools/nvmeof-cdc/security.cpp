// SPDX-License-Identifier: LGPL-2.1-or-later
#include "security.h"

#include <syslog.h>

#include <fmt/format.h>

#include "libctl/runtime/journal.h"

namespace cdc {

namespace {

bool demands(Demand demand, bool hasKey)
{
	return demand == Demand::required || (demand == Demand::preferred && hasKey);
}

} // namespace

std::string refusalText(Refusal refusal, const std::string &hostnqn)
{
	const char *why = "";
	switch (refusal) {
	case Refusal::none:
		break;
	case Refusal::noKey:
		why = "it must authenticate itself, and there is no key for it: add HOSTNQN.dhchap to the keys, and "
		      "reload";
		break;
	case Refusal::badKey:
		why = "its key cannot be used: 'nvmeof-cdc check-config' says why";
		break;
	case Refusal::plain:
		why = "it must use TLS: set tls and tls-key on the host";
		break;
	case Refusal::identity:
		why = "the key that it used for TLS is for another host or subsystem NQN: give it one of its own";
		break;
	}
	return fmt::format("host {} is refused: {}", hostnqn, why);
}

nvmeof::Result<Security::Loaded> Security::load(const SecurityRules &rules) const
{
	nvmeof::Result<HostKeys::Reading> reading = HostKeys::read(rules.keys);
	if (!reading)
		return reading.error();
	std::shared_ptr<const nofctl::TlsContexts> tls = current()->tls;
	if (rules.tls == Demand::off) {
		tls.reset();
	} else if (!tls) {
		nvmeof::Result<nofctl::TlsContexts> made = nofctl::TlsContexts::create(nofctl::TlsRecords::here);
		if (!made)
			return made.error();
		tls = std::make_shared<const nofctl::TlsContexts>(*std::move(made));
	}
	return Loaded{std::make_shared<const Current>(Current{rules, reading->keys, std::move(tls)}),
		      std::move(reading->problems)};
}

void Security::use(Loaded loaded)
{
	for (const std::string &problem : loaded.problems)
		runtime::say(LOG_WARNING, problem);
	std::lock_guard lock(mutex_);
	current_.swap(loaded.current); // the old one is released without the lock
}

std::shared_ptr<const Security::Current> Security::current() const
{
	std::lock_guard lock(mutex_);
	return current_;
}

Access accessOf(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn,
		const std::string &subsysnqn, const TlsPeer *tls)
{
	const HostKeys::Key *key = security.keys ? security.keys->of(hostnqn) : nullptr;
	const Demand auth = zones.auth.value_or(security.rules.auth);
	const Demand secure =
		security.rules.tls == Demand::required ? Demand::required : zones.tls.value_or(security.rules.tls);
	if (tls && (tls->hostnqn != hostnqn || tls->subsysnqn != subsysnqn))
		return {Refusal::identity, {}};
	if (key && key->unusable && (auth != Demand::off || (!tls && secure != Demand::off)))
		return {Refusal::badKey, {}};
	if (!tls && demands(secure, key && !key->tls.empty()))
		return {Refusal::plain, {}};
	const bool hasKey = key && !key->dhchap.host.empty();
	if (!demands(auth, hasKey))
		return {};
	if (!hasKey)
		return {Refusal::noKey, {}};
	return {Refusal::none, {security.keys, &key->dhchap}}; // the keys live as long as the secrets
}

} // namespace cdc
