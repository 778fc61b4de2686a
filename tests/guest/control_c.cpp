// SPDX-License-Identifier: LGPL-2.1-or-later
// The C interface against the modules: what a program in C does (c_program.c), seen from outside of it.
#include "control.h"
#include "support/rig.h"

namespace guest::control_c {

TEST_CASE("a program in C discovers, connects, lists, scans, resets and disconnects", "[control][c][tcp]")
{
	Rig rig;
	auto out = run("/nvmeof/tests/c_program " + here() + " 4420 " + std::string(testNqn));
	INFO(out.text);
	CHECK(out.status == 0);
	for (const char *line : {"discovered ", "connected ", "scanned again", "reset, 1 reconnects", "disconnected"})
		CHECK(namesIt(out.text, line));
	CHECK(take(rig.host.client().controllers()).empty());
	CHECK(run("/nvmeof/tests/c_program " + here() + " 4420 nqn.2024-01.io.nvmeof:nothing").status != 0);
	CHECK(take(rig.host.client().controllers()).empty());
}

} // namespace guest::control_c
