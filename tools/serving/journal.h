// SPDX-License-Identifier: LGPL-2.1-or-later
// What a service says: to the journal with fields, where that is where its stderr goes, else to stderr.
#pragma once

#include <string>
#include <string_view>

namespace serving {

// Of a message, as journal fields NVMEOF_NQN=, NVMEOF_SERVICE=, NVMEOF_CONTROLLER=, NVMEOF_ADDRESS=; what is empty is
// not there
struct Fields {
	std::string nqn = {};
	std::string service = {};
	std::string controller = {};
	std::string address = {};
};

// @priority: LOG_ERR and so on, of syslog.h. Control characters, which a target may have sent, are replaced.
void say(int priority, std::string_view message, const Fields &fields = {});

} // namespace serving
