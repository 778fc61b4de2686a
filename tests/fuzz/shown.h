// SPDX-License-Identifier: LGPL-2.1-or-later
// What becomes of the kernel's words on their way to a terminal and to programs.
#pragma once

#include <nlohmann/json.hpp>

#include "input.h"
#include "json.h"

// Nothing that could drive a terminal.
inline void expectPlain(std::string_view text)
{
	auto plain = [](unsigned char c) { return c == '\n' || (c >= ' ' && c < 0x7f); };
	expect(std::all_of(text.begin(), text.end(), plain), "text is plain");
}

inline void expectPlainLine(std::string_view text)
{
	expectPlain(text);
	expect(text.find('\n') == text.npos, "text is one line");
}

// Whatever is in it, it comes out as JSON, which is UTF-8, and reads back as what it says.
inline void expectJson(const Json &document)
{
	const std::string text = dump(document, -1);
	expect(text.find('\n') == text.npos, "a document is one line");
	const Json read = Json::parse(text, nullptr, false);
	expect(!read.is_discarded(), "a document can be read");
	expect(dump(read, -1) == text, "and says the same");
}
