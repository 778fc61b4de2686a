// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolver.h"

#include <syslog.h>

#include <fmt/format.h>

#include "libctl/runtime/journal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace nvmeofd {

using namespace runtime;

namespace {

constexpr std::chrono::milliseconds refreshEvery = 10min;

std::string keyOf(const ConfigTarget &target, const std::string &text)
{
	return fmt::format("{} {}", text, target.port);
}

} // namespace

Resolver::Resolver(Loop &loop, Client &client, KnownAddresses known, std::function<void()> changed)
	: client_(client), changed_(std::move(changed)), known_(std::move(known)), backoff_(1s, 5min),
	  again_(loop, [this] { refresh(); })
{
}

void Resolver::follow(const std::vector<ConfigTarget> &targets)
{
	std::map<std::string, Name> names;
	for (const ConfigTarget &target : targets)
		for (const std::string &text : target.addresses)
			if (!parseAddress(text, target.port))
				names[keyOf(target, text)] = Name{text, target.port};
	std::erase_if(known_, [&](const auto &one) { return !names.contains(one.first); });
	std::erase_if(asked_, [&](const auto &one) { return !names.contains(one.first); });
	std::erase_if(failures_, [&](const auto &one) { return !names.contains(one.first); });
	names_ = std::move(names);
	refresh();
}

void Resolver::refresh()
{
	for (const auto &[key, name] : names_)
		ask(key, name);
	if (!names_.empty())
		again_.start(nofctl::jittered(refreshEvery));
}

void Resolver::ask(const std::string &key, const Name &name)
{
	if (asked_.contains(key))
		return;
	Asked &asked = asked_[key] = client_.startResolve(name.text, name.port);
	asked.then([this, key] { answered(key); });
}

// @key: a copy, as the caller's is destroyed with the request
void Resolver::answered(std::string key)
{
	Result<std::vector<Address>> found = asked_.at(key).take();
	asked_.erase(key);
	if (!found) {
		if (failures_.emplace(key, found.error().message).second)
			say(LOG_WARNING, found.error().message, {.address = key});
		again_.start(backoff_.next());
		return;
	}
	failures_.erase(key);
	if (failures_.empty())
		backoff_.reset();
	std::vector<Address> &had = known_[key];
	if (had == *found)
		return;
	had = *std::move(found);
	changed_();
}

std::vector<Address> Resolver::of(const ConfigTarget &target, const std::string &text) const
{
	if (Result<Address> address = parseAddress(text, target.port))
		return {*address};
	auto found = known_.find(keyOf(target, text));
	return found == known_.end() ? std::vector<Address>() : found->second;
}

} // namespace nvmeofd
