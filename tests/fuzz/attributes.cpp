// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the attributes of a netlink message.
#include "input.h"

#include <optional>

#include <linux/netlink.h>

#include "libctl/netlink/message.h"

using nofctl::Attributes;

namespace {

using Payload = std::span<const std::byte>;

std::vector<nvmeof_attr> types()
{
	std::vector<nvmeof_attr> all;
	for (int type = 0; type <= NVMEOF_A_MAX; type++)
		all.push_back(static_cast<nvmeof_attr>(type));
	return all;
}

void append(std::vector<std::byte> &to, nvmeof_attr type, Payload payload)
{
	const nlattr header{static_cast<std::uint16_t>(sizeof(header) + payload.size()),
			    static_cast<std::uint16_t>(type)};
	const Payload bytes = std::as_bytes(std::span(&header, 1));
	to.insert(to.end(), bytes.begin(), bytes.end());
	to.insert(to.end(), payload.begin(), payload.end());
	to.resize(NLA_ALIGN(to.size()));
}

bool same(Payload a, Payload b)
{
	return std::ranges::equal(a, b);
}

void checkValue(Payload payload)
{
	const std::string text = nofctl::textOf(payload);
	expect(text.size() <= payload.size() && text.find('\0') == text.npos, "a text ends with its attribute");
	expect(nofctl::numberOf<std::uint8_t>(payload).has_value() == (payload.size() == 1), "8 bits are a byte");
	expect(nofctl::numberOf<std::uint16_t>(payload).has_value() == (payload.size() == 2), "16 bits are two");
	expect(nofctl::numberOf<std::uint32_t>(payload).has_value() == (payload.size() == 4), "32 bits are four");
	expect(nofctl::numberOf<std::uint64_t>(payload).has_value() == (payload.size() == 8), "64 bits are eight");
}

// Encodes the attributes again. The copy is not larger than the original.
std::vector<std::byte> copyOf(const Attributes &attributes, std::size_t room)
{
	std::vector<std::byte> copy;
	for (nvmeof_attr type : types()) {
		const std::vector<Payload> all = attributes.findAll(type);
		const std::optional<Payload> first = attributes.find(type);
		expect(first.has_value() == !all.empty() && (!first || same(*first, all.front())), "first of all");
		for (Payload payload : all) {
			checkValue(payload);
			append(copy, type, payload);
		}
	}
	expect(copy.size() <= NLA_ALIGN(room), "no attribute occurs twice");
	return copy;
}

} // namespace

void fuzz(Input in)
{
	const nvmeof::Result<Attributes> attributes = Attributes::parse(std::as_bytes(in.rest()));
	if (!attributes) {
		expect(!attributes.error().message.empty(), "a refusal has a reason");
		return;
	}
	const nvmeof::Result<Attributes> again = Attributes::parse(copyOf(*attributes, in.rest().size()));
	expect(again.ok(), "a written value can be read");
	for (nvmeof_attr type : types()) {
		const std::vector<Payload> a = attributes->findAll(type), b = again->findAll(type);
		expect(std::ranges::equal(a, b, same), "and is the same");
	}
}
