// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fuzz_message.h"

#include "netlink_table.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace guest {
namespace {

using spec::Type;

// Valid and nearly valid values by attribute. Repeated values are chosen more often.
const std::multimap<std::uint16_t, const char *> &words()
{
	static const std::multimap<std::uint16_t, const char *> list = {
		{NVMEOF_A_TRANSPORT, "tcp"},
		{NVMEOF_A_TRANSPORT, "tcp"},
		{NVMEOF_A_TRANSPORT, "tcp"},
		{NVMEOF_A_TRANSPORT, "tcp"},
		{NVMEOF_A_TRANSPORT, "tcp"},
		{NVMEOF_A_TRANSPORT, "nosuch"},
		{NVMEOF_A_TRADDR, "127.0.0.1"},
		{NVMEOF_A_TRADDR, "127.0.0.1"},
		{NVMEOF_A_TRADDR, "127.0.0.1"},
		{NVMEOF_A_TRADDR, "127.0.0.2"},
		{NVMEOF_A_TRADDR, "::1"},
		{NVMEOF_A_TRADDR, "192.0.2.1"},
		{NVMEOF_A_TRADDR, "0.0.0.0"},
		{NVMEOF_A_TRADDR, "255.255.255.255"},
		{NVMEOF_A_TRADDR, "fe80::1%lo"},
		{NVMEOF_A_TRADDR, "fe80::1%nosuch"},
		{NVMEOF_A_TRADDR, "1.2.3"},
		{NVMEOF_A_TRSVCID, "4420"},
		{NVMEOF_A_TRSVCID, "4420"},
		{NVMEOF_A_TRSVCID, "4420"},
		{NVMEOF_A_TRSVCID, "1"},
		{NVMEOF_A_TRSVCID, "0"},
		{NVMEOF_A_TRSVCID, "65536"},
		{NVMEOF_A_SUBSYSNQN, "nqn.2024-01.io.nvmeof:decoy"},
		{NVMEOF_A_SUBSYSNQN, "nqn.2024-01.io.nvmeof:decoy"},
		{NVMEOF_A_SUBSYSNQN, "nqn.2024-01.io.nvmeof:decoy"},
		{NVMEOF_A_SUBSYSNQN, "nqn.2024-01.io.nvmeof:absent"},
		{NVMEOF_A_HOSTNQN, "nqn.2024-01.io.nvmeof:fuzz-host-1"},
		{NVMEOF_A_HOSTNQN, "nqn.2024-01.io.nvmeof:fuzz-host-2"},
		{NVMEOF_A_HOST_TRADDR, "127.0.0.1"},
		{NVMEOF_A_HOST_TRADDR, "::1"},
		{NVMEOF_A_HOST_IFACE, "lo"},
		{NVMEOF_A_HOST_IFACE, "nosuch0"},
		{NVMEOF_A_IOPOLICY, "numa"},
		{NVMEOF_A_IOPOLICY, "round-robin"},
		{NVMEOF_A_IOPOLICY, "queue-depth"},
		{NVMEOF_A_IOPOLICY, "latency"},
		{NVMEOF_A_IOPOLICY, "nosuch"},
	};
	return list;
}

// Attributes that a connect requires
constexpr std::uint16_t needed[] = {NVMEOF_A_TRANSPORT, NVMEOF_A_TRADDR, NVMEOF_A_SUBSYSNQN, NVMEOF_A_HOSTNQN,
				    NVMEOF_A_HOSTID};

// One in this many required attributes is left out.
constexpr unsigned missing = 25;

const spec::Command *find(std::uint8_t cmd)
{
	for (auto &c : spec::commands)
		if (c.id == cmd)
			return &c;
	return nullptr;
}

const spec::Attribute *attribute(std::uint16_t id)
{
	for (auto &a : spec::attributes)
		if (a.id == id)
			return &a;
	return nullptr;
}

template <class T> Octets octets(T value)
{
	Octets bytes(sizeof(T));
	std::memcpy(bytes.data(), &value, sizeof(T));
	return bytes;
}

bool isKey(std::uint16_t id)
{
	return id == NVMEOF_A_SUBSYS_ID || id == NVMEOF_A_CTRL_NAME || id == NVMEOF_A_NS_NAME ||
	       id == NVMEOF_A_PATH_NAME;
}

} // namespace

const char *commandName(std::uint8_t cmd)
{
	auto *c = find(cmd);
	return c ? c->name : "others";
}

void FuzzMessages::put(Octets &to, std::uint16_t type, const Octets &value)
{
	nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + value.size()), type};
	auto bytes = octets(head);
	to.insert(to.end(), bytes.begin(), bytes.end());
	to.insert(to.end(), value.begin(), value.end());
	to.resize(NLA_ALIGN(to.size()));
}

// Attributes of the request: most of the required ones, and some of the others
std::vector<std::uint16_t> FuzzMessages::choose(const FuzzMessage &m)
{
	std::vector<std::uint16_t> list;
	auto *c = find(m.cmd);
	if (!c)
		return list;
	auto from = m.dump ? c->dumps : c->asks;
	for (auto id : from) {
		bool key = !m.dump && (isKey(id) || std::count(std::begin(needed), std::end(needed), id));
		if (key ? !random_.oneIn(missing) : random_.oneIn(m.cmd == NVMEOF_CMD_CTRL_NEW ? 12 : 3))
			list.push_back(id);
	}
	if (random_.oneIn(20)) // one of another command, or unknown
		list.push_back(static_cast<std::uint16_t>(random_.below(std::size(spec::attributes) + 8)));
	if (random_.oneIn(20) && !list.empty())
		list.push_back(list[random_.below(list.size())]);
	if (random_.oneIn(4))
		for (std::size_t i = list.size(); i > 1; i--)
			std::swap(list[i - 1], list[random_.below(i)]);
	return list;
}

// Reads the names in use: numbers are assigned in turn, so guessed ones would soon match nothing.
void FuzzMessages::look()
{
	auto list = [](const char *folder) {
		std::vector<std::string> names;
		std::error_code error; // entries may disappear meanwhile
		for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
		     at.increment(error))
			names.push_back(at->path().filename());
		return names;
	};
	controllers_ = list("/sys/class/nvmeof");
	subsystems_ = list("/sys/class/nvmeof-subsystem");
}

// The name of an existing object, or a guess
std::string FuzzMessages::name(std::uint16_t id)
{
	auto one = [this](const std::vector<std::string> &names) {
		bool guess = names.empty() || random_.oneIn(8);
		return guess ? "nvmeof" + std::to_string(random_.below(4)) : names[random_.below(names.size())];
	};
	auto digit = [this] { return std::to_string(1 + random_.below(3)); };
	if (id == NVMEOF_A_NS_NAME)
		return "nvmeof" + std::to_string(subsystem()) + "n" + digit();
	return one(controllers_) + (id == NVMEOF_A_PATH_NAME ? "n" + digit() : "");
}

std::uint32_t FuzzMessages::subsystem()
{
	if (subsystems_.empty() || random_.oneIn(8))
		return static_cast<std::uint32_t>(random_.below(5));
	auto &name = subsystems_[random_.below(subsystems_.size())];
	return static_cast<std::uint32_t>(std::stoul(name.substr(name.find_last_not_of("0123456789") + 1)));
}

Octets FuzzMessages::text(std::uint16_t id, unsigned longest)
{
	std::string s;
	auto [first, last] = words().equal_range(id);
	auto count = static_cast<std::uint64_t>(std::distance(first, last));
	if (!random_.oneIn(12) && count)
		s = std::next(first, static_cast<std::ptrdiff_t>(random_.below(count)))->second;
	else if (!random_.oneIn(12) && isKey(id))
		s = name(id);
	else
		for (auto n = random_.oneIn(8) ? random_.below(20000) : random_.interesting(9, longest); n > 0; n--)
			s += static_cast<char>(random_.oneIn(3) ? random_.next() : 'a');
	Octets bytes(s.begin(), s.end());
	if (!random_.oneIn(25))
		bytes.push_back(0);
	return bytes;
}

Octets FuzzMessages::wrong()
{
	Octets bytes(random_.oneIn(4) ? random_.below(4096) : random_.below(20));
	for (auto &b : bytes)
		b = static_cast<std::uint8_t>(random_.next());
	return bytes;
}

Octets FuzzMessages::value(std::uint16_t id)
{
	auto *a = attribute(id);
	if (!a || random_.oneIn(25))
		return wrong();
	bool tame = !random_.oneIn(4);
	switch (a->type) {
	case Type::pad_:
	case Type::flag_:
		return {};
	case Type::u8_:
		return octets(static_cast<std::uint8_t>(tame ? random_.below(2) : random_.interesting(8)));
	case Type::u16_:
		return octets(static_cast<std::uint16_t>(random_.interesting(16)));
	case Type::u32_:
	case Type::s32_:
		if (id == NVMEOF_A_SUBSYS_ID && tame)
			return octets(subsystem());
		if (a->values && tame)
			return octets(static_cast<std::uint32_t>(random_.below(a->values)));
		if (tame)
			return octets(static_cast<std::uint32_t>(random_.oneIn(2) ? random_.below(5)
										  : 100 + random_.below(1000)));
		return octets(static_cast<std::uint32_t>(random_.interesting(32, 1024)));
	case Type::u64_:
		return octets(random_.interesting(64));
	case Type::string_:
		return text(id, a->longest);
	case Type::binary_: {
		Octets bytes(a->exact && tame ? a->exact : random_.below(64));
		std::fill(bytes.begin(), bytes.end(),
			  static_cast<std::uint8_t>(random_.oneIn(20) ? 0 : 1 + random_.below(2)));
		return bytes;
	}
	}
	return {};
}

FuzzMessage FuzzMessages::make(std::uint32_t seq)
{
	FuzzMessage m;
	m.seq = seq;
	if (seq % 32 == 0 || controllers_.empty())
		look();
	m.cmd = static_cast<std::uint8_t>(random_.oneIn(25) ? random_.next()
							    : 1 + random_.below(std::size(spec::commands)));
	auto *c = find(m.cmd);
	if (c && c->event && !random_.oneIn(5)) { // events are not requests
		m.cmd = static_cast<std::uint8_t>(1 + random_.below(NVMEOF_CMD_PATH_GET));
		c = find(m.cmd);
	}
	m.mutator = c && c->admin;
	m.dump = c && (c->dump ? random_.oneIn(3) : random_.oneIn(40));
	nlmsghdr nl{};
	nl.nlmsg_type = family_;
	nl.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | (random_.oneIn(5) ? 0 : NLM_F_ACK) |
						    (m.dump ? NLM_F_DUMP : 0));
	nl.nlmsg_seq = seq;
	nl.nlmsg_pid = random_.oneIn(10) ? static_cast<std::uint32_t>(random_.next()) : 0;
	genlmsghdr ge{m.cmd, NVMEOF_GENL_VERSION, 0};
	m.bytes = octets(nl);
	auto head = octets(ge);
	m.bytes.insert(m.bytes.end(), head.begin(), head.end());
	for (auto id : choose(m))
		put(m.bytes, id, value(id));
	auto length = octets(static_cast<std::uint32_t>(m.bytes.size()));
	std::copy(length.begin(), length.end(), m.bytes.begin());
	return m;
}

// Damages the structure in one way
void FuzzMessages::damage(FuzzMessage &m)
{
	constexpr std::size_t front = NLMSG_HDRLEN + GENL_HDRLEN;
	auto *nl = reinterpret_cast<nlmsghdr *>(m.bytes.data());
	auto *ge = reinterpret_cast<genlmsghdr *>(m.bytes.data() + NLMSG_HDRLEN);
	auto *first =
		m.bytes.size() >= front + NLA_HDRLEN ? reinterpret_cast<nlattr *>(m.bytes.data() + front) : nullptr;
	auto kind = random_.below(12);
	m.intact = kind == 0 || kind == 1 || kind == 2 || kind == 3;
	switch (kind) {
	case 0:
		if (first)
			first->nla_len = static_cast<std::uint16_t>(random_.interesting(16, first->nla_len));
		break;
	case 1:
		if (first)
			first->nla_type |=
				static_cast<std::uint16_t>(random_.oneIn(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER);
		break;
	case 2: { // nests all attributes in another one
		Octets inner(m.bytes.begin() + front, m.bytes.end());
		m.bytes.resize(front);
		put(m.bytes, static_cast<std::uint16_t>(random_.below(90) | (random_.oneIn(2) ? NLA_F_NESTED : 0)),
		    inner);
		reinterpret_cast<nlmsghdr *>(m.bytes.data())->nlmsg_len = static_cast<std::uint32_t>(m.bytes.size());
		break;
	}
	case 3: { // appends bytes after the last attribute
		Octets tail(1 + random_.below(12), static_cast<std::uint8_t>(random_.next()));
		m.bytes.insert(m.bytes.end(), tail.begin(), tail.end());
		reinterpret_cast<nlmsghdr *>(m.bytes.data())->nlmsg_len = static_cast<std::uint32_t>(m.bytes.size());
		break;
	}
	case 4:
		nl->nlmsg_len = static_cast<std::uint32_t>(random_.oneIn(2) ? random_.below(m.bytes.size() + 64)
									    : random_.interesting(32));
		break;
	case 5:
		m.bytes.resize(random_.below(m.bytes.size()));
		break;
	case 6:
		nl->nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + random_.below(GENL_HDRLEN));
		break;
	case 7:
		nl->nlmsg_type = static_cast<std::uint16_t>(random_.below(GENL_ID_CTRL + 1));
		break;
	case 8:
		nl->nlmsg_flags = static_cast<std::uint16_t>(random_.next());
		break;
	case 9:
		for (auto n = 1 + random_.below(4); n > 0 && m.bytes.size() > NLMSG_HDRLEN; n--)
			m.bytes[NLMSG_HDRLEN + random_.below(m.bytes.size() - NLMSG_HDRLEN)] ^=
				static_cast<std::uint8_t>(1 << random_.below(8));
		break;
	case 10:
		ge->version = static_cast<std::uint8_t>(random_.next());
		break;
	default:
		ge->reserved = static_cast<std::uint16_t>(random_.interesting(16));
	}
}

// The command that the family sees; 0 if the message does not reach it. A message without NLM_F_REQUEST is acknowledged
// and not processed.
std::uint8_t FuzzMessages::commandIn(const Octets &bytes) const
{
	constexpr std::size_t min = NLMSG_HDRLEN + GENL_HDRLEN;
	nlmsghdr head;
	if (bytes.size() < min)
		return 0;
	std::memcpy(&head, bytes.data(), sizeof(head));
	bool seen = head.nlmsg_type == family_ && head.nlmsg_len >= min && head.nlmsg_flags & NLM_F_REQUEST;
	return seen ? bytes[NLMSG_HDRLEN] : 0;
}

// True if the message might change the protected controller. Coarse: the name or the number anywhere in it.
bool FuzzMessages::forbidden(const FuzzMessage &m) const
{
	constexpr std::uint8_t gets[] = {NVMEOF_CMD_VERSION_GET, NVMEOF_CMD_SUBSYS_GET, NVMEOF_CMD_CTRL_GET,
					 NVMEOF_CMD_NS_GET, NVMEOF_CMD_PATH_GET};
	if (m.intact && std::count(std::begin(gets), std::end(gets), m.cmd))
		return false;
	if (!taboo_.controller.empty() && std::search(m.bytes.begin(), m.bytes.end(), taboo_.controller.begin(),
						      taboo_.controller.end()) != m.bytes.end())
		return true;
	for (std::size_t at = 0; at + 8 <= m.bytes.size(); at += 4) {
		nlattr a;
		std::uint32_t number;
		std::memcpy(&a, &m.bytes[at], sizeof(a));
		std::memcpy(&number, &m.bytes[at + 4], sizeof(number));
		if ((a.nla_type & NLA_TYPE_MASK) == NVMEOF_A_SUBSYS_ID && number == taboo_.subsystem)
			return true;
	}
	return false;
}

FuzzMessage FuzzMessages::next(std::uint32_t seq)
{
	for (;;) {
		auto m = make(seq);
		if (random_.oneIn(7)) {
			damage(m);
			m.cmd = commandIn(m.bytes);
			m.mutator = find(m.cmd) && find(m.cmd)->admin;
		}
		if (!forbidden(m))
			return m;
	}
}

} // namespace guest
