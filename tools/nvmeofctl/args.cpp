// SPDX-License-Identifier: LGPL-2.1-or-later
#include "args.h"

#include <charconv>

#include "duration.h"

nvmeof::Error usageError(std::string message)
{
	nvmeof::Error error;
	error.code = nvmeof::ErrorCode::invalid;
	error.message = std::move(message);
	return error;
}

std::optional<std::string> Args::text(const std::string &option) const
{
	auto found = values_.find(option);
	if (found == values_.end() || found->second.empty())
		return std::nullopt;
	return found->second.back();
}

std::string Args::textOr(const std::string &option, const std::string &fallback) const
{
	return text(option).value_or(fallback);
}

const std::vector<std::string> &Args::all(const std::string &option) const
{
	static const std::vector<std::string> none;
	auto found = values_.find(option);
	return found == values_.end() ? none : found->second;
}

std::optional<std::uint32_t> Args::number(const std::string &option) const
{
	std::optional<std::string> given = text(option);
	std::uint32_t value = 0;
	if (!given || std::from_chars(given->data(), given->data() + given->size(), value).ec != std::errc())
		return std::nullopt;
	return value;
}

std::optional<std::chrono::milliseconds> Args::seconds(const std::string &option) const
{
	std::optional<std::string> given = text(option);
	if (!given)
		return std::nullopt;
	nvmeof::Result<std::chrono::milliseconds> time = parseSeconds(*given, Never::allowed);
	return time ? std::optional(*time) : std::nullopt;
}
