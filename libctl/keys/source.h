// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a secret is: the value of options and settings such as dhchap-key, which is never the secret itself.
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "secret.h"

namespace nofctl {

class KeySource {
public:
	enum class Kind {
		file,       // name: its path
		credential, // name: that of a file in $CREDENTIALS_DIRECTORY, see systemd.exec(5), LoadCredential=
		keyring,    // name: the description of a key in the user keyring, of type "logon" or "user"
	};

	// "/etc/nvmeof/keys/host.key", "./host.key", "credential:NAME" or "keyring:DESCRIPTION". Errors: invalid; the
	// message does not contain @text, which may be a secret.
	static nvmeof::Result<KeySource> parse(std::string_view text);
	// The same for a text that does not come from a command line: a relative path is refused too, as it would
	// depend on the directory from which the program was started.
	static nvmeof::Result<KeySource> parseAbsolute(std::string_view text);
	static KeySource ofFile(std::string path) { return {Kind::file, std::move(path)}; }

	Kind kind() const { return kind_; }
	const std::string &name() const { return name_; }
	bool relative() const { return kind_ == Kind::file && !name_.starts_with('/'); }
	std::string toString() const; // what parse() takes

private:
	KeySource(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

	Kind kind_;
	std::string name_;
};

// The error for a secret in place of a source. It does not contain the secret.
nvmeof::Error secretError();

// Of files with one key, and with several
inline constexpr std::size_t maxKeySize = 1 << 10, maxKeysSize = 1 << 16;

/*
 * The text of the secret, without a newline at its end. @source: of kind file or credential. The file must be regular
 * and have at most @maxSize bytes. One of kind file must be owned by root or the effective user, and accessible by its
 * owner only. Symbolic links are followed. Errors: invalid or notPermitted, with the file as object; the message says
 * how to correct it.
 */
nvmeof::Result<SecretBytes> readSecret(const KeySource &source, std::size_t maxSize = maxKeySize);
// The same from an open file or pipe, which is not checked
nvmeof::Result<SecretBytes> readSecret(int fd, const std::string &name, std::size_t maxSize);

// Errors: invalid, if the text that readSecret(@source) has returned is no secret of DH-HMAC-CHAP.
nvmeof::Result<void> checkDhchapSecret(const KeySource &source, const SecretBytes &text);

// readSecret() and checkDhchapSecret()
nvmeof::Result<SecretBytes> readDhchapSecret(const KeySource &source);

// The same for a configured key of TLS
nvmeof::Result<TlsPsk> readTlsPsk(const KeySource &source);
// Changes whenever the file of @source is replaced or written to; also if it cannot be read, and never for a key in the
// keyring. For comparison only.
std::string versionOf(const KeySource &source);

// Creates @file with mode 0600, and writes @text and a newline. Errors: invalid, if the file exists; failed or
// notPermitted, if it cannot be written: then it is removed.
nvmeof::Result<void> writeSecret(const std::string &file, const SecretBytes &text);
// The same into an open file
nvmeof::Result<void> writeSecret(int fd, const std::string &name, const SecretBytes &text);

} // namespace nofctl
