// SPDX-License-Identifier: LGPL-2.1-or-later
#include "request.h"

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

namespace nofctl {

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

} // namespace nofctl
