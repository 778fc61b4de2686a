// SPDX-License-Identifier: LGPL-2.1-or-later
// A request to the kernel.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <linux/nvmeof.h>

struct nl_msg;

namespace nofctl {

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

} // namespace nofctl
