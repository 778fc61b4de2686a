// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: notifications of the kernel, each with its command and length, as "monitor" prints them and a connect tracks
// them.
#include "shown.h"

#include <optional>

#include "libctl/netlink/decode.h"
#include "libctl/netlink/object_cache.h"
#include "libctl/netlink/tracker.h"
#include "monitor.h"

using namespace nvmeof;
using nofctl::ConnectionTracker;

namespace {

class Listener {
public:
	void take(const Event &event)
	{
		const std::optional<AnaBefore> before = cache_.apply(event);
		expectPlainLine(monitorLine(event, before, false));
		const std::string line = monitorLine(event, before, true);
		expect(!Json::parse(line, nullptr, false).is_discarded(), "a document can be read");
		expectJson(toJson(event));
		wait(event);
	}

private:
	void wait(const Event &event);

	nofctl::ObjectCache cache_;
	std::optional<ConnectionTracker> connect_; // tracks the first controller in the input
};

void Listener::wait(const Event &event)
{
	const Controller *controller = event.controller();
	if (!connect_ && controller)
		connect_.emplace(*controller);
	if (!connect_)
		return;
	const ConnectionTracker::State before = connect_->state();
	connect_->onEvent(event);
	expect(before != ConnectionTracker::State::failed || connect_->state() == before,
	       "a failed connect stays failed");
	expect(!connect_->failure().message.empty(), "a failure has a reason");
	expect(!connect_->timeout(std::chrono::seconds(1)).message.empty(), "so has giving up");
	if (connect_->state() == ConnectionTracker::State::live)
		expect(connect_->controller().state == ControllerState::live, "live is what the kernel called so");
}

void checkEvent(std::uint8_t command, const Event &event)
{
	expect(command >= NVMEOF_CMD_SUBSYS_NTF && command <= NVMEOF_CMD_AEN_NTF, "only notifications are events");
	expect(!event.name().empty(), "an event is about something that has a name");
	expect(event.failover.has_value() == (event.type == EventType::failover), "only a failover has failover data");
}

} // namespace

void fuzz(Input in)
{
	Listener listener;
	while (!in.empty()) {
		const auto command = in.take<std::uint8_t>();
		const Bytes message = in.cut(in.take<std::uint16_t>());
		const Result<nofctl::Attributes> attributes = nofctl::Attributes::parse(std::as_bytes(message));
		if (!attributes)
			continue;
		const Result<std::optional<Event>> event = nofctl::decodeEvent(command, *attributes);
		if (!event || !*event)
			continue;
		checkEvent(command, **event);
		listener.take(**event);
	}
}
