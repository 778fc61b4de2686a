// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: one word, parsed as a UUID, a time and the name of an object.
#include "input.h"

#include <nvmeof/duration.h>
#include <nvmeof/name.h>
#include <nvmeof/uuid.h>

#include "settings_text.h"

using namespace nvmeof;

namespace {

void uuid(std::string_view text)
{
	const std::optional<Uuid> uuid = Uuid::parse(text);
	if (!uuid)
		return;
	const std::string written = uuid->toString();
	auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'F' ? b - 'A' + 'a' : b); };
	expect(std::ranges::equal(written, text, same), "a UUID is written as it was read, in lower case");
	expect(Uuid::parse(written) == uuid, "a value reads the same after being written");
}

void time(std::string_view text, Never never)
{
	const Result<std::chrono::milliseconds> time = parseSeconds(text, never);
	if (!time) {
		expect(time.error().code == ErrorCode::invalid && !time.error().message.empty(), "a reason");
		return;
	}
	expect(time->count() >= (never == Never::allowed ? -1 : 0) && time->count() <= INT32_MAX, "a time in range");
	expect(time->count() != 0 || text.find_first_of("123456789") == text.npos, "0 is what was meant to be");
	const Result<std::chrono::milliseconds> again = parseSeconds(milliseconds(*time), never);
	expect(again && *again == *time, "a value reads the same after being written");
}

void name(std::string_view text)
{
	const std::optional<ObjectName> name = parseName(text);
	if (!name)
		return;
	const std::string written = name->toString();
	expect(text == written || text == "/dev/" + written, "a name is written as it was read");
	expect((name->kind() == ObjectKind::path) == (name->controller && name->nameSpace), "of its kind");
}

} // namespace

void fuzz(Input in)
{
	uuid(in.text());
	time(in.text(), Never::refused);
	time(in.text(), Never::allowed);
	name(in.text());
}
