// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables and keys of nvmeof.toml.
#include "config_parse.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <nvmeof/suggest.h>

#include "libctl/base/make_error.h"
#include "libctl/base/text.h"
#include "libctl/base/toml.h"
#include "libctl/discovery/plan_entry.h"
#include "libctl/discovery/resolve.h"

namespace nofctl {

using namespace nvmeof;

namespace {

constexpr int lastPort = 65535;

// Path selectors (iopolicy) of the module nvmeof itself; see kmod/mpath/selectors.c
const std::vector<std::string> &ownSelectors()
{
	static const std::vector<std::string> names{"numa", "round-robin", "queue-depth", "latency"};
	return names;
}

Result<std::string> patternOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	if (!text)
		return text;
	Result<void> good = checkPattern(*text);
	return good ? text : Result<std::string>(good.error());
}

Result<Uuid> uuidOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	if (!text)
		return text.error();
	std::optional<Uuid> uuid = Uuid::parse(*text);
	if (!uuid || uuid->isNil())
		return invalidError("'" + *text + "' is not a UUID");
	return *uuid;
}

Result<std::string> traddrOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	return text ? parseTraddr(*text) : text;
}

Result<std::string> portOf(const toml::node &node)
{
	Result<std::int64_t> number = numberOf(node, 1, lastPort);
	return number ? Result<std::string>(std::to_string(*number)) : Result<std::string>(number.error());
}

Result<std::string> transportOf(const toml::node &node)
{
	return wordOf(node, {"tcp", "rdma"});
}

// Host names are resolved when they are used, not here.
Result<std::vector<std::string>> addressesOf(const toml::node &node)
{
	Result<std::vector<std::string>> texts = textsOf(node);
	if (!texts)
		return texts;
	for (const std::string &text : *texts)
		if (Result<void> good = checkAddress(text); !good)
			return good.error();
	return texts;
}

// If @text begins with @min to @max hexadecimal digits, returns the text after them.
std::optional<std::string_view> afterHex(std::string_view text, std::size_t min, std::size_t max)
{
	const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdefABCDEF"), text.size());
	return digits < min || digits > max ? std::nullopt : std::optional(text.substr(digits));
}

// "0000:07:00.0" as in lspci -D, or without the domain. nvidia-smi prints 8 digits of the domain.
bool isPciAddress(std::string_view text)
{
	constexpr std::size_t maxDomainLength = 8;
	std::optional<std::string_view> rest = text;
	if (std::ranges::count(text, ':') == 2) {
		rest = afterHex(*rest, 4, maxDomainLength);
		if (!rest || !rest->starts_with(':'))
			return false;
		rest->remove_prefix(1);
	}
	rest = afterHex(*rest, 2, 2);
	if (!rest || !rest->starts_with(':'))
		return false;
	rest = afterHex(rest->substr(1), 2, 2);
	return rest && rest->size() == 2 && rest->front() == '.' && rest->back() >= '0' && rest->back() <= '7';
}

// As the kernel formats them: "uuid.", "eui." for EUI64 or NGUID, otherwise "nvme."; lower-case hexadecimal.
bool isWwid(std::string_view text)
{
	constexpr std::size_t eui64 = 16, nguid = 32;
	if (std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; }))
		return false;
	if (text.starts_with("uuid.")) {
		std::optional<Uuid> uuid = Uuid::parse(std::string(text.substr(5)));
		return uuid && uuid->toString() == text.substr(5);
	}
	if (text.starts_with("eui."))
		return (text.size() == 4 + eui64 || text.size() == 4 + nguid) &&
		       text.find_first_not_of("0123456789abcdef", 4) == text.npos;
	return text.starts_with("nvme.") && std::ranges::count(text, '-') == 3 &&
	       text.find_first_not_of("0123456789abcdef-", 5) == text.npos;
}

Result<std::string> stripeNameOf(const toml::node &node)
{
	Result<std::string> text = textOf(node);
	if (text && !isStripeName(*text))
		return invalidError("'" + *text + "' is not a name of 1 to 64 letters, digits, - and _");
	return text;
}

Result<std::int64_t> chunkOf(const toml::node &node)
{
	constexpr std::int64_t min = 4, max = 16384;
	Result<std::int64_t> kib = numberOf(node, min, max);
	if (kib && !std::has_single_bit(static_cast<std::uint64_t>(*kib)))
		return invalidError(std::to_string(*kib) + " is not a power of two");
	return kib;
}

auto limitOf(std::int64_t max)
{
	return [max](const toml::node &node) { return numberOf(node, 0, max); };
}

// A setter for the value that a getter returns.
template <typename T> auto into(T &to)
{
	return [&to](auto value) { to = static_cast<T>(std::move(value)); };
}

template <typename T> auto into(std::optional<T> &to)
{
	return [&to](T value) { to = std::move(value); };
}

Result<std::int64_t> securityUseOf(const toml::node &node)
{
	if (const auto *flag = node.as_boolean())
		return static_cast<std::int64_t>(flag->get() ? TlsUse::required : TlsUse::off);
	Result<std::string> word = wordOf(node, {"off", "preferred", "required"});
	return word ? Result<std::int64_t>(static_cast<std::int64_t>(*parseTlsUse(*word)))
		    : Result<std::int64_t>(word.error());
}

Result<std::int64_t> settingOf(const toml::node &node, const ConnectSetting &setting)
{
	if (setting.kind == SettingKind::flag) {
		Result<bool> flag = flagOf(node);
		return flag ? Result<std::int64_t>(*flag) : Result<std::int64_t>(flag.error());
	}
	if (setting.kind == SettingKind::tlsUse)
		return securityUseOf(node);
	if (setting.kind == SettingKind::number || setting.kind == SettingKind::milliseconds)
		return numberOf(node, setting.least, setting.most);
	const Never never = setting.kind == SettingKind::timeOrNever ? Never::allowed : Never::refused;
	Result<std::chrono::milliseconds> time = timeOf(node, never);
	return time ? Result<std::int64_t>(time->count()) : Result<std::int64_t>(time.error());
}

void addSettings(Keys &keys, ConnectSettings &to)
{
	for (const ConnectSetting &setting : connectSettings())
		keys.add(setting.name, [&](const toml::node &node) -> Result<void> {
			if (setting.kind == SettingKind::keySource) { // no error contains the value
				const auto *text = node.as_string();
				return putConnectText(to, setting, text ? text->get() : "");
			}
			Result<std::int64_t> value = settingOf(node, setting);
			return value ? putConnectSetting(to, setting, *value) : Result<void>(value.error());
		});
}

// The value in the form that "nvmeofctl set" takes.
Result<std::string> subsystemWord(const toml::node &node)
{
	if (const auto *flag = node.as_boolean())
		return std::string(flag->get() ? "on" : "off");
	if (const auto *number = node.as_integer())
		return std::to_string(number->get());
	return textOf(node);
}

void addSettings(Keys &keys, SubsystemSettings &to)
{
	for (const std::string &name : subsystemSettingNames())
		keys.add(name, [&to, name](const toml::node &node) -> Result<void> {
			Result<std::string> word = subsystemWord(node);
			if (!word)
				return word.error();
			Result<SubsystemSettings> one = parseSubsystemSettings(std::vector{name + "=" + *word});
			if (!one) // the message begins with the name, which the caller prepends too
				return invalidError(one.error().message.substr(name.size() + 2));
			to.complete(*one);
			return {};
		});
}

class Parser {
public:
	Parser(ConfigReading &reading, const std::string &file)
		: config_(reading.config), problems_(reading.problems), file_(file)
	{
	}

	void read(const toml::table &table);

private:
	using Entry = void (Parser::*)(const toml::table &);

	enum class Judgement { error, note };

	void checkTimes(const toml::table &table, const ConnectSettings &settings, Judgement judgement);
	void checkAddresses(const toml::table &table, const ConfigTarget &target);
	void checkFrom(const toml::table &table, const ConfigTarget &target);
	void noteName(const toml::table &table, const char *key, const std::string &interface);
	void noteNqn(const toml::table &table, const char *key);
	void noteSelector(const toml::node &node, const std::string &name);
	void notePattern(const toml::table &table, const std::string &pattern);
	Put table(void (Parser::*read)(const toml::table &));
	Put list(Entry entry);
	void host(const toml::table &table);
	void limits(const toml::table &table);
	void removal(const toml::table &table);
	void mdns(const toml::table &table);
	void service(const toml::table &table);
	void connection(const toml::table &table);
	void defaults(const toml::table &table);
	void security(const toml::table &table);
	void exclude(const toml::table &table);
	void stripe(const toml::table &table);
	void checkStripe(const toml::table &table, const ConfigStripe &one);
	void target(const toml::table &table, ConfigTarget &target, Keys &keys);
	void missing(const toml::table &table, const char *what) { wrong(table, std::string(what) + " is missing"); }
	void wrong(const toml::node &node, std::string what)
	{
		problems_.push_back({placeOf(node, file_), std::move(what)});
	}

	void note(const toml::node &node, const std::string &what)
	{
		config_.notes.push_back(placeOf(node, file_).toString() + ": " + what);
	}

	Config &config_;
	std::vector<ConfigProblem> &problems_;
	const std::string &file_;
};

void Parser::noteName(const toml::table &table, const char *key, const std::string &interface)
{
	if (!interface.empty() && !isInterfaceName(interface))
		note(*table.get(key),
		     std::string(key) + ": '" + interface + "' is not the name of a network interface");
}

// For a target this is an error: the kernel would refuse the connect. [[defaults]] may be combined with other values,
// so it is only a note there.
void Parser::checkTimes(const toml::table &table, const ConnectSettings &settings, Judgement judgement)
{
	if (!settings.ctrlLoss || !settings.fastIoFail || settings.ctrlLoss->count() < 0 ||
	    *settings.fastIoFail <= *settings.ctrlLoss)
		return;
	const toml::node &node = *table.get("fast-io-fail-tmo");
	const char *what = "fast-io-fail-tmo is longer than ctrl-loss-tmo";
	judgement == Judgement::error ? wrong(node, what) : note(node, what);
}

void Parser::checkAddresses(const toml::table &table, const ConfigTarget &target)
{
	const bool interface = !target.hostIface.empty() || !target.rail.empty() ||
			       target.hostTraddr.find('%') != target.hostTraddr.npos;
	std::set<std::string> seen;
	for (const std::string &text : target.addresses) {
		const toml::node &node = *table.get("address");
		if (!seen.insert(text).second)
			note(node, "address: '" + text + "' is named twice");
		if (isUnspecified(text))
			note(node, "address: '" + text + "' is the unspecified address: it refers to this host itself");
		if (needsInterface(text) && text.find('%') == text.npos && !interface)
			wrong(node, "address: '" + text + "' is link-local and needs an interface, as in fe80::1%eth0");
	}
}

// Checks the address families of host-traddr and address. Addresses of the other family are unusable: a note if there
// are others, an error if all are.
void Parser::checkFrom(const toml::table &table, const ConfigTarget &target)
{
	if (target.hostTraddr.empty())
		return;
	const toml::node &node = *table.get("host-traddr");
	if (isUnspecified(target.hostTraddr))
		note(node, "host-traddr: '" + target.hostTraddr +
				   "' is the unspecified address, so the kernel chooses the source address");
	else if (Result<void> good = checkAddress(target.hostTraddr); !good)
		note(node, "host-traddr: " + good.error().message);
	auto isIpv6 = [](std::string_view text) { return std::ranges::count(text, ':') > 1; };
	auto differs = [&](const std::string &text) {
		const bool numeric = isIpv6(text) || parseAddress(text).ok();
		return numeric && isIpv6(text) != isIpv6(target.hostTraddr);
	};
	const bool all = std::ranges::all_of(target.addresses, differs);
	for (const std::string &text : target.addresses) {
		if (!differs(text))
			continue;
		const std::string what = "host-traddr and address are of different families: '" + target.hostTraddr +
					 "' and '" + text + "'";
		all ? wrong(node, what) : note(node, what);
	}
}

// Only a note: some targets use such names.
void Parser::noteNqn(const toml::table &table, const char *key)
{
	const toml::node *node = table.get(key);
	const auto *text = node ? node->as_string() : nullptr;
	if (text && checkNqn(text->get()) && !conformingNqn(text->get()))
		note(*node, std::string(key) + ": '" + text->get() +
				    "' does not begin with 'nqn.', as the NVMe specification requires");
}

// Only a note: another module may provide the selector.
void Parser::noteSelector(const toml::node &node, const std::string &name)
{
	const std::optional<std::string> meant = closest(name, ownSelectors());
	note(node, "iopolicy: '" + name + "' is not a built-in path selector" +
			   (meant ? "; did you mean '" + *meant + "'? Otherwise a" : ": a") +
			   " module has to provide it");
}

void Parser::notePattern(const toml::table &table, const std::string &pattern)
{
	if (hasOpenBracket(pattern))
		note(*table.get("nqn"),
		     "nqn: the pattern '" + pattern + "' has a [ without a ]: it stands for the character [");
}

Put Parser::table(void (Parser::*read)(const toml::table &))
{
	return [this, read](const toml::node &node) -> Result<void> {
		const toml::table *table = node.as_table();
		if (!table)
			return invalidError("expected a table: [...]");
		(this->*read)(*table);
		return {};
	};
}

Put Parser::list(Entry entry)
{
	return [this, entry](const toml::node &node) -> Result<void> {
		const toml::array *array = node.as_array();
		if (!array)
			return invalidError("it is a list: write it as [[...]]");
		for (const toml::node &element : *array) {
			const toml::table *table = element.as_table();
			if (!table)
				return invalidError("it is a list of tables: write each as [[...]]");
			(this->*entry)(*table);
		}
		return {};
	};
}

void Parser::read(const toml::table &table)
{
	Keys keys;
	keys.add("host", this->table(&Parser::host))
		.add("limits", this->table(&Parser::limits))
		.add("removal", this->table(&Parser::removal))
		.add("mdns", this->table(&Parser::mdns))
		.add("discovery", list(&Parser::service))
		.add("connection", list(&Parser::connection))
		.add("defaults", list(&Parser::defaults))
		.add("security", list(&Parser::security))
		.add("exclude", list(&Parser::exclude))
		.add("stripe", list(&Parser::stripe));
	keys.read(table, file_, problems_);
}

void Parser::host(const toml::table &table)
{
	Keys keys;
	keys.add("nqn", nqnOf, into(config_.hostnqn)).add("id", uuidOf, into(config_.hostid));
	keys.read(table, file_, problems_);
	noteNqn(table, "nqn");
}

void Parser::limits(const toml::table &table)
{
	constexpr std::int64_t maxDepth = 16, maxReferrals = 1024, mostConnections = 16384, maxPaths = 1024;
	Keys keys;
	keys.add("referral-depth", limitOf(maxDepth), into(config_.limits.depth))
		.add("referrals", limitOf(maxReferrals), into(config_.limits.referrals))
		.add("connections-per-service", limitOf(mostConnections), into(config_.limits.connections))
		.add("paths-per-subsystem", limitOf(maxPaths), into(config_.limits.paths))
		.add("connections", limitOf(mostConnections), into(config_.mostConnections))
		.add("own-addresses", flagOf, into(config_.connectSelf));
	keys.read(table, file_, problems_);
}

void Parser::removal(const toml::table &table)
{
	Keys keys;
	keys.add(
		"policy",
		[](const toml::node &node) {
			return wordOf(node, {"never", "own", "all"});
		},
		[this](const std::string &word) {
			for (RemovalPolicy one : {RemovalPolicy::never, RemovalPolicy::own, RemovalPolicy::all})
				if (word == toString(one))
					config_.removal = one;
		});
	keys.add("open-disks", flagOf, into(config_.removeOpen));
	keys.read(table, file_, problems_);
}

void Parser::mdns(const toml::table &table)
{
	Keys keys;
	keys.add("enabled", flagOf, into(config_.mdns));
	keys.add("interfaces", [this](const toml::node &node) -> Result<void> {
		const toml::table *interfaces = node.as_table();
		if (!interfaces)
			return invalidError("expected a table: [mdns.interfaces]");
		for (const auto &[name, value] : *interfaces) {
			Result<bool> on = flagOf(value);
			if (!on)
				return invalidError(std::string(name.str()) + ": " + on.error().message);
			config_.mdnsInterfaces[std::string(name.str())] = *on;
			if (!isInterfaceName(name.str()))
				note(value, "interfaces: '" + shown(std::string(name.str())) +
						    "' is not the name of a network interface");
		}
		return {};
	});
	keys.read(table, file_, problems_);
}

// Reads the keys that services and connections share, and those already in @keys.
void Parser::target(const toml::table &table, ConfigTarget &target, Keys &keys)
{
	target.place = placeOf(table, file_);
	keys.add("transport", transportOf, into(target.transport))
		.add("address", addressesOf, into(target.addresses))
		.add("port", portOf, into(target.port))
		.add("nqn", nqnOf, into(target.nqn))
		.add("hostnqn", nqnOf, into(target.hostnqn))
		.add("hostid", uuidOf, into(target.hostid))
		.add("host-traddr", traddrOf, into(target.hostTraddr))
		.add("host-iface", textOf, into(target.hostIface));
	addSettings(keys, target.settings);
	keys.read(table, file_, problems_);
	checkTimes(table, target.settings, Judgement::error);
	checkAddresses(table, target);
	checkFrom(table, target);
	noteName(table, "host-iface", target.hostIface);
	for (const char *key : {"nqn", "hostnqn"})
		noteNqn(table, key);
	if (!table.contains("address"))
		missing(table, "address");
}

void Parser::service(const toml::table &table)
{
	ConfigTarget one;
	one.nqn = discoveryNqn;
	one.port = discoveryPort;
	Keys keys;
	keys.add("persistent", flagOf, into(one.persistent));
	target(table, one, keys);
	config_.services.push_back(std::move(one));
}

void Parser::connection(const toml::table &table)
{
	ConfigTarget one;
	one.port = defaultPort;
	Keys keys;
	keys.add("duplicate-connect", flagOf, into(one.duplicateConnect)).add("rail", textOf, into(one.rail));
	target(table, one, keys);
	if (!table.contains("nqn"))
		missing(table, "nqn");
	if (!one.rail.empty() && !one.hostIface.empty())
		wrong(table, "rail and host-iface exclude each other: both select the interface");
	if (!one.rail.empty() && one.rail != "all" && !isPciAddress(one.rail))
		note(*table.get("rail"),
		     "rail: '" + one.rail + "' is neither 'all' nor the PCI address of a GPU, such as 0000:07:00.0");
	config_.connections.push_back(std::move(one));
}

void Parser::defaults(const toml::table &table)
{
	ConfigDefaults one;
	one.place = placeOf(table, file_);
	Keys keys;
	keys.add("nqn", patternOf, into(one.pattern)).add("last", flagOf, into(one.last));
	addSettings(keys, one.connect);
	addSettings(keys, one.subsystem);
	keys.read(table, file_, problems_);
	checkTimes(table, one.connect, Judgement::note);
	if (one.connect.dhchapCtrlKey && !one.connect.dhchapKey)
		note(*table.get("dhchap-ctrl-key"),
		     "dhchap-ctrl-key needs dhchap-key, from another [[defaults]] or the "
		     "[[connection]]");
	if (table.contains("nqn"))
		notePattern(table, one.pattern);
	if (const auto &name = one.subsystem.iopolicy; name && !std::ranges::count(ownSelectors(), *name))
		noteSelector(*table.get("iopolicy"), *name);
	config_.defaults.push_back(std::move(one));
}

void Parser::security(const toml::table &table)
{
	ConfigSecurity one;
	one.rule.place = placeOf(table, file_).toString();
	auto put = [](std::optional<SecurityUse> &to) {
		return [&to](std::int64_t use) { to = static_cast<SecurityUse>(use); };
	};
	Keys keys;
	keys.add("nqn", patternOf, into(one.pattern))
		.add("auth", securityUseOf, put(one.rule.auth))
		.add("tls", securityUseOf, put(one.rule.tls));
	keys.read(table, file_, problems_);
	notePattern(table, one.pattern);
	if (!table.contains("nqn")) // a rule for all by mistake would be hard to notice
		missing(table, "nqn");
	if (!table.contains("auth") && !table.contains("tls"))
		wrong(table, "the rule is empty: it needs auth or tls");
	config_.securities.push_back(std::move(one));
}

void Parser::exclude(const toml::table &table)
{
	Exclusion one;
	one.place = placeOf(table, file_).toString();
	Keys keys;
	keys.add("transport", transportOf, into(one.transport))
		.add("address", traddrOf, into(one.traddr))
		.add("port", portOf, into(one.trsvcid))
		.add("nqn", patternOf, into(one.nqn))
		.add("host-traddr", traddrOf, into(one.hostTraddr))
		.add("host-iface", textOf, into(one.hostIface));
	keys.read(table, file_, problems_);
	noteName(table, "host-iface", one.hostIface);
	notePattern(table, one.nqn);
	if (table.empty())
		wrong(table, "the exclusion is empty: it needs at least one key, such as nqn or address");
	config_.exclusions.push_back(std::move(one));
}

// Two stripes must not have the same name or share a member.
void Parser::checkStripe(const toml::table &table, const ConfigStripe &one)
{
	constexpr std::size_t min = 2, max = 256;
	for (const char *key : {"name", "members"})
		if (!table.contains(key))
			missing(table, key);
	if (!one.members.empty() && (one.members.size() < min || one.members.size() > max))
		wrong(table, "members: a stripe has 2 to 256 members");
	std::set<std::string> seen;
	for (const ConfigStripe &other : config_.stripes) {
		seen.insert(other.members.begin(), other.members.end());
		if (other.name == one.name && !one.name.empty())
			wrong(table, "the stripe '" + one.name + "' is already defined at " + other.place.toString());
	}
	for (const std::string &member : one.members) {
		if (!seen.insert(member).second)
			wrong(table, "members: " + member + " is named twice");
		if (!isWwid(member))
			note(*table.get("members"), "members: '" + member +
							    "' is not the wwid of a namespace; 'nvmeofctl show "
							    "NAMESPACE' and /sys/block/NAME/wwid show it");
	}
}

void Parser::stripe(const toml::table &table)
{
	ConfigStripe one;
	one.place = placeOf(table, file_);
	Keys keys;
	keys.add("name", stripeNameOf, into(one.name))
		.add("chunk-kib", chunkOf,
		     [&](std::int64_t kib) { one.chunk = static_cast<std::uint64_t>(kib) * 1024; })
		.add("members", textsOf, into(one.members));
	keys.read(table, file_, problems_);
	checkStripe(table, one);
	config_.stripes.push_back(std::move(one));
}

} // namespace

void parseConfig(ConfigReading &reading, std::string_view text, const std::string &file)
{
	if (auto table = parseToml(text, file, reading.problems))
		Parser(reading, file).read(*table);
	tidyProblems(reading.problems);
}

} // namespace nofctl
