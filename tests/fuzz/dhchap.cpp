// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a byte of options, then two messages of a controller with their lengths, then a secret as text.
#include "input.h"

#include <algorithm>
#include <array>

extern "C" {
#include "wire/dhchap.h"
}

namespace {

// Bytes of a DH value, by number of the group
constexpr std::array<unsigned, 6> dhLengths{0, 256, 384, 512, 768, 1024};

nof_dhchap_step receive(nof_dhchap &d, Bytes message)
{
	const nof_dhchap_step step = nof_dhchap_receive(&d, exact(message).get(), static_cast<u32>(message.size()));
	expect(step != NOF_DHCHAP_DONE || (d.replied && !d.mutual), "only a host alone is done with success1");
	expect(step != NOF_DHCHAP_CHECK_RESPONSE || (d.replied && d.mutual),
	       "a response follows a challenge of the host");
	expect(step != NOF_DHCHAP_FAILED || (d.reason && d.why), "a failure has a reason and a text");
	expect(*nof_dhchap_reason(d.reason), "each reason has a text");
	return step;
}

void checkChoice(const nof_dhchap &d)
{
	expect(d.hashes & 1U << d.hash, "an offered hash function");
	expect(d.groups & 1U << d.group, "an offered group");
	expect(d.hash_len == nof_dhchap_hash_len(d.hash) && d.hash_len <= NOF_DHCHAP_HASH_MAX, "length of the hash");
	expect(d.group < dhLengths.size() && d.dh_len == dhLengths[d.group], "length of the DH value");
}

void exchange(Input &in)
{
	static nof_dhchap d;
	static u8 buffer[NOF_DHCHAP_MESSAGE_MAX];
	const u8 options = in.take<u8>();
	d = {};
	d.transaction = 1;
	d.mutual = options & 1;
	d.hashes = static_cast<u8>((options >> 1 & 7) << 1);
	d.groups = static_cast<u8>((options >> 4 & 15) | 0x10);
	expect(nof_dhchap_negotiate(&d, buffer) <= sizeof(buffer), "the negotiation fits");
	const Bytes rest = in.rest();
	const std::size_t first = std::min(rest.size(), std::size_t{NOF_DHCHAP_MESSAGE_MAX});
	if (receive(d, rest.first(first)) != NOF_DHCHAP_SEND_REPLY)
		return;
	checkChoice(d);
	expect(nof_dhchap_reply(&d, buffer) <= sizeof(buffer), "the reply fits");
	receive(d, rest.subspan(std::min(first, std::size_t{16} + d.hash_len + d.dh_len)));
}

void secret(Bytes text)
{
	nof_dhchap_secret decoded;
	const char *why =
		nof_dhchap_parse_secret(reinterpret_cast<const char *>(exact(text).get()), text.size(), &decoded);
	const bool empty = std::all_of(std::begin(decoded.key), std::end(decoded.key), [](u8 byte) { return !byte; });
	expect(!why || (empty && !decoded.len), "nothing is left of a text that is refused");
	expect(why || decoded.len == 32 || decoded.len == 48 || decoded.len == 64, "length of a secret");
	expect(why || !decoded.hash || decoded.len == nof_dhchap_hash_len(decoded.hash), "length of a hash");
}

} // namespace

void fuzz(Input in)
{
	Input copy = in;
	exchange(copy);
	secret(in.rest());
}
