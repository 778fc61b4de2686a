// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>
#include <cerrno>
#include <climits>

#include "message.h"
#include "libctl/netlink/socket.h"
#include "libctl/netlink/message.h"

using namespace nofctl;

namespace {

constexpr std::uint16_t familyId = 0x20;

std::vector<std::byte> errorBody(int status, std::uint32_t quoted, const Payload &tlvs)
{
	std::vector<std::byte> body;
	append(body, status);
	nlmsghdr request{};
	request.nlmsg_len = quoted;
	append(body, request);
	if (quoted > sizeof(request))
		body.resize(body.size() + NLMSG_ALIGN(quoted - sizeof(request)), std::byte{0xee});
	std::vector<std::byte> extra = tlvs.bytes();
	body.insert(body.end(), extra.begin(), extra.end());
	return body;
}

Reply only(const std::vector<std::byte> &datagram)
{
	auto replies = splitReplies(datagram, familyId);
	REQUIRE(replies);
	REQUIRE(replies->size() == 1);
	return replies->front();
}

} // namespace

TEST_CASE("an error has its message and cookie", "[reply]")
{
	Payload tlvs;
	tlvs.text(NLMSGERR_ATTR_MSG, "already connected")
		.u32(NLMSGERR_ATTR_OFFS, 8)
		.binary(NLMSGERR_ATTR_COOKIE, "nvmeof0c1");
	std::uint16_t capped = GENERATE(0, NLM_F_CAPPED);
	std::uint32_t quoted = capped ? sizeof(nlmsghdr) : 57; // 57 requires padding to be skipped
	Reply reply = only(netlinkMessage(NLMSG_ERROR, NLM_F_ACK_TLVS | capped, 3, errorBody(-EALREADY, quoted, tlvs)));
	CHECK(reply.kind == Reply::Kind::error);
	CHECK(reply.sequence == 3);
	CHECK(reply.sysErrno == EALREADY);
	CHECK(reply.message == "already connected");
	CHECK(reply.cookie == "nvmeof0c1");
}

TEST_CASE("without NLM_F_ACK_TLVS the rest of an error is not parsed as a message", "[reply]")
{
	Payload tlvs;
	tlvs.text(NLMSGERR_ATTR_MSG, "text");
	Reply reply = only(netlinkMessage(NLMSG_ERROR, NLM_F_CAPPED, 1, errorBody(-EINVAL, sizeof(nlmsghdr), tlvs)));
	CHECK(reply.sysErrno == EINVAL);
	CHECK(reply.message.empty());
}

TEST_CASE("an out-of-range value is reported with its attribute and the range", "[reply]")
{
	Request request(NVMEOF_CMD_CTRL_NEW);
	request.text(NVMEOF_A_TRANSPORT, "tcp").u32(NVMEOF_A_QUEUE_SIZE, 5).u32(NVMEOF_A_KATO, 1);
	CHECK(request.attributeAt(sizeof(nlmsghdr) + sizeof(genlmsghdr)) == NVMEOF_A_TRANSPORT);
	CHECK(request.attributeAt(sizeof(nlmsghdr) + sizeof(genlmsghdr) + 8) == NVMEOF_A_QUEUE_SIZE);
	CHECK(request.attributeAt(sizeof(nlmsghdr) + sizeof(genlmsghdr) + 16) == NVMEOF_A_KATO);
	for (std::uint32_t wrong : {0u, 16u, 21u, 44u, 4096u, ~0u})
		CHECK_FALSE(request.attributeAt(wrong));

	Payload bounds, one, none;
	bounds.u64(NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 16).u64(NL_POLICY_TYPE_ATTR_MAX_VALUE_U, 1024);
	one.u64(NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 16);
	Payload negative;
	negative.u64(NL_POLICY_TYPE_ATTR_MIN_VALUE_S, ~0ull).u64(NL_POLICY_TYPE_ATTR_MAX_VALUE_S, 7);
	auto replyWith = [](const Payload &policy) {
		std::vector<std::byte> bytes = policy.bytes();
		Payload tlvs;
		tlvs.text(NLMSGERR_ATTR_MSG, "integer out of range").u32(NLMSGERR_ATTR_OFFS, 28);
		tlvs.binary(NLMSGERR_ATTR_POLICY, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
		return only(netlinkMessage(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, 1,
					   errorBody(-ERANGE, sizeof(nlmsghdr), tlvs)));
	};
	CHECK(replyWith(bounds).offset == 28u);
	auto error = rangeError(replyWith(bounds), request);
	REQUIRE(error);
	CHECK(error->code == nvmeof::ErrorCode::invalid);
	CHECK(error->message == "queue size is out of range: 16 to 1024 is allowed");
	CHECK(rangeError(replyWith(none), request)->message == "queue size is out of range");
	CHECK_FALSE(replyWith(none).allowed);
	CHECK_FALSE(replyWith(one).allowed);
	auto allowed = replyWith(bounds).allowed;
	REQUIRE(allowed);
	CHECK(allowed->min == 16);
	CHECK(allowed->max == 1024);
	allowed = replyWith(negative).allowed;
	REQUIRE(allowed);
	CHECK(allowed->min == -1);
	CHECK(allowed->max == 7);
}

TEST_CASE("with broken TLVs the errno remains", "[reply]")
{
	Payload tlvs;
	std::vector<std::byte> body = errorBody(-EPERM, sizeof(nlmsghdr), tlvs.text(NLMSGERR_ATTR_MSG, "text"));
	std::uint16_t lie = GENERATE(0, 3, 200);
	std::memcpy(body.data() + sizeof(nlmsgerr), &lie, sizeof(lie));
	Reply reply = only(netlinkMessage(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, 1, body));
	CHECK(reply.sysErrno == EPERM);
	CHECK(reply.message.empty());
}

TEST_CASE("with a quoted request longer than the message the errno remains", "[reply]")
{
	Payload none;
	std::vector<std::byte> body = errorBody(-EPERM, sizeof(nlmsghdr), none);
	std::uint32_t lie = GENERATE(1000u, 0xfffffffcu, 0xffffffffu);
	std::memcpy(body.data() + sizeof(int), &lie, sizeof(lie));
	CHECK(only(netlinkMessage(NLMSG_ERROR, NLM_F_ACK_TLVS, 1, body)).sysErrno == EPERM);
}

TEST_CASE("a status below the range of errno is still an error", "[reply]")
{
	Payload none;
	int status = GENERATE(-4096, INT_MIN);
	Reply reply = only(netlinkMessage(NLMSG_ERROR, NLM_F_CAPPED, 1, errorBody(status, sizeof(nlmsghdr), none)));
	CHECK(reply.kind == Reply::Kind::error);
	CHECK(reply.sysErrno == EIO);
}

TEST_CASE("acknowledgements and ends of dumps are decoded", "[reply]")
{
	Payload none;
	CHECK(only(netlinkMessage(NLMSG_ERROR, NLM_F_CAPPED, 1, errorBody(0, sizeof(nlmsghdr), none))).kind ==
	      Reply::Kind::ack);
	std::vector<std::byte> status;
	append(status, 0);
	Reply done = only(netlinkMessage(NLMSG_DONE, NLM_F_DUMP_INTR | NLM_F_MULTI, 1, status));
	CHECK(done.kind == Reply::Kind::done);
	CHECK(done.interrupted);
	Payload tlvs;
	std::vector<std::byte> failed, extra = tlvs.text(NLMSGERR_ATTR_MSG, "no such subsystem").bytes();
	append(failed, -ENODEV);
	failed.insert(failed.end(), extra.begin(), extra.end());
	Reply reply = only(netlinkMessage(NLMSG_DONE, NLM_F_ACK_TLVS, 1, failed));
	CHECK(reply.kind == Reply::Kind::error);
	CHECK(reply.sysErrno == ENODEV);
	CHECK(reply.message == "no such subsystem");
}

TEST_CASE("a datagram may have several messages", "[reply]")
{
	Payload p;
	std::vector<std::byte> body, attributes = p.text(NVMEOF_A_CTRL_NAME, "nvmeof0c1").bytes();
	append(body, genlmsghdr{NVMEOF_CMD_CTRL_GET, 1, 0});
	body.insert(body.end(), attributes.begin(), attributes.end());
	std::vector<std::byte> datagram = netlinkMessage(familyId, 0, 1, body);
	for (std::uint16_t type : {std::uint16_t(familyId + 1), std::uint16_t(familyId)}) {
		std::vector<std::byte> next = netlinkMessage(type, 0, 2, body);
		datagram.insert(datagram.end(), next.begin(), next.end());
	}
	auto replies = splitReplies(datagram, familyId);
	REQUIRE(replies);
	REQUIRE(replies->size() == 3);
	CHECK((*replies)[0].command == NVMEOF_CMD_CTRL_GET);
	CHECK((*replies)[0].attributes.size() == attributes.size());
	CHECK((*replies)[1].kind == Reply::Kind::ignored); // from another family
	CHECK((*replies)[2].sequence == 2);
}

TEST_CASE("the removal of the own family is reported, that of others is ignored", "[reply]")
{
	auto news = [](std::uint8_t command, const Payload &payload) {
		std::vector<std::byte> body, attributes = payload.bytes();
		append(body, genlmsghdr{command, 2, 0});
		body.insert(body.end(), attributes.begin(), attributes.end());
		return only(netlinkMessage(GENL_ID_CTRL, 0, 0, body)).kind;
	};
	Payload ours, another;
	ours.text(CTRL_ATTR_FAMILY_NAME, "nvmeof").u16(CTRL_ATTR_FAMILY_ID, familyId);
	another.text(CTRL_ATTR_FAMILY_NAME, "nvmeof").u16(CTRL_ATTR_FAMILY_ID, familyId + 1);
	Payload longer;
	longer.u32(CTRL_ATTR_FAMILY_ID, familyId);
	CHECK(news(CTRL_CMD_DELFAMILY, ours) == Reply::Kind::gone);
	CHECK(news(CTRL_CMD_DELFAMILY, another) == Reply::Kind::ignored);
	CHECK(news(CTRL_CMD_NEWFAMILY, ours) == Reply::Kind::ignored);
	CHECK(news(CTRL_CMD_DELFAMILY, longer) == Reply::Kind::ignored);
	CHECK(news(CTRL_CMD_DELFAMILY, Payload()) == Reply::Kind::ignored);
	CHECK(only(netlinkMessage(GENL_ID_CTRL, 0, 0, {})).kind == Reply::Kind::ignored);
}

TEST_CASE("headers with wrong lengths are refused", "[reply]")
{
	std::vector<std::byte> datagram = netlinkMessage(familyId, 0, 1, std::vector<std::byte>(4));
	std::uint32_t lie = GENERATE(0u, 15u, 16u, 1000u, 0xffffffffu); // 16: shorter than the generic netlink header
	std::memcpy(datagram.data(), &lie, sizeof(lie));
	CHECK_FALSE(splitReplies(datagram, familyId));
	CHECK_FALSE(splitReplies(std::vector<std::byte>(5), familyId));
}
