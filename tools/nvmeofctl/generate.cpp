// SPDX-License-Identifier: LGPL-2.1-or-later
#include "generate.h"

#include <ostream>

#include "context.h"

int runGenerate(Context &context)
{
	std::string what = context.args().textOr("WHAT", "");
	context.out() << (what == "bash" ? bashCompletion() : what == "zsh" ? zshCompletion() : manPage());
	return 0;
}
