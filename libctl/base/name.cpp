// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/name.h>

#include <charconv>

namespace nvmeof {

namespace {

// Takes a decimal number without leading zeros off the front of @text.
std::optional<std::uint32_t> takeNumber(std::string_view &text)
{
	std::uint32_t number = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	auto length = static_cast<std::size_t>(end - text.data());
	if (error != std::errc() || (length > 1 && text.front() == '0'))
		return std::nullopt;
	text.remove_prefix(length);
	return number;
}

bool takePrefix(std::string_view &text, std::string_view prefix)
{
	if (!text.starts_with(prefix))
		return false;
	text.remove_prefix(prefix.size());
	return true;
}

} // namespace

const char *toString(ObjectKind kind)
{
	switch (kind) {
	case ObjectKind::subsystem:
		return "subsystem";
	case ObjectKind::controller:
		return "controller";
	case ObjectKind::nameSpace:
		return "namespace";
	case ObjectKind::path:
		return "path";
	}
	return "object";
}

ObjectKind ObjectName::kind() const
{
	if (controller)
		return nameSpace ? ObjectKind::path : ObjectKind::controller;
	return nameSpace ? ObjectKind::nameSpace : ObjectKind::subsystem;
}

std::string ObjectName::toString() const
{
	std::string text = "nvmeof" + std::to_string(subsystem);
	if (controller)
		text += "c" + std::to_string(*controller);
	if (nameSpace)
		text += "n" + std::to_string(*nameSpace);
	return text;
}

std::optional<ObjectName> parseName(std::string_view text)
{
	takePrefix(text, "/dev/");
	if (!takePrefix(text, "nvmeof"))
		return std::nullopt;
	std::optional<std::uint32_t> subsystem = takeNumber(text);
	if (!subsystem)
		return std::nullopt;
	ObjectName name{*subsystem, {}, {}};
	if (takePrefix(text, "c") && !(name.controller = takeNumber(text)))
		return std::nullopt;
	if (takePrefix(text, "n") && !(name.nameSpace = takeNumber(text)))
		return std::nullopt;
	if (!text.empty())
		return std::nullopt;
	return name;
}

std::string plainName(std::string_view text)
{
	std::optional<ObjectName> name = parseName(text);
	return name ? name->toString() : std::string(text);
}

} // namespace nvmeof
