// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls.h"

#include <filesystem>
#include <stdexcept>

namespace guest {
namespace {

// Whether a process listens for requests of the kernel. The kernel refuses a handshake before.
bool agentListens()
{
	return run("nvmeof-tlsd --check").text.find("an agent is running") != std::string::npos;
}

} // namespace

TlsAgent::TlsAgent(const std::string &program)
	: program_((loadModules({"tls", "nvme_keyring"}), "exec " + program + " 2>/run/tlsd.log"))
{
	if (!eventually(agentListens))
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
