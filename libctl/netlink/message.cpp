// SPDX-License-Identifier: LGPL-2.1-or-later
#include "message.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

namespace nofctl {

namespace {

constexpr std::size_t aligned(std::size_t length)
{
	return (length + NLA_ALIGNTO - 1) & ~static_cast<std::size_t>(NLA_ALIGNTO - 1);
}

} // namespace

nvmeof::Error malformedMessage(const std::string &what)
{
	nvmeof::Error error;
	error.message = "malformed message from the kernel: " + what;
	return error;
}

nvmeof::Result<Attributes> Attributes::parse(std::span<const std::byte> payload)
{
	Attributes attributes;
	attributes.bytes_.assign(payload.begin(), payload.end());
	std::size_t at = 0;
	while (at < payload.size()) {
		nlattr header;
		if (payload.size() - at < sizeof(header))
			return malformedMessage("attribute header cut short");
		std::memcpy(&header, payload.data() + at, sizeof(header));
		std::uint16_t type = header.nla_type & NLA_TYPE_MASK;
		if (header.nla_len < sizeof(header))
			return malformedMessage("attribute " + std::to_string(type) + " is shorter than its header");
		if (header.nla_len > payload.size() - at)
			return malformedMessage("attribute " + std::to_string(type) + " runs past the end");
		if (type <= NVMEOF_A_MAX)
			attributes.entries_.push_back({type, at + sizeof(header), header.nla_len - sizeof(header)});
		at += aligned(header.nla_len); // the last attribute may lack its padding
	}
	return attributes;
}

std::span<const std::byte> Attributes::payload(const Entry &entry) const
{
	return std::span(bytes_).subspan(entry.offset, entry.length);
}

std::optional<std::span<const std::byte>> Attributes::find(nvmeof_attr type) const
{
	for (const Entry &entry : entries_)
		if (entry.type == type)
			return payload(entry);
	return std::nullopt;
}

std::vector<std::span<const std::byte>> Attributes::findAll(nvmeof_attr type) const
{
	std::vector<std::span<const std::byte>> all;
	for (const Entry &entry : entries_)
		if (entry.type == type)
			all.push_back(payload(entry));
	return all;
}

std::string textOf(std::span<const std::byte> payload)
{
	std::string text(reinterpret_cast<const char *>(payload.data()), payload.size());
	return text.substr(0, text.find('\0'));
}

template <typename T> std::optional<T> numberOf(std::span<const std::byte> payload)
{
	if (payload.size() != sizeof(T))
		return std::nullopt;
	T number;
	std::memcpy(&number, payload.data(), sizeof(number));
	return number;
}

template std::optional<std::uint8_t> numberOf(std::span<const std::byte>);
template std::optional<std::uint16_t> numberOf(std::span<const std::byte>);
template std::optional<std::uint32_t> numberOf(std::span<const std::byte>);
template std::optional<std::int32_t> numberOf(std::span<const std::byte>);
template std::optional<std::uint64_t> numberOf(std::span<const std::byte>);

void Request::Free::operator()(nl_msg *message) const
{
	nlmsg_free(message);
}

// The message type is left 0: the socket knows it and sets it.
Request::Request(nvmeof_cmd command) : message_(nlmsg_alloc())
{
	whole_ = message_ && genlmsg_put(message_.get(), NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, 0,
					 static_cast<std::uint8_t>(command), NVMEOF_GENL_VERSION);
}

std::optional<nvmeof_attr> Request::attributeAt(std::size_t offset) const
{
	nlmsghdr *message = nlmsg_hdr(get());
	nlattr *attribute = genlmsg_attrdata(genlmsg_hdr(message), 0);
	int left = genlmsg_attrlen(genlmsg_hdr(message), 0);
	for (; nla_ok(attribute, left); attribute = nla_next(attribute, &left))
		if (reinterpret_cast<char *>(attribute) - reinterpret_cast<char *>(message) ==
		    static_cast<std::ptrdiff_t>(offset))
			return static_cast<nvmeof_attr>(nla_type(attribute));
	return std::nullopt;
}

void Request::put(nvmeof_attr type, const void *data, std::size_t length)
{
	if (whole_)
		whole_ = nla_put(message_.get(), type, static_cast<int>(length), data) == 0;
}

Request &Request::u8(nvmeof_attr type, std::uint8_t value)
{
	put(type, &value, sizeof(value));
	return *this;
}

Request &Request::u32(nvmeof_attr type, std::uint32_t value)
{
	put(type, &value, sizeof(value));
	return *this;
}

Request &Request::s32(nvmeof_attr type, std::int32_t value)
{
	put(type, &value, sizeof(value));
	return *this;
}

Request &Request::text(nvmeof_attr type, std::string_view value)
{
	std::string terminated(value);
	put(type, terminated.c_str(), terminated.size() + 1);
	return *this;
}

Request &Request::textUnlessEmpty(nvmeof_attr type, std::string_view value)
{
	return value.empty() ? *this : text(type, value);
}

Request &Request::binary(nvmeof_attr type, std::span<const std::uint8_t> value)
{
	put(type, value.data(), value.size());
	return *this;
}

Request &Request::flag(nvmeof_attr type, bool value)
{
	if (value)
		put(type, nullptr, 0);
	return *this;
}

// ---- replies

namespace {

constexpr int maxErrno = 4095; // MAX_ERRNO in the kernel

template <typename T> bool copyFront(T &to, std::span<const std::byte> from)
{
	if (from.size() < sizeof(T))
		return false;
	std::memcpy(&to, from.data(), sizeof(T));
	return true;
}

bool isWord(const std::string &text)
{
	return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

// The range of a number; nothing unless both bounds are present
std::optional<Range> readRange(std::span<const std::byte> policy)
{
	std::optional<std::uint64_t> min, max; // signed bounds also have 64 bits
	eachAttribute(policy, [&](int type, std::span<const std::byte> payload) {
		if (type == NL_POLICY_TYPE_ATTR_MIN_VALUE_S || type == NL_POLICY_TYPE_ATTR_MIN_VALUE_U)
			min = numberOf<std::uint64_t>(payload);
		else if (type == NL_POLICY_TYPE_ATTR_MAX_VALUE_S || type == NL_POLICY_TYPE_ATTR_MAX_VALUE_U)
			max = numberOf<std::uint64_t>(payload);
		return true;
	});
	if (!min || !max)
		return std::nullopt;
	return Range{static_cast<std::int64_t>(*min), static_cast<std::int64_t>(*max)};
}

// These TLVs use types other than the family's, so Attributes cannot parse them. Malformed TLVs do not invalidate the
// errno.
void readExtack(std::span<const std::byte> tlvs, Reply &reply)
{
	eachAttribute(tlvs, [&](int type, std::span<const std::byte> payload) {
		if (type == NLMSGERR_ATTR_MSG)
			reply.message = textOf(payload);
		else if (type == NLMSGERR_ATTR_COOKIE && isWord(textOf(payload)))
			reply.cookie = textOf(payload);
		else if (type == NLMSGERR_ATTR_OFFS)
			reply.offset = numberOf<std::uint32_t>(payload);
		else if (type == NLMSGERR_ATTR_POLICY)
			reply.allowed = readRange(payload);
		return true;
	});
}

// @skip: offset of the TLVs in @body.
void readStatus(std::span<const std::byte> body, std::size_t skip, bool tlvs, Reply &reply)
{
	int status = 0;
	copyFront(status, body);
	if (status < 0) {
		reply.kind = Reply::Kind::error;
		reply.sysErrno = status < -maxErrno ? EIO : -status;
	}
	if (tlvs && skip <= body.size())
		readExtack(body.subspan(skip), reply);
}

nvmeof::Result<Reply> readError(const nlmsghdr &header, std::span<const std::byte> body, Reply reply)
{
	nlmsgerr error;
	if (!copyFront(error, body))
		return malformedMessage("error cut short");
	// Without NLM_F_CAPPED the whole request follows, its header included: RFC 3549, 2.3.2.1 and netlink(7).
	std::size_t skip = sizeof(error);
	if (!(header.nlmsg_flags & NLM_F_CAPPED)) {
		if (error.msg.nlmsg_len < sizeof(nlmsghdr))
			return malformedMessage("error quotes a request without a header");
		skip = sizeof(error.error) + NLMSG_ALIGN(static_cast<std::size_t>(error.msg.nlmsg_len));
	}
	reply.kind = Reply::Kind::ack;
	readStatus(body, skip, header.nlmsg_flags & NLM_F_ACK_TLVS, reply);
	return reply;
}

nvmeof::Result<Reply> readData(std::span<const std::byte> body, Reply reply)
{
	genlmsghdr header;
	if (!copyFront(header, body))
		return malformedMessage("generic netlink header cut short");
	reply.kind = Reply::Kind::data;
	reply.command = header.cmd;
	reply.attributes = body.subspan(sizeof(header));
	return reply;
}

// Whether this is nlctrl's notification that the family was unregistered
bool tellsEnd(std::span<const std::byte> body, std::uint16_t family)
{
	genlmsghdr header;
	if (!copyFront(header, body) || header.cmd != CTRL_CMD_DELFAMILY)
		return false;
	std::span<const std::byte> tlvs = body.subspan(sizeof(header));
	const nlattr *id = nla_find(reinterpret_cast<const nlattr *>(tlvs.data()), static_cast<int>(tlvs.size()),
				    CTRL_ATTR_FAMILY_ID);
	return id && nla_len(id) == sizeof(family) && nla_get_u16(id) == family;
}

nvmeof::Result<Reply> readOne(const nlmsghdr &header, std::span<const std::byte> body, std::uint16_t family)
{
	Reply reply;
	reply.sequence = header.nlmsg_seq;
	reply.interrupted = header.nlmsg_flags & NLM_F_DUMP_INTR;
	switch (header.nlmsg_type) {
	case NLMSG_ERROR:
		return readError(header, body, std::move(reply));
	case NLMSG_DONE:
		reply.kind = Reply::Kind::done;
		readStatus(body, sizeof(int), header.nlmsg_flags & NLM_F_ACK_TLVS, reply);
		return reply;
	case NLMSG_OVERRUN:
		reply.kind = Reply::Kind::overrun;
		return reply;
	case GENL_ID_CTRL:
		if (tellsEnd(body, family))
			reply.kind = Reply::Kind::gone;
		return reply;
	default:
		return header.nlmsg_type == family ? readData(body, std::move(reply))
						   : nvmeof::Result<Reply>(std::move(reply));
	}
}

} // namespace

nvmeof::Result<std::vector<Reply>> splitReplies(std::span<const std::byte> datagram, std::uint16_t family)
{
	std::vector<Reply> replies;
	while (!datagram.empty()) {
		nlmsghdr header;
		if (!copyFront(header, datagram))
			return malformedMessage("header cut short");
		if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > datagram.size())
			return malformedMessage("length of a message is out of bounds");
		std::span<const std::byte> body = datagram.subspan(sizeof(header), header.nlmsg_len - sizeof(header));
		nvmeof::Result<Reply> reply = readOne(header, body, family);
		if (!reply)
			return reply.error();
		replies.push_back(*std::move(reply));
		std::size_t whole = NLMSG_ALIGN(static_cast<std::size_t>(header.nlmsg_len));
		datagram = datagram.subspan(std::min(whole, datagram.size()));
	}
	return replies;
}

} // namespace nofctl
