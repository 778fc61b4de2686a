// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls.h"

#include <filesystem>
#include <stdexcept>

namespace guest {
namespace {

// Whether the process has joined a group of a generic netlink family: libnl's port number has the process ID in its low
// 22 bits. While nobody listens for handshakes, the kernel refuses them.
bool listens(int pid)
{
	const std::string sockets =
		"awk '$2 == 16 && $3 % 4194304 == " + std::to_string(pid) + " && $4 != \"00000000\"' /proc/net/netlink";
	return !run(sockets).text.empty();
}

} // namespace

TlsAgent::TlsAgent(const std::string &program)
	: program_((loadModules({"tls", "nvme_keyring"}), "exec " + program + " 2>/run/tlsd.log"))
{
	if (!eventually([this] { return listens(program_.pid()); }))
		throw std::runtime_error(program + " does not start: " + readFile("/run/tlsd.log"));
}

std::string newTlsKey(const std::string &name, const std::string &hash)
{
	std::filesystem::create_directory("/run/keys");
	const std::string file = "/run/keys/" + name;
	std::filesystem::remove(file);
	must("nvmeofctl key generate --tls --hash " + hash + " --output " + file);
	return file;
}

const std::string &sharedTlsKey()
{
	static const TlsAgent agent;
	static const std::string key = newTlsKey("shared");
	return key;
}

} // namespace guest
