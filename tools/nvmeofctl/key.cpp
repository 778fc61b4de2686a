// SPDX-License-Identifier: LGPL-2.1-or-later
// key: generates and checks keys, and changes those in the kernel's keyring.
#include "key.h"

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

// stdout must have nothing but the key then.
int printKey(Context &context, const NewKey &key)
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
	Result<void> done = writeSecret(STDOUT_FILENO, "stdout", key.text);
	return done ? 0 : context.fail("", done.error());
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
		return printKey(context, *key);
	if (Result<void> done = writeSecret(file, key->text); !done)
		return context.fail("", done.error(),
				    done.error().sysErrno == ENOENT ? "create the directory, with mode 0700" : "");
	return report(context, key->facts);
}

int runKeyCheck(Context &context)
{
	const std::string file = context.args().textOr("FILE", "");
	if (containsSecret(file))
		return context.fail("", secretError());
	Result<SecretBytes> text = readSecret(KeySource::ofFile(file));
	if (!text)
		return context.fail("", text.error());
	Result<KeyFacts> facts = looksLikeTlsPsk(text->text())
					 ? checked<TlsPsk>(file, tlsFormat, text->text())
					 : checked<DhchapSecret>(file, dhchapFormat, text->text());
	if (!facts)
		return context.fail(file, facts.error(), "'nvmeofctl key generate' writes a new one");
	return report(context, *facts);
}

int runKeyInsert(Context &context)
{
	const Args &args = context.args();
	Result<KeySource> source = KeySource::parse(args.textOr("SOURCE", ""));
	if (!source)
		return context.fail("", source.error());
	if (source->kind() == KeySource::Kind::keyring)
		return context.fail("", usageError("keys in the keyring need not be inserted"),
				    "'nvmeofctl connect --dhchap-key keyring:DESCRIPTION' uses it");
	Result<std::string> hostnqn = hostnqnOf(args);
	if (!hostnqn)
		return context.fail("", hostnqn.error(), "give --hostnqn");
	const KeyOwner owner = args.has("controller") ? KeyOwner::controller : KeyOwner::host;
	const std::string subsysnqn = args.textOr("subsysnqn", "");
	Result<SecretBytes> secret = readDhchapSecret(*source);
	if (!secret)
		return context.fail("", secret.error());
	const std::string description = dhchapDescription(owner, *hostnqn, subsysnqn);
	Result<KeySerial> serial = insertKey(description, *secret);
	if (!serial)
		return context.fail("", serial.error());
	const KeyringKey key{*serial, "logon", description};
	if (context.json())
		context.print(insertedKeyDocument(key));
	else
		context.out() << renderFields(
			{{"description", key.description}, {"serial", std::to_string(key.serial)}});
	return 0;
}

int runKeyList(Context &context)
{
	Result<std::vector<KeyringKey>> keys = listKeys();
	if (!keys)
		return context.fail("", keys.error());
	if (context.json()) {
		context.print(keysDocument(*keys));
		return 0;
	}
	Table table({{"Serial", Align::right}, {"Type"}, {"Description"}});
	for (const KeyringKey &key : *keys)
		table.add({std::to_string(key.serial), key.type, key.description});
	context.out() << (keys->empty() ? "no key is in the keyring\n" : table.render());
	return 0;
}

int runKeyRevoke(Context &context)
{
	const std::string description = context.args().textOr("DESCRIPTION", "");
	if (containsSecret(description))
		return context.fail("", secretError());
	if (Result<void> done = revokeKey(description); !done)
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
