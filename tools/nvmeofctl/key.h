// SPDX-License-Identifier: LGPL-2.1-or-later
// Key files, and JSON documents, of the verbs of "key". No document contains a secret.
#pragma once

#include "json.h"
#include "libctl/keys/tls_keyring.h"

// A key, as "generate" and "check" report it
struct KeyFacts {
	std::string file;
	std::string format; // prefix of its text: "DHHC-1", "NVMeTLSkey-1"
	nofctl::KeyHash hash = nofctl::KeyHash::none;
	std::size_t length = 0; // bytes
};

// Inserts the keys of @text, a key file. Nothing is inserted if one line is wrong.
nvmeof::Result<std::vector<nofctl::KeyringKey>> importKeys(const nofctl::TlsKeyring &keyring, std::string_view text);
// The lines of a key file, without the last newline. @keys: at least one
nvmeof::Result<nofctl::SecretBytes> exportKeys(const nofctl::TlsKeyring &keyring,
					       const std::vector<nofctl::TlsKey> &keys);

Json keyDocument(const KeyFacts &facts);
Json insertedKeyDocument(const nofctl::KeyringKey &key);
Json keysDocument(const std::vector<nofctl::KeyringKey> &keys);
Json exportedKeysDocument(const std::string &file, const std::vector<nofctl::KeyringKey> &keys);
