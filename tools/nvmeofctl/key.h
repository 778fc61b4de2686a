// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents of the verbs of "key". None contains a secret.
#pragma once

#include "json.h"
#include "libctl/keys/keyring.h"

// A key, as "generate" and "check" report it
struct KeyFacts {
	std::string file;
	std::string format; // prefix of its text: "DHHC-1", "NVMeTLSkey-1"
	nofctl::KeyHash hash = nofctl::KeyHash::none;
	std::size_t length = 0; // bytes
};

Json keyDocument(const KeyFacts &facts);
Json insertedKeyDocument(const nofctl::KeyringKey &key);
Json keysDocument(const std::vector<nofctl::KeyringKey> &keys);
