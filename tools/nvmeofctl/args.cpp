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

nvmeof::Result<std::optional<std::uint32_t>> Args::number(const std::string &option, std::uint32_t most) const
{
	std::optional<std::string> given = text(option);
	if (!given)
		return std::optional<std::uint32_t>();
	std::uint32_t value = 0;
	const char *end = given->data() + given->size();
	auto [stop, error] = std::from_chars(given->data(), end, value);
	if (error != std::errc() || stop != end || value > most)
		return usageError("--" + option + ": '" + *given + "' is not a number from 0 to " +
				  std::to_string(most));
	return std::optional(value);
}

static nvmeof::Result<std::optional<std::chrono::milliseconds>> duration(const Args &args, const std::string &option,
									 Never never)
{
	std::optional<std::string> given = args.text(option);
	if (!given)
		return std::optional<std::chrono::milliseconds>();
	nvmeof::Result<std::chrono::milliseconds> time = parseSeconds(*given, never);
	if (!time)
		return usageError("--" + option + ": " + time.error().message);
	return std::optional(*time);
}

nvmeof::Result<std::optional<std::chrono::milliseconds>> Args::seconds(const std::string &option) const
{
	return duration(*this, option, Never::refused);
}

nvmeof::Result<std::optional<std::chrono::milliseconds>> Args::secondsOrNever(const std::string &option) const
{
	return duration(*this, option, Never::allowed);
}
