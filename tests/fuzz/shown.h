// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of text from the kernel on its way to terminals and programs
#pragma once

#include <nlohmann/json.hpp>

#include "input.h"
#include "json.h"

// The text has no control character that a terminal interprets.
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

// The document becomes valid JSON in UTF-8 whatever its texts are, and reads back as the same.
inline void expectJson(const Json &document)
{
	const std::string text = dump(document, -1);
	expect(text.find('\n') == text.npos, "a document is one line");
	const Json read = Json::parse(text, nullptr, false);
	expect(!read.is_discarded(), "a document can be read");
	expect(dump(read, -1) == text, "and says the same");
}
