// SPDX-License-Identifier: LGPL-2.1-or-later
// An NVMe Boot Firmware Table as firmware would make it.
#pragma once

#include <arpa/inet.h>
#include <string>
#include <utility>
#include <vector>

#include <nvmeof/uuid.h>

#include "libctl/nbft/parse.h"

namespace nbft_table {

using namespace nofctl::nbft;
using nofctl::wire::Bytes;

inline layout::Ip ip(const std::string &text)
{
	layout::Ip bytes{};
	if (text.empty() || ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1)
		return bytes;
	bytes[10] = bytes[11] = 0xff;
	::inet_pton(AF_INET, text.c_str(), bytes.data() + 12);
	return bytes;
}

// The members may be changed until bytes() is called; references that put() returns stay valid.
class Builder {
public:
	layout::Header header{};
	layout::Control control{};
	layout::Host host{};
	std::vector<layout::Interface> interfaces;
	std::vector<layout::Namespace> namespaces;
	std::vector<layout::Security> securities;
	std::vector<layout::Discovery> discoveries;

	explicit Builder(const std::string &hostnqn, const nvmeof::Uuid &id = {})
	{
		nofctl::wire::setText(header.signature, "NBFT", 0);
		nofctl::wire::setText(header.oemId, "NVMEOF", 0);
		header.major = layout::majorRevision;
		control.structure = layout::s_control;
		control.major = 1;
		control.length = sizeof(control);
		control.flags = layout::f_valid;
		control.hostVersion = 1;
		host.structure = layout::s_host;
		host.flags = layout::f_valid | layout::h_nqn_configured;
		std::ranges::copy(id.bytes, host.id);
		host.nqn = text(hostnqn);
	}

	// Relative to the heap until bytes() knows where that is
	layout::Object put(std::span<const std::uint8_t> bytes)
	{
		layout::Object object{std::uint32_t(heap_.size()), std::uint16_t(bytes.size())};
		nofctl::wire::append(heap_, bytes);
		return object;
	}
	layout::Object text(const std::string &text)
	{
		layout::Object object = put({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
		heap_.push_back(0); // which the length leaves out
		return object;
	}

	static layout::Transport transport(const std::string &address, unsigned prefix)
	{
		layout::Transport one{};
		one.structure = layout::s_transport;
		one.version = one.infoVersion = 1;
		one.transport = layout::transportTcp;
		one.flags = layout::f_valid;
		one.address = ip(address);
		one.prefix = static_cast<std::uint8_t>(prefix);
		constexpr std::uint8_t mac[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
		std::ranges::copy(mac, one.mac);
		return one;
	}
	void interface(layout::Transport info)
	{
		layout::Interface one{};
		one.structure = layout::s_interface;
		one.index = static_cast<std::uint8_t>(interfaces.size() + 1);
		one.flags = layout::f_valid;
		one.transport = layout::transportTcp;
		info.interface = one.index;
		one.info = put(nofctl::wire::bytesOf(info));
		nested_.push_back(one.info);
		interfaces.push_back(one);
	}
	layout::Namespace &subsystem(const std::string &nqn, const std::string &address,
				     const std::string &port = "4420", std::uint8_t interface = 1)
	{
		layout::Namespace one{};
		one.structure = layout::s_namespace;
		one.index = static_cast<std::uint16_t>(namespaces.size() + 1);
		one.flags = layout::f_valid | layout::n_available;
		one.transport = layout::transportTcp;
		one.traddr = put(ip(address));
		one.trsvcid = text(port);
		one.port = 1;
		one.nsid = 1;
		one.interface = interface;
		one.nqn = text(nqn);
		namespaces.push_back(one);
		return namespaces.back();
	}
	void dhcpRootPath(layout::Namespace &of, const std::string &path)
	{
		layout::Extended more{};
		more.structure = layout::s_extended;
		more.version = 1;
		more.index = of.index;
		more.flags = layout::f_valid;
		more.dhcpRootPath = text(path);
		of.flags = of.flags | layout::n_extended | layout::n_dhcp_root_path;
		of.extended = put(nofctl::wire::bytesOf(more));
		extended_.push_back(of.extended);
	}

	Bytes bytes() const;

private:
	template <typename T> static void append(Bytes &to, layout::List &list, const std::vector<T> &all)
	{
		list = {};
		list.count = static_cast<std::uint8_t>(all.size());
		if (all.empty())
			return;
		list.offset = std::uint32_t(to.size());
		list.length = sizeof(T);
		list.version = 1;
		for (const T &one : all)
			nofctl::wire::append(to, nofctl::wire::bytesOf(one));
	}
	// As long as what it refers to is known; an absent one stays so.
	static void move(layout::Object &object, std::size_t by)
	{
		if (object.length)
			object.offset = std::uint32_t(object.offset + by);
	}
	// In the structures that lie in the heap themselves
	template <typename T>
	static void moveWithin(Bytes &heap, const layout::Object &at, layout::Object T::*member, std::size_t by)
	{
		T one = *nofctl::wire::decode<T>(std::span(heap).subspan(at.offset));
		move(one.*member, by);
		std::ranges::copy(nofctl::wire::bytesOf(one), heap.begin() + std::uint32_t(at.offset));
	}

	Bytes heap_;
	std::vector<layout::Object> nested_, extended_;
};

inline void seal(Bytes &table)
{
	constexpr std::size_t checksum = 9;
	table[checksum] = 0;
	std::uint8_t sum = 0;
	for (std::uint8_t byte : table)
		sum = static_cast<std::uint8_t>(sum + byte);
	table[checksum] = static_cast<std::uint8_t>(-sum);
}

inline Bytes Builder::bytes() const
{
	Builder copy = *this;
	const std::size_t heapAt =
		sizeof(header) + sizeof(control) + sizeof(host) + interfaces.size() * sizeof(layout::Interface) +
		namespaces.size() * sizeof(layout::Namespace) + securities.size() * sizeof(layout::Security) +
		discoveries.size() * sizeof(layout::Discovery);
	for (const layout::Object &at : nested_)
		moveWithin(copy.heap_, at, &layout::Transport::hostName, heapAt);
	for (const layout::Object &at : extended_)
		moveWithin(copy.heap_, at, &layout::Extended::dhcpRootPath, heapAt);
	move(copy.host.nqn, heapAt);
	for (layout::Interface &one : copy.interfaces)
		move(one.info, heapAt);
	for (layout::Namespace &one : copy.namespaces)
		for (layout::Object *object : {&one.traddr, &one.trsvcid, &one.moreInterfaces, &one.nqn, &one.extended})
			move(*object, heapAt);
	for (layout::Discovery &one : copy.discoveries) {
		move(one.uri, heapAt);
		move(one.nqn, heapAt);
	}
	Bytes lists;
	lists.resize(sizeof(header) + sizeof(control));
	copy.control.host = {std::uint32_t(lists.size()), sizeof(host)};
	nofctl::wire::append(lists, nofctl::wire::bytesOf(copy.host));
	append(lists, copy.control.interfaces, copy.interfaces);
	append(lists, copy.control.namespaces, copy.namespaces);
	append(lists, copy.control.securities, copy.securities);
	append(lists, copy.control.discoveries, copy.discoveries);
	copy.header.heapOffset = std::uint32_t(heapAt);
	copy.header.heapLength = std::uint32_t(copy.heap_.size());
	copy.header.length = std::uint32_t(heapAt + copy.heap_.size());
	std::ranges::copy(nofctl::wire::bytesOf(copy.header), lists.begin());
	std::ranges::copy(nofctl::wire::bytesOf(copy.control), lists.begin() + sizeof(header));
	nofctl::wire::append(lists, copy.heap_);
	seal(lists);
	return lists;
}

} // namespace nbft_table
