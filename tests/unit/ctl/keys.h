// SPDX-License-Identifier: LGPL-2.1-or-later
// What tests of keys share: files with keys, the keyring, and commands.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "context.h"
#include "libctl/keys/keyring.h"
#include "parse.h"
#include "tests/unit/scratch.h"

// By Python: base64.b64encode(b + struct.pack("<I", zlib.crc32(b)))
inline constexpr const char *goodKey = "DHHC-1:01:AgkQFx4lLDM6QUhPVl1ka3J5gIeOlZyjqrG4v8bN1Nuz7TWq:";

// A file with a key, and mode 0600
class KeyFile {
public:
	explicit KeyFile(const std::string &text = std::string(goodKey) + "\n")
	{
		scratch_.write("host.key", text);
		mode(0600);
	}

	void mode(mode_t mode) const { REQUIRE(::chmod(path().c_str(), mode) == 0); }
	std::string path() const { return scratch_.path() / "host.key"; }
	const Scratch &scratch() const { return scratch_; }

private:
	Scratch scratch_;
};

inline bool says(const nvmeof::Error &error, const std::string &words)
{
	INFO(error.message);
	return error.message.find(words) != std::string::npos;
}

// A process in a container may have no keyring.
inline bool hasKeyring()
{
	nvmeof::Result<std::vector<nofctl::KeyringKey>> keys = nofctl::listKeys();
	if (!keys)
		WARN("no keyring: " << keys.error().message);
	return keys.ok();
}

inline nofctl::SecretBytes payload(std::string_view text)
{
	nofctl::SecretBytes bytes(text.size());
	std::ranges::copy(text, bytes.data());
	return bytes;
}

inline std::vector<std::string> wordsIn(const std::string &line)
{
	std::istringstream in(line);
	std::vector<std::string> words;
	for (std::string word; in >> word;)
		words.push_back(word);
	return words;
}

// Of a command
struct Outcome {
	int code;
	std::string out, err;
};

inline Outcome run(const std::string &line)
{
	CommandLine parsed = parseCommandLine(wordsIn(line));
	if (!parsed.command)
		return {parsed.exitCode, "", parsed.text};
	std::ostringstream out, err;
	Context context(*parsed.command, parsed.args, out, err);
	const int code = parsed.command->run(context);
	return {code, out.str(), err.str()};
}
