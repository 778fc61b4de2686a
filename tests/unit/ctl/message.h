// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages in the kernel's format, built with libnl in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <linux/genetlink.h>
#include <linux/nvmeof.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "libctl/netlink/message.h"

class Payload {
public:
	Payload() : message_(nlmsg_alloc()) { nlmsg_put(message_, 0, 0, 0, 0, 0); }
	Payload(const Payload &) = delete;
	Payload &operator=(const Payload &) = delete;
	~Payload() { nlmsg_free(message_); }

	Payload &u8(int type, std::uint8_t value) { return nla_put_u8(message_, type, value), *this; }
	Payload &u16(int type, std::uint16_t value) { return nla_put_u16(message_, type, value), *this; }
	Payload &u32(int type, std::uint32_t value) { return nla_put_u32(message_, type, value), *this; }
	Payload &s32(int type, std::int32_t value) { return nla_put_s32(message_, type, value), *this; }
	Payload &u64(int type, std::uint64_t value) { return nla_put_u64(message_, type, value), *this; }
	Payload &text(int type, const char *value) { return nla_put_string(message_, type, value), *this; }
	Payload &binary(int type, const std::string &value)
	{
		return nla_put(message_, type, static_cast<int>(value.size()), value.data()), *this;
	}
	Payload &flag(int type) { return nla_put_flag(message_, type), *this; }

	std::vector<std::byte> bytes() const
	{
		auto *data = static_cast<const std::byte *>(nlmsg_data(nlmsg_hdr(message_)));
		return {data, data + nlmsg_datalen(nlmsg_hdr(message_))};
	}
	nofctl::Attributes attributes() const { return *nofctl::Attributes::parse(bytes()); }

private:
	nl_msg *message_;
};

template <typename T> void append(std::vector<std::byte> &to, const T &value)
{
	auto *data = reinterpret_cast<const std::byte *>(&value);
	to.insert(to.end(), data, data + sizeof(value));
}

inline std::vector<std::byte> netlinkMessage(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
					     const std::vector<std::byte> &body)
{
	nlmsghdr header{};
	header.nlmsg_len = static_cast<std::uint32_t>(sizeof(header) + body.size());
	header.nlmsg_type = type;
	header.nlmsg_flags = flags;
	header.nlmsg_seq = sequence;
	std::vector<std::byte> whole;
	append(whole, header);
	whole.insert(whole.end(), body.begin(), body.end());
	whole.resize(NLMSG_ALIGN(whole.size()));
	return whole;
}
