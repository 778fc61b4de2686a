// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/settings.h>

#include <charconv>
#include <set>
#include <string_view>

#include <linux/nvmeof.h>

#include <nvmeof/duration.h>

#include "libctl/base/make_error.h"
#include "libctl/base/text.h"
#include "libctl/keys/source.h"

namespace nvmeof {

namespace {

using nofctl::invalidError;

template <typename S> struct Key {
	const char *name;
	Result<void> (*put)(S &settings, const std::string &value);
};

Result<std::uint32_t> parseNumber(const std::string &text, std::uint32_t max, const char *unit)
{
	std::uint32_t value = 0;
	const char *end = text.data() + text.size();
	auto [stop, error] = std::from_chars(text.data(), end, value);
	if (error != std::errc() || stop != end || value > max)
		return invalidError("'" + text + "' is not a number of " + unit + " from 0 to " + std::to_string(max));
	return value;
}

template <typename T>
Result<void> putNumber(std::optional<T> &to, const std::string &value, std::uint32_t max, const char *unit)
{
	Result<std::uint32_t> number = parseNumber(value, max, unit);
	if (!number)
		return number.error();
	to = T(*number);
	return {};
}

Result<void> putTime(std::optional<std::chrono::milliseconds> &to, const std::string &value, Never never)
{
	Result<std::chrono::milliseconds> time = parseSeconds(value, never);
	if (!time)
		return time.error();
	to = *time;
	return {};
}

// @no stands for 0, @yes for 1.
template <typename T>
Result<void> putWord(std::optional<T> &to, const std::string &value, std::string_view no, std::string_view yes)
{
	if (value != no && value != yes)
		return invalidError("'" + value + "' is neither " + std::string(no) + " nor " + std::string(yes));
	to = T(value == yes);
	return {};
}

Result<void> putFencing(std::optional<Fencing> &to, const std::string &value)
{
	for (Fencing fencing : {Fencing::immediate, Fencing::safe, Fencing::automatic}) {
		if (value != toString(fencing))
			continue;
		to = fencing;
		return {};
	}
	return invalidError("'" + value + "' is not one of immediate, safe, auto");
}

Result<void> putName(std::optional<std::string> &to, const std::string &value)
{
	if (value.empty())
		return invalidError("the name of a path selector is missing");
	if (value.size() > NVMEOF_POLICY_MAX)
		return invalidError("'" + value + "' is too long for the name of a path selector");
	if (!nofctl::isPlain(value))
		return invalidError("blanks or control characters in the name of a path selector");
	to = value;
	return {};
}

Result<void> putKeySource(std::optional<std::string> &to, const std::string &value)
{
	if (Result<nofctl::KeySource> source = nofctl::KeySource::parse(value); !source)
		return source.error();
	to = value;
	return {};
}

const Key<SubsystemSettings> subsystemKeys[] = {
	{"iopolicy", [](auto &settings, auto &value) { return putName(settings.iopolicy, value); }},
	{"spill-us",
	 [](auto &settings, auto &value) {
		 return putNumber(settings.spillLatency, value, NVMEOF_SPILL_US_MAX, "microseconds");
	 }},
	{"spill-depth",
	 [](auto &settings, auto &value) {
		 return putNumber(settings.spillDepth, value, NVMEOF_SPILL_DEPTH_MAX, "commands");
	 }},
	{"degrade", [](auto &settings, auto &value) { return putWord(settings.degrade, value, "off", "on"); }},
	{"fencing", [](auto &settings, auto &value) { return putFencing(settings.fencing, value); }},
	{"delayed-removal-secs",
	 [](auto &settings, auto &value) {
		 return putNumber(settings.delayedRemoval, value, NVMEOF_DELAYED_REMOVAL_MAX, "seconds");
	 }},
	{"quiesce-tmo",
	 [](auto &settings, auto &value) {
		 return putNumber(settings.quiesceTimeout, value, NVMEOF_QUIESCE_TMO_MAX, "seconds");
	 }},
};

const Key<ControllerSettings> controllerKeys[] = {
	{"reconnect-delay",
	 [](auto &settings, auto &value) { return putTime(settings.reconnectDelay, value, Never::refused); }},
	{"ctrl-loss-tmo",
	 [](auto &settings, auto &value) { return putTime(settings.ctrlLoss, value, Never::allowed); }},
	{"fast-io-fail-tmo",
	 [](auto &settings, auto &value) { return putTime(settings.fastIoFail, value, Never::allowed); }},
	{"stall-tmo",
	 [](auto &settings, auto &value) { return putTime(settings.stallTimeout, value, Never::refused); }},
	{"dhchap-key", [](auto &settings, auto &value) { return putKeySource(settings.dhchapKey, value); }},
	{"dhchap-ctrl-key", [](auto &settings, auto &value) { return putKeySource(settings.dhchapCtrlKey, value); }},
	{"tls-key", [](auto &settings, auto &value) { return putKeySource(settings.tlsKey, value); }},
};

template <typename S> using Keys = std::span<const Key<S>>;

template <typename S> std::string namesOf(Keys<S> keys)
{
	std::string names;
	for (const Key<S> &key : keys)
		names += (names.empty() ? "" : ", ") + std::string(key.name);
	return names;
}

template <typename S> const Key<S> *findKey(Keys<S> keys, const std::string &name)
{
	for (const Key<S> &key : keys)
		if (key.name == name)
			return &key;
	return nullptr;
}

template <typename S> Result<S> parseWords(std::span<const std::string> words, Keys<S> keys, const char *owner)
{
	S settings;
	std::set<std::string> seen;
	auto known = [&] { return std::string("; a ") + owner + " has: " + namesOf(keys); };
	for (const std::string &word : words) {
		std::size_t equals = word.find('=');
		if (nofctl::containsSecret(word.substr(0, equals))) // it has no name; messages below repeat the word
			return nofctl::secretError();
		if (equals == word.npos)
			return invalidError("'" + word + "' is not NAME=VALUE" + known());
		std::string name = word.substr(0, equals);
		const Key<S> *key = findKey(keys, name);
		if (!key)
			return invalidError("there is no setting '" + name + "'" + known());
		if (!seen.insert(name).second)
			return invalidError(name + " is given twice");
		if (Result<void> done = key->put(settings, word.substr(equals + 1)); !done)
			return invalidError(name + ": " + done.error().message);
	}
	return settings;
}

} // namespace

SubsystemSettings defaultSettings()
{
	const Subsystem fresh;
	return {.iopolicy = NVMEOF_DEF_IOPOLICY,
		.spillLatency = fresh.spillLatency,
		.spillDepth = fresh.spillDepth,
		.degrade = fresh.degrade,
		.fencing = fresh.fencing,
		.delayedRemoval = fresh.delayedRemoval,
		.quiesceTimeout = fresh.quiesceTimeout};
}

Result<ControllerSettings> parseControllerSettings(std::span<const std::string> words)
{
	return parseWords<ControllerSettings>(words, controllerKeys, "controller");
}

Result<SubsystemSettings> parseSubsystemSettings(std::span<const std::string> words)
{
	return parseWords<SubsystemSettings>(words, subsystemKeys, "subsystem");
}

void SubsystemSettings::complete(const SubsystemSettings &other)
{
	auto fill = [](auto &to, const auto &from) {
		if (!to)
			to = from;
	};
	fill(iopolicy, other.iopolicy);
	fill(spillLatency, other.spillLatency);
	fill(spillDepth, other.spillDepth);
	fill(degrade, other.degrade);
	fill(fencing, other.fencing);
	fill(delayedRemoval, other.delayedRemoval);
	fill(quiesceTimeout, other.quiesceTimeout);
}

std::vector<std::string> subsystemSettingNames()
{
	std::vector<std::string> names;
	for (const auto &key : subsystemKeys)
		names.emplace_back(key.name);
	return names;
}

std::vector<std::string> wordsOf(const SubsystemSettings &settings)
{
	std::vector<std::string> words;
	if (settings.iopolicy)
		words.push_back("iopolicy=" + *settings.iopolicy);
	if (settings.spillLatency)
		words.push_back("spill-us=" + std::to_string(settings.spillLatency->count()));
	if (settings.spillDepth)
		words.push_back("spill-depth=" + std::to_string(*settings.spillDepth));
	if (settings.degrade)
		words.push_back(std::string("degrade=") + (*settings.degrade ? "on" : "off"));
	if (settings.fencing)
		words.push_back(std::string("fencing=") + toString(*settings.fencing));
	if (settings.delayedRemoval)
		words.push_back("delayed-removal-secs=" + std::to_string(settings.delayedRemoval->count()));
	if (settings.quiesceTimeout)
		words.push_back("quiesce-tmo=" + std::to_string(settings.quiesceTimeout->count()));
	return words;
}

} // namespace nvmeof
