// SPDX-License-Identifier: LGPL-2.1-or-later
// Applies the [[security]] rule of a connection.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

namespace nofctl {

// The setting tls, which is required by default if there is a tls-key
inline nvmeof::TlsUse tlsUseOf(const std::optional<nvmeof::TlsUse> &tls, bool hasKey)
{
	return tls.value_or(hasKey ? nvmeof::TlsUse::required : nvmeof::TlsUse::off);
}

// Returns why settings for keys and concat contradict each other or the transport, so that no connect can succeed;
// empty if they do not.
std::vector<std::string> keyContradictions(const nvmeof::ConnectOptions &options);

// Likewise, for TLS without concat
std::string tlsContradiction(const nvmeof::ConnectOptions &options);

// Returns why concat cannot succeed until a key is set; empty if one is, or without concat.
std::string missingConcatKey(const nvmeof::ConnectOptions &options);

/*
 * Changes the settings for keys and TLS to what options.security demands. Errors: invalid, if they contradict it;
 * authentication with ENOKEY, if a key has to be given. The message names the rule and the next step.
 */
nvmeof::Result<void> applySecurity(nvmeof::ConnectOptions &options);

// The key setting by which a controller that exists would be what the rule demands: "tls", "dhchap-key"; empty: it is
std::string missingSecurity(const nvmeof::SecurityRule &rule, const nvmeof::Controller &controller);

// Whether a controller that exists already may be used for such a connection. Errors: authentication.
nvmeof::Result<void> checkSecurity(const nvmeof::SecurityRule &rule, const nvmeof::Controller &controller);

} // namespace nofctl
