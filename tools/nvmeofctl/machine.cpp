// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine.h"

#include <filesystem>

#include <nvmeof/snapshot.h>

#include "libctl/base/file.h"
#include "libctl/gpu/pci.h"
#include "libctl/gpu/recording.h"

using namespace nvmeof;
using namespace nofctl::gpu;

namespace {

Error absent(std::string message)
{
	Error error = usageError(std::move(message));
	error.code = ErrorCode::noSuchObject;
	return error;
}

Result<std::unique_ptr<Tree>> readRecording(const std::string &file)
{
	constexpr std::size_t largest = 64 << 20;
	Result<std::string> text = nofctl::readSmallFile(file, largest + 1);
	if (!text)
		return absent(text.error().message);
	if (text->size() > largest)
		return usageError(file + ": larger than 64 MiB");
	Result<MemoryTree> tree = parseRecording(*text);
	if (!tree)
		return usageError(file + ": " + tree.error().message);
	return std::unique_ptr<Tree>(std::make_unique<MemoryTree>(*std::move(tree)));
}

void putPeers(Node &node, const std::vector<Namespace> &namespaces)
{
	for (const Namespace &one : namespaces)
		if (auto disk = node.disks.find(one.name); disk != node.disks.end())
			disk->second.peers = one.p2p;
}

} // namespace

Result<std::unique_ptr<Tree>> openMachine(const Args &args)
{
	const std::string root = args.textOr("root", "");
	std::error_code ignored;
	if (root.empty())
		return std::unique_ptr<Tree>(std::make_unique<FolderTree>());
	if (!std::filesystem::is_directory(root, ignored))
		return readRecording(root);
	if (!std::filesystem::is_directory(root + "/sys/bus/pci/devices", ignored))
		return absent(root + ": has no sys/bus/pci/devices");
	return std::unique_ptr<Tree>(std::make_unique<FolderTree>(root));
}

int withMachine(Context &context, int (*run)(Context &, const Tree &))
{
	Result<std::unique_ptr<Tree>> tree = openMachine(context.args());
	if (!tree)
		return context.fail("", tree.error(),
				    tree.error().code == ErrorCode::invalid
					    ? ""
					    : "give another directory or recording with --root");
	return run(context, **tree);
}

Node readMachine(const Args &args, const Tree &tree)
{
	Node node = readNode(tree);
	if (!args.has("root"))
		if (Result<Snapshot> all = readSnapshot())
			putPeers(node, all->namespaces);
	return node;
}

Result<std::vector<std::string>> gpusOf(const Args &args, const Node &node)
{
	std::vector<std::string> addresses;
	for (const std::string &text : args.all("gpu")) {
		const std::string address = pciAddress(text);
		if (address.empty())
			return usageError("--gpu: '" + text + "' is not a PCI address such as 0000:07:00.0");
		if (!node.pci.find(address))
			return absent("--gpu: there is no PCI device " + address);
		addresses.push_back(address);
	}
	return addresses;
}

std::string machineStep(const Error &error)
{
	return error.code == ErrorCode::noSuchObject ? "'nvmeofctl map' shows GPUs and network cards" : "";
}
