// SPDX-License-Identifier: LGPL-2.1-or-later
// A short page of data that is needed as a whole. It usually arrives in one piece and is not copied then.
#pragma once

#include <memory>

#include "libctl/wire/bytes.h"

namespace initiator {

class Page {
public:
	using Data = std::span<const std::uint8_t>;

	// Takes received data, in order. Returns all @length bytes once they are complete, valid until the next call;
	// else an empty span
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
