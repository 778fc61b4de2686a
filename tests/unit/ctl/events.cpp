// SPDX-License-Identifier: LGPL-2.1-or-later
// The stream of events, with a kernel that drops some of them.
#include <catch2/catch.hpp>

#include <poll.h>

#include <nvmeof/event_stream.h>

#include "kernel.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

std::string told(EventStream &stream)
{
	std::string all;
	for (;;) {
		auto event = stream.next(0ms);
		if (!event)
			return all + "!";
		if (!*event)
			return all;
		all += std::string(all.empty() ? "" : " ") + toString((*event)->type) + ":" + (*event)->name();
	}
}

bool readable(const EventStream &stream)
{
	pollfd poll{stream.fd(), POLLIN, 0};
	return ::poll(&poll, 1, 0) == 1;
}

struct EventKernel {
	FakeKernel kernel;

	EventKernel()
	{
		kernel.subsystems["nvmeof0"] = subsystemOf("nvmeof0");
		kernel.controllers["nvmeof0c1"] = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
		kernel.namespaces["nvmeof0n1"] = namespaceOf("nvmeof0n1", 1);
		kernel.paths["nvmeof0c1n1"] = pathOf("nvmeof0c1n1", "nvmeof0c1", "nvmeof0n1", 1);
	}
	void event(nvmeof_event type)
	{
		kernel.event(NVMEOF_CMD_CTRL_NTF, type, *controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE));
	}
};

const std::string snapshot = "present:nvmeof0 present:nvmeof0c1 present:nvmeof0n1 present:nvmeof0c1n1 synced:";

} // namespace

TEST_CASE("events arrive in order", "[events]")
{
	EventKernel full;
	auto stream = EventStream::subscribe();
	REQUIRE(stream);
	CHECK_FALSE(readable(*stream));
	CHECK(told(*stream).empty());
	full.event(NVMEOF_EVENT_ADDED);
	full.event(NVMEOF_EVENT_SCANNED);
	CHECK(readable(*stream));
	CHECK(told(*stream) == "added:nvmeof0c1 scanned:nvmeof0c1");
	CHECK_FALSE(readable(*stream));
}

TEST_CASE("after lost events the stream has all present objects and the end of their list", "[events]")
{
	EventKernel full;
	auto stream = EventStream::subscribe();
	REQUIRE(stream);
	full.event(NVMEOF_EVENT_ADDED);
	full.kernel.tell(GENERATE(false, true) ? Arrival(ENOBUFS) : Arrival(netlinkMessage(NLMSG_OVERRUN, 0, 0, {})));
	full.event(NVMEOF_EVENT_STATE); // older than the list, and dropped
	CHECK(told(*stream) == "added:nvmeof0c1 lost: " + snapshot);
	full.event(NVMEOF_EVENT_REMOVED);
	CHECK(told(*stream) == "removed:nvmeof0c1");
}

TEST_CASE("reading a list does not block, and later events follow the list", "[events]")
{
	EventKernel full;
	std::optional<Asked> asked;
	full.kernel.on(NVMEOF_CMD_NS_GET, [&](const Asked &now) { asked = now; });
	auto stream = EventStream::subscribe(StreamStart::snapshot);
	REQUIRE(stream);
	CHECK(told(*stream) == "present:nvmeof0 present:nvmeof0c1");
	REQUIRE(asked);
	full.event(NVMEOF_EVENT_REMOVED);
	CHECK_FALSE(readable(*stream)); // the kernel has not finished the list
	CHECK(told(*stream).empty());
	full.kernel.done(*asked);
	CHECK(readable(*stream));
	CHECK(told(*stream) == "present:nvmeof0c1n1 synced: removed:nvmeof0c1");
}

TEST_CASE("another loss during a list starts the list again", "[events]")
{
	EventKernel full;
	std::optional<Asked> asked;
	full.kernel.on(NVMEOF_CMD_PATH_GET, [&](const Asked &now) { asked = now; });
	auto stream = EventStream::subscribe();
	full.kernel.tell(ENOBUFS);
	CHECK(told(*stream) == "lost: present:nvmeof0 present:nvmeof0c1 present:nvmeof0n1");
	full.kernel.tell(ENOBUFS);
	REQUIRE(asked);
	full.kernel.done(*asked);
	CHECK(told(*stream) == "synced: lost: present:nvmeof0 present:nvmeof0c1 present:nvmeof0n1");
}

TEST_CASE("an unreadable list is reported once as an error", "[events]")
{
	EventKernel full;
	full.kernel.on(NVMEOF_CMD_SUBSYS_GET, [&](const Asked &asked) { full.kernel.fail(asked, ENOENT); });
	auto stream = EventStream::subscribe(StreamStart::snapshot);
	REQUIRE(stream);
	CHECK(told(*stream) == "!");
	full.event(NVMEOF_EVENT_ADDED);
	CHECK(told(*stream) == "added:nvmeof0c1");
}
