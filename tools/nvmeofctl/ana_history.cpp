// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ana_history.h"

using namespace nvmeof;

// An event from before the first reading tells of a state that is over.
bool AnaHistory::Seen::before(const Path &path) const
{
	return state != path.anaState && since && path.anaSince && *since < *path.anaSince;
}

void AnaHistory::learn(const Path &path)
{
	last_[path.name] = {path.anaState, path.anaSince};
}

std::optional<AnaBefore> AnaHistory::update(const Event &event)
{
	const Path *path = event.path();
	if (!path)
		return std::nullopt;
	auto known = last_.find(path->name);
	std::optional<AnaBefore> before;
	if (known != last_.end() && known->second.before(*path))
		before = AnaBefore{known->second.state, *path->anaSince - *known->second.since};
	if (event.type == EventType::removed)
		last_.erase(path->name);
	else
		learn(*path);
	return before;
}
