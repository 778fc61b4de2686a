// SPDX-License-Identifier: LGPL-2.1-or-later
// A short page of data, of which all is needed at once. Mostly it comes in one piece, and nothing is kept.
#pragma once

#include <memory>

#include "libctl/wire/bytes.h"

namespace initiator {

class Page {
public:
	using Data = std::span<const std::uint8_t>;

	// What has come, in order. All @length bytes when they are there, until the next call; else nothing
	Data take(std::uint32_t offset, Data data, std::size_t length)
	{
		if (offset == 0)
			parts_.reset();
		if (offset == 0 && data.size() == length)
			return data;
		if (!parts_)
			parts_ = std::make_unique<nofctl::wire::Bytes>();
		nofctl::wire::append(*parts_, data);
		return parts_->size() == length ? Data(*parts_) : Data();
	}
	void clear() { parts_.reset(); }

private:
	std::unique_ptr<nofctl::wire::Bytes> parts_;
};

} // namespace initiator
