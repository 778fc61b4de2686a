// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"

#include "libctl/base/file.h"
#include "libctl/base/make_error.h"
#include "libctl/base/toml.h"
#include "libctl/keys/source.h"
#include "libctl/wire/dhchap.h"

namespace cdc {

using namespace nofctl;
using namespace nvmeof;
using nofctl::wire::dhchapGroups;
using nofctl::wire::dhchapHashes;

namespace {

constexpr std::size_t maxFileSize = 16u << 20;
constexpr const char *defaultPort = "8009"; // NVMe discovery over TCP, IANA nvme-disc

template <typename T> auto into(T &to)
{
	return [&to](auto value) { to = std::move(value); };
}

template <typename T> auto numberUpTo(std::int64_t max)
{
	return [max](const toml::node &node) -> Result<T> {
		Result<std::int64_t> number = numberOf(node, 0, max);
		return number ? Result<T>(static_cast<T>(*number)) : Result<T>(number.error());
	};
}

Result<SteadyMs> millisOf(const toml::node &node)
{
	Result<std::chrono::milliseconds> time = timeOf(node, Never::refused);
	return time ? Result<SteadyMs>(time->count()) : Result<SteadyMs>(time.error());
}

Result<std::int64_t> secondsOf(const toml::node &node)
{
	Result<std::chrono::milliseconds> time = timeOf(node, Never::refused);
	return time ? Result<std::int64_t>(time->count() / 1000) : Result<std::int64_t>(time.error());
}

Result<std::int64_t> leaseOf(const toml::node &node)
{
	Result<std::int64_t> seconds = secondsOf(node);
	if (seconds && *seconds < 10)
		return invalidError("a lease must be at least 10 s long");
	return seconds;
}

Result<std::vector<Prefix>> prefixesOf(const toml::node &node)
{
	Result<std::vector<std::string>> texts = textsOf(node);
	if (!texts)
		return texts.error();
	std::vector<Prefix> prefixes;
	for (const std::string &text : *texts) {
		Result<Prefix> prefix = Prefix::of(text);
		if (!prefix)
			return prefix.error();
		prefixes.push_back(*prefix);
	}
	return prefixes;
}

Result<std::filesystem::path> pathOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	if (text && !text->starts_with("/"))
		return invalidError("'" + *text + "' is not an absolute path");
	return text ? Result<std::filesystem::path>(*text) : Result<std::filesystem::path>(text.error());
}

Result<Address> addressOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	return text ? parseAddress(*text, defaultPort) : Result<Address>(text.error());
}

// An empty list is valid.
Result<std::vector<Address>> addressesOf(const toml::node &node)
{
	std::vector<Address> addresses;
	if (const toml::array *list = node.as_array(); list && list->empty())
		return addresses;
	Result<std::vector<std::string>> texts = textsOf(node);
	if (!texts)
		return texts.error();
	for (const std::string &text : *texts) {
		Result<Address> address = parseAddress(text, defaultPort);
		if (!address)
			return address.error();
		addresses.push_back(*std::move(address));
	}
	return addresses;
}

Result<Unzoned> unzonedOf(const toml::node &node)
{
	Result<std::string> word = wordOf(node, {"unless-zoned", "all", "none"});
	if (!word)
		return word.error();
	return *word == "all" ? Unzoned::all : *word == "none" ? Unzoned::none : Unzoned::unlessZoned;
}

Result<Demand> demandIn(const toml::node &node)
{
	Result<std::string> word = wordOf(node, {"off", "preferred", "required"});
	return word ? Result<Demand>(*demandOf(*word)) : Result<Demand>(word.error());
}

// The directory of keys
Result<std::string> keysOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	if (!text)
		return text;
	Result<KeySource> source = KeySource::parseAbsolute(*text);
	if (source && source->kind() == KeySource::Kind::keyring)
		return invalidError("keys of hosts come from a directory or from credentials, not from a keyring");
	return source ? text : Result<std::string>(source.error());
}

// Names of hash functions or DH groups, the most preferred first. @count: of identifiers
template <std::uint8_t count, const char *name(std::uint8_t)>
Result<std::vector<std::uint8_t>> identifiersOf(const toml::node &node)
{
	Result<std::vector<std::string>> texts = textsOf(node);
	if (!texts)
		return texts.error();
	std::vector<std::uint8_t> identifiers;
	for (const std::string &text : *texts) {
		std::string known;
		std::uint8_t id = 0;
		for (; id < count && (text == "?" || text != name(id)); id++)
			if (const std::string one = name(id); one != "?")
				known += (known.empty() ? "" : ", ") + one;
		if (id == count)
			return invalidError("'" + text + "' is not known; known are " + known);
		identifiers.push_back(id);
	}
	return identifiers;
}

class Parser {
public:
	Parser(RulesReading &reading, const std::string &file)
		: rules_(reading.rules), problems_(reading.problems), file_(file)
	{
	}

	void read(const toml::table &table)
	{
		Keys keys;
		keys.add("listen", addressesOf, into(rules_.listen))
			.add("advertise", addressesOf, into(rules_.advertise))
			.add("advertise-networks", prefixesOf, into(rules_.advertiseNetworks))
			.add("nqn", nqnOf, into(rules_.nqn))
			.add("hostnqn", nqnOf, into(rules_.hostnqn))
			.add("threads", numberUpTo<unsigned>(maxThreads), into(rules_.threads))
			.add("digests", flagOf, into(rules_.front.digests))
			.add("unzoned", unzonedOf, into(rules_.views.unzoned))
			.add("cache-views", flagOf, into(rules_.views.cached))
			.add("state", pathOf, into(rules_.state))
			.add("control", pathOf, into(rules_.control))
			.add("web", addressesOf, into(rules_.web))
			.add("drain", millisOf, into(rules_.drainMs))
			.add("registration-lease", secondsOf, // key of earlier versions, where 0 meant no limit
			     [this](std::int64_t seconds) {
				     if (seconds > 0)
					     rules_.registration.leaseSeconds = seconds;
			     })
			.add("registration", one(&Parser::registration))
			.add("security", one(&Parser::security))
			.add("limits", one(&Parser::limits))
			.add("store", one(&Parser::store))
			.add("pull", each(&Parser::pull))
			.add("target", each(&Parser::target))
			.add("zone", each(&Parser::zone));
		keys.read(table, file_, problems_);
		if (!hostsEachSet_)
			rules_.registration.maxHostsEach = rules_.front.connections.each;
	}

private:
	static constexpr std::int64_t maxThreads = 1024, maxConnections = 1000000, maxRecords = 100000;
	using Read = void (Parser::*)(const toml::table &);

	Put one(Read read)
	{
		return [this, read](const toml::node &node) -> Result<void> {
			if (!node.is_table())
				return invalidError("expected a table: [...]");
			(this->*read)(*node.as_table());
			return {};
		};
	}
	Put each(Read read)
	{
		return [this, read](const toml::node &node) -> Result<void> {
			if (!node.is_array_of_tables())
				return invalidError("it is a list of tables: write each as [[...]]");
			for (const toml::node &element : *node.as_array())
				(this->*read)(*element.as_table());
			return {};
		};
	}
	void makeError(const toml::node &node, std::string message)
	{
		problems_.push_back({placeOf(node, file_), std::move(message)});
	}
	bool missing(const toml::table &table, const char *key)
	{
		if (table.contains(key))
			return false;
		makeError(table, std::string(key) + " is missing");
		return true;
	}

	void limits(const toml::table &table)
	{
		FrontRules &front = rules_.front;
		auto places = numberUpTo<std::size_t>(maxConnections);
		Keys keys;
		keys.add("connections", places, into(front.connections.all))
			.add("per-address", places, into(front.connections.each))
			.add("served-at-once", places, into(front.admission.active))
			.add("waiting", places, into(front.admission.waiting))
			.add("step", millisOf, into(front.stepMs))
			.add("idle", millisOf, into(front.idleMs));
		keys.read(table, file_, problems_);
	}

	void store(const toml::table &table)
	{
		StoreRules &store = rules_.store;
		auto engine = [](const toml::node &node) { return wordOf(node, {"sqlite", "etcd"}); };
		Keys keys;
		keys.add("engine", engine,
			 [&](const std::string &word) {
				 store.engine = word == "etcd" ? StoreRules::Engine::etcd : StoreRules::Engine::sqlite;
			 })
			.add("file", pathOf, into(store.file))
			.add("endpoints", textsOf, into(store.etcd.endpoints))
			.add("prefix", textOf, into(store.etcd.prefix))
			.add("ca", pathOf, into(store.etcd.ca))
			.add("certificate", pathOf, into(store.etcd.certificate))
			.add("key", pathOf, into(store.etcd.key))
			.add("user", textOf, into(store.etcd.user))
			.add("password-file", pathOf, into(store.etcd.passwordFile))
			.add("cache", pathOf, into(store.etcd.cache));
		keys.read(table, file_, problems_);
		if (store.engine == StoreRules::Engine::etcd && store.etcd.endpoints.empty())
			makeError(table, "engine 'etcd' needs endpoints");
	}

	void security(const toml::table &table)
	{
		SecurityRules &rules = rules_.security;
		Keys keys;
		keys.add("keys", keysOf, into(rules.keys))
			.add("auth", demandIn, into(rules.auth))
			.add("tls", demandIn, into(rules.tls))
			.add("hashes", identifiersOf<dhchapHashes + 1, nofctl::dhchapHashName>, into(rules.hashes))
			.add("groups", identifiersOf<dhchapGroups, nofctl::dhchapGroupName>, into(rules.groups));
		keys.read(table, file_, problems_);
		if (rules.keys.empty() && (rules.auth == Demand::required || rules.tls != Demand::off))
			makeError(table, "no host could connect without 'keys', the directory of the keys of hosts");
	}

	void pull(const toml::table &table)
	{
		PullSource source;
		Keys keys;
		keys.add("address", addressOf, into(source.address))
			.add("nqn", nqnOf, into(source.nqn))
			.add("ana", flagOf, into(source.ana));
		keys.read(table, file_, problems_);
		if (!missing(table, "address"))
			rules_.pulls.push_back(std::move(source));
	}

	void registration(const toml::table &table)
	{
		RegistrationRules &rules = rules_.registration;
		auto amount = numberUpTo<std::size_t>(maxRecords);
		Keys keys;
		keys.add("hosts", flagOf, into(rules.hosts))
			.add("lease", leaseOf, into(rules.leaseSeconds))
			.add("max-hosts", amount, into(rules.maxHosts))
			.add("max-hosts-per-address", amount,
			     [this, &rules](std::size_t max) {
				     rules.maxHostsEach = max;
				     hostsEachSet_ = true;
			     })
			.add("max-targets-per-ddc", amount, into(rules.maxTargetsEach))
			.add("ddc", each(&Parser::ddc));
		keys.read(table, file_, problems_);
	}

	void ddc(const toml::table &table)
	{
		RegistrationRules::Ddc ddc;
		Keys keys;
		keys.add("nqn", nqnOf, into(ddc.nqn))
			.add("hostnqn", nqnOf, into(ddc.hostnqn))
			.add("sources", prefixesOf, into(ddc.sources))
			.add("join", flagOf, into(ddc.join));
		keys.read(table, file_, problems_);
		if (!missing(table, "nqn") && !missing(table, "sources"))
			rules_.registration.ddcs.push_back(std::move(ddc));
	}

	// Record::of() validates the values.
	template <typename T>
	void record(const toml::table &table, std::vector<T> &to, std::initializer_list<const char *> keys)
	{
		Json json{{"source", "file"}};
		Keys known;
		for (const char *key : keys)
			known.add(key, valueOf, [&json, key](Json value) { json[key] = std::move(value); });
		const std::size_t before = problems_.size();
		known.read(table, file_, problems_);
		if (problems_.size() > before)
			return;
		if (Result<T> one = T::of(json))
			to.push_back(*std::move(one));
		else
			makeError(table, one.error().message);
	}
	static Result<Json> valueOf(const toml::node &node)
	{
		if (const auto *text = node.as_string())
			return Json(text->get());
		if (const auto *number = node.as_integer())
			return Json(number->get());
		Result<std::vector<std::string>> texts = textsOf(node);
		return texts ? Result<Json>(Json(*texts)) : Result<Json>(texts.error());
	}
	void target(const toml::table &table)
	{
		record(table, rules_.targets,
		       {"nqn", "type", "transport", "traddr", "trsvcid", "portid", "treq", "sectype", "qptype",
			"prtype", "state"});
	}
	void zone(const toml::table &table)
	{
		record(table, rules_.zones, {"name", "hosts", "targets", "auth", "tls"});
	}

	Rules &rules_;
	std::vector<ConfigProblem> &problems_;
	const std::string &file_;
	bool hostsEachSet_ = false;
};

} // namespace

RulesReading parseRules(std::string_view text, const std::string &file)
{
	RulesReading reading;
	if (auto table = parseToml(text, file, reading.problems))
		Parser(reading, file).read(*table);
	tidyProblems(reading.problems);
	return reading;
}

RulesReading inspectRules(const std::filesystem::path &file)
{
	Result<std::string> text = readSmallFile(file, maxFileSize);
	if (text)
		return parseRules(*text, file.string());
	RulesReading reading;
	if (text.error().code != ErrorCode::noSuchObject)
		reading.problems.push_back({{file.string()}, text.error().message, text.error().code});
	return reading;
}

Result<Rules> readRules(const std::filesystem::path &file)
{
	RulesReading reading = inspectRules(file);
	if (reading.problems.empty())
		return std::move(reading.rules);
	return nofctl::errorOf(reading.problems);
}

} // namespace cdc
