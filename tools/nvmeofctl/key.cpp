// SPDX-License-Identifier: LGPL-2.1-or-later
// key: generates and checks keys, and changes those in the kernel's keyrings.
#include "key.h"

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <nvmeof/identity.h>

#include "context.h"
#include "documents.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl;

namespace {

constexpr const char *dhchapFormat = "DHHC-1", *tlsFormat = "NVMeTLSkey-1";

// A key, and its text
struct NewKey {
	KeyFacts facts;
	SecretBytes text;
};

template <typename T>
Result<NewKey> generated(const std::string &file, const char *format, KeyHash hash, std::size_t length)
{
	Result<T> key = T::generate(hash, length);
	if (!key)
		return key.error();
	return NewKey{{file, format, hash, key->secret.size()}, key->format()};
}

template <typename T> Result<KeyFacts> checked(const std::string &file, const char *format, std::string_view text)
{
	Result<T> key = T::parse(text);
	if (!key)
		return key.error();
	return KeyFacts{file, format, key->hash, key->secret.size()};
}

int report(Context &context, const KeyFacts &facts)
{
	if (context.json())
		context.print(keyDocument(facts));
	else
		context.out() << renderFields(
			{{"file", facts.file},
			 {"format",
			  fmt::format("{} ({})", facts.format,
				      facts.format == tlsFormat ? "pre-shared key of TLS" : "key of DH-HMAC-CHAP")},
			 {"hash", toString(facts.hash)},
			 {"length", fmt::format("{} bytes", facts.length)}});
	return 0;
}

// stdout must have nothing but the keys then.
int printSecret(Context &context, const SecretBytes &text)
{
	if (context.json())
		return context.fail("",
				    usageError("--output - and --json exclude each other: a document has no secrets"));
	if (::isatty(STDOUT_FILENO))
		return context.fail("", usageError("stdout is a terminal, which would display the key"),
				    "name a file, or use a pipe");
	if (struct stat is{}; ::fstat(STDOUT_FILENO, &is) == 0 && S_ISREG(is.st_mode) && is.st_mode & 077)
		return context.fail("", usageError("stdout is a file that others can read"),
				    "use --output FILE, which writes it with mode 0600");
	Result<void> done = writeSecret(STDOUT_FILENO, "stdout", text);
	return done ? 0 : context.fail("", done.error());
}

// Returns 0, or the exit code of the error that it has reported.
int saveSecret(Context &context, const std::string &file, const SecretBytes &text)
{
	Result<void> done = writeSecret(file, text);
	if (done)
		return 0;
	return context.fail("", done.error(),
			    done.error().sysErrno == ENOENT ? "create the directory, with mode 0700" : "");
}

int reportInserted(Context &context, const KeyringKey &key)
{
	if (context.json())
		context.print(insertedKeyDocument(key));
	else
		context.out() << renderFields(
			{{"description", key.description}, {"serial", std::to_string(key.serial)}});
	return 0;
}

KeyringKey asKeyringKey(const TlsKey &key)
{
	return {key.serial, "psk", key.identity.format()};
}

std::string renderKeys(const std::vector<KeyringKey> &keys)
{
	Table table({{"Serial", Align::right}, {"Type"}, {"Description"}});
	for (const KeyringKey &key : keys)
		table.add({std::to_string(key.serial), key.type, key.description});
	return table.render();
}

Result<std::string> hostnqnOf(const Args &args)
{
	std::optional<std::string> given = args.text("hostnqn");
	return given ? Result<std::string>(*given) : readHostnqn();
}

} // namespace

int runKeyGenerate(Context &context)
{
	const Args &args = context.args();
	const std::string file = args.textOr("output", "");
	const KeyHash hash = parseKeyHash(args.textOr("hash", "sha256")).value_or(KeyHash::sha256);
	const std::size_t length = args.number("length").value_or(0);
	Result<NewKey> key = args.has("tls") ? generated<TlsPsk>(file, tlsFormat, hash, length)
					     : generated<DhchapSecret>(file, dhchapFormat, hash, length);
	if (!key)
		return context.fail("", key.error());
	if (file == "-")
		return printSecret(context, key->text);
	const int code = saveSecret(context, file, key->text);
	return code ? code : report(context, key->facts);
}

int runKeyCheck(Context &context)
{
	const std::string file = context.args().textOr("FILE", "");
	if (containsSecret(file))
		return context.fail("", secretError());
	// other names are those of files: on this command line, ./ is not needed
	const Result<KeySource> source =
		file.starts_with("credential:") ? KeySource::parse(file) : Result<KeySource>(KeySource::ofFile(file));
	if (!source)
		return context.fail("", source.error());
	Result<SecretBytes> text = readSecret(*source);
	if (!text)
		return context.fail("", text.error());
	Result<KeyFacts> facts = looksLikeTlsPsk(text->text())
					 ? checked<TlsPsk>(file, tlsFormat, text->text())
					 : checked<DhchapSecret>(file, dhchapFormat, text->text());
	if (!facts)
		return context.fail(file, facts.error(), "'nvmeofctl key generate' writes a new one");
	return report(context, *facts);
}

namespace {

// Options that belong to the other kind of key
std::string strangeOption(const Args &args, bool tls)
{
	if (tls)
		return args.has("controller") ? "--controller is for keys of DH-HMAC-CHAP" : "";
	for (const char *name : {"compat", "identity-version"})
		if (args.has(name))
			return fmt::format("--{} is for TLS keys", name);
	return "";
}

int insertTlsKey(Context &context, const SecretBytes &text, const std::string &hostnqn, const std::string &subsysnqn)
{
	const Args &args = context.args();
	const Result<TlsPsk> configured = TlsPsk::parse(text.text());
	if (!configured)
		return context.fail(args.textOr("SOURCE", ""), configured.error(),
				    "'nvmeofctl key generate --tls' writes a new one");
	if (subsysnqn.empty())
		return context.fail("", usageError("a TLS key is for one subsystem: --subsysnqn NQN is missing"));
	const Result<DerivedPsk> psk =
		deriveTlsPsk(*configured, hostnqn, subsysnqn, args.textOr("identity-version", "1") == "0" ? 0 : 1,
			     args.has("compat") ? HkdfLabel::libnvme115 : HkdfLabel::rfc8446);
	if (!psk)
		return context.fail("", psk.error());
	Result<TlsKeyring> keyring = TlsKeyring::open();
	if (!keyring)
		return context.fail("", keyring.error());
	Result<KeySerial> serial = keyring->insert(*psk);
	return serial ? reportInserted(context, {*serial, "psk", psk->identity}) : context.fail("", serial.error());
}

int insertDhchapKey(Context &context, const SecretBytes &secret, const std::string &hostnqn,
		    const std::string &subsysnqn)
{
	const KeyOwner owner = context.args().has("controller") ? KeyOwner::controller : KeyOwner::host;
	const std::string description = dhchapDescription(owner, hostnqn, subsysnqn);
	Result<KeySerial> serial = insertKey(description, secret);
	return serial ? reportInserted(context, {*serial, "logon", description}) : context.fail("", serial.error());
}

} // namespace

int runKeyInsert(Context &context)
{
	const Args &args = context.args();
	Result<KeySource> source = KeySource::parse(args.textOr("SOURCE", ""));
	if (!source)
		return context.fail("", source.error());
	if (source->kind() == KeySource::Kind::keyring)
		return context.fail(
			"", usageError("keys in the keyring need not be inserted"),
			"'nvmeofctl connect --dhchap-key keyring:DESCRIPTION' uses it, and one of TLS --tls-key "
			"keyring:IDENTITY");
	Result<std::string> hostnqn = hostnqnOf(args);
	if (!hostnqn)
		return context.fail("", hostnqn.error(), "give --hostnqn");
	const std::string subsysnqn = args.textOr("subsysnqn", "");
	Result<SecretBytes> text = readSecret(*source);
	if (!text)
		return context.fail("", text.error());
	const bool tls = looksLikeTlsPsk(text->text());
	if (const std::string strange = strangeOption(args, tls); !strange.empty())
		return context.fail("", usageError(strange));
	if (tls)
		return insertTlsKey(context, *text, *hostnqn, subsysnqn);
	if (Result<void> good = checkDhchapSecret(*source, *text); !good)
		return context.fail("", good.error());
	return insertDhchapKey(context, *text, *hostnqn, subsysnqn);
}

int runKeyList(Context &context)
{
	Result<std::vector<KeyringKey>> keys = listKeys();
	if (!keys)
		return context.fail("", keys.error());
	if (Result<TlsKeyring> keyring = TlsKeyring::open()) { // without the module nvme-keyring, there are no TLS keys
		const Result<std::vector<TlsKey>> tls = keyring->list();
		if (!tls)
			return context.fail("", tls.error());
		for (const TlsKey &key : *tls)
			keys->push_back(asKeyringKey(key));
	}
	if (context.json())
		context.print(keysDocument(*keys));
	else
		context.out() << (keys->empty() ? "no key is in the keyrings\n" : renderKeys(*keys));
	return 0;
}

Result<std::vector<KeyringKey>> importKeys(const TlsKeyring &keyring, std::string_view text)
{
	std::vector<DerivedPsk> psks;
	for (unsigned line = 1; !text.empty(); line++) {
		const std::size_t end = std::min(text.find('\n'), text.size());
		const std::string_view one = text.substr(0, end);
		text.remove_prefix(std::min(end + 1, text.size()));
		if (one.empty())
			continue;
		Result<DerivedPsk> psk = parseKeyLine(one);
		if (!psk)
			return usageError(fmt::format("line {}: {}", line, psk.error().message));
		psks.push_back(*std::move(psk));
	}
	std::vector<KeyringKey> keys;
	for (const DerivedPsk &psk : psks) {
		Result<KeySerial> serial = keyring.insert(psk);
		if (!serial)
			return serial.error();
		keys.push_back({*serial, "psk", psk.identity});
	}
	return keys;
}

Result<SecretBytes> exportKeys(const TlsKeyring &keyring, const std::vector<TlsKey> &keys)
{
	std::vector<SecretBytes> lines;
	std::size_t size = 0;
	for (const TlsKey &key : keys) {
		Result<SecretBytes> secret = keyring.read(key);
		if (!secret)
			return secret.error();
		if (secret->size() != 32 && secret->size() != 48)
			return usageError(fmt::format("the key '{}' has a wrong length", key.identity.format()));
		lines.push_back(formatKeyLine({key.identity.format(), *std::move(secret)}));
		size += lines.back().size() + 1;
	}
	SecretBytes text(size);
	std::uint8_t *at = text.data();
	for (const SecretBytes &line : lines) {
		at = std::ranges::copy(line.bytes(), at).out;
		*at++ = '\n';
	}
	text.shrink(size - 1); // writeSecret() adds it
	return text;
}

int runKeyImport(Context &context)
{
	const std::string file = context.args().textOr("FILE", "");
	if (containsSecret(file))
		return context.fail("", secretError());
	const Result<SecretBytes> text = file == "-" ? readSecret(STDIN_FILENO, "stdin", maxKeysSize)
						     : readSecret(KeySource::ofFile(file), maxKeysSize);
	if (!text)
		return context.fail("", text.error());
	Result<TlsKeyring> keyring = TlsKeyring::open();
	if (!keyring)
		return context.fail("", keyring.error());
	const Result<std::vector<KeyringKey>> keys = importKeys(*keyring, text->text());
	if (!keys)
		return context.fail(file == "-" ? "stdin" : file, keys.error());
	if (context.json())
		context.print(keysDocument(*keys));
	else
		context.out() << renderKeys(*keys);
	return 0;
}

int runKeyExport(Context &context)
{
	const Args &args = context.args();
	const std::string file = args.textOr("output", ""), identity = args.textOr("IDENTITY", "");
	if (containsSecret(identity))
		return context.fail("", secretError());
	Result<TlsKeyring> keyring = TlsKeyring::open();
	if (!keyring)
		return context.fail("", keyring.error());
	std::vector<TlsKey> keys;
	if (identity.empty()) {
		Result<std::vector<TlsKey>> all = keyring->list();
		if (!all)
			return context.fail("", all.error());
		keys = *std::move(all);
	} else {
		Result<TlsKey> key = keyring->find(identity);
		if (!key)
			return context.fail("", key.error());
		keys.push_back(*std::move(key));
	}
	if (keys.empty())
		return context.fail("", usageError("the keyring .nvme has no TLS keys"),
				    "'nvmeofctl key insert' adds one");
	const Result<SecretBytes> text = exportKeys(*keyring, keys);
	if (!text)
		return context.fail("", text.error());
	if (file == "-")
		return printSecret(context, *text);
	if (const int code = saveSecret(context, file, *text))
		return code;
	std::vector<KeyringKey> exported;
	for (const TlsKey &key : keys)
		exported.push_back(asKeyringKey(key));
	if (context.json())
		context.print(exportedKeysDocument(file, exported));
	else
		context.out() << renderKeys(exported);
	return 0;
}

namespace {

// A TLS key is in the keyring .nvme, another key in the user keyring.
Result<void> revoke(const std::string &description)
{
	if (!TlsIdentity::parse(description))
		return revokeKey(description);
	Result<TlsKeyring> keyring = TlsKeyring::open();
	return keyring ? keyring->revoke(description) : Result<void>(keyring.error());
}

} // namespace

int runKeyRevoke(Context &context)
{
	const std::string description = context.args().textOr("DESCRIPTION", "");
	if (containsSecret(description))
		return context.fail("", secretError());
	if (Result<void> done = revoke(description); !done)
		return context.fail("", done.error());
	if (context.json())
		context.print(doneDocument(description, "revoked"));
	else
		context.out() << fmt::format("{} revoked\n", nofctl::printable(description));
	return 0;
}

// ---- JSON documents

namespace {

Json keyringKeyJson(const KeyringKey &key)
{
	return {{"serial", key.serial}, {"type", key.type}, {"description", key.description}};
}

} // namespace

Json keyDocument(const KeyFacts &facts)
{
	return {{"file", facts.file},
		{"format", facts.format},
		{"hash", toString(facts.hash)},
		{"length", facts.length}};
}

Json insertedKeyDocument(const KeyringKey &key)
{
	return keyringKeyJson(key);
}

Json keysDocument(const std::vector<KeyringKey> &keys)
{
	Json array = Json::array();
	for (const KeyringKey &key : keys)
		array.push_back(keyringKeyJson(key));
	return {{"keys", array}};
}

Json exportedKeysDocument(const std::string &file, const std::vector<KeyringKey> &keys)
{
	Json document{{"file", file}};
	document.update(keysDocument(keys));
	return document;
}
