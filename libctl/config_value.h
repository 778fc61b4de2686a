// SPDX-License-Identifier: LGPL-2.1-or-later
// Values of a TOML file, and tables of keys that are known.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/duration.h>

// As a header alone: the shared library that Debian has throws.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
// What it asserts, "[," does not hold; behind that it reports what is wrong. Nor must a compiler rely on it.
#define TOML_ASSERT(expr) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace nofctl {

// Each: invalid, in words about the value alone.
nvmeof::Result<std::string> textOf(const toml::node &node);               // plain, not empty
nvmeof::Result<std::vector<std::string>> textsOf(const toml::node &node); // one, or a list of them
nvmeof::Result<bool> flagOf(const toml::node &node);
nvmeof::Result<std::int64_t> numberOf(const toml::node &node, std::int64_t least, std::int64_t most);
// In seconds: a number, or a text as parseSeconds() has it.
nvmeof::Result<std::chrono::milliseconds> timeOf(const toml::node &node, nvmeof::Never never);
nvmeof::Result<std::string> wordOf(const toml::node &node, const std::vector<std::string> &words); // one of them

using Put = std::function<nvmeof::Result<void>(const toml::node &)>;

// What may stand in a table, by key.
class Keys {
public:
	Keys &add(std::string name, Put put)
	{
		puts_.emplace(std::move(name), std::move(put));
		return *this;
	}
	// Of those that take a value of @get, and do @put with it
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
	// Takes what there is; what is wrong with one key leaves the others.
	void read(const toml::table &table, const std::string &file,
		  std::vector<nvmeof::ConfigProblem> &problems) const;

private:
	std::string unknown(std::string_view name) const;

	std::map<std::string, Put, std::less<>> puts_;
};

// Nothing: it is no TOML, which is a problem.
std::optional<toml::table> parseToml(std::string_view text, const std::string &file,
				     std::vector<nvmeof::ConfigProblem> &problems);
// From the top, and not too many
void tidyProblems(std::vector<nvmeof::ConfigProblem> &problems);

nvmeof::ConfigPlace placeOf(const toml::node &node, const std::string &file);

} // namespace nofctl
