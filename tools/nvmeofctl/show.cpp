// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include "context.h"
#include "format.h"
#include "table.h"

using namespace nvmeof;

int runShow(Context &context)
{
	std::string name = context.args().textOr("NAME", "");
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(name, client.error());
	Result<AnyObject> object = client->find(name);
	if (!object)
		return context.fail(name, object.error());
	if (context.json())
		context.print(Json{{"object", toJson(*object)}});
	else
		context.out() << renderFields(std::visit([](const auto &one) { return fieldsOf(one); }, *object));
	return 0;
}
