// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a datagram of a netlink socket.
#include "input.h"

#include <linux/netlink.h>

#include "libctl/netlink/message.h"

using nofctl::Reply;

namespace {

constexpr std::uint16_t family = 0x20;

void checkReply(const Reply &reply, std::span<const std::byte> datagram)
{
	const bool data = reply.kind == Reply::Kind::data, error = reply.kind == Reply::Kind::error;
	expect(data || (reply.attributes.empty() && !reply.command), "attributes only in data");
	expect(reply.attributes.size() <= datagram.size(), "and no more than have come");
	if (!reply.attributes.empty())
		expect(reply.attributes.data() >= datagram.data() && &reply.attributes.back() <= &datagram.back(),
		       "they lie within the datagram");
	expect(error ? reply.sysErrno > 0 : reply.sysErrno == 0, "an errno is positive, and only in errors");
	expect(reply.message.find('\0') == reply.message.npos, "a message is text");
	expect(oneWord(reply.cookie), "a cookie is a name");
}

// Counts the messages again, by their lengths alone.
std::size_t messagesIn(std::span<const std::byte> datagram)
{
	std::size_t messages = 0, at = 0;
	for (; at < datagram.size(); messages++) {
		nlmsghdr header;
		expect(datagram.size() - at >= sizeof(header), "every message has a header");
		std::memcpy(&header, datagram.data() + at, sizeof(header));
		expect(header.nlmsg_len >= sizeof(header) && header.nlmsg_len <= datagram.size() - at,
		       "and lies within the datagram");
		at += NLMSG_ALIGN(std::size_t{header.nlmsg_len});
	}
	return messages;
}

} // namespace

void fuzz(Input in)
{
	const std::span<const std::byte> datagram = std::as_bytes(in.rest());
	const nvmeof::Result<std::vector<Reply>> replies = nofctl::splitReplies(datagram, family);
	if (!replies) {
		expect(!replies.error().message.empty(), "a refusal has a reason");
		return;
	}
	expect(replies->size() == messagesIn(datagram), "one reply for each message");
	for (const Reply &reply : *replies)
		checkReply(reply, datagram);
}
