// SPDX-License-Identifier: LGPL-2.1-or-later
// Text in the Prometheus exposition format, version 0.0.4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runtime {

class Exposition {
public:
	enum class Type { counter, gauge, histogram };
	using Labels = std::vector<std::pair<std::string, std::string>>;

	// Starts a metric family; the following samples belong to it. A family without samples is omitted.
	void family(std::string name, Type type, std::string_view help);
	void sample(const Labels &labels, std::uint64_t value);
	void sample(const Labels &labels, double value);
	// A bucket of a histogram: @count of values up to @end that are above the end of the previous bucket
	struct Bucket {
		double end;
		std::uint64_t count;
	};
	// A complete histogram. @beyond: count of values above the end of the last bucket
	void histogram(const Labels &labels, std::span<const Bucket> buckets, std::uint64_t beyond, double sum);

	const std::string &text() const { return text_; }

private:
	void part(std::string_view suffix, const Labels &labels, const std::string &value);

	std::string name_, head_, text_;
};

// The shortest text that reads back as the same number
std::string exactNumber(double value);

} // namespace runtime
