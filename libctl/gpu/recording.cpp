// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recording.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "libctl/base/make_error.h"

namespace nofctl::gpu {

using namespace nvmeof;

namespace {

constexpr std::size_t rowBytes = 16; // rows of this size that are all zero are left out

bool isText(std::string_view content)
{
	return std::ranges::all_of(content,
				   [](unsigned char c) { return c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f); });
}

// @blanks: escape blanks too, so that a path stays one word.
std::string escaped(std::string_view text, bool blanks)
{
	std::string out;
	for (unsigned char c : text) {
		if (c == '\\')
			out += "\\\\";
		else if (c == '\n')
			out += "\\n";
		else if (c < ' ' || c >= 0x7f || (blanks && c == ' '))
			out += fmt::format("\\x{:02x}", c);
		else
			out += static_cast<char>(c);
	}
	return out;
}

std::optional<unsigned> hexByte(std::string_view digits)
{
	unsigned value = 0;
	if (digits.size() < 2)
		return std::nullopt;
	auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, value, 16);
	return error == std::errc() && end == digits.data() + 2 ? std::optional(value) : std::nullopt;
}

std::optional<std::string> unescaped(std::string_view text)
{
	std::string out;
	for (std::size_t i = 0; i < text.size(); i++) {
		if (text[i] != '\\') {
			out += text[i];
			continue;
		}
		if (++i == text.size())
			return std::nullopt;
		if (text[i] == 'n' || text[i] == '\\') {
			out += text[i] == 'n' ? '\n' : '\\';
			continue;
		}
		const std::optional<unsigned> byte = text[i] == 'x' ? hexByte(text.substr(i + 1)) : std::nullopt;
		if (!byte)
			return std::nullopt;
		out += static_cast<char>(*byte);
		i += 2;
	}
	return out;
}

std::string formatBytes(std::string_view content)
{
	std::string out = std::to_string(content.size());
	for (std::size_t at = 0; at < content.size(); at += rowBytes) {
		const std::string_view row = content.substr(at, rowBytes);
		if (std::ranges::all_of(row, [](char c) { return c == 0; }))
			continue;
		out += fmt::format(" {:x}:", at);
		for (unsigned char c : row)
			out += fmt::format("{:02x}", c);
	}
	return out;
}

// Parses one "OFFSET:HEX"
bool putRow(std::string &content, std::string_view row)
{
	std::size_t at = 0;
	const std::size_t colon = row.find(':');
	if (colon == row.npos)
		return false;
	auto [end, error] = std::from_chars(row.data(), row.data() + colon, at, 16);
	if (error != std::errc() || end != row.data() + colon)
		return false;
	for (row.remove_prefix(colon + 1); !row.empty(); row.remove_prefix(2)) {
		const std::optional<unsigned> byte = hexByte(row);
		if (!byte || at >= content.size())
			return false;
		content[at++] = static_cast<char>(*byte);
	}
	return true;
}

std::optional<std::string> parseBytes(std::string_view text)
{
	const std::vector<std::string> words = wordsOf(text);
	std::size_t length = 0;
	if (words.empty())
		return std::nullopt;
	const char *last = words[0].data() + words[0].size();
	auto [end, error] = std::from_chars(words[0].data(), last, length);
	if (error != std::errc() || end != last || length > Tree::maxBytes)
		return std::nullopt;
	std::string content(length, '\0');
	for (std::size_t i = 1; i < words.size(); i++)
		if (!putRow(content, words[i]))
			return std::nullopt;
	return content;
}

// Parses the text after the letter: a path, and the rest.
bool putLine(MemoryTree &tree, char kind, std::string_view line)
{
	const std::size_t blank = line.find(' ');
	const std::optional<std::string> path = unescaped(line.substr(0, blank));
	const std::string_view rest = blank == line.npos ? std::string_view() : line.substr(blank + 1);
	if (!path || !path->starts_with('/') || path->find('\0') != path->npos)
		return false;
	if (kind == 'n') {
		tree.name(*path);
		return rest.empty();
	}
	const std::optional<std::string> value = kind == 'b' ? parseBytes(rest) : unescaped(rest);
	if (!value || value->size() > Tree::maxBytes || (kind == 'l' && value->empty()))
		return false;
	if (kind == 'l')
		tree.link(*path, *value);
	else
		tree.file(*path, *value);
	return true;
}

} // namespace

std::string formatRecording(const MemoryTree &tree)
{
	std::string text = std::string(recordingHead) + "\n";
	for (const auto &[path, target] : tree.links())
		text += fmt::format("l {} {}\n", escaped(path, true), escaped(target, true));
	for (const auto &[path, content] : tree.files())
		text += isText(content) ? fmt::format("f {} {}\n", escaped(path, true), escaped(content, false))
					: fmt::format("b {} {}\n", escaped(path, true), formatBytes(content));
	for (const std::string &path : tree.names())
		if (!tree.files().contains(path) && !tree.links().contains(path) && tree.list(path).empty())
			text += fmt::format("n {}\n", escaped(path, true));
	return text;
}

Result<MemoryTree> parseRecording(std::string_view text)
{
	MemoryTree tree;
	const std::vector<std::string> lines = linesOf(text);
	if (lines.empty() || lines[0] != recordingHead)
		return invalidError("it does not begin with '" + std::string(recordingHead) + "'");
	for (std::size_t i = 1; i < lines.size(); i++) {
		const std::string &line = lines[i];
		if (line.empty() || line[0] == '#')
			continue;
		const bool known = line.size() > 2 && line[1] == ' ' &&
				   std::string_view("fbln").find(line[0]) != std::string_view::npos;
		if (!known || !putLine(tree, line[0], std::string_view(line).substr(2)))
			return invalidError("line " + std::to_string(i + 1) + " is not valid in a recording");
	}
	return tree;
}

} // namespace nofctl::gpu
