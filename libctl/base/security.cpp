// SPDX-License-Identifier: LGPL-2.1-or-later
#include "security.h"

#include <cerrno>

#include "make_error.h"

namespace nofctl {

using namespace nvmeof;

namespace {

std::string by(const SecurityRule &rule)
{
	return " by [[security]] at " + rule.place;
}

Error missing(std::string message)
{
	return errorFromErrno(ENOKEY, std::move(message));
}

Result<void> applyTls(ConnectOptions &options)
{
	const SecurityRule &rule = options.security;
	const bool wanted = options.concat || tlsUseOf(options.tls, !options.tlsKey.empty()) == TlsUse::required;
	switch (*rule.tls) {
	case SecurityUse::required:
		if (options.transport != "tcp")
			return invalidError("tls: required for " + options.subsysnqn + by(rule) + ", and transport " +
					    options.transport + " has no TLS: connect by tcp, or change the rule");
		if (options.tls == TlsUse::off)
			return invalidError("tls: required for " + options.subsysnqn + by(rule) +
					    ", and set to off: remove that setting, or change the rule");
		if (options.concat && options.dhchapCtrlKey.empty())
			return missing("dhchap-ctrl-key: TLS is required for " + options.subsysnqn + by(rule) +
				       ", and with concat alone the controller proves nothing: give its key");
		if (!options.concat) // which leads to TLS, or to no connection
			options.tls = TlsUse::required;
		return {};
	case SecurityUse::preferred:
		if (!options.tls && options.tlsKey.empty() && !options.concat)
			options.tls = TlsUse::preferred;
		return {};
	case SecurityUse::off:
		if (wanted) // an explicit request for TLS is not downgraded
			return invalidError("tls: off for " + options.subsysnqn + by(rule) +
					    ", and required by a setting, a key or the discovery log: set tls to off, "
					    "or change the rule");
		options.tls = TlsUse::off;
		options.tlsKey.clear();
		return {};
	}
	return {};
}

} // namespace

std::vector<std::string> keyContradictions(const ConnectOptions &options)
{
	std::vector<std::string> found;
	const bool tcp = options.transport == "tcp";
	if (options.dhchapKey.empty() && !options.dhchapCtrlKey.empty())
		found.push_back("dhchap-ctrl-key needs dhchap-key: the host has to authenticate itself first");
	if (options.concat && !tcp)
		found.push_back("concat needs transport tcp, not " + options.transport + ": omit it");
	if (options.concat && (options.tls || !options.tlsKey.empty()))
		found.push_back("concat excludes tls and tls-key: the authentication generates the key of TLS; omit "
				"one of them");
	return found;
}

std::string missingConcatKey(const ConnectOptions &options)
{
	if (!options.concat || !options.dhchapKey.empty())
		return {};
	return "concat needs dhchap-key: the host's authentication generates the key of TLS";
}

std::string tlsContradiction(const ConnectOptions &options)
{
	if (tlsUseOf(options.tls, !options.tlsKey.empty()) != TlsUse::required || options.transport == "tcp")
		return {};
	return "TLS needs transport tcp, not " + options.transport + ": omit tls and tls-key, or set tls to off";
}

Result<void> applySecurity(ConnectOptions &options)
{
	const SecurityRule &rule = options.security;
	if (rule.auth == SecurityUse::off && options.concat)
		return invalidError("concat: authentication is off for " + options.subsysnqn + by(rule) +
				    ", and concat needs it: remove that setting, or change the rule");
	if (rule.auth == SecurityUse::off) {
		options.dhchapKey.clear();
		options.dhchapCtrlKey.clear();
	}
	if (rule.auth == SecurityUse::required && options.dhchapKey.empty())
		return missing("dhchap-key: authentication is required for " + options.subsysnqn + by(rule) +
			       ", and no key is set: give this host's key for it by dhchap-key");
	return rule.tls ? applyTls(options) : Result<void>();
}

std::string missingSecurity(const SecurityRule &rule, const Controller &controller)
{
	if (rule.tls == SecurityUse::required && !controller.tls && !controller.concat)
		return "tls";
	const bool unproven = controller.authentication && !controller.authentication->mutual;
	if (rule.tls == SecurityUse::required && controller.concat && unproven)
		return "dhchap-ctrl-key";
	if (rule.auth == SecurityUse::required && !controller.authRequired && !controller.authentication)
		return "dhchap-key";
	return {};
}

Result<void> checkSecurity(const SecurityRule &rule, const Controller &controller)
{
	const std::string lacking = missingSecurity(rule, controller);
	if (lacking.empty())
		return {};
	Error error =
		missing(lacking + ": required for " + controller.subsysnqn + by(rule) + ", and " + controller.name +
			" is connected without it: 'nvmeofctl disconnect " + controller.name + "', then connect again");
	error.object = ErrorObject::named(controller.name);
	return error;
}

} // namespace nofctl
