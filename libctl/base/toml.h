// SPDX-License-Identifier: LGPL-2.1-or-later
// Values of a TOML file, and tables with known keys.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/duration.h>

// Header only: the shared library in Debian is built with exceptions.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
// toml++ 3.3 asserts a condition that "[," violates, but then handles the error correctly. The assertion is removed,
// and the compiler must not derive assumptions from it.
#define TOML_ASSERT(expr) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace nofctl {

// Each fails with invalid; the message covers the value only.
nvmeof::Result<std::string> textOf(const toml::node &node);               // not empty, no blanks or control characters
nvmeof::Result<std::vector<std::string>> textsOf(const toml::node &node); // one text, or a list of texts
nvmeof::Result<std::string> nqnOf(const toml::node &node);                // checkNqn()
nvmeof::Result<bool> flagOf(const toml::node &node);
nvmeof::Result<std::int64_t> numberOf(const toml::node &node, std::int64_t min, std::int64_t max);
// A number of seconds, or a text for parseSeconds().
nvmeof::Result<std::chrono::milliseconds> timeOf(const toml::node &node, nvmeof::Never never);
nvmeof::Result<std::string> wordOf(const toml::node &node, const std::vector<std::string> &words); // one of @words

using Put = std::function<nvmeof::Result<void>(const toml::node &)>;

// The known keys of a table.
class Keys {
public:
	Keys &add(std::string name, Put put)
	{
		puts_.emplace(std::move(name), std::move(put));
		return *this;
	}
	// A key whose value is read by @get and stored by @put
	template <typename G, typename P> Keys &add(std::string name, G get, P put)
	{
		return add(std::move(name), [get, put](const toml::node &node) -> nvmeof::Result<void> {
			auto value = get(node);
			if (!value)
				return value.error();
			put(*std::move(value));
			return {};
		});
	}
	// Reads all keys of @table. An error in one key does not affect the others.
	void read(const toml::table &table, const std::string &file,
		  std::vector<nvmeof::ConfigProblem> &problems) const;

private:
	std::string unknown(std::string_view name) const;

	std::map<std::string, Put, std::less<>> puts_;
};

// Nothing if @text is not valid TOML; that is added to @problems.
std::optional<toml::table> parseToml(std::string_view text, const std::string &file,
				     std::vector<nvmeof::ConfigProblem> &problems);
// Sorts by line and limits the number.
void tidyProblems(std::vector<nvmeof::ConfigProblem> &problems);
// The first of @problems, which must not be empty, as an Error that also gives the number of further ones.
nvmeof::Error errorOf(const std::vector<nvmeof::ConfigProblem> &problems);

nvmeof::ConfigPlace placeOf(const toml::node &node, const std::string &file);

} // namespace nofctl
