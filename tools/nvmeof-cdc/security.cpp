// SPDX-License-Identifier: LGPL-2.1-or-later
#include "security.h"

#include <syslog.h>

#include <fmt/format.h>

#include "libctl/runtime/journal.h"

namespace cdc {

namespace {

// The demands on a host, and the keys that are there for it
struct Demands {
	Demands(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn)
		: key(security.keys ? security.keys->of(hostnqn) : nullptr), auth(zones.auth.with(security.rules.auth)),
		  tls(security.rules.tls == Demand::required ? Demand::required : zones.tls.with(security.rules.tls))
	{
	}

	bool hasAuthKey() const { return key && !key->dhchap.host.empty(); }
	bool hasTlsKey() const { return key && !key->tls.empty(); }
	bool unusable() const { return key && key->unusable; }
	bool wantsAuth() const { return wants(auth, hasAuthKey()); }
	bool wantsTls() const { return wants(tls, hasTlsKey()); }

	const HostKeys::Key *key; // null: none
	Demand auth, tls;

private:
	static bool wants(Demand demand, bool hasKey)
	{
		return demand == Demand::required || (demand == Demand::preferred && hasKey);
	}
};

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
	case Refusal::unproved:
		why = "it must authenticate itself, and has connected without: set dhchap-key on the host";
		break;
	case Refusal::revoked:
		why = "the key that it has used was removed: give the host and the service another one";
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

bool mustProve(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn)
{
	const Demands demands(security, zones, hostnqn);
	return demands.wantsAuth() || demands.wantsTls() ||
	       (demands.unusable() && (demands.auth != Demand::off || demands.tls != Demand::off));
}

bool mayStayRegistered(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn, bool proved)
{
	const Demands demands(security, zones, hostnqn);
	if (demands.unusable())
		return true;
	const bool auth = demands.wantsAuth(), tls = demands.wantsTls();
	if ((auth && !demands.hasAuthKey()) || (tls && !demands.hasTlsKey()))
		return false;
	return proved || (!auth && !tls);
}

Refusal sessionRefusal(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn,
		       const TlsPeer *tls, bool proved)
{
	const Demands demands(security, zones, hostnqn);
	if (demands.unusable())
		return Refusal::none;
	if (!tls && demands.wantsTls())
		return Refusal::plain;
	if (tls && demands.tls != Demand::off && !demands.hasTlsKey())
		return Refusal::revoked;
	if (proved)
		return demands.auth == Demand::off || demands.hasAuthKey() ? Refusal::none : Refusal::revoked;
	if (!demands.wantsAuth())
		return Refusal::none;
	return demands.hasAuthKey() ? Refusal::unproved : Refusal::noKey;
}

std::shared_ptr<const nofctl::DhchapSecrets> secretsOf(const Security::Current &security, const std::string &hostnqn)
{
	const HostKeys::Key *key = security.keys ? security.keys->of(hostnqn) : nullptr;
	if (!key || key->dhchap.host.empty())
		return nullptr;
	return {security.keys, &key->dhchap}; // the keys live as long as the secrets
}

Access accessOf(const Security::Current &security, const ZoneSet &zones, const std::string &hostnqn,
		const std::string &subsysnqn, const TlsPeer *tls)
{
	const Demands demands(security, zones, hostnqn);
	if (tls && (tls->hostnqn != hostnqn || tls->subsysnqn != subsysnqn))
		return {Refusal::identity, {}};
	// removed since the handshake
	if (tls && demands.tls != Demand::off && !demands.unusable() && !demands.hasTlsKey())
		return {Refusal::revoked, {}};
	if (demands.unusable() && (demands.auth != Demand::off || (!tls && demands.tls != Demand::off)))
		return {Refusal::badKey, {}};
	if (!tls && demands.wantsTls())
		return {Refusal::plain, {}};
	if (!demands.wantsAuth())
		return {};
	if (!demands.hasAuthKey())
		return {Refusal::noKey, {}};
	return {Refusal::none, secretsOf(security, hostnqn)};
}

} // namespace cdc
