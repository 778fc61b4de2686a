// SPDX-License-Identifier: LGPL-2.1-or-later
// Netlink messages: requests to the kernel, replies, and the attributes of both. All lengths are checked before use.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/netlink.h>
#include <linux/nvmeof.h>

#include <nvmeof/result.h>

struct nl_msg;

namespace nofctl {

// The attributes of one message.
class Attributes {
public:
	// Copies @payload. Skips attribute types that this library does not know.
	static nvmeof::Result<Attributes> parse(std::span<const std::byte> payload);

	// Payload of the first attribute of type @type.
	std::optional<std::span<const std::byte>> find(nvmeof_attr type) const;
	// Payloads of all attributes of type @type, in message order.
	std::vector<std::span<const std::byte>> findAll(nvmeof_attr type) const;

private:
	struct Entry {
		std::uint16_t type;
		std::size_t offset;
		std::size_t length;
	};

	std::span<const std::byte> payload(const Entry &entry) const;

	std::vector<std::byte> bytes_;
	std::vector<Entry> entries_;
};

// The error for a message of the kernel that violates its format
nvmeof::Error malformedMessage(const std::string &what);

// The text up to the first NUL, or the whole payload.
std::string textOf(std::span<const std::byte> payload);

// Nothing if the payload does not have exactly sizeof(T) bytes.
template <typename T> std::optional<T> numberOf(std::span<const std::byte> payload);

// Calls @take(type, payload) for each attribute until it returns false. False: it did, or an attribute is malformed.
template <typename Take> bool eachAttribute(std::span<const std::byte> attributes, Take &&take)
{
	while (!attributes.empty()) {
		nlattr header;
		if (attributes.size() < sizeof(header))
			return false;
		std::memcpy(&header, attributes.data(), sizeof(header));
		if (header.nla_len < sizeof(header) || header.nla_len > attributes.size())
			return false;
		if (!take(header.nla_type & NLA_TYPE_MASK,
			  attributes.subspan(sizeof(header), header.nla_len - sizeof(header))))
			return false;
		const std::size_t whole = NLA_ALIGN(static_cast<std::size_t>(header.nla_len));
		attributes = attributes.subspan(std::min(whole, attributes.size()));
	}
	return true;
}

// A request to the kernel.
class Request {
public:
	explicit Request(nvmeof_cmd command);

	Request &u8(nvmeof_attr type, std::uint8_t value);
	Request &u32(nvmeof_attr type, std::uint32_t value);
	Request &s32(nvmeof_attr type, std::int32_t value);
	Request &text(nvmeof_attr type, std::string_view value);
	Request &textUnlessEmpty(nvmeof_attr type, std::string_view value);
	Request &binary(nvmeof_attr type, std::span<const std::uint8_t> value);
	Request &flag(nvmeof_attr type, bool value); // no attribute if false

	// Type of the attribute at @offset, counted from the start of the message
	std::optional<nvmeof_attr> attributeAt(std::size_t offset) const;

	bool whole() const { return whole_; } // no attribute was left out
	nl_msg *get() const { return message_.get(); }

private:
	struct Free {
		void operator()(nl_msg *message) const;
	};

	void put(nvmeof_attr type, const void *data, std::size_t length);

	std::unique_ptr<nl_msg, Free> message_;
	bool whole_ = true;
};

struct Range {
	std::int64_t min = 0, max = 0;
};

struct Reply {
	enum class Kind {
		data,    // a message of the family
		ack,     // the request succeeded
		done,    // the dump is complete
		error,   // the request or dump failed
		overrun, // messages were lost
		gone,    // the family was unregistered
		ignored,
	};

	Kind kind = Kind::ignored;
	std::uint32_t sequence = 0;
	bool interrupted = false; // NLM_F_DUMP_INTR: the objects changed while they were listed
	std::uint8_t command = 0;
	std::span<const std::byte> attributes; // for data; points into the datagram
	int sysErrno = 0;                      // for error; positive
	std::string message;                   // NLMSGERR_ATTR_MSG
	std::string cookie;                    // NLMSGERR_ATTR_COOKIE, if it is printable text
	std::optional<std::uint32_t> offset;   // NLMSGERR_ATTR_OFFS: of the bad attribute in the request
	std::optional<Range> allowed;          // NLMSGERR_ATTR_POLICY: range of that attribute
};

// Splits a datagram from the kernel into messages and parses extended acknowledgements, which libnl 3.7 does not.
// @family: message type of the family. Other types are ignored, except the notification that the family was
// unregistered.
nvmeof::Result<std::vector<Reply>> splitReplies(std::span<const std::byte> datagram, std::uint16_t family);

} // namespace nofctl
