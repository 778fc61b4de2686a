// SPDX-License-Identifier: LGPL-2.1-or-later
#include "admission.h"

#include <algorithm>

namespace cdc {

namespace {

constexpr unsigned preferredPerOther = 8; // hosts whose first choice is this instance, per host of another instance

} // namespace

void Admission::enqueue(Line &line, const std::string &host, std::uint64_t connection)
{
	auto found = line.byName.find(host);
	if (found == line.byName.end()) {
		line.hosts.push_back({host, {}});
		found = line.byName.emplace(host, std::prev(line.hosts.end())).first;
	}
	found->second->connections.push_back(connection);
}

// Takes one connection of the first host; the host then moves to the end of the line if it has more.
std::optional<std::uint64_t> Admission::take(Line &line)
{
	if (line.hosts.empty())
		return {};
	auto host = line.hosts.begin();
	const std::uint64_t connection = host->connections.front();
	host->connections.pop_front();
	if (host->connections.empty()) {
		line.byName.erase(host->name);
		line.hosts.erase(host);
	} else {
		line.hosts.splice(line.hosts.end(), line.hosts, host);
	}
	waiters_.erase(connection);
	return connection;
}

// Removes the latest connection among hosts whose first choice is another instance
bool Admission::displace()
{
	if (others_.hosts.empty())
		return false;
	const std::uint64_t connection = others_.hosts.back().connections.back();
	drop(connection, waiters_.at(connection));
	waiters_.erase(connection);
	displaced_.push_back(connection);
	return true;
}

Admission::Verdict Admission::ask(std::uint64_t connection, const std::string &host, bool firstChoice)
{
	if (waiters_.empty() && active_.size() < limits_.active) {
		active_.insert(connection);
		return Verdict::now;
	}
	if (waiters_.size() >= limits_.waiting && !(firstChoice && displace()))
		return Verdict::busy;
	enqueue(line(firstChoice), host, connection);
	waiters_.emplace(connection, Waiter{firstChoice, host});
	return Verdict::later;
}

std::optional<std::uint64_t> Admission::next()
{
	if (active_.size() >= limits_.active || waiters_.empty())
		return {};
	const bool others = preferred_.hosts.empty() || (!others_.hosts.empty() && served_ >= preferredPerOther);
	served_ = others ? 0 : served_ + 1;
	auto connection = take(line(!others));
	if (connection)
		active_.insert(*connection);
	return connection;
}

void Admission::drop(std::uint64_t connection, const Waiter &place)
{
	Line &its = line(place.firstChoice);
	auto host = its.byName.at(place.host);
	std::erase(host->connections, connection);
	if (host->connections.empty()) {
		its.byName.erase(place.host);
		its.hosts.erase(host);
	}
}

bool Admission::leave(std::uint64_t connection)
{
	if (auto waits = waiters_.find(connection); waits != waiters_.end()) {
		drop(connection, waits->second);
		waiters_.erase(waits);
		return false;
	}
	return active_.erase(connection) > 0;
}

std::vector<std::uint64_t> Admission::displaced()
{
	return std::exchange(displaced_, {});
}

} // namespace cdc
