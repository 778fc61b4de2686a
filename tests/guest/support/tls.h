// SPDX-License-Identifier: LGPL-2.1-or-later
// TLS between the host under test and the kernel's target: a key of both, and the agent that does the handshakes
#pragma once

#include "shell.h"

#include <string>

namespace guest {

// The agent nvmeof-tlsd, or another program, for the host and the target of this machine, until the end of its scope
class TlsAgent {
public:
	explicit TlsAgent(const std::string &program = "nvmeof-tlsd --debug");
	void signal(int number) { program_.signal(number); }
	bool running() { return program_.running(); }

private:
	Background program_;
};

// A file with a new configured PSK. @hash: "sha256" or "sha384"
std::string newTlsKey(const std::string &name, const std::string &hash = "sha256");

// Starts an agent that runs until the program ends, at the first call. Returns the file with a key.
const std::string &sharedTlsKey();

} // namespace guest
