// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>
#include <cerrno>

#include "libctl/netlink/module.h"
#include "libctl/netlink/session.h"
#include "libctl/netlink/tracker.h"

#include <libkmod.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

using namespace nvmeof;
using nofctl::ConnectionTracker;

namespace {

Controller in(ControllerState state)
{
	Controller c;
	c.name = "nvmeof0c1";
	c.state = state;
	return c;
}

Event event(EventType type, Controller c)
{
	Event e;
	e.type = type;
	e.object = std::move(c);
	return e;
}

Controller refused()
{
	Controller c = in(ControllerState::connecting);
	c.lastError = "Connect failed";
	c.lastErrno = EIO;
	c.lastStatus = 0x184;
	return c;
}

} // namespace

TEST_CASE("a connect succeeds when its controller is live", "[tracker]")
{
	ConnectionTracker tracker(in(ControllerState::connecting));
	CHECK(tracker.state() == ConnectionTracker::State::pending);
	Controller other = in(ControllerState::live);
	other.name = "nvmeof0c2";
	tracker.onEvent(event(EventType::state, other));
	CHECK(tracker.state() == ConnectionTracker::State::pending);
	tracker.onEvent(event(EventType::state, in(ControllerState::live)));
	CHECK(tracker.state() == ConnectionTracker::State::live);
}

TEST_CASE("after lost events the state is found by reading the controller", "[tracker]")
{
	ConnectionTracker live(in(ControllerState::connecting)), gone(in(ControllerState::connecting));
	live.onQuery(in(ControllerState::live));
	CHECK(live.state() == ConnectionTracker::State::live);
	gone.onQuery(errorFromErrno(ENODEV));
	CHECK(gone.state() == ConnectionTracker::State::failed);
	CHECK_FALSE(gone.failure().message.empty());
}

TEST_CASE("a controller whose name belongs to another one now is gone", "[tracker]")
{
	ConnectionTracker tracker(in(ControllerState::connecting));
	Controller other = in(ControllerState::live);
	other.traddr = "10.0.0.9";
	tracker.onEvent(event(EventType::state, other));
	CHECK(tracker.state() == ConnectionTracker::State::pending);
	tracker.onQuery(other);
	CHECK(tracker.state() == ConnectionTracker::State::failed);
}

TEST_CASE("the removal of a live controller is detected by reading it", "[tracker]")
{
	ConnectionTracker tracker(in(ControllerState::connecting));
	tracker.onQuery(in(ControllerState::live));
	tracker.again();
	tracker.onQuery(errorFromErrno(ENODEV));
	CHECK(tracker.state() == ConnectionTracker::State::failed);
}

TEST_CASE("an error of the read itself decides nothing", "[tracker]")
{
	ConnectionTracker tracker(in(ControllerState::connecting));
	tracker.onQuery(errorFromErrno(ENOBUFS));
	CHECK(tracker.state() == ConnectionTracker::State::pending);
}

TEST_CASE("a refusal by the target has its NVMe status", "[tracker]")
{
	ConnectionTracker tracker(in(ControllerState::connecting));
	tracker.onEvent(event(EventType::connectFailed, refused()));
	CHECK(tracker.state() == ConnectionTracker::State::pending);
	tracker.onEvent(event(EventType::removed, in(ControllerState::deleting)));
	REQUIRE(tracker.state() == ConnectionTracker::State::failed);
	Error error = tracker.failure();
	CHECK(error.code == ErrorCode::refused);
	CHECK(error.nvmeStatus == 0x184);
	CHECK(error.message.find("Connect Invalid Host") != std::string::npos);
}

TEST_CASE("other failures are classified by errno", "[tracker]")
{
	Controller c = in(ControllerState::connecting);
	auto [number, code] = GENERATE(table<int, ErrorCode>({
		{ETIMEDOUT, ErrorCode::timedOut},
		{ECONNREFUSED, ErrorCode::connectionRefused},
		{EHOSTUNREACH, ErrorCode::unreachable},
		{ENETUNREACH, ErrorCode::unreachable},
		{ECONNRESET, ErrorCode::connectionReset},
		{EKEYREJECTED, ErrorCode::authentication},
		{EPROTO, ErrorCode::failed},
	}));
	c.lastErrno = number;
	ConnectionTracker tracker(in(ControllerState::connecting));
	tracker.onEvent(event(EventType::connectFailed, c));
	tracker.onEvent(event(EventType::removed, c));
	CHECK(tracker.failure().code == code);
	CHECK(tracker.failure().sysErrno == c.lastErrno);
}

TEST_CASE("a target that requires authentication gives an authentication error", "[tracker]")
{
	Controller c = refused();
	c.lastStatus = 0x4191; // with Do Not Retry
	ConnectionTracker tracker(in(ControllerState::connecting));
	tracker.onEvent(event(EventType::connectFailed, c));
	tracker.onEvent(event(EventType::removed, c));
	CHECK(tracker.failure().code == ErrorCode::authentication);
	CHECK_FALSE(tracker.failure().left);
}

TEST_CASE("a timeout has the error of the last attempt", "[tracker]")
{
	ConnectionTracker tracker(in(ControllerState::connecting));
	tracker.onEvent(event(EventType::connectFailed, refused()));
	Error error = tracker.timeout(std::chrono::milliseconds(1500));
	CHECK(error.code == ErrorCode::timedOut);
	CHECK(error.object == ErrorObject{ErrorObject::Kind::controller, "nvmeof0c1"});
	CHECK(error.left == ControllerState::connecting);
	CHECK(error.message.find("1.5 s") != std::string::npos);
	CHECK(error.message.find("Connect failed") != std::string::npos);
}

TEST_CASE("connect options become netlink attributes", "[session]")
{
	ConnectOptions options;
	options.address = {"10.0.0.1", "4420"};
	options.subsysnqn = "nqn.a";
	options.ctrlLoss = std::chrono::milliseconds(-7);
	options.reconnectDelay = std::chrono::hours(24 * 365 * 10);
	options.dataDigest = true;
	nofctl::Request request =
		nofctl::connectRequest(options, "nqn.host", *Uuid::parse("12345678-9abc-4def-8123-456789abcdef"));
	REQUIRE(request.whole());
	auto *genl = static_cast<genlmsghdr *>(nlmsg_data(nlmsg_hdr(request.get())));
	CHECK(genl->cmd == NVMEOF_CMD_CTRL_NEW);
	nlattr *found[NVMEOF_A_MAX + 1];
	REQUIRE(nla_parse(found, NVMEOF_A_MAX, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), nullptr) == 0);
	CHECK(std::string(nla_get_string(found[NVMEOF_A_TRADDR])) == "10.0.0.1");
	CHECK(nla_len(found[NVMEOF_A_HOSTID]) == NVMEOF_HOSTID_LEN);
	CHECK(nla_get_s32(found[NVMEOF_A_CTRL_LOSS_TMO]) == -1);
	CHECK(nla_get_u32(found[NVMEOF_A_RECONNECT_DELAY]) == UINT32_MAX);
	CHECK(found[NVMEOF_A_DATA_DIGEST]);
	CHECK_FALSE(found[NVMEOF_A_HDR_DIGEST]);
	CHECK_FALSE(found[NVMEOF_A_KATO]);
}

TEST_CASE("an error of a module load has its cause", "[module]")
{
	auto says = [](int result, const char *word) {
		Error error = nofctl::moduleError("nvmeof_tcp", result);
		CHECK(error.code == ErrorCode::noModule);
		CHECK(error.object == ErrorObject{ErrorObject::Kind::module, "nvmeof_tcp"});
		return error.message.find(word) != std::string::npos;
	};
	CHECK(says(-EKEYREJECTED, "Secure Boot"));
	CHECK(says(-ENOEXEC, "version magic"));
	CHECK(says(-ENOENT, "not installed"));
	CHECK(says(-EINVAL, "symbol versions"));
	CHECK(says(KMOD_PROBE_APPLY_BLACKLIST, "blacklists"));
}
