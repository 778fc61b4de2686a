// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/snapshot.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <nvmeof/event.h>
#include <nvmeof/name.h>

#include "session.h"

namespace nvmeof {

namespace {

template <typename T> std::optional<Error> take(Result<std::vector<T>> from, std::vector<T> &to)
{
	if (!from)
		return from.error();
	to = *std::move(from);
	return std::nullopt;
}

template <typename T> const T *findNamed(const std::vector<T> &objects, std::string_view name)
{
	auto found = std::ranges::find(objects, name, &T::name);
	return found == objects.end() ? nullptr : &*found;
}

// Names of the objects that narrow() keeps: the requested object, and those connected to it through paths.
struct Kept {
	std::set<std::uint32_t> subsystems;
	std::set<std::string> controllers, namespaces, paths;
};

Kept keepSubsystem(const Snapshot &all, std::uint32_t id)
{
	Kept kept{{id}, {}, {}, {}};
	for (const Controller &c : all.controllers)
		if (c.subsystem == id)
			kept.controllers.insert(c.name);
	for (const Namespace &n : all.namespaces)
		if (n.subsystem == id)
			kept.namespaces.insert(n.name);
	for (const Path &p : all.paths)
		if (kept.controllers.contains(p.controller))
			kept.paths.insert(p.name);
	return kept;
}

// @subsystem: nothing if unknown.
Kept keepPaths(const Snapshot &all, std::optional<std::uint32_t> subsystem, auto wanted)
{
	Kept kept;
	if (subsystem)
		kept.subsystems.insert(*subsystem);
	for (const Path &p : all.paths) {
		if (!wanted(p))
			continue;
		kept.paths.insert(p.name);
		kept.controllers.insert(p.controller);
		kept.namespaces.insert(p.nameSpace);
	}
	return kept;
}

std::optional<Kept> whatBelongsTo(const Snapshot &all, std::string_view name)
{
	if (const Subsystem *s = findNamed(all.subsystems, name))
		return keepSubsystem(all, s->id);
	if (const Controller *c = findNamed(all.controllers, name)) {
		Kept kept = keepPaths(all, c->subsystem, [&](const Path &p) { return p.controller == c->name; });
		kept.controllers.insert(c->name);
		return kept;
	}
	if (const Namespace *n = findNamed(all.namespaces, name)) {
		Kept kept = keepPaths(all, n->subsystem, [&](const Path &p) { return p.nameSpace == n->name; });
		kept.namespaces.insert(n->name);
		return kept;
	}
	if (const Path *p = findNamed(all.paths, name)) {
		const Controller *c = all.controller(p->controller); // null: removed meanwhile
		return keepPaths(all, c ? std::optional(c->subsystem) : std::nullopt,
				 [&](const Path &other) { return other.name == p->name; });
	}
	return std::nullopt;
}

} // namespace

const Controller *Snapshot::controller(std::string_view name) const
{
	return findNamed(controllers, name);
}

const Namespace *Snapshot::nameSpace(std::string_view name) const
{
	return findNamed(namespaces, name);
}

const Subsystem *Snapshot::subsystem(std::uint32_t id) const
{
	auto found = std::ranges::find(subsystems, id, &Subsystem::id);
	return found == subsystems.end() ? nullptr : &*found;
}

std::vector<const Path *> Snapshot::pathsOf(const Namespace &ns) const
{
	std::vector<const Path *> found;
	for (const Path &path : paths)
		if (path.nameSpace == ns.name)
			found.push_back(&path);
	return found;
}

Result<Snapshot> readSnapshot()
{
	Result<nofctl::Session> session = nofctl::Session::open();
	if (!session)
		return session.error();
	Snapshot all;
	if (auto error = take(session->subsystems(), all.subsystems))
		return *error;
	if (auto error = take(session->controllers({}), all.controllers))
		return *error;
	if (auto error = take(session->namespaces({}), all.namespaces))
		return *error;
	if (auto error = take(session->paths({}), all.paths))
		return *error;
	all.time = bootTime(); // time of the counters, which are read last
	return all;
}

bool narrow(Snapshot &snapshot, std::string_view name)
{
	if (name.empty())
		return true;
	std::optional<Kept> kept = whatBelongsTo(snapshot, plainName(name));
	if (!kept)
		return false;
	std::erase_if(snapshot.subsystems, [&](const Subsystem &s) { return !kept->subsystems.contains(s.id); });
	std::erase_if(snapshot.controllers, [&](const Controller &c) { return !kept->controllers.contains(c.name); });
	std::erase_if(snapshot.namespaces, [&](const Namespace &n) { return !kept->namespaces.contains(n.name); });
	std::erase_if(snapshot.paths, [&](const Path &p) { return !kept->paths.contains(p.name); });
	return true;
}

} // namespace nvmeof
