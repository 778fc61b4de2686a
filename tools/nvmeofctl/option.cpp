// SPDX-License-Identifier: LGPL-2.1-or-later
#include "option.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/address.h>
#include <nvmeof/suggest.h>
#include <nvmeof/uuid.h>

#include "libctl/config/config_parse.h"
#include "libctl/keys/source.h"
#include "when.h"

using namespace nvmeof;

namespace {

constexpr std::int64_t anyTime = INT32_MAX, anyNumber = UINT32_MAX; // not shown as a range
constexpr int lastPort = 65535;

bool timed(const Option &option)
{
	return option.type == Type::time || option.type == Type::timeOrNever;
}

std::optional<std::string> notAChoice(const Option &option, const std::string &value)
{
	if (std::ranges::find(option.choices, value) != option.choices.end())
		return std::nullopt;
	std::optional<std::string> meant = closest(value, option.choices);
	return fmt::format("'{}' is none of {}{}", value, fmt::join(option.choices, ", "),
			   meant ? fmt::format("; did you mean '{}'?", *meant) : "");
}

std::optional<std::string> notANumber(const std::string &value, std::int64_t min, std::int64_t max)
{
	std::int64_t number = 0;
	const char *end = value.data() + value.size();
	auto [stop, error] = std::from_chars(value.data(), end, number);
	if (error == std::errc() && stop == end && number >= min && number <= max)
		return std::nullopt;
	return fmt::format("'{}' is not a number from {} to {}", value, min, max);
}

std::optional<std::string> notATime(const Option &option, const std::string &value)
{
	Never never = option.type == Type::timeOrNever ? Never::allowed : Never::refused;
	Result<std::chrono::milliseconds> time = parseSeconds(value, never);
	if (!time)
		return time.error().message;
	if (time->count() < 0 || (time->count() >= option.min && time->count() <= option.max))
		return std::nullopt;
	return fmt::format("'{}' is out of range: {}", value, rangeOf(option));
}

template <typename T> std::optional<std::string> messageOf(const Result<T> &result)
{
	return result ? std::optional<std::string>() : result.error().message;
}

std::optional<std::string> notAUuid(const std::string &value)
{
	std::optional<Uuid> uuid = Uuid::parse(value);
	return uuid && !uuid->isNil() ? std::optional<std::string>() : fmt::format("'{}' is not a UUID", value);
}

std::optional<std::string> notOfItsType(const Option &option, const std::string &value)
{
	switch (option.type) {
	case Type::text:
		return std::nullopt;
	case Type::number:
		return notANumber(value, option.min, option.max);
	case Type::time:
	case Type::timeOrNever:
		return notATime(option, value);
	case Type::port:
		return notANumber(value, 1, lastPort);
	case Type::nqn:
		return messageOf(checkNqn(value));
	case Type::uuid:
		return notAUuid(value);
	case Type::address:
		return messageOf(parseTraddr(value));
	case Type::keySource:
		return messageOf(nofctl::KeySource::parse(value));
	case Type::stripeName:
		return nofctl::isStripeName(value)
			       ? std::optional<std::string>()
			       : fmt::format("'{}' is not a name of 1 to 64 letters, digits, - and _", value);
	}
	return std::nullopt;
}

std::string secondsText(std::int64_t milliseconds)
{
	return fmt::format("{}", static_cast<double>(milliseconds) / 1000);
}

} // namespace

std::string Option::heading() const
{
	if (positional())
		return longName;
	std::string text = shortName.empty() ? longName : shortName + ", " + longName;
	if (flag())
		return text;
	return text + (mayLackValue ? "[=" + value + "]" : " " + value);
}

std::string rangeOf(const Option &option)
{
	if (option.type == Type::number && option.max < anyNumber)
		return fmt::format("{} to {}", option.min, option.max);
	if (!timed(option))
		return {};
	std::string never = option.type == Type::timeOrNever ? "-1, or " : "";
	if (option.max < anyTime)
		return fmt::format("{}{} to {} s", never, secondsText(option.min), secondsText(option.max));
	return option.min ? fmt::format("{}{} s or more", never, secondsText(option.min)) : "";
}

std::string valueNote(const Option &option)
{
	std::vector<std::string> notes;
	if (!option.choices.empty())
		notes.push_back(fmt::format("one of {}", fmt::join(option.choices, ", ")));
	if (std::string range = rangeOf(option); !range.empty())
		notes.push_back(range);
	if (!option.preset.empty())
		notes.push_back(option.preset + " if not given");
	if (option.required && !option.positional())
		notes.emplace_back("required");
	if (option.repeated && !option.positional())
		notes.emplace_back("may be repeated");
	return fmt::format("{}", fmt::join(notes, "; "));
}

std::optional<std::string> refusalOf(const Option &option, const std::string &value)
{
	std::optional<std::string> wrong =
		option.choices.empty() ? notOfItsType(option, value) : notAChoice(option, value);
	if (wrong && option.secret)
		return "invalid value (not shown, as it may be secret)";
	return wrong;
}
