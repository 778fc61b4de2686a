// SPDX-License-Identifier: LGPL-2.1-or-later
// Connections and namespaces that several files of multipath tests use.
#pragma once

#include "support/multi.h"
#include "target/identify.h"
#include "target/misbehaviour.h"

#include <functional>

namespace guest {

// Connects all lanes, with options that @change has changed.
inline void connectWith(Multi &rig, const std::function<void(nvmeof::ConnectOptions &)> &change)
{
	for (unsigned n = 0; n < rig.lanes(); n++) {
		auto o = rig.options(n);
		change(o);
		rig.host.connect(o);
	}
}

// Makes the namespace private: NMIC is 0, and identifiers differ between controllers that use the same NSID.
inline bool makePrivate(target::Strike &s, std::uint8_t mark)
{
	auto &data = *s.data;
	if (s.identify(target::cns_ns)) {
		data[target::at::nmic] = 0;
		data[119] = mark; // last byte of NGUID
	} else if (s.identify(target::cns_descs)) {
		data[19] = data[39] = mark; // last byte of NGUID and of UUID
	} else {
		return false;
	}
	return true;
}

inline const target::Misbehaviour privateNs[] = {
	{"private-1", 0, target::Hook::adminData, target::When::connecting, target::Expect::harmless,
	 target::Needs::nothing, [](target::Strike &s) { return makePrivate(s, 1); }},
	{"private-2", 0, target::Hook::adminData, target::When::connecting, target::Expect::harmless,
	 target::Needs::nothing, [](target::Strike &s) { return makePrivate(s, 2); }},
};

} // namespace guest
