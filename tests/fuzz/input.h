// SPDX-License-Identifier: LGPL-2.1-or-later
// A fuzzer is a function fuzz() over untrusted bytes, which checks properties that hold for every input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using Bytes = std::span<const std::uint8_t>;

class Input {
public:
	explicit Input(Bytes bytes) : rest_(bytes) {}

	bool empty() const { return rest_.empty(); }
	// The rest of the input. It ends with its allocation, so that AddressSanitizer detects a read past the end.
	Bytes rest() const { return rest_; }
	std::string_view text() const { return {reinterpret_cast<const char *>(rest_.data()), rest_.size()}; }

	// Missing bytes count as zero.
	template <typename T> T take()
	{
		T value{};
		Bytes bytes = cut(sizeof(value));
		if (!bytes.empty())
			std::memcpy(&value, bytes.data(), bytes.size());
		return value;
	}
	Bytes cut(std::size_t length)
	{
		Bytes front = rest_.first(std::min(length, rest_.size()));
		rest_ = rest_.subspan(front.size());
		return front;
	}
	// The bytes up to @end, which is consumed but not returned, or all bytes.
	std::string upTo(char end)
	{
		std::string front(text().substr(0, text().find(end)));
		cut(front.size() + 1);
		return front;
	}

private:
	Bytes rest_;
};

// Fails the run, and libFuzzer keeps the input, if @holds is false. @what is the violated property.
inline void expect(bool holds, const char *what, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
	if (holds)
		return;
	std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	std::abort();
}

// A copy that ends with its allocation, too
inline std::unique_ptr<std::uint8_t[]> exact(Bytes bytes)
{
	std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[bytes.size()]);
	std::ranges::copy(bytes, copy.get());
	return copy;
}

inline std::vector<std::string> lines(std::string_view text)
{
	std::vector<std::string> found;
	while (!text.empty()) {
		found.emplace_back(text.substr(0, text.find('\n')));
		text.remove_prefix(std::min(found.back().size() + 1, text.size()));
	}
	return found;
}

// Whether the text has no blank or control character. Bytes beyond ASCII are allowed.
inline bool oneWord(std::string_view text)
{
	return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

void fuzz(Input in);
