// SPDX-License-Identifier: LGPL-2.1-or-later
// Building blocks of the misbehaviour tables.
#pragma once

#include "misbehaviour.h"

namespace target::acts {

// Short names for the lines of the tables
using S = Strike;
constexpr auto connecting = When::connecting;
constexpr auto io = When::io;
constexpr auto idle = When::idle;
constexpr auto nothing = Needs::nothing;

// Calls change() if the condition holds, and returns the condition: the form of most table lines.
template <class Fn> bool when(bool condition, Fn &&change)
{
	if (condition)
		change();
	return condition;
}

inline bool verdict(bool condition, Strike &s, Verdict v)
{
	return when(condition, [&] { s.verdict = v; });
}

inline bool failed(bool condition, Strike &s, int status)
{
	return when(condition, [&] {
		s.verdict = Verdict::failed;
		s.status = static_cast<std::uint16_t>(status);
	});
}

// Of a PDU that is about to be sent, over TCP only
inline PduHeader &header(Strike &s)
{
	return s.as<PduHeader>();
}

template <class T> bool poke(bool condition, Strike &s, std::size_t offset, std::type_identity_t<T> value)
{
	return when(condition, [&] { put<T>(*s.data, offset, value); });
}

template <class T> bool poke(bool condition, Strike &s, Field<T> field, std::type_identity_t<T> value)
{
	return poke<T>(condition, s, field.offset, value);
}

// A misbehaviour that is in no table: the test that arms it judges the outcome.
inline Misbehaviour always(Hook hook, bool (*act)(Strike &))
{
	return {"always", 30, hook, When::io, Expect::judgedByTest, Needs::nothing, act};
}

} // namespace target::acts
