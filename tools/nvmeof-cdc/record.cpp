// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record.h"

#include <arpa/inet.h>
#include <array>
#include <charconv>

#include <nvmeof/address.h>

#include "libctl/base/make_error.h"
#include "libctl/base/text.h"

namespace cdc {

using namespace nofctl::wire;
using nofctl::invalidError;
using nvmeof::Error;
using nvmeof::Result;

namespace {

constexpr std::array prefixes{std::string_view("targets/"), std::string_view("zones/"), std::string_view("hosts/"),
			      std::string_view("instances/")};
constexpr std::size_t maxListLength = 100000, maxTextLength = 256;
constexpr const char *notText = " is not a string, is too long, or contains control characters or invalid UTF-8";

constexpr std::pair<TransportType, const char *> transports[] = {{tr_tcp, "tcp"}, {tr_rdma, "rdma"}};
constexpr std::pair<AnaState, const char *> states[] = {
	{ana_optimized, "optimized"},
	{ana_non_optimized, "non-optimized"},
	{ana_inaccessible, "inaccessible"},
	{ana_persistent_loss, "persistent-loss"},
	{ana_change, "change"},
};

constexpr std::pair<Demand, const char *> demands[] = {
	{Demand::off, "off"},
	{Demand::preferred, "preferred"},
	{Demand::required, "required"},
};

template <std::size_t count, typename T> const char *nameIn(const std::pair<T, const char *> (&table)[count], T wanted)
{
	for (const auto &[value, name] : table)
		if (value == wanted)
			return name;
	return "unknown";
}

template <std::size_t count, typename T>
std::optional<T> valueIn(const std::pair<T, const char *> (&table)[count], std::string_view wanted)
{
	for (const auto &[value, name] : table)
		if (name == wanted)
			return value;
	return {};
}

bool hasControls(const std::string &text)
{
	return nofctl::hasC1(text) || std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

// Reads the members of an object one by one; outcome() reports the first error.
class RecordReader {
public:
	RecordReader(const Json &json, const char *what) : json_(json), what_(what)
	{
		if (!json.is_object())
			fail("must be an object");
	}

	void text(const char *key, std::string &to, bool needed = false)
	{
		const Json *member = find(key, needed);
		if (!member)
			return;
		if (!isText(*member))
			return fail(std::string(key) + notText);
		to = member->get<std::string>();
	}
	template <typename T> void number(const char *key, T &to)
	{
		const Json *member = find(key, false);
		if (!member)
			return;
		if (!member->is_number_integer() || !std::in_range<T>(member->get<std::int64_t>()))
			return fail(std::string(key) + " is not a number, or out of range");
		to = static_cast<T>(member->get<std::int64_t>());
	}
	// Whether it is there
	bool flag(const char *key, bool &to)
	{
		const Json *member = find(key, false);
		if (!member)
			return false;
		if (!member->is_boolean()) {
			fail(std::string(key) + " must be true or false");
			return false;
		}
		to = member->get<bool>();
		return true;
	}
	void texts(const char *key, std::vector<std::string> &to)
	{
		const Json *member = find(key, false);
		if (!member)
			return;
		if (!member->is_array() || member->size() > maxListLength)
			return fail(std::string(key) + " must be a list of at most " + std::to_string(maxListLength) +
				    " elements");
		for (const Json &one : *member) {
			if (!isText(one))
				return fail(std::string("an element of ") + key + notText);
			to.push_back(one.get<std::string>());
		}
	}
	template <typename T, typename Find> void word(const char *key, T &to, Find find)
	{
		std::string text;
		this->text(key, text);
		if (text.empty())
			return;
		if (auto value = find(text))
			to = *value;
		else
			fail(std::string(key) + " '" + text + "' is not known");
	}
	void origin(Origin &to)
	{
		text("source", to.source);
		text("owner", to.owner);
		number("ends", to.ends);
		text("registered_from", to.from);
		if (bool proved = false; flag("proved", proved))
			to.proved = proved;
	}
	void fail(const std::string &why)
	{
		if (!error_)
			error_ = invalidError(std::string(what_) + ": " + why);
	}
	bool failed() const { return error_.has_value(); }
	template <typename T> Result<T> outcome(T value) const
	{
		return error_ ? Result<T>(*error_) : Result<T>(value);
	}

private:
	// Whether a text can be stored, shown and sent
	static bool isText(const Json &json)
	{
		if (!json.is_string())
			return false;
		const auto &text = json.get_ref<const std::string &>();
		return text.size() <= maxTextLength && nofctl::isUtf8(text) && !hasControls(text);
	}

	const Json *find(const char *key, bool needed)
	{
		if (error_)
			return nullptr;
		auto found = json_.find(key);
		if (found != json_.end())
			return &*found;
		if (needed)
			fail(std::string(key) + " is missing");
		return nullptr;
	}

	const Json &json_;
	const char *what_;
	std::optional<Error> error_;
};

template <typename T> void addUnless(Json &json, const char *key, const T &value, const T &usual)
{
	if (value != usual)
		json[key] = value;
}

void addOrigin(Json &json, const Origin &origin)
{
	json["source"] = origin.source;
	addUnless(json, "owner", origin.owner, std::string());
	addUnless(json, "ends", origin.ends, std::int64_t(0));
	addUnless(json, "registered_from", origin.from, std::string());
	if (origin.proved)
		json["proved"] = *origin.proved;
}

std::string keyOf(Kind kind, std::string_view name)
{
	return std::string(prefixOf(kind)).append(name);
}

bool isPort(std::string_view text)
{
	unsigned number = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() && number > 0 && number < 65536;
}

Result<void> checkTarget(const Target &target)
{
	if (Result<void> nqn = checkName(target.nqn); !nqn)
		return invalidError("target: " + nqn.error().message);
	if (Result<std::string> traddr = nvmeof::parseTraddr(target.traddr); !traddr)
		return invalidError("target: " + traddr.error().message);
	if (!isPort(target.trsvcid))
		return invalidError("target: '" + target.trsvcid + "' is not a port");
	return {};
}

const char *transportName(TransportType transport)
{
	return nameIn(transports, transport);
}

} // namespace

Result<void> checkName(const std::string &nqn)
{
	if (!nofctl::isUtf8(nqn))
		return invalidError("NQN is not UTF-8");
	return nvmeof::checkNqn(nqn);
}

bool isUnicastAddress(const std::string &traddr)
{
	const std::string address = traddr.substr(0, traddr.find('%')); // without the scope
	in_addr four{};
	in6_addr six{};
	if (::inet_pton(AF_INET, address.c_str(), &four) == 1)
		return four.s_addr != INADDR_ANY && four.s_addr != INADDR_BROADCAST &&
		       !IN_MULTICAST(ntohl(four.s_addr));
	return ::inet_pton(AF_INET6, address.c_str(), &six) != 1 ||
	       (!IN6_IS_ADDR_UNSPECIFIED(&six) && !IN6_IS_ADDR_MULTICAST(&six));
}

std::string_view prefixOf(Kind kind)
{
	return prefixes[static_cast<std::size_t>(kind)];
}

std::optional<Kind> kindOf(std::string_view key)
{
	for (std::size_t i = 0; i < prefixes.size(); i++)
		if (key.starts_with(prefixes[i]))
			return static_cast<Kind>(i);
	return {};
}

std::string_view nameOf(std::string_view key)
{
	auto kind = kindOf(key);
	return kind ? key.substr(prefixOf(*kind).size()) : key;
}

bool affectsLogs(Kind kind)
{
	return kind != Kind::host;
}

std::optional<TransportType> transportOf(std::string_view name)
{
	return valueIn(transports, name);
}

const char *stateName(AnaState state)
{
	return nameIn(states, state);
}

std::optional<AnaState> stateOf(std::string_view name)
{
	return valueIn(states, name);
}

std::vector<std::string> stateNames()
{
	std::vector<std::string> names;
	for (const auto &[state, name] : states)
		names.emplace_back(name);
	return names;
}

const char *demandName(Demand demand)
{
	return nameIn(demands, demand);
}

std::optional<Demand> demandOf(std::string_view name)
{
	return valueIn(demands, name);
}

std::string storedText(const Json &json)
{
	return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Target::key() const
{
	return keyOf(Kind::target, nqn + " " + transportName(transport) + " " + traddr + " " + trsvcid);
}

DiscoveryEntry Target::entry() const
{
	DiscoveryEntry entry = makeEntry(type, nqn, traddr, 0);
	setText(entry.trsvcid, trsvcid, ' ');
	entry.trtype = transport;
	entry.treq = treq;
	entry.portid = portid;
	if (transport == tr_rdma)
		entry.setRdma({qptype, prtype, cms_rdma_cm, {}, {}, {}});
	else
		entry.tsas[0] = sectype;
	return entry;
}

Json Target::json() const
{
	const Target usual;
	Json json{{"nqn", nqn}, {"transport", transportName(transport)}, {"traddr", traddr}, {"trsvcid", trsvcid}};
	if (type == sub_referral)
		json["type"] = "referral";
	addUnless(json, "portid", portid, usual.portid);
	addUnless(json, "treq", treq, usual.treq);
	addUnless(json, "sectype", sectype, usual.sectype);
	addUnless(json, "qptype", qptype, usual.qptype);
	addUnless(json, "prtype", prtype, usual.prtype);
	json["state"] = stateName(state);
	addOrigin(json, origin);
	return json;
}

Result<Target> Target::of(const Json &json)
{
	Target target;
	RecordReader reader(json, "target");
	reader.text("nqn", target.nqn, true);
	reader.word("type", target.type, [](std::string_view name) -> std::optional<SubsystemType> {
		if (name == "subsystem")
			return sub_nvm;
		return name == "referral" ? std::optional(sub_referral) : std::nullopt;
	});
	reader.word("transport", target.transport, transportOf);
	reader.text("traddr", target.traddr, true);
	reader.text("trsvcid", target.trsvcid);
	reader.number("portid", target.portid);
	reader.number("treq", target.treq);
	reader.number("sectype", target.sectype);
	reader.number("qptype", target.qptype);
	reader.number("prtype", target.prtype);
	reader.word("state", target.state, stateOf);
	reader.origin(target.origin);
	if (!reader.failed())
		if (Result<void> checked = checkTarget(target); !checked)
			return checked.error();
	return reader.outcome(target);
}

Result<Target> Target::of(const DiscoveryEntry &entry)
{
	Target target;
	target.nqn = text(entry.subnqn);
	target.type = static_cast<SubsystemType>(entry.subtype);
	target.transport = static_cast<TransportType>(entry.trtype);
	target.traddr = text(entry.traddr);
	target.trsvcid = text(entry.trsvcid);
	target.portid = entry.portid;
	target.treq = entry.treq;
	if (target.transport == tr_rdma) {
		target.qptype = entry.rdma().qptype;
		target.prtype = entry.rdma().prtype;
	} else {
		target.sectype = entry.sectype();
	}
	if (target.type != sub_nvm && target.type != sub_referral)
		return invalidError("an entry that is neither a subsystem nor a referral");
	if (target.transport != tr_tcp && target.transport != tr_rdma)
		return invalidError("a transport other than TCP and RDMA");
	if (Result<void> checked = checkTarget(target); !checked)
		return checked.error();
	return target;
}

std::string Zone::keyOf(const std::string &name)
{
	return cdc::keyOf(Kind::zone, name);
}

Json Zone::json() const
{
	Json json{{"name", name}, {"hosts", hosts}, {"targets", targets}};
	if (auth)
		json["auth"] = demandName(*auth);
	if (tls)
		json["tls"] = demandName(*tls);
	addOrigin(json, origin);
	return json;
}

Result<Zone> Zone::of(const Json &json)
{
	Zone zone;
	RecordReader reader(json, "zone");
	reader.text("name", zone.name, true);
	reader.texts("hosts", zone.hosts);
	reader.texts("targets", zone.targets);
	reader.word("auth", zone.auth, demandOf);
	reader.word("tls", zone.tls, demandOf);
	reader.origin(zone.origin);
	if (zone.name.empty() || zone.name.find_first_of(" /") != zone.name.npos)
		reader.fail("its name is empty, or has a blank or a slash in it");
	return reader.outcome(zone);
}

std::string Host::key() const
{
	return keyOf(Kind::host, nqn);
}

Json Host::json() const
{
	Json json{{"nqn", nqn}, {"hostid", hostid}, {"name", name}, {"version", version}, {"interfaces", interfaces}};
	addOrigin(json, origin);
	return json;
}

Result<Host> Host::of(const Json &json)
{
	Host host;
	RecordReader reader(json, "host");
	reader.text("nqn", host.nqn, true);
	reader.text("hostid", host.hostid);
	reader.text("name", host.name);
	reader.text("version", host.version);
	reader.texts("interfaces", host.interfaces);
	reader.origin(host.origin);
	if (Result<void> nqn = checkName(host.nqn); !reader.failed() && !nqn)
		reader.fail(nqn.error().message);
	return reader.outcome(host);
}

std::string Instance::key() const
{
	return keyOf(Kind::instance, id);
}

Json Instance::json() const
{
	Json json{{"id", id}, {"nqn", nqn}, {"addresses", addresses}, {"draining", draining}};
	if (tls != Demand::off)
		json["tls"] = demandName(tls);
	return json;
}

Result<Instance> Instance::of(const Json &json)
{
	Instance instance;
	RecordReader reader(json, "instance");
	reader.text("id", instance.id, true);
	reader.text("nqn", instance.nqn, true);
	reader.texts("addresses", instance.addresses);
	reader.flag("draining", instance.draining);
	reader.word("tls", instance.tls, demandOf);
	for (const std::string &address : instance.addresses)
		if (Result<nvmeof::Address> parsed = nvmeof::parseAddress(address); !parsed)
			reader.fail(parsed.error().message);
	return reader.outcome(instance);
}

} // namespace cdc
