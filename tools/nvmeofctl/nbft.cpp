// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nbft.h"

#include <ostream>

#include "context.h"
#include "nbft_documents.h"

using namespace nvmeof;
using nofctl::nbft::BootTable;

NbftTables readNbft(Context &context)
{
	NbftTables found;
	std::vector<std::string> files = context.args().all("FILE");
	if (files.empty())
		files = nofctl::nbft::filesIn();
	if (files.empty()) {
		Error error;
		error.code = ErrorCode::noSuchObject;
		error.message = "the firmware provides no NVMe Boot Firmware Table";
		found.code = context.complain("", error, "firmware creates it only when it boots over NVMe/TCP");
	}
	for (const std::string &file : files) {
		Result<BootTable> table = nofctl::nbft::read(file);
		if (!table) {
			const bool malformed = table.error().code == ErrorCode::invalid;
			const int code = context.complain("", table.error(),
							  malformed ? "report this to the firmware vendor" : "");
			found.code = found.code ? found.code : code;
			continue;
		}
		for (const std::string &problem : table->problems)
			context.note(file, problem);
		found.tables.push_back(*std::move(table));
	}
	return found;
}

int runNbft(Context &context)
{
	const NbftTables found = readNbft(context);
	if (context.json())
		context.print(nbftDocument(found.tables));
	else if (context.args().has("network"))
		context.out() << nbftNetwork(found.tables);
	else
		context.out() << formatNbft(found.tables);
	return found.code;
}
