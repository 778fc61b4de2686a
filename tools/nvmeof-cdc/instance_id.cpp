// SPDX-License-Identifier: LGPL-2.1-or-later
#include "instance_id.h"

#include <algorithm>

#include <nvmeof/uuid.h>

#include "libctl/base/file.h"
#include "libctl/base/invalid_error.h"

namespace cdc {

using nvmeof::ErrorCode;
using nvmeof::Result;
using nvmeof::Uuid;

namespace {

Result<std::string> readId(const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readSmallFile(file);
	if (!text)
		return text;
	std::erase(*text, '\n');
	if (!Uuid::parse(*text))
		return nofctl::invalidError(file.string() +
					    ": it contains no UUID; remove the file, and a new one is created");
	return text;
}

} // namespace

std::string nqnOf(const std::string &id)
{
	return "nqn.2014-08.org.nvmexpress:uuid:" + id;
}

Result<Identity> readIdentity(const Rules &rules)
{
	const std::filesystem::path file = rules.state / "id";
	Result<std::string> id = readId(file);
	if (!id && id.error().code == ErrorCode::noSuchObject) {
		std::error_code ignored;
		std::filesystem::create_directories(rules.state, ignored);
		if (Result<bool> made = nofctl::createFile(file, Uuid::random().toString() + "\n"); !made)
			return made.error();
		id = readId(file);
	}
	if (!id)
		return id.error();
	std::string serial = *id;
	std::erase(serial, '-');
	serial.resize(20);
	return Identity{*id, rules.nqn.empty() ? nqnOf(*id) : rules.nqn, serial, NVMEOF_VERSION};
}

} // namespace cdc
