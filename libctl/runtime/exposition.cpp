// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exposition.h"

#include <cmath>

#include <fmt/format.h>

namespace runtime {

namespace {

const char *nameOf(Exposition::Type type)
{
	switch (type) {
	case Exposition::Type::counter:
		return "counter";
	case Exposition::Type::gauge:
		return "gauge";
	case Exposition::Type::histogram:
		return "histogram";
	}
	return "untyped";
}

// Number of bytes that follow @first in a UTF-8 sequence; 4: @first starts no sequence
int following(unsigned char first)
{
	if (first < 0x80)
		return 0;
	if (first >= 0xc2 && first < 0xe0)
		return 1;
	if (first >= 0xe0 && first < 0xf0)
		return 2;
	return first >= 0xf0 && first < 0xf5 ? 3 : 4;
}

bool wellFormed(std::string_view text, std::size_t at, int length)
{
	if (length > 3 || at + static_cast<std::size_t>(length) >= text.size())
		return false;
	for (int i = 1; i <= length; i++)
		if ((static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]) & 0xc0) != 0x80)
			return false;
	auto first = static_cast<unsigned char>(text[at]);
	unsigned char second = length ? static_cast<unsigned char>(text[at + 1]) : 0;
	bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
	bool surrogate = first == 0xed && second >= 0xa0;
	bool tooHigh = first == 0xf4 && second >= 0x90;
	return !overlong && !surrogate && !tooHigh;
}

// The format requires UTF-8, and strings from targets may be anything: invalid bytes become U+FFFD.
std::string escaped(std::string_view value)
{
	std::string text;
	for (std::size_t at = 0; at < value.size(); at++) {
		int more = following(static_cast<unsigned char>(value[at]));
		if (!wellFormed(value, at, more))
			text += "\xef\xbf\xbd";
		else if (value[at] == '\\' || value[at] == '"')
			text += fmt::format("\\{}", value[at]);
		else if (value[at] == '\n')
			text += "\\n";
		else {
			text += value.substr(at, static_cast<std::size_t>(more) + 1);
			at += static_cast<std::size_t>(more);
		}
	}
	return text;
}

} // namespace

std::string exactNumber(double value)
{
	if (std::isnan(value))
		return "NaN";
	if (std::isinf(value))
		return value > 0 ? "+Inf" : "-Inf";
	return fmt::format("{}", value);
}

void Exposition::family(std::string name, Type type, std::string_view help)
{
	head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, nameOf(type));
	name_ = std::move(name);
}

void Exposition::sample(const Labels &labels, std::uint64_t value)
{
	part("", labels, std::to_string(value));
}

void Exposition::sample(const Labels &labels, double value)
{
	part("", labels, exactNumber(value));
}

void Exposition::histogram(const Labels &labels, std::span<const Bucket> buckets, std::uint64_t beyond, double sum)
{
	Labels labelled = labels;
	std::string &end = labelled.emplace_back("le", "").second;
	std::uint64_t count = 0;
	for (const Bucket &bucket : buckets) {
		count += bucket.count;
		end = exactNumber(bucket.end);
		part("_bucket", labelled, std::to_string(count));
	}
	count += beyond;
	end = "+Inf"; // required in every histogram
	part("_bucket", labelled, std::to_string(count));
	part("_sum", labels, exactNumber(sum));
	part("_count", labels, std::to_string(count));
}

// A sample of the current family, with @suffix after its name
void Exposition::part(std::string_view suffix, const Labels &labels, const std::string &value)
{
	text_ += head_;
	head_.clear();
	std::string list;
	for (const auto &[name, content] : labels)
		list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", name, escaped(content));
	text_ += fmt::format("{}{}{{{}}} {}\n", name_, suffix, list, value);
}

} // namespace runtime
