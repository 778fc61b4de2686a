// SPDX-License-Identifier: LGPL-2.1-or-later
// What lines of the tables of misbehaviours are made of.
#pragma once

#include "misbehaviour.h"

namespace target::acts {

// Does change when the condition holds: the shape of most of the lines.
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

template <class T> bool poke(bool condition, Strike &s, std::size_t offset, std::type_identity_t<T> value)
{
	return when(condition, [&] { put<T>(*s.data, offset, value); });
}

template <class T> bool poke(bool condition, Strike &s, Field<T> field, std::type_identity_t<T> value)
{
	return poke<T>(condition, s, field.offset, value);
}

// Of no table: armed by a test that judges by itself what comes of it.
inline Misbehaviour always(Hook hook, bool (*act)(Strike &))
{
	return {"always", 30, hook, When::io, Expect::bounded, Needs::nothing, act};
}

} // namespace target::acts
