// SPDX-License-Identifier: LGPL-2.1-or-later
#include "failure.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "libctl/wire/status.h"

namespace initiator {

using namespace nofctl::wire;

namespace {

struct Words {
	const char *word, *text;
};

constexpr const char *steps[] = {"tcp",    "hello", "connect",  "cap",    "vs",
				 "enable", "ready", "identify", "events", "live"};
constexpr std::array<Words, 13> reasons{{{"none", "no error"},
					 {"local", "local error"},
					 {"refused", "connection refused"},
					 {"unreachable", "no route"},
					 {"timed_out", "no answer in time"},
					 {"closed", "connection closed by the peer"},
					 {"reset", "the connection was reset"},
					 {"terminated", "connection terminated by the peer"},
					 {"protocol", "protocol violation by the peer"},
					 {"digest", "digest error"},
					 {"busy", "the service is busy"},
					 {"status", "refused"},
					 {"unusable", "unusable response"}}};

const Words &wordsOf(Reason reason)
{
	return reasons[static_cast<std::size_t>(reason)];
}

std::string numberOf(const Failure &failure)
{
	if (!failure.number)
		return {};
	if (failure.reason == Reason::local || failure.reason == Reason::unreachable)
		return fmt::format(": {}", std::strerror(static_cast<int>(failure.number)));
	if (failure.reason == Reason::terminated)
		return fmt::format(": fatal error status {}", failure.number);
	if (failure.reason != Reason::busy && failure.reason != Reason::status)
		return {};
	const char *name = statusName(static_cast<std::uint16_t>(failure.number));
	return fmt::format(": {} (status 0x{:x})", name ? name : "unknown status", failure.number & st_type_and_code);
}

} // namespace

const char *toString(Step step)
{
	return steps[static_cast<std::size_t>(step)];
}

const char *toString(Reason reason)
{
	return wordsOf(reason).word;
}

Failure failureOfErrno(int error)
{
	Failure failure;
	failure.number = static_cast<std::uint32_t>(error);
	switch (error) {
	case ECONNREFUSED:
		failure.reason = Reason::refused;
		break;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
		failure.reason = Reason::unreachable;
		break;
	case ETIMEDOUT:
		failure.reason = Reason::timedOut;
		break;
	case ECONNRESET:
	case EPIPE:
		failure.reason = Reason::reset;
		break;
	default:
		failure.reason = Reason::local;
	}
	return failure;
}

Failure failureOfStatus(std::uint16_t status, const char *what)
{
	const bool busy = (status & st_type_and_code) == st_connect_busy;
	return {busy ? Reason::busy : Reason::status, Step::tcp, status, what};
}

std::string describe(const Failure &failure)
{
	std::string text = wordsOf(failure.reason).text + numberOf(failure);
	if (*failure.what)
		text += fmt::format(": {}", failure.what);
	return failure.step == Step::live ? text : fmt::format("{} ({})", text, toString(failure.step));
}

} // namespace initiator
