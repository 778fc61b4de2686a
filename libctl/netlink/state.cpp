// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of enumerators that come from the kernel. A newer module may send other values.
#include <nvmeof/event.h>

namespace nvmeof {

const char *toString(ControllerState state)
{
	switch (state) {
	case ControllerState::created:
		return "new";
	case ControllerState::connecting:
		return "connecting";
	case ControllerState::live:
		return "live";
	case ControllerState::recovering:
		return "recovering";
	case ControllerState::deleting:
		return "deleting";
	case ControllerState::dead:
		return "dead";
	case ControllerState::lost:
		return "lost";
	}
	return "unknown";
}

const char *toString(AnaState state)
{
	switch (state) {
	case AnaState::none:
		return "none";
	case AnaState::optimized:
		return "optimized";
	case AnaState::nonOptimized:
		return "non-optimized";
	case AnaState::inaccessible:
		return "inaccessible";
	case AnaState::persistentLoss:
		return "persistent-loss";
	case AnaState::change:
		return "change";
	}
	return "unknown";
}

const char *toString(Fencing fencing)
{
	switch (fencing) {
	case Fencing::immediate:
		return "immediate";
	case Fencing::safe:
		return "safe";
	case Fencing::automatic:
		return "auto";
	}
	return "unknown";
}

const char *toString(EventType type)
{
	switch (type) {
	case EventType::added:
		return "added";
	case EventType::removed:
		return "removed";
	case EventType::changed:
		return "changed";
	case EventType::state:
		return "state";
	case EventType::connectFailed:
		return "connect_failed";
	case EventType::refused:
		return "refused";
	case EventType::aen:
		return "aen";
	case EventType::failover:
		return "failover";
	case EventType::degraded:
		return "degraded";
	case EventType::restored:
		return "restored";
	case EventType::scanned:
		return "scanned";
	case EventType::noPath:
		return "no_path";
	case EventType::pathBack:
		return "path_back";
	case EventType::fewerPaths:
		return "fewer_paths";
	case EventType::allPaths:
		return "all_paths";
	case EventType::sameIds:
		return "same_ids";
	case EventType::lost:
		return "lost";
	case EventType::present:
		return "present";
	case EventType::synced:
		return "synced";
	}
	return "unknown";
}

namespace {

const std::string noName;

struct NameOf {
	const std::string &operator()(const std::monostate &) const { return noName; }
	const std::string &operator()(const Aen &aen) const { return aen.controller; }
	template <typename T> const std::string &operator()(const T &object) const { return object.name; }
};

} // namespace

const std::string &Event::name() const
{
	return std::visit(NameOf{}, object);
}

} // namespace nvmeof
