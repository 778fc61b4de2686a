// SPDX-License-Identifier: LGPL-2.1-or-later
// A strict reader of Prometheus' text format, version 0.0.4: for each thing that is not as it must be, a line.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

class ExpositionChecker {
public:
	using Labels = std::map<std::string, std::string>;

	explicit ExpositionChecker(std::string_view text)
	{
		if (text.empty() || text.back() != '\n')
			complain("the text does not end in a newline");
		for (std::size_t begin = 0; begin < text.size();) {
			std::size_t end = std::min(text.find('\n', begin), text.size());
			line(text.substr(begin, end - begin));
			begin = end + 1;
		}
		for (auto &[key, histogram] : histograms_)
			check(key, histogram);
	}

	const std::vector<std::string> &problems() const { return problems_; }
	std::size_t samples() const { return samples_.size(); }
	const std::map<std::string, std::string> &families() const { return types_; }

	// Of the one sample of that name with these labels among its own.
	std::optional<double> value(const std::string &name, const Labels &labels = {}) const
	{
		std::optional<double> found;
		for (const auto &[key, value] : samples_) {
			bool same = key.first == name;
			for (const auto &[label, content] : labels)
				same = same && key.second.contains(label) && key.second.at(label) == content;
			if (same && found)
				return std::nullopt;
			if (same)
				found = value;
		}
		return found;
	}

private:
	struct Buckets {
		std::vector<std::pair<double, double>> buckets; // end, count; in their order in the text
		std::optional<double> count, sum;
	};

	void complain(const std::string &what) { problems_.push_back(at_.empty() ? what : what + ": " + at_); }

	static bool nameChar(char c, bool first, bool colon)
	{
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
		return letter || (!first && c >= '0' && c <= '9');
	}

	static std::string takeName(std::string_view &text, bool colon)
	{
		std::size_t n = 0;
		while (n < text.size() && nameChar(text[n], n == 0, colon))
			n++;
		std::string name(text.substr(0, n));
		text.remove_prefix(n);
		return name;
	}

	static bool take(std::string_view &text, std::string_view what)
	{
		if (!text.starts_with(what))
			return false;
		text.remove_prefix(what.size());
		return true;
	}

	static bool utf8(std::string_view text)
	{
		for (std::size_t i = 0; i < text.size(); i++) {
			auto c = static_cast<unsigned char>(text[i]);
			int more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
			if (c >= 0x80 && (c < 0xc2 || c > 0xf4))
				return false;
			std::uint32_t point = more == 0 ? c : c & (0x3f >> more);
			for (; more; more--) {
				if (++i >= text.size() || (text[i] & 0xc0) != 0x80)
					return false;
				point = point << 6 | (text[i] & 0x3f);
			}
			if ((point >= 0xd800 && point < 0xe000) || point > 0x10ffff)
				return false;
		}
		return true;
	}

	static std::optional<double> number(std::string_view text)
	{
		if (text == "+Inf")
			return std::numeric_limits<double>::infinity();
		double value = 0;
		auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
		bool digits = !text.empty() && (text.front() == '-' || (text.front() >= '0' && text.front() <= '9'));
		if (error != std::errc() || stop != text.data() + text.size() || !digits)
			return std::nullopt;
		return value;
	}

	void line(std::string_view text)
	{
		at_ = std::string(text);
		if (!utf8(text))
			complain("not UTF-8");
		if (take(text, "# HELP "))
			help(text);
		else if (take(text, "# TYPE "))
			type(text);
		else if (text.empty() || text.front() == '#')
			complain("neither a sample nor HELP nor TYPE");
		else
			sample(text);
		at_.clear();
	}

	void help(std::string_view text)
	{
		std::string name = takeName(text, true);
		if (name.empty() || !take(text, " ") || text.empty())
			complain("HELP without a name or a text");
		if (!helped_.insert(name).second)
			complain("HELP twice");
		for (std::size_t i = 0; i < text.size(); i++)
			if (text[i] == '\\' && (++i >= text.size() || (text[i] != '\\' && text[i] != 'n')))
				complain("unknown escape");
		family_ = name;
	}

	void type(std::string_view text)
	{
		std::string name = takeName(text, true);
		std::string type(text.empty() ? text : text.substr(1));
		if (name.empty() || name != family_)
			complain("TYPE of another family than HELP before it");
		if (type != "counter" && type != "gauge" && type != "histogram")
			complain("unknown type");
		if (!types_.emplace(name, type).second)
			complain("TYPE twice: the samples of a family are not together");
		if ((type == "counter") != name.ends_with("_total"))
			complain("a counter's name ends in _total, and no other's");
		for (const char *suffix : {"_bucket", "_count", "_sum"})
			if (name.ends_with(suffix))
				complain("the name of a part of a histogram");
	}

	std::optional<std::string> labelValue(std::string_view &text)
	{
		std::string value;
		if (!take(text, "\""))
			return std::nullopt;
		while (!text.empty() && text.front() != '"') {
			char c = text.front();
			text.remove_prefix(1);
			if (c == '\\') {
				std::string_view known = "\\\"n";
				if (text.empty() || known.find(text.front()) == known.npos)
					return std::nullopt;
				c = text.front() == 'n' ? '\n' : text.front();
				text.remove_prefix(1);
			}
			value += c;
		}
		if (!take(text, "\""))
			return std::nullopt;
		return value;
	}

	std::optional<Labels> labels(std::string_view &text)
	{
		Labels found;
		if (!take(text, "{"))
			return found;
		while (!take(text, "}")) {
			std::string name = takeName(text, false);
			std::optional<std::string> value;
			if (name.empty() || name.starts_with("__") || !take(text, "=") || !(value = labelValue(text)))
				return std::nullopt;
			if (!found.emplace(name, *value).second)
				return std::nullopt;
			if (!take(text, ",") && !text.starts_with("}"))
				return std::nullopt;
		}
		return found;
	}

	void sample(std::string_view text)
	{
		std::string name = takeName(text, true);
		std::optional<Labels> of = labels(text);
		std::optional<double> value;
		if (name.empty() || !of || !take(text, " ") || !(value = number(text))) {
			complain("not a sample");
			return;
		}
		if (!samples_.emplace(std::pair(name, *of), *value).second)
			complain("the same sample twice");
		if (!types_.contains(family_))
			complain("no TYPE before it");
		else if (types_[family_] == "histogram")
			part(name, *of, *value);
		else if (name != family_ || of->contains("le"))
			complain("not of the family that TYPE named last");
		else if (types_[family_] == "counter" && !(*value >= 0))
			complain("a counter below zero");
	}

	void part(const std::string &name, Labels of, double value)
	{
		std::optional<double> end;
		if (of.contains("le"))
			end = number(of["le"]);
		bool bucket = name == family_ + "_bucket";
		if (bucket != end.has_value())
			complain("le is a number, and belongs to buckets");
		of.erase("le");
		Buckets &all = histograms_[{family_, of}];
		if (bucket)
			all.buckets.emplace_back(end.value_or(0), value);
		else if (name == family_ + "_count")
			all.count = value;
		else if (name == family_ + "_sum")
			all.sum = value;
		else
			complain("no part of the histogram");
	}

	void check(const std::pair<std::string, Labels> &key, const Buckets &all)
	{
		std::string name = key.first;
		for (const auto &[label, content] : key.second)
			name += " " + content;
		if (all.buckets.empty() || !std::isinf(all.buckets.back().first))
			return complain("no bucket +Inf at the end: " + name);
		for (std::size_t i = 1; i < all.buckets.size(); i++)
			if (all.buckets[i].first <= all.buckets[i - 1].first ||
			    all.buckets[i].second < all.buckets[i - 1].second)
				complain("buckets do not rise: " + name);
		if (all.count != all.buckets.back().second)
			complain("_count is not that of +Inf: " + name);
		if (!all.sum)
			complain("no _sum: " + name);
		else if (*all.sum < 0 || (*all.sum > 0 && all.count == 0.0))
			complain("a _sum that cannot be: " + name);
	}

	std::string at_; // the line that is being read
	std::string family_;
	std::set<std::string> helped_;
	std::map<std::string, std::string> types_;
	std::map<std::pair<std::string, Labels>, double> samples_;
	std::map<std::pair<std::string, Labels>, Buckets> histograms_;
	std::vector<std::string> problems_;
};
