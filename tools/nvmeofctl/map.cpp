// SPDX-License-Identifier: LGPL-2.1-or-later
// map: which card serves which GPU, and which disk paths use it.
#include <ostream>

#include "libctl/gpu/rails.h"

#include "context.h"
#include "gpu_documents.h"
#include "libctl/base/file.h"
#include "machine.h"
#include "map_picture.h"

using namespace nvmeof;
using namespace nofctl::gpu;

int runMap(Context &context)
{
	Result<std::unique_ptr<Tree>> tree = openMachine(context.args());
	if (!tree)
		return context.fail("", tree.error(),
				    tree.error().code == ErrorCode::invalid
					    ? ""
					    : "give another directory or recording with --root");
	const Node node = readMachine(context.args(), **tree);
	Result<std::vector<std::string>> named = gpusOf(context.args(), node);
	if (!named)
		return context.fail("", named.error());
	MachineMap map{node, {}, railCards(node), {}};
	for (const std::string &address : *named)
		map.gpus.push_back(node.pci.find(address));
	if (named->empty())
		map.gpus = node.pci.of(Kind::gpu);
	map.rails = planRails(node, map.gpus, map.cards);
	if (context.args().has("svg"))
		if (Result<void> done = nofctl::replaceFile(context.args().textOr("svg", ""), mapSvg(map)); !done)
			return context.fail("", done.error());
	if (context.json())
		context.print(mapDocument(node, map.rails, map.cards));
	else
		context.out() << mapText(map);
	return 0;
}
