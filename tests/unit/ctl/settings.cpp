// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "message.h"
#include "libctl/netlink/message.h"
#include "libctl/netlink/session.h"
#include "policy.h"
#include "setting_texts.h"

#include <netlink/genl/genl.h>

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Result<SubsystemSettings> subsystem(std::vector<std::string> words)
{
	return parseSubsystemSettings(words);
}

Result<ControllerSettings> controller(std::vector<std::string> words)
{
	return parseControllerSettings(words);
}

nofctl::Attributes attributesOf(const nofctl::Request &request)
{
	auto *header = static_cast<genlmsghdr *>(nlmsg_data(nlmsg_hdr(request.get())));
	auto *data = static_cast<const std::byte *>(genlmsg_user_data(header, 0));
	return *nofctl::Attributes::parse({data, static_cast<std::size_t>(genlmsg_attrlen(header, 0))});
}

template <typename T> std::optional<T> number(const nofctl::Attributes &attributes, nvmeof_attr type)
{
	auto payload = attributes.find(type);
	return payload ? nofctl::numberOf<T>(*payload) : std::nullopt;
}

} // namespace

TEST_CASE("every setting of a subsystem is parsed", "[settings]")
{
	auto s = subsystem({"iopolicy=latency", "spill-us=500", "spill-depth=32", "degrade=on", "fencing=safe",
			    "delayed-removal-secs=60", "quiesce-tmo=45"});
	REQUIRE(s);
	CHECK(s->iopolicy == "latency");
	CHECK(s->spillLatency == 500us);
	CHECK(s->spillDepth == 32);
	CHECK(s->degrade == true);
	CHECK(s->fencing == Fencing::safe);
	CHECK(s->delayedRemoval == 60s);
	CHECK(s->quiesceTimeout == 45s);
	CHECK(*subsystem({}) == SubsystemSettings());
	auto off = subsystem({"spill-us=0", "degrade=off", "fencing=immediate"});
	REQUIRE(off);
	CHECK(off->spillLatency == 0us);
	CHECK(off->degrade == false);
	CHECK(off->fencing == Fencing::immediate);
	CHECK_FALSE(off->spillDepth);
}

TEST_CASE("every setting of a controller is parsed", "[settings]")
{
	auto c = controller({"ctrl-loss-tmo=-1", "reconnect-delay=0.5", "fast-io-fail-tmo=2s", "stall-tmo=300ms"});
	REQUIRE(c);
	CHECK(c->ctrlLoss == -1ms);
	CHECK(c->reconnectDelay == 500ms);
	CHECK(c->fastIoFail == 2s);
	CHECK(c->stallTimeout == 300ms);
	CHECK(controller({"stall-tmo=0"})->stallTimeout == 0ms);
}

TEST_CASE("invalid settings of a subsystem are refused", "[settings]")
{
	auto word = GENERATE(as<std::string>{}, "", "=", "iopolicy", "iopolicy=", "iopolicy=a-name-that-is-too-long",
			     "iopolicy=two words", "iopolicy=\x1b[2J", "=latency", "spill-us=", "spill-us=-1",
			     "spill-us=1.5", "spill-us=0x10", "spill-us=60000001", "spill-us=4294967296", "spill-us= 5",
			     "spill-us=500us", "spill-depth=1025", "degrade=1", "degrade=ON",
			     "degrade=", "fencing=none", "fencing=safe ", "delayed-removal-secs=604801",
			     "delayed-removal-secs=-1", "quiesce-tmo=86401", "Iopolicy=numa", "stall-tmo=1");
	CAPTURE(word);
	auto s = subsystem({word});
	REQUIRE_FALSE(s);
	CHECK(s.error().code == ErrorCode::invalid);
	CHECK_FALSE(s.error().message.empty());
}

TEST_CASE("invalid settings of a controller are refused", "[settings]")
{
	auto word = GENERATE(as<std::string>{}, "stall-tmo=-1", "stall-tmo=ms", "stall-tmo=0.0001", "stall-tmo=1e3",
			     "reconnect-delay=-1", "reconnect-delay=", "ctrl-loss-tmo=-2", "ctrl-loss-tmo=nan",
			     "fast-io-fail-tmo=2147484", "iopolicy=numa", "ctrl-loss-tmo");
	CAPTURE(word);
	CHECK_FALSE(controller({word}));
}

TEST_CASE("errors about settings have the valid names or range", "[settings]")
{
	CHECK(subsystem({"spil-us=5"}).error().message ==
	      "there is no setting 'spil-us'; a subsystem has: iopolicy, spill-us, spill-depth, degrade, fencing, "
	      "delayed-removal-secs, quiesce-tmo");
	CHECK(subsystem({"spill-us=x"}).error().message ==
	      "spill-us: 'x' is not a number of microseconds from 0 to 60000000");
	CHECK(subsystem({"degrade=yes"}).error().message == "degrade: 'yes' is neither off nor on");
	CHECK(subsystem({"spill-us=1", "spill-us=2"}).error().message == "spill-us is given twice");
	CHECK(parseSettings(ObjectKind::path, {"degrade=on"}).error().message == "a path has no settings");
}

TEST_CASE("only the given settings are sent to the kernel", "[settings]")
{
	SubsystemSettings s;
	s.spillLatency = 500us;
	s.fencing = Fencing::safe;
	s.degrade = false;
	auto attributes = attributesOf(nofctl::settingsRequest(3, s));
	CHECK(number<std::uint32_t>(attributes, NVMEOF_A_SUBSYS_ID) == 3);
	CHECK(number<std::uint32_t>(attributes, NVMEOF_A_SPILL_US) == 500);
	CHECK(number<std::uint32_t>(attributes, NVMEOF_A_FENCING) == NVMEOF_FENCING_SAFE);
	CHECK(number<std::uint8_t>(attributes, NVMEOF_A_DEGRADE) == 0);
	for (auto absent : {NVMEOF_A_IOPOLICY, NVMEOF_A_SPILL_DEPTH, NVMEOF_A_DELAYED_REMOVAL})
		CHECK_FALSE(attributes.find(absent));
	// A value beyond the range is sent as the maximum, which the kernel refuses, not truncated to another value.
	s.spillLatency = std::chrono::microseconds(1LL << 40);
	CHECK(number<std::uint32_t>(attributesOf(nofctl::settingsRequest(3, s)), NVMEOF_A_SPILL_US) == UINT32_MAX);
}

TEST_CASE("a policy does not change a setting that differs from the default", "[settings]")
{
	auto wanted = *subsystem({"iopolicy=latency", "spill-us=500", "degrade=on", "fencing=safe"});
	Subsystem now;
	now.iopolicy = "numa";
	CHECK(untouched(wanted, now) == wanted);
	now.iopolicy = "round-robin";
	now.spillLatency = 7us;
	CHECK(untouched(wanted, now) == *subsystem({"degrade=on", "fencing=safe"}));
	now.degrade = true;
	now.fencing = Fencing::safe;
	CHECK(untouched(wanted, now) == SubsystemSettings());
}
