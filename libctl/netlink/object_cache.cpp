// SPDX-License-Identifier: LGPL-2.1-or-later
#include "object_cache.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace nofctl {

using namespace nvmeof;

namespace {

std::vector<Subsystem> &listOf(Snapshot &all, const Subsystem &)
{
	return all.subsystems;
}

std::vector<Controller> &listOf(Snapshot &all, const Controller &)
{
	return all.controllers;
}

std::vector<Namespace> &listOf(Snapshot &all, const Namespace &)
{
	return all.namespaces;
}

std::vector<Path> &listOf(Snapshot &all, const Path &)
{
	return all.paths;
}

// Calls @action with the event's object and the list it belongs to.
template <typename F> void withList(Snapshot &all, const Event &event, F action)
{
	if (const Subsystem *s = event.subsystem())
		action(listOf(all, *s), *s);
	else if (const Controller *c = event.controller())
		action(listOf(all, *c), *c);
	else if (const Namespace *n = event.nameSpace())
		action(listOf(all, *n), *n);
	else if (const Path *p = event.path())
		action(listOf(all, *p), *p);
}

template <typename T> std::map<std::string_view, T *> byName(std::vector<T> &objects)
{
	std::map<std::string_view, T *> all;
	for (T &object : objects)
		all[object.name] = &object;
	return all;
}

void keepAna(Path &path, const Path &old)
{
	path.anaState = old.anaState;
	path.anaGroup = old.anaGroup;
	path.anaSince = old.anaSince;
}

// Copies the members that a path inherits from its controller.
template <typename T> void takeFailures(Path &path, const T &from)
{
	path.reconnects = from.reconnects;
	path.lastError = from.lastError;
	path.lastErrno = from.lastErrno;
	path.lastStatus = from.lastStatus;
}

void keepStates(Path &path, const Path &old)
{
	path.controllerState = old.controllerState;
	path.usable = old.usable;
	path.degraded = old.degraded;
	path.suspect = old.suspect;
	path.probation = old.probation;
	takeFailures(path, old);
}

} // namespace

// An event older than the list describes a past state.
std::optional<AnaBefore> ObjectCache::before(const Event &event) const
{
	const Path *path = event.path();
	if (!path || !path->anaSince)
		return std::nullopt;
	auto was = std::ranges::find(now_.paths, path->name, &Path::name);
	if (was == now_.paths.end() || was->anaState == path->anaState || !was->anaSince ||
	    *was->anaSince >= *path->anaSince)
		return std::nullopt;
	return AnaBefore{was->anaState, *path->anaSince - *was->anaSince};
}

std::optional<AnaBefore> ObjectCache::apply(const Event &event)
{
	std::optional<AnaBefore> was = before(event);
	told_.insert(event.name());
	switch (event.type) {
	case EventType::lost:
		next_ = Snapshot();
		synced_ = false;
		break;
	case EventType::present:
		withList(next_, event, [](auto &list, const auto &object) { list.push_back(object); });
		break;
	case EventType::synced:
		now_ = std::exchange(next_, Snapshot());
		now_.time = event.time;
		synced_ = true;
		break;
	default:
		put(event);
	}
	return was;
}

// Events may still arrive for removed objects: a finished scan, a failover. They must not add the object again.
void ObjectCache::put(const Event &event)
{
	withList(now_, event, [&](auto &list, const auto &object) {
		using Object = std::remove_cvref_t<decltype(object)>;
		auto known = std::ranges::find(list, object.name, &Object::name);
		if (event.type == EventType::removed) {
			if (known != list.end())
				list.erase(known);
		} else if (known != list.end()) {
			*known = object;
		} else if (event.type == EventType::added) {
			list.push_back(object);
		}
	});
	if (const Controller *controller = event.controller())
		pass(*controller);
}

// Updates the controller's paths, which get no events of their own for this.
void ObjectCache::pass(const Controller &controller)
{
	for (Path &path : now_.paths) {
		if (path.controller != controller.name)
			continue;
		path.controllerState = controller.state;
		path.usable &= controller.state == ControllerState::live;
		takeFailures(path, controller);
	}
}

void ObjectCache::take(const std::vector<Namespace> &sampled)
{
	auto known = byName(now_.namespaces);
	for (const Namespace &now : sampled) {
		auto found = known.find(now.name);
		if (found == known.end())
			continue;
		Namespace &ns = *found->second;
		if (told(now.name)) {
			ns.waiting = now.waiting;
			ns.held = now.held;
			ns.hold = now.hold;
			ns.openers = now.openers;
		} else {
			ns = now;
		}
	}
}

// ANA states are only taken from events, so that each change and its duration are reported.
void ObjectCache::take(const std::vector<Path> &sampled)
{
	auto known = byName(now_.paths);
	for (const Path &now : sampled) {
		auto found = known.find(now.name);
		if (found == known.end())
			continue;
		Path path = now;
		keepAna(path, *found->second);
		if (told(now.name) || told(now.controller))
			keepStates(path, *found->second);
		*found->second = std::move(path);
	}
	now_.time = bootTime();
}

void ObjectCache::count()
{
	std::map<std::uint32_t, Subsystem *> subsystems;
	auto controllers = byName(now_.controllers);
	auto namespaces = byName(now_.namespaces);
	for (Subsystem &s : now_.subsystems) {
		s.controllers = s.namespaces = 0;
		subsystems[s.id] = &s;
	}
	for (Controller &c : now_.controllers) {
		c.paths = 0;
		if (auto owner = subsystems.find(c.subsystem); owner != subsystems.end())
			owner->second->controllers++;
	}
	for (Namespace &n : now_.namespaces) {
		n.paths = n.usablePaths = n.livePaths = 0;
		if (auto owner = subsystems.find(n.subsystem); owner != subsystems.end())
			owner->second->namespaces++;
	}
	for (const Path &p : now_.paths) {
		if (auto c = controllers.find(p.controller); c != controllers.end())
			c->second->paths++;
		auto n = namespaces.find(p.nameSpace);
		if (n == namespaces.end())
			continue;
		n->second->paths++;
		n->second->usablePaths += p.usable;
		n->second->livePaths += p.controllerState == ControllerState::live;
	}
}

} // namespace nofctl
