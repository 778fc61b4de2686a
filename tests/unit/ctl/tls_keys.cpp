// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys of TLS: their derivation, the keyring they are in, and the settings that name them.
#include <catch2/catch.hpp>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include <keyutils.h>
#include <netlink/msg.h>

#include <nvmeof/config.h>
#include <nvmeof/connect_settings.h>
#include <nvmeof/nvmeof_c.h>
#include <nvmeof/settings.h>

#include "connect_plan.h"
#include "key.h"
#include "keys.h"
#include "libctl/base/hex.h"
#include "libctl/keys/tls_keyring.h"
#include "libctl/netlink/session.h"

using namespace nvmeof;
using namespace nofctl;

namespace {

constexpr const char *host = "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
constexpr const char *subsystem = "nqn.2024-01.com.example:flash1";

struct Derivation {
	const char *configured;
	unsigned version;
	const char *head, *digest; // of the identity
	const char *secret;        // hexadecimal
};

// By libnvme 1.16.2
constexpr Derivation derivations[] = {
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uGztNFt:", 0, "NVMe0R01", "",
	 "7487902627efec7d1f00193166595244089dee386c1315c57dfb1daf1ed48856"},
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uGztNFt:", 1, "NVMe1R01",
	 "uzdvE3KxOXVF9vffBdKFTwYApIa+eqwcna36Qh8CJUo=",
	 "e20cb1171abc9e3840050f0d64c25cff49f6ea08a4f5a65639ca9d8caed77edf"},
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uHo7/b9BAsSGSAnLjU8Q0pRyCZf6A==:", 0, "NVMe0R02", "",
	 "9e5db58da8d4732608ac0914efc041827689244383daa30c74047ce5306063ac9964f5ce08e153ba86260a1a7524dd08"},
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uHo7/b9BAsSGSAnLjU8Q0pRyCZf6A==:", 1, "NVMe1R02",
	 "C15ht4tHq7t5szZQ/up2B+MPAX0+c8ygzlxWlIZiLkIgqqNnbI85QfqmziI3wxTc",
	 "23b9f88bda10d5c2f661284a80d940ad806e4b578301d38c5489a5425245830c7fef72d62de5a1196b01c7f0172a77d2"},
	{"NVMeTLSkey-1:01:CRAXHiUsMzpBSE9WXWRrcnmAh46VnKOqsbi/xs3U2+LE9VfA:", 0, "NVMe0R01", "",
	 "9fb488652531b24cdea59fc63a028e7f391d4a51ef39731265fbebb63013be8d"},
	{"NVMeTLSkey-1:01:CRAXHiUsMzpBSE9WXWRrcnmAh46VnKOqsbi/xs3U2+LE9VfA:", 1, "NVMe1R01",
	 "qXmXBkCcjw0dTuvM0x20j2f3KX+7CYcSQDuxk8nEXa4=",
	 "4f8f86b743fd73882c8d0d936a1dc40bd1a9647d0d8883e70787802b75a66454"},
	{"NVMeTLSkey-1:02:ChEYHyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/Bg0UGyIpMDc+RUxTFOwXzA==:", 0, "NVMe0R02", "",
	 "d0c8ae3886b106da6daea191eacdd4fb82028672ccdefaef81d3ea6505bc2110e21a186758c37c6022178884b2e63dc2"},
	{"NVMeTLSkey-1:02:ChEYHyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/Bg0UGyIpMDc+RUxTFOwXzA==:", 1, "NVMe1R02",
	 "mjZ5ilz8vKhqvIakeAqiWT2uP8zQJLRMfvytyqzaKh0OIfJWqEWyXpg78runf78Z",
	 "8c4d08bf149c09f1bf213b3561074fd8532fd64496ca255ec4da945b5bd8638b0d21e17f77980cbf4ccd1e83733b544d"},
};

// By nvme-cli 2.13 with libnvme 1.13, and, for keys without a hash function, libnvme 1.16.2 with --compat
constexpr Derivation oldDerivations[] = {
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uGztNFt:", 0, "NVMe0R01", "",
	 "b917ed65f5898921041b44a8ff41d205bad254056b0e521e2760d53ad5c25395"},
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uGztNFt:", 1, "NVMe1R01",
	 "uzdvE3KxOXVF9vffBdKFTwYApIa+eqwcna36Qh8CJUo=",
	 "17b29699ea8dd9ab9e604330317e11ed7141f155e0b265f9e5feac4f48dd6711"},
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uHo7/b9BAsSGSAnLjU8Q0pRyCZf6A==:", 0, "NVMe0R02", "",
	 "a11c45dfa85cea110a5c9540963c0e0870fb9342dd0e02a50a8ad3da31658fca56c2845a1361b2fdccb076d65eb636d3"},
	{"NVMeTLSkey-1:00:CA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xczT2uHo7/b9BAsSGSAnLjU8Q0pRyCZf6A==:", 1, "NVMe1R02",
	 "C15ht4tHq7t5szZQ/up2B+MPAX0+c8ygzlxWlIZiLkIgqqNnbI85QfqmziI3wxTc",
	 "2c2eefb935e59922a55a313af95a76bf7da935f07c91b414e9239b9e8c9e31411c662c2fd4d00af6e00fc8de45f19fd4"},
	{"NVMeTLSkey-1:01:CRAXHiUsMzpBSE9WXWRrcnmAh46VnKOqsbi/xs3U2+LE9VfA:", 0, "NVMe0R01", "",
	 "b021f7d4f1dc89588da93d3b5cb58e9ae478e37104c75401a5523c16f7d36f4f"},
	{"NVMeTLSkey-1:01:CRAXHiUsMzpBSE9WXWRrcnmAh46VnKOqsbi/xs3U2+LE9VfA:", 1, "NVMe1R01",
	 "B6/IkykP/NQhNT49JgCUAwp/Mkl+2WVVcovI4hCjQsY=",
	 "b04f60f5af670a00e1b35d1479eb9822c2497e0d64f580af1d4aedbcbff95efc"},
	{"NVMeTLSkey-1:02:ChEYHyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/Bg0UGyIpMDc+RUxTFOwXzA==:", 0, "NVMe0R02", "",
	 "a3bb8425093cfd0ac45aa68628ca2361412ccffb241bdf1144d7eb6a9190bd9b2a36aff41254831948229a6bdc9ab29b"},
	{"NVMeTLSkey-1:02:ChEYHyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/Bg0UGyIpMDc+RUxTFOwXzA==:", 1, "NVMe1R02",
	 "VScxN0ue8kp1CPxVNLNpePWWepaiEmDJNjS9Ugd6JFly5CQpfajxB2RWA3w3DS71",
	 "2d0fc83faaffe5660c27af0d9f79128cef51c953a76ed9a147dd0ebc25318d31e8675b550e635c0f612c6cc1c26bdd87"},
};

constexpr const char *tlsKey = derivations[4].configured;
constexpr const char *tlsKeyPart = "CRAXHiUsMzpB"; // of it, which no message may contain

std::string identityOf(const Derivation &one)
{
	return std::string(one.head) + " " + host + " " + subsystem + (*one.digest ? " " : "") + one.digest;
}

DerivedPsk derived(const char *configured, unsigned version = 1, const std::string &subsysnqn = subsystem,
		   HkdfLabel label = HkdfLabel::rfc8446)
{
	Result<TlsPsk> key = TlsPsk::parse(configured);
	REQUIRE(key);
	Result<DerivedPsk> psk = deriveTlsPsk(*key, host, subsysnqn, version, label);
	REQUIRE(psk);
	return *std::move(psk);
}

void checkDerivation(const Derivation &one, HkdfLabel label)
{
	CAPTURE(one.configured, one.version);
	const DerivedPsk psk = derived(one.configured, one.version, subsystem, label);
	CHECK(psk.identity == identityOf(one));
	CHECK(toHex(psk.secret.bytes()) == one.secret);
}

// A keyring of the calling thread in place of .nvme, with keys of type "user"
class TestKeyring {
public:
	TestKeyring() { serial_ = ::add_key("keyring", "nvmeof:test:tls", nullptr, 0, KEY_SPEC_THREAD_KEYRING); }
	TestKeyring(const TestKeyring &) = delete;
	TestKeyring &operator=(const TestKeyring &) = delete;
	~TestKeyring() { ::keyctl_unlink(serial_, KEY_SPEC_THREAD_KEYRING); }

	static Result<TlsKeyring> open() { return TlsKeyring::of(serial_, "user"); }
	static Result<TlsKeyring> absent() { return errorFromErrno(ENOKEY, "this kernel has no keyring .nvme"); }

private:
	static inline KeySerial serial_ = 0;
};

ConnectOptions tlsOptions()
{
	ConnectOptions options;
	options.subsysnqn = subsystem;
	options.tls = TlsUse::required;
	return options;
}

Result<ConnectKeys> keysFor(const ConnectOptions &options)
{
	return connectKeys(options, host, TestKeyring::open);
}

} // namespace

TEST_CASE("a configured key becomes the TLS key of other implementations", "[keys][tls]")
{
	for (const Derivation &one : derivations)
		checkDerivation(one, HkdfLabel::rfc8446);
	for (const Derivation &one : oldDerivations)
		checkDerivation(one, HkdfLabel::libnvme115);
}

TEST_CASE("NQNs of the maximum length have a TLS key of version 1 only", "[keys][tls]")
{
	const std::string longest(223, 'n');
	Result<TlsPsk> key = TlsPsk::parse(tlsKey);
	REQUIRE(key);
	Result<DerivedPsk> psk = deriveTlsPsk(*key, longest, longest, 1);
	REQUIRE(psk);
	CHECK(psk->identity.size() > 446);
	CHECK(TlsIdentity::parse(psk->identity));
	psk = deriveTlsPsk(*key, longest, longest, 0);
	REQUIRE_FALSE(psk);
	CHECK(says(psk.error(), "use version 1"));
	CHECK(deriveTlsPsk(*key, std::string(123, 'n'), std::string(122, 'n'), 0)); // 255 bytes, the longest context
	CHECK_FALSE(deriveTlsPsk(*key, std::string(123, 'n'), std::string(123, 'n'), 0));
}

TEST_CASE("identities of TLS keys are parsed strictly", "[keys][tls]")
{
	for (const Derivation &one : derivations) {
		Result<TlsIdentity> identity = TlsIdentity::parse(identityOf(one));
		REQUIRE(identity);
		CHECK(identity->version == one.version);
		CHECK(identity->hostnqn == host);
		CHECK(identity->subsysnqn == subsystem);
		CHECK(identity->digest == one.digest);
		CHECK(identity->format() == identityOf(one));
	}
	CHECK(TlsIdentity::parse("NVMe0G02 nqn.h nqn.s")->kind == 'G');
	const std::string digest(44, 'A');
	CHECK(TlsIdentity::parse("NVMe1R01 nqn.h nqn.s " + digest));
	for (const std::string &wrong :
	     {std::string(), std::string("NVMe"), std::string("NVMe1R01"), std::string("NVMe1R01 nqn.h nqn.s"),
	      std::string("NVMe0R01 nqn.h"), std::string("NVMe0R01 nqn.h "), std::string("NVMe0R01 nqn.h nqn.s "),
	      std::string("NVMe0R01  nqn.h nqn.s"), std::string("NVMe0R03 nqn.h nqn.s"),
	      std::string("NVMe0X01 nqn.h nqn.s"), std::string("NVMe2R01 nqn.h nqn.s ") + digest,
	      "NVMe0R01 nqn.h nqn.s " + digest, "NVMe1R01 nqn.h nqn.s " + digest + "A",
	      "NVMe1R02 nqn.h nqn.s " + digest, "NVMe1R01 nqn.h nqn.s " + digest + " x",
	      "nvme0R01 nqn.h nqn.s" + std::string(), "NVMe0R01 nqn.h " + std::string(224, 'n'),
	      "NVMe0R01 nqn.h\tx nqn.s" + std::string()}) {
		CAPTURE(wrong);
		CHECK_FALSE(TlsIdentity::parse(wrong));
	}
}

TEST_CASE("a TLS key is inserted once, found, read and revoked", "[keys][tls]")
{
	if (!hasKeyring())
		return;
	const TestKeyring test;
	const TlsKeyring keyring = *TestKeyring::open();
	CHECK(keyring.list()->empty());
	const DerivedPsk psk = derived(tlsKey);
	Result<KeySerial> serial = keyring.insert(psk);
	REQUIRE(serial);
	CHECK(*keyring.insert(psk) == *serial); // controllers that use it would lose it
	Result<TlsKey> key = keyring.find(psk.identity);
	REQUIRE(key);
	CHECK(key->serial == *serial);
	CHECK(keyring.read(*key)->text() == psk.secret.text());
	DerivedPsk other = derived(tlsKey, 1, subsystem, HkdfLabel::libnvme115);
	other.identity = psk.identity; // as the two derivations of a key without a hash function have
	REQUIRE(keyring.insert(other));
	key = keyring.find(psk.identity);
	CHECK(keyring.read(*key)->text() == other.secret.text());
	CHECK(keyring.list()->size() == 1);
	::add_key("user", "not an identity", "x", 1, keyring.serial());
	CHECK(keyring.list()->size() == 1);
	CHECK(keyring.revoke(psk.identity));
	CHECK(keyring.list()->empty());
	CHECK(keyring.revoke(psk.identity).error().sysErrno == ENOKEY);
	CHECK(keyring.find(psk.identity).error().code == ErrorCode::authentication);
	CHECK(tlsIdentityOf(*serial).empty()); // not of type "psk"
	CHECK(tlsIdentityOf(0).empty());
}

TEST_CASE("a key of another length is not read as a TLS key", "[keys][tls]")
{
	if (!hasKeyring())
		return;
	const TestKeyring test;
	const TlsKeyring keyring = *TestKeyring::open();
	const std::string text(65, 'x');
	REQUIRE(::add_key("user", "NVMe0R01 nqn.h nqn.s", text.data(), text.size(), keyring.serial()) >= 0);
	Result<TlsKey> key = keyring.find("NVMe0R01 nqn.h nqn.s");
	REQUIRE(key);
	CHECK(says(keyring.read(*key).error(), "wrong length"));
}

TEST_CASE("the default TLS key is the one of the highest version, then of the longest hash", "[keys][tls]")
{
	if (!hasKeyring())
		return;
	const TestKeyring test;
	const TlsKeyring keyring = *TestKeyring::open();
	auto found = [&] {
		Result<std::optional<TlsKey>> key = keyring.findDefault(host, subsystem);
		REQUIRE(key);
		return *key ? (*key)->identity.format().substr(0, 8) : std::string();
	};
	CHECK(found().empty());
	REQUIRE(keyring.insert(derived(tlsKey, 1, std::string(subsystem) + "0"))); // a longer NQN
	REQUIRE(keyring.insert({"NVMe1G02 " + std::string(host) + " " + subsystem + " " + std::string(64, 'A'),
				payload("generated")}));
	CHECK(found().empty());
	REQUIRE(keyring.insert(derived(derivations[4].configured, 0)));
	CHECK(found() == "NVMe0R01");
	REQUIRE(keyring.insert(derived(derivations[6].configured, 0)));
	CHECK(found() == "NVMe0R02");
	REQUIRE(keyring.insert(derived(derivations[4].configured, 1)));
	CHECK(found() == "NVMe1R01");
	REQUIRE(keyring.insert(derived(derivations[6].configured, 1)));
	CHECK(found() == "NVMe1R02");
	REQUIRE(keyring.insert(derived(derivations[2].configured, 1))); // another key of this kind
	Result<std::optional<TlsKey>> several = keyring.findDefault(host, subsystem);
	REQUIRE_FALSE(several);
	CHECK(several.error().code == ErrorCode::invalid);
	CHECK(says(several.error(), "several TLS keys"));
}

TEST_CASE("the TLS key of a connection is that of its settings", "[keys][tls]")
{
	if (!hasKeyring())
		return;
	const TestKeyring test;
	const TlsKeyring keyring = *TestKeyring::open();
	const KeyFile file(std::string(tlsKey) + "\n");
	ConnectOptions options = tlsOptions();
	Result<ConnectKeys> keys = keysFor(options);
	REQUIRE_FALSE(keys); // required, and there is none: never plain
	CHECK(keys.error().code == ErrorCode::authentication);
	CHECK(keys.error().sysErrno == ENOKEY);
	CHECK(says(keys.error(), std::string("for host ") + host + " and subsystem " + subsystem));
	CHECK(says(keys.error(), "'nvmeofctl key insert FILE' adds one"));
	options.tls = TlsUse::preferred;
	CHECK_FALSE(keysFor(options)->tls);
	options.tls.reset();
	CHECK_FALSE(keysFor(options)->tls);
	options.tlsKey = file.path(); // implies TLS
	keys = keysFor(options);
	REQUIRE(keys);
	REQUIRE(keys->tls);
	CHECK(keyring.find(identityOf(derivations[5]))->serial == keys->tls->serial);
	CHECK(keys->tls->keyring.serial() == keyring.serial());
	const KeySerial serial = keys->tls->serial;
	CHECK(keysFor(options)->tls->serial == serial);
	options.tls = TlsUse::off; // of [[defaults]] for this subsystem
	CHECK_FALSE(keysFor(options)->tls);
	options.tlsKey.clear();
	for (TlsUse use : {TlsUse::preferred, TlsUse::required}) {
		options.tls = use;
		REQUIRE(keysFor(options)->tls);
		CHECK(keysFor(options)->tls->serial == serial);
	}
	options.tlsKey = "keyring:" + identityOf(derivations[5]);
	CHECK(keysFor(options)->tls->serial == serial);
	options.subsysnqn = "nqn.other";
	CHECK(says(keysFor(options).error(), "tls-key: the key is for host"));
	options.tlsKey = "keyring:" + identityOf(derivations[7]);
	CHECK(keysFor(options).error().sysErrno == ENOKEY);
}

TEST_CASE("secure channel concatenation is refused where it cannot be", "[keys][tls]")
{
	const KeyFile file(std::string(tlsKey) + "\n");
	ConnectOptions options;
	options.subsysnqn = subsystem;
	options.concat = true;
	CHECK(says(keysFor(options).error(), "concat needs dhchap-key"));
	options.dhchapKey = file.path();
	CHECK(says(connectKeys(options, host, TestKeyring::absent).error(),
		   "concat: this kernel has no keyring .nvme"));
	CHECK(says(keysFor(options).error(), "dhchap-key: ")); // that file has a key of TLS
	for (const TlsUse use : {TlsUse::off, TlsUse::preferred, TlsUse::required}) {
		options.tls = use;
		CHECK(says(keysFor(options).error(), "concat excludes tls and tls-key"));
	}
	options.tls.reset();
	options.tlsKey = file.path();
	CHECK(says(keysFor(options).error(), "concat excludes tls and tls-key"));
	options.tlsKey.clear();
	options.transport = "rdma";
	CHECK(says(keysFor(options).error(), "concat needs transport tcp, not rdma"));
}

TEST_CASE("a configuration is checked for what a connect with concat would refuse", "[keys][tls][config]")
{
	const std::string service = "[[discovery]]\naddress = \"10.0.0.1\"\n",
			  connection = "[[connection]]\nnqn = \"nqn.s\"\naddress = \"10.0.0.1\"\n",
			  concat = "concat = true\n", rdma = "transport = \"rdma\"\n", tls = "tls = true\n",
			  ctrl = "dhchap-ctrl-key = \"/k/ctrl.key\"\n", off = "tls = \"off\"\n",
			  keys = "dhchap-key = \"/k/host.key\"\n" + ctrl, tlsKeyLine = "tls-key = \"/k/tls.key\"\n",
			  defaults = "[[defaults]]\nnqn = \"nqn.*\"\n";
	for (const std::string &table : {service, connection})
		for (const std::string &wrong : {concat + keys + rdma, concat + keys + tls, concat + keys + off,
						 concat + keys + tlsKeyLine, ctrl}) {
			CAPTURE(table, wrong);
			const ConfigReading reading = parseConfig(table + wrong, "c");
			REQUIRE(reading.problems.size() == 1);
			CHECK(reading.problems[0].place.line == 1);
			const Config &config = reading.config;
			const bool discovery = !config.services.empty();
			const ConnectOptions options = discovery ? serviceOptions(config, config.services[0], {})
								 : connectionOptions(config, config.connections[0], {});
			CHECK(reading.problems[0].message == connectKeys(options, host).error().message);
		}
	CHECK(parseConfig(connection + concat + rdma + tls, "c").problems.size() == 3); // all at once
	for (const std::string &right :
	     {service + concat + keys, service + concat + "dhchap-key = \"/k/host.key\"\n", connection + concat + keys,
	      connection + concat + defaults + keys, connection + keys + defaults + concat}) {
		CAPTURE(right);
		CHECK(parseConfig(right, "c").problems.empty());
	}
	const ConfigReading accepted = parseConfig(service + tls + rdma, "c");
	CHECK(accepted.problems.empty());
	CHECK(accepted.config.notes ==
	      std::vector<std::string>{
		      "c:1: TLS needs transport tcp, not rdma: omit tls and tls-key, or set tls to off"});
	// [[defaults]] are for subsystems, and a [[connection]] can add to them
	auto notes = [](const std::string &text) {
		const ConfigReading reading = parseConfig(text, "c");
		CHECK(reading.problems.empty());
		return reading.config.notes;
	};
	using Notes = std::vector<std::string>;
	const Notes missing{"c:1: concat needs dhchap-key: the host's authentication generates the key of TLS"};
	CHECK(notes(service + concat + defaults + keys) == missing);
	CHECK(notes(connection + concat) == missing);
	CHECK(notes(defaults + concat) == missing);
	CHECK(notes(defaults + concat + keys + tls) == Notes{"c:1: concat excludes tls and tls-key: the authentication "
							     "generates the key of TLS; omit one of them"});
	CHECK(notes(defaults + concat + "[[defaults]]\n" + keys).empty());
	CHECK(notes(defaults + concat + keys + "[[defaults]]\n" + tls).empty()); // the nearer one applies
}

TEST_CASE("TLS is refused where it cannot be, and is never dropped silently", "[keys][tls]")
{
	const KeyFile file(std::string(tlsKey) + "\n");
	ConnectOptions options = tlsOptions();
	options.transport = "rdma";
	CHECK(says(keysFor(options).error(), "TLS needs transport tcp, not rdma"));
	options.tls.reset();
	options.tlsKey = file.path();
	CHECK(says(keysFor(options).error(), "TLS needs transport tcp, not rdma"));
	options.tls = TlsUse::preferred;
	CHECK_FALSE(keysFor(options)->tls);
	options = tlsOptions();
	CHECK(says(connectKeys(options, host, TestKeyring::absent).error(), "no keyring .nvme"));
	options.tls = TlsUse::preferred;
	CHECK_FALSE(connectKeys(options, host, TestKeyring::absent)->tls);
	options.tlsKey = file.path();
	CHECK(says(connectKeys(options, host, TestKeyring::absent).error(), "no keyring .nvme"));
	if (!hasKeyring())
		return;
	const TestKeyring test;
	file.mode(0644);
	CHECK(says(keysFor(options).error(), "tls-key: " + file.path() + ": its mode is 0644"));
	file.mode(0600);
	file.scratch().write("host.key", goodKey);
	CHECK(says(keysFor(options).error(), "the key does not begin with NVMeTLSkey-1:"));
	options.tlsKey = tlsKey; // as a program may do
	CHECK(says(keysFor(options).error(), "tls-key: this looks like the key itself"));
	CHECK_FALSE(says(keysFor(options).error(), tlsKeyPart));
	CHECK((*TestKeyring::open()).list()->empty());
}

TEST_CASE("the kernel gets the serial numbers of a TLS key and its keyring", "[keys][tls]")
{
	const ConnectKeys keys{{}, TlsRequestKey{TlsKeyring::of(19, "user"), 17}};
	const Request none = connectRequest(tlsOptions(), "nqn.h", Uuid()),
		      both = connectRequest(tlsOptions(), "nqn.h", Uuid(), keys);
	auto size = [](const Request &request) { return nlmsg_hdr(request.get())->nlmsg_len; };
	CHECK(size(both) == size(none) + 2 * 8);
}

TEST_CASE("tls and tls-key are settings of the configuration", "[keys][tls]")
{
	const std::string connection = "[[connection]]\nnqn = \"nqn.s\"\naddress = \"10.0.0.1\"\n";
	auto optionsOf = [](const std::string &text) {
		const ConfigReading reading = parseConfig(text, "c");
		CAPTURE(text);
		REQUIRE(reading.problems.empty());
		return connectionOptions(reading.config, reading.config.connections.front(), {"10.0.0.1", "4420"});
	};
	for (const auto &[word, use] : {std::pair{"true", TlsUse::required},
					{"false", TlsUse::off},
					{"\"off\"", TlsUse::off},
					{"\"preferred\"", TlsUse::preferred},
					{"\"required\"", TlsUse::required}})
		CHECK(optionsOf(connection + "tls = " + word + "\n").tls == use);
	CHECK_FALSE(optionsOf(connection).tls);
	const std::string own = connection + "tls-key = \"/k/tls.key\"\n", defaults = "[[defaults]]\nnqn = \"nqn.*\"\n";
	CHECK(optionsOf(own).tlsKey == "/k/tls.key");
	// the key of a connection implies TLS, whatever wider patterns say
	CHECK(optionsOf(own + defaults + "tls = \"preferred\"\n").tls == TlsUse::required);
	CHECK(optionsOf(own + defaults + "tls = \"off\"\n").tls == TlsUse::required);
	const ConnectOptions exception =
		optionsOf(connection + "tls = \"off\"\n" + defaults + "tls-key = \"/k/tls.key\"\n");
	CHECK(exception.tls == TlsUse::off);
	const std::string text = own + "\n[[defaults]]\nnqn = \"nqn.*\"\ntls = \"preferred\"\n";
	CHECK(formatConfig(parseConfig(text, "c").config) == text);
	for (const char *wrong : {"tls = \"always\"", "tls = 1", "tls-key = \"./tls.key\"", "tls-key = \"\""}) {
		CAPTURE(wrong);
		const ConfigReading bad = parseConfig("[[defaults]]\n" + std::string(wrong) + "\n", "c");
		REQUIRE(bad.problems.size() == 1);
		CHECK(bad.problems[0].place.line == 2);
	}
	const ConfigReading secret = parseConfig("[[defaults]]\ntls-key = \"" + std::string(tlsKey) + "\"\n", "c");
	REQUIRE(secret.problems.size() == 1);
	CHECK(secret.problems[0].message.find(tlsKeyPart) == std::string::npos);
	const ConfigReading service = parseConfig("[[discovery]]\naddress = \"10.0.0.1\"\ntls = true\n", "c");
	REQUIRE(service.problems.empty());
	CHECK(serviceOptions(service.config, service.config.services[0], {"10.0.0.1", "8009"}).tls == TlsUse::required);
	const ConfigReading rdma = parseConfig(connection + "transport = \"rdma\"\ntls = true\n", "c");
	REQUIRE(rdma.problems.size() == 1);
	CHECK(rdma.problems[0].message.find("TLS needs transport tcp") == 0);
	CHECK(parseConfig(connection + "transport = \"rdma\"\n" + defaults + "tls = \"preferred\"\n", "c")
		      .problems.empty());
}

TEST_CASE("tls and tls-key are options of commands, of set and of the C interface", "[keys][tls]")
{
	CommandLine line = parseCommandLine(wordsIn("connect -n nqn.a -a 10.0.0.1 --tls"));
	REQUIRE(line.command);
	CHECK(settingsOf(line.args).tls == TlsUse::required);
	CHECK_FALSE(settingsOf(parseCommandLine(wordsIn("connect -n nqn.a -a 10.0.0.1")).args).tls);
	line = parseCommandLine(wordsIn("connect -n nqn.a -a 10.0.0.1 --tls-key ./tls.key"));
	REQUIRE(line.command);
	CHECK(settingsOf(line.args).tlsKey->ends_with("/tls.key"));
	CHECK(settingsOf(line.args).tls == TlsUse::required); // also where [[defaults]] have tls = "off"
	CHECK(parseCommandLine(wordsIn("discover -a 10.0.0.1 --tls")).command);
	CHECK(parseCommandLine(wordsIn("discover -a 10.0.0.1 --tls-key /k/tls.key")).command);
	Result<ControllerSettings> settings = parseControllerSettings(std::vector<std::string>{"tls-key=/k/tls.key"});
	REQUIRE(settings);
	CHECK(settings->tlsKey == "/k/tls.key");
	const std::string named = "keyring:" + identityOf(derivations[5]);
	CHECK(parseControllerSettings(std::vector<std::string>{"tls-key=" + named})->tlsKey == named);
	CHECK_FALSE(parseControllerSettings(std::vector<std::string>{"tls-key=" + named + " x"}));
	for (const std::string &text :
	     {"connect -n nqn.a -a 10.0.0.1 --tls-key " + std::string(tlsKey),
	      "set nvmeof0c1 tls-key=" + std::string(tlsKey), "connect-all --tls-key=" + std::string(tlsKey),
	      "key check " + std::string(tlsKey)}) {
		const Outcome outcome = run(text);
		CAPTURE(text);
		CHECK(outcome.code == static_cast<int>(ExitCode::usage));
		CHECK(outcome.err.find(tlsKeyPart) == std::string::npos);
		CHECK(outcome.out.find(tlsKeyPart) == std::string::npos);
	}
	nvmeof_options *options = nvmeof_options_new();
	for (const char *value : {tlsKey, "./tls.key"})
		CHECK(nvmeof_options_set(options, "tls_key", value, nullptr) == NVMEOF_INVALID);
	CHECK(nvmeof_options_set(options, "tls_key", "/k/tls.key", nullptr) == NVMEOF_OK);
	CHECK(nvmeof_options_set(options, "tls", "required", nullptr) == NVMEOF_OK);
	CHECK(nvmeof_options_set(options, "tls", "sometimes", nullptr) == NVMEOF_INVALID);
	nvmeof_options_free(options);
}

TEST_CASE("a line of a key file is an identity and a key", "[keys][tls]")
{
	const DerivedPsk psk = derived(tlsKey);
	const SecretBytes line = formatKeyLine(psk);
	CHECK(line.text().starts_with(psk.identity + " NVMeTLSkey-1:01:"));
	Result<DerivedPsk> again = parseKeyLine(line.text());
	REQUIRE(again);
	CHECK(again->identity == psk.identity);
	CHECK(again->secret.text() == psk.secret.text());
	const DerivedPsk old = derived(derivations[6].configured, 0);
	std::string text(formatKeyLine(old).text());
	text.replace(text.find("key-1:"), 6, "key-0:"); // as nvme-cli writes it
	again = parseKeyLine(text);
	REQUIRE(again);
	CHECK(again->secret.text() == old.secret.text());
	const std::string good(line.text()), identity = psk.identity;
	for (const std::string &wrong :
	     {std::string(), std::string(tlsKey), identity, identity + " ", good + " ", " " + good,
	      identity + "  " + tlsKey, identity + " " + derivations[6].configured, "x " + std::string(tlsKey),
	      good.substr(0, good.size() - 1),
	      identity + " NVMeTLSkey-0:01:" + good.substr(good.rfind(':', good.size() - 2) + 1),
	      identity + " " + derivations[0].configured}) {
		CAPTURE(wrong);
		Result<DerivedPsk> bad = parseKeyLine(wrong);
		REQUIRE_FALSE(bad);
		CHECK_FALSE(says(bad.error(), tlsKeyPart));
	}
}

TEST_CASE("TLS keys are exported and imported", "[keys][tls]")
{
	if (!hasKeyring())
		return;
	const TestKeyring test;
	const TlsKeyring keyring = *TestKeyring::open();
	const DerivedPsk one = derived(tlsKey), other = derived(derivations[6].configured, 0);
	REQUIRE(keyring.insert(one));
	REQUIRE(keyring.insert(other));
	Result<SecretBytes> text = exportKeys(keyring, *keyring.list());
	REQUIRE(text);
	const std::string whole(text->text());
	CHECK(std::ranges::count(whole, '\n') == 1);
	REQUIRE(keyring.revoke(one.identity));
	REQUIRE(keyring.revoke(other.identity));
	Result<std::vector<KeyringKey>> keys = importKeys(keyring, whole + "\nrubbish\n");
	REQUIRE_FALSE(keys);
	CHECK(says(keys.error(), "line 3: a line is not IDENTITY NVMeTLSkey-1:HH:BASE64:"));
	CHECK(keyring.list()->empty());
	keys = importKeys(keyring, whole + "\n\n");
	REQUIRE(keys);
	CHECK(keys->size() == 2);
	CHECK(keyring.read(*keyring.find(one.identity))->text() == one.secret.text());
	CHECK(keyring.read(*keyring.find(other.identity))->text() == other.secret.text());
	REQUIRE(::add_key("user", "NVMe0R01 nqn.h nqn.s", "short", 5, keyring.serial()) >= 0);
	CHECK(says(exportKeys(keyring, *keyring.list()).error(), "wrong length"));
}

TEST_CASE("key insert refuses options of the other kind of key", "[keys][tls]")
{
	const KeyFile tls(std::string(tlsKey) + "\n"), dhchap;
	const std::string nqns = " -q nqn.h -n nqn.s";
	for (const auto &[line, words] :
	     {std::pair<std::string, const char *>{tls.path() + " -q nqn.h", "--subsysnqn NQN is missing"},
	      {tls.path() + nqns + " --controller", "--controller is for keys of DH-HMAC-CHAP"},
	      {dhchap.path() + nqns + " --compat", "--compat is for TLS keys"},
	      {dhchap.path() + nqns + " --identity-version 0", "--identity-version is for TLS keys"}}) {
		CAPTURE(line);
		const Outcome outcome = run("key insert " + line);
		CHECK(outcome.code == static_cast<int>(ExitCode::usage));
		CHECK(outcome.err.find(words) != std::string::npos);
		CHECK(outcome.err.find(tlsKeyPart) == std::string::npos);
	}
	tls.mode(0644);
	CHECK(run("key import " + tls.path()).err.find("chmod 600") != std::string::npos);
	CHECK(run("key export --output " + tls.path()).code != 0); // no key, or the file exists
	CHECK(tls.scratch().read("host.key") == std::string(tlsKey) + "\n");
}
