// SPDX-License-Identifier: LGPL-2.1-or-later
// Text in the exposition format of Prometheus, version 0.0.4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace serving {

class Exposition {
public:
	enum class Type { counter, gauge, histogram };
	using Labels = std::vector<std::pair<std::string, std::string>>;

	// A family: its samples follow, until the next one. A family without samples is left out of the text.
	void family(std::string name, Type type, std::string_view help);
	void sample(const Labels &labels, std::uint64_t value);
	void sample(const Labels &labels, double value);
	// A bucket of a histogram: @count of what is not above @end, and above the end of the bucket before
	struct Bucket {
		double end;
		std::uint64_t count;
	};
	// All of a histogram. @beyond: how many are above the end of the last bucket
	void histogram(const Labels &labels, std::span<const Bucket> buckets, std::uint64_t beyond, double sum);

	const std::string &text() const { return text_; }

private:
	void part(std::string_view suffix, const Labels &labels, const std::string &value);

	std::string name_, head_, text_;
};

// Shortest text that reads back as the same number.
std::string exactNumber(double value);

} // namespace serving
