// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways in which a target can violate TLS, one line each: in the handshake, and on an established connection.
#include "tls_proxy.h"

#include <algorithm>
#include <array>
#include <openssl/ssl.h>

namespace guest {
namespace {

using namespace std::chrono_literals;
using P = TlsPeer;
using B = TlsBytes;
using enum TlsHook;
using enum TlsOutcome;
namespace wire = tls_wire;

constexpr std::size_t header = 5; // of a record
constexpr std::size_t mostInRecord = 1 << 14;

// A record in plain text
B plain(std::uint8_t type, const B &content)
{
	const std::size_t n = content.size();
	B record{type, 3, 3, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)};
	record.insert(record.end(), content.begin(), content.end());
	return record;
}

// A record of @have bytes whose header says @length
B claimed(std::uint16_t length, std::size_t have, std::uint8_t minor = 3)
{
	B record{wire::data, 3, minor, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)};
	record.resize(header + have, 0x5a);
	return record;
}

B repeated(const B &bytes, std::size_t times)
{
	B all;
	for (; times; times--)
		all.insert(all.end(), bytes.begin(), bytes.end());
	return all;
}

// The ServerHello at the beginning of the target's first flight (RFC 8446, 4.1.3); behind the header of its record
namespace hello {

constexpr std::size_t lengthAt = header + 1, versionAt = header + 4, randomAt = header + 6, sessionAt = header + 38;

// SHA-256 of "HelloRetryRequest"
constexpr std::array<std::uint8_t, 32> retryRandom{0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
						   0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
						   0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

std::size_t suiteAt(const B &flight)
{
	return sessionAt + 1 + flight.at(sessionAt);
}

// Offset of the content of an extension
std::size_t extension(const B &flight, std::uint16_t wanted)
{
	auto number = [&](std::size_t at) { return static_cast<std::size_t>(flight.at(at) << 8 | flight.at(at + 1)); };
	for (std::size_t at = suiteAt(flight) + 5; at + 4 < flight.size(); at += 4 + number(at + 2))
		if (number(at) == wanted)
			return at + 4;
	throw std::out_of_range("ServerHello without this extension");
}

std::size_t size(const B &flight)
{
	return header + static_cast<std::size_t>(flight.at(3) << 8 | flight.at(4));
}

} // namespace hello

enum Extension : std::uint16_t { preSharedKey = 41, supportedVersions = 43, keyShare = 51 };

// clang-format off
const TlsMisbehaviour table[] = {
	// Instead of a handshake
	{"tls-never", accepted, refused, "no answer during the TLS handshake", [](P &, B &) {}},
	{"tls-closed", accepted, refused, "closed during the TLS handshake", [](P &p, B &) { p.close(); }},
	{"tls-rst", accepted, refused, "closed during the TLS handshake", [](P &p, B &) { p.reset(); }},
	{"tls-text", accepted, refused, "does the port use TLS?",
		[](P &p, B &) { p.raw("HTTP/1.1 400 Bad Request\r\n\r\n"); }},
	{"tls-alert", accepted, refused, "refused the TLS key", // handshake_failure
		[](P &p, B &) { p.raw(plain(wire::alert, {wire::fatal, 40})); }},
	{"tls-alert-identity", accepted, refused, "refused the TLS key", // unknown_psk_identity
		[](P &p, B &) { p.raw(plain(wire::alert, {wire::fatal, 115})); }},
	{"tls-alert-version", accepted, refused, "does the port use TLS?", // protocol_version
		[](P &p, B &) { p.raw(plain(wire::alert, {wire::fatal, 70})); }},
	{"tls-alert-close", accepted, refused, "closed during the TLS handshake", // close_notify
		[](P &p, B &) { p.raw(plain(wire::alert, {wire::warning, 0})); }},
	{"tls-alert-warning-never", accepted, refused, "no answer during the TLS handshake", // user_canceled
		[](P &p, B &) { p.raw(plain(wire::alert, {wire::warning, 90})); }},
	{"tls-alert-cut-never", accepted, refused, "no answer during the TLS handshake",
		[](P &p, B &) { p.raw(claimed(2, 0)); }},
	{"tls-alerts", accepted, refused, "the TLS handshake failed",
		[](P &p, B &) { p.raw(repeated(plain(wire::alert, {wire::warning, 90}), 1000)); }},
	{"tls-cipher-changes", accepted, refused, "the TLS handshake failed",
		[](P &p, B &) { p.raw(repeated(plain(wire::changeCipherSpec, {1}), 20000)); }},
	{"tls-empty-records", accepted, refused, "the TLS handshake failed",
		[](P &p, B &) { p.raw(repeated(plain(wire::handshake, {}), 1000)); }},
	{"tls-record-oversized", accepted, refused, "the TLS handshake failed",
		[](P &p, B &) { p.raw(claimed(0xffff, 1024)); }},
	{"tls-data-first", accepted, refused, "the TLS handshake failed", [](P &p, B &) { p.raw(claimed(64, 64)); }},
	{"tls-client-hello", accepted, refused, "the TLS handshake failed",
		[](P &p, B &) { p.raw(plain(wire::handshake, {wire::clientHello, 0, 0, 0})); }},
	{"tls-message-endless", accepted, refused, "the TLS handshake failed", // a ServerHello of 2^24 - 1 bytes
		[](P &p, B &) {
			B begin{wire::serverHello, 0xff, 0xff, 0xff};
			begin.resize(mostInRecord);
			p.raw(plain(wire::handshake, begin));
			p.raw(repeated(plain(wire::handshake, B(mostInRecord)), 8)); }},

	// Another configuration of the target
	{"tls-version-1-2", settings, refused, "does the port use TLS?",
		[](P &p, B &) { SSL_set_min_proto_version(p.tls(), TLS1_2_VERSION);
				SSL_set_max_proto_version(p.tls(), TLS1_2_VERSION); }},
	{"tls-secret-other", settings, refused, "refused the TLS key", // and the same identity
		[](P &p, B &) { p.useOtherSecret(); }},
	{"tls-key-none", settings, refused, "refused the TLS key", // nor a certificate
		[](P &p, B &) { SSL_set_psk_find_session_callback(p.tls(), [](auto *, auto *, auto, auto **found) {
			*found = nullptr;
			return 1; }); }},
	{"tls-suite-other", settings, refused, "refused the TLS key", // that does not fit the key
		[](P &p, B &) { SSL_set_ciphersuites(p.tls(), "TLS_AES_256_GCM_SHA384"); }},
	{"tls-group-not-guessed", settings, harmless, "", // costs a HelloRetryRequest
		[](P &p, B &) { SSL_set1_groups_list(p.tls(), "P-384"); }},

	// The first flight: ServerHello, EncryptedExtensions, Finished
	{"hello-suite-unoffered", answer, refused, "the TLS handshake failed", // TLS_AES_256_GCM_SHA384
		[](P &, B &b) { b.at(hello::suiteAt(b) + 1) = 2; }},
	{"hello-suite-unknown", answer, refused, "the TLS handshake failed",
		[](P &, B &b) { b.at(hello::suiteAt(b)) = 0x99; }},
	{"hello-downgrade", answer, refused, "the TLS handshake failed", // to TLS 1.2
		[](P &, B &b) { b.at(hello::extension(b, supportedVersions) + 1) = 3; }},
	{"hello-version", answer, refused, "the TLS handshake failed",
		[](P &, B &b) { b.at(hello::versionAt + 1) = 0; }},
	{"hello-identity-unoffered", answer, refused, "the TLS handshake failed", // the second of one
		[](P &, B &b) { b.at(hello::extension(b, preSharedKey) + 1) = 1; }},
	{"hello-identity-omitted", answer, refused, "the TLS handshake failed", // another extension instead
		[](P &, B &b) { b.at(hello::extension(b, preSharedKey) - 3) = 0xfe; }},
	{"hello-share-group", answer, refused, "the TLS handshake failed", // another one than the value is of
		[](P &, B &b) { b.at(hello::extension(b, keyShare) + 1) ^= 1; }},
	{"hello-share-value", answer, refused, "the TLS handshake failed",
		[](P &, B &b) { b.at(hello::extension(b, keyShare) + 5) ^= 1; }},
	{"hello-share-zero", answer, refused, "the TLS handshake failed", // whose shared secret is known
		[](P &, B &b) {
			const auto value = std::span(b).subspan(hello::extension(b, keyShare) + 4, 32);
			std::ranges::fill(value, 0); }},
	{"hello-session", answer, refused, "the TLS handshake failed", // longer than the message
		[](P &, B &b) { b.at(hello::sessionAt) = 0xff; }},
	{"hello-compression", answer, refused, "the TLS handshake failed",
		[](P &, B &b) { b.at(hello::suiteAt(b) + 2) = 1; }},
	{"hello-random", answer, refused, "the TLS handshake failed", // other keys at both ends
		[](P &, B &b) { b.at(hello::randomAt) ^= 1; }},
	{"hello-retry", answer, refused, "the TLS handshake failed", // the random number of a HelloRetryRequest
		[](P &, B &b) {
			std::ranges::copy(hello::retryRandom, b.begin() + hello::randomAt); }},
	{"hello-length", answer, refused, "the TLS handshake failed",
		[](P &, B &b) { b.at(hello::lengthAt + 2) -= 1; }},
	{"hello-longer-never", answer, refused, "no answer during the TLS handshake", // than what follows
		[](P &, B &b) { b.at(hello::lengthAt + 1) = 0x10; b.resize(hello::size(b)); }},
	{"hello-alone-never", answer, refused, "no answer during the TLS handshake",
		[](P &, B &b) { b.resize(hello::size(b)); }},
	{"hello-half-closed", answer, refused, "closed during the TLS handshake",
		[](P &p, B &b) { b.resize(b.size() / 2); p.raw(b); p.close(); }},
	{"hello-half-rst", answer, refused, "closed during the TLS handshake",
		[](P &p, B &b) { b.resize(b.size() / 2); p.raw(b); p.reset(); }},
	{"hello-crawl-never", answer, refused, "no answer during the TLS handshake",
		[](P &p, B &b) { p.crawl(b, 500ms); }},
	{"hello-pieces", answer, harmless, "", [](P &p, B &b) { p.crawl(b, 1ms); b.clear(); }},
	{"hello-twice", answer, refused, "the TLS handshake failed",
		[](P &, B &b) { b.insert(b.begin(), b.begin(), b.begin() + static_cast<long>(hello::size(b))); }},
	{"hello-repeated", answer, refused, "cannot be decrypted", // the whole flight
		[](P &, B &b) { b = repeated(b, 2); }},
	{"finished-wrong", answer, refused, "the TLS handshake failed", [](P &, B &b) { b.back() ^= 1; }},
	{"finished-never", answer, refused, "no answer during the TLS handshake",
		[](P &, B &b) { b.pop_back(); }},
	{"no-encryption", pdus, refused, "invalid TLS record", // after the handshake
		[](P &p, B &b) { p.raw(b); }},

	// An established connection: alerts
	{"close-notify", live, reset, "closed by the target", [](P &p, B &) { p.alert(wire::warning, 0); }},
	{"close-notify-in-pdu", pdus, reset, "closed by the target",
		[](P &p, B &b) { p.data(std::span(b).first(b.size() / 2)); p.alert(wire::warning, 0); p.close(); }},
	{"close-notify-before-data", pdus, reset, "closed by the target",
		[](P &p, B &b) { p.alert(wire::warning, 0); p.data(b); }},
	{"alert-fatal", live, reset, "TLS alert record_overflow (22)", [](P &p, B &) { p.alert(wire::fatal, 22); }},
	{"alert-warning", live, reset, "TLS alert user_canceled (90)", [](P &p, B &) { p.alert(wire::warning, 90); }},
	{"alert-level-zero", live, reset, "TLS alert internal_error (80)", [](P &p, B &) { p.alert(0, 80); }},
	{"alert-level-255", live, reset, "TLS alert decode_error (50)", [](P &p, B &) { p.alert(255, 50); }},
	{"alert-unknown", live, reset, "TLS alert unknown (199)", [](P &p, B &) { p.alert(wire::fatal, 199); }},
	{"alert-mac", live, reset, "the target could not decrypt a TLS record",
		[](P &p, B &) { p.alert(wire::fatal, 20); }},
	{"alert-empty", live, reset, "cannot read a TLS record", [](P &p, B &) { p.record(wire::alert, B{}); }},
	{"alert-one-byte", live, reset, "unexpected TLS record",
		[](P &p, B &) { p.record(wire::alert, B{wire::fatal}); }},
	{"alert-in-plain-text", live, reset, "cannot be decrypted",
		[](P &p, B &) { p.raw(plain(wire::alert, {wire::fatal, 40})); }},

	// Handshake messages
	{"key-update", live, reset, "TLS KeyUpdate", [](P &p, B &) { p.message(wire::keyUpdate, 1); p.nextKeys(); }},
	{"key-update-asked", live, reset, "TLS KeyUpdate", // of the host, too
		[](P &p, B &) { p.record(wire::handshake, B{wire::keyUpdate, 0, 0, 1, 1}); p.nextKeys(); }},
	{"key-updates", live, reset, "TLS KeyUpdate",
		[](P &p, B &) {
			for (int i = 0; i < 100; i++) {
				p.message(wire::keyUpdate, 1);
				p.nextKeys();
			} }},
	{"key-update-one-byte", live, reset, "TLS KeyUpdate",
		[](P &p, B &) { p.record(wire::handshake, B{wire::keyUpdate}); }},
	{"key-update-behind-ticket", live, reset, "cannot be decrypted", // in one record
		[](P &p, B &) {
			p.record(wire::handshake, B{wire::sessionTicket, 0, 0, 2, 0, 0, wire::keyUpdate, 0, 0, 1, 0});
			p.nextKeys();
			p.data(B{}); }},
	{"tickets", live, reset, "too many TLS session tickets",
		[](P &p, B &) { for (int i = 0; i < 64; i++) p.message(wire::sessionTicket, 250); }},
	{"tickets-few", live, harmless, "",
		[](P &p, B &) { for (int i = 0; i < 8; i++) p.message(wire::sessionTicket, 250); }},
	{"ticket-oversized", live, reset, "too long",
		[](P &p, B &) { p.message(wire::sessionTicket, mostInRecord - 4); }},
	{"message-client-hello", live, reset, "unexpected TLS handshake message",
		[](P &p, B &) { p.message(wire::clientHello, 64); }},
	{"message-finished", live, reset, "unexpected TLS handshake message",
		[](P &p, B &) { p.message(wire::finished, 32); }},
	{"message-certificate-request", live, reset, "unexpected TLS handshake message",
		[](P &p, B &) { p.message(wire::certificateRequest, 3); }},
	{"message-unknown", live, reset, "unexpected TLS handshake message", [](P &p, B &) { p.message(99, 4); }},
	{"message-empty", live, reset, "cannot read a TLS record", [](P &p, B &) { p.record(wire::handshake, B{}); }},

	// Records
	{"record-heartbeat", live, reset, "unexpected TLS record",
		[](P &p, B &) { p.record(wire::heartbeat, B{1, 0, 1, 7}); }},
	{"record-unknown", live, reset, "unexpected TLS record", [](P &p, B &) { p.record(99, B{1}); }},
	{"record-cipher-change", live, reset, "unexpected TLS record",
		[](P &p, B &) { p.record(wire::changeCipherSpec, B{1}); }},
	{"record-cipher-change-plain", live, reset, "cannot be decrypted",
		[](P &p, B &) { p.raw(plain(wire::changeCipherSpec, {1})); }},
	{"record-without-type", live, reset, "cannot be decrypted", // zeroes only
		[](P &p, B &) { p.record(0, B{}, 100); }},
	{"record-damaged", live, reset, "cannot be decrypted", [](P &p, B &) { p.raw(claimed(64, 64)); }},
	{"record-mac", pdus, reset, "cannot be decrypted",
		[](P &p, B &b) { b = p.sealed(wire::data, b); b.back() ^= 1; p.raw(b); }},
	{"record-bit", pdus, reset, "cannot be decrypted",
		[](P &p, B &b) { b = p.sealed(wire::data, b); b[header] ^= 1; p.raw(b); }},
	{"record-replayed", pdus, reset, "cannot be decrypted",
		[](P &p, B &b) { p.raw(repeated(p.sealed(wire::data, b), 2)); }},
	{"record-omitted", pdus, reset, "cannot be decrypted", [](P &p, B &b) { p.skipNumber(); p.data(b); }},
	{"records-swapped", pdus, reset, "cannot be decrypted",
		[](P &p, B &b) {
			const B first = p.sealed(wire::data, std::span(b).first(b.size() / 2));
			p.data(std::span(b).subspan(b.size() / 2));
			p.raw(first); }},
	{"record-of-next-keys", pdus, reset, "cannot be decrypted", // without KeyUpdate
		[](P &p, B &b) { p.nextKeys(); p.data(b); }},
	{"record-oversized", live, reset, "invalid TLS record", [](P &p, B &) { p.raw(claimed(0xffff, 1024)); }},
	{"record-one-too-long", live, reset, "invalid TLS record", // than 2^14 bytes, type and tag
		[](P &p, B &) { p.raw(claimed(mostInRecord + 1 + 16 + 1, 1024)); }},
	{"record-too-short", live, reset, "cannot be decrypted", [](P &p, B &) { p.raw(claimed(15, 15)); }},
	{"record-length-zero", live, reset, "cannot be decrypted", [](P &p, B &) { p.raw(claimed(0, 0)); }},
	{"record-version", live, reset, "invalid TLS record", [](P &p, B &) { p.raw(claimed(64, 64, 1)); }},
	{"record-text", live, reset, "invalid TLS record",
		[](P &p, B &) { p.raw("HTTP/1.1 400 Bad Request\r\n\r\n"); }},
	{"pdu-in-plain-text", pdus, reset, "invalid TLS record", [](P &p, B &b) { p.raw(b); }},
	{"record-half", live, silence, "nothing answered for", [](P &p, B &) { p.raw(claimed(256, 100)); p.mute(); }},
	{"record-half-closed", live, reset, "closed by the target",
		[](P &p, B &) { p.raw(claimed(256, 100)); p.close(); }},
	{"record-half-rst", live, reset, "connection reset", [](P &p, B &) { p.raw(claimed(256, 100)); p.reset(); }},
	{"record-crawl", pdus, silence, "nothing answered for",
		[](P &p, B &b) { p.crawl(p.sealed(wire::data, b), 500ms); }},
	{"pdus-lost", pdus, silence, "nothing answered for", [](P &p, B &) { p.mute(); }},
	{"closed", live, reset, "closed by the target", [](P &p, B &) { p.close(); }}, // without close_notify
	{"rst", live, reset, "connection reset", [](P &p, B &) { p.reset(); }},
	{"record-empty", live, harmless, "", [](P &p, B &) { p.data(B{}); }},
	{"records-empty", live, harmless, "",
		[](P &p, B &) {
			B all;
			for (int i = 0; i < 1000; i++) {
				const B one = p.sealed(wire::data, B{});
				all.insert(all.end(), one.begin(), one.end());
			}
			p.raw(all); }},
	{"record-empty-padded", live, harmless, "", [](P &p, B &) { p.record(wire::data, B{}, mostInRecord); }},
	{"records-padded", pdus, harmless, "",
		[](P &p, B &b) { p.record(wire::data, b, std::min<std::size_t>(255, mostInRecord - b.size())); }},
};
// clang-format on

} // namespace

std::span<const TlsMisbehaviour> tlsMisbehaviours()
{
	return table;
}

} // namespace guest
