// SPDX-License-Identifier: LGPL-2.1-or-later
// gen-hostnqn and show-hostnqn.
#include <ostream>

#include <nvmeof/identity.h>

#include "context.h"
#include "documents.h"

using namespace nvmeof;

static int printNqn(Context &context, const std::string &nqn)
{
	if (context.json())
		context.print(hostnqnDocument(nqn));
	else
		context.out() << nqn << "\n";
	return 0;
}

int runGenHostnqn(Context &context)
{
	return printNqn(context, hostnqnFromUuid(chooseHostUuid()));
}

int runShowHostnqn(Context &context)
{
	Result<std::string> nqn = readHostnqn();
	if (!nqn)
		return context.fail("", nqn.error(),
				    nqn.error().code == ErrorCode::noSuchObject ? "the first connect creates it"
										: "correct or remove the file");
	return printNqn(context, *nqn);
}
