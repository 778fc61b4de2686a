// SPDX-License-Identifier: LGPL-2.1-or-later
// What a fuzzer is: a function fuzz() over bytes that anybody may have sent, and what has to hold whatever they are.
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
	// What has not been taken yet. It ends with its memory block, so that the sanitizer sees a byte too many.
	Bytes rest() const { return rest_; }
	std::string_view text() const { return {reinterpret_cast<const char *>(rest_.data()), rest_.size()}; }

	// Bytes that are not there count as zero.
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
	// Up to the next one, which is taken and left out; or all.
	std::string upTo(char end)
	{
		std::string front(text().substr(0, text().find(end)));
		cut(front.size() + 1);
		return front;
	}

private:
	Bytes rest_;
};

// @what does not hold: the input is kept, and the run ends.
inline void expect(bool holds, const char *what, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
	if (holds)
		return;
	std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	std::abort();
}

// A copy that ends with its memory block too.
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

// No blank or control character in it; what is beyond ASCII may be a letter.
inline bool oneWord(std::string_view text)
{
	return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

void fuzz(Input in);
