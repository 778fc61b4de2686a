// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of the kernel's family "handshake". The numbers are those of linux/handshake.h of Linux 6.12.
#include <random>

#include <linux/netlink.h>

#include "handshake_family.h"
#include "peer.h"

using namespace tlsd_test;

namespace {

class Attributes {
public:
	Attributes &put(std::uint16_t type, const void *data, std::size_t size)
	{
		nlattr header;
		header.nla_type = type;
		header.nla_len = static_cast<std::uint16_t>(sizeof(header) + size);
		append(&header, sizeof(header));
		append(data, size);
		bytes_.resize(NLA_ALIGN(bytes_.size()));
		return *this;
	}
	Attributes &u32(std::uint16_t type, std::uint32_t value) { return put(type, &value, sizeof(value)); }
	Attributes &text(std::uint16_t type, const std::string &text)
	{
		return put(type, text.c_str(), text.size() + 1);
	}

	std::vector<std::byte> bytes() const { return bytes_; }
	operator std::span<const std::byte>() const { return bytes_; }

private:
	void append(const void *data, std::size_t size)
	{
		const auto *from = static_cast<const std::byte *>(data);
		bytes_.insert(bytes_.end(), from, from + size);
	}

	std::vector<std::byte> bytes_;
};

// SOCKFD, MESSAGE_TYPE, AUTH_MODE
Attributes request(std::uint32_t type = 1, std::uint32_t auth = 2)
{
	return Attributes().u32(1, 7).u32(3, type).u32(5, auth);
}

} // namespace

TEST_CASE("a request of the kernel is read", "[handshake_family]")
{
	const Attributes message = request().text(8, "target.example").u32(4, 2500).u32(6, 11).u32(6, 12).u32(9, 99);
	CHECK(acceptedSocket(message) == 7);
	const Result<HandshakeRequest> request = HandshakeRequest::parse(message);
	REQUIRE(request);
	CHECK((*request).role == TlsRole::client);
	CHECK((*request).auth == AuthMode::psk);
	CHECK((*request).timeout.count() == 2500);
	CHECK((*request).keys == std::vector<KeySerial>{11, 12});
	CHECK((*request).keyring == 99);
	CHECK((*request).peerName == "target.example");
}

TEST_CASE("roles and kinds of authentication", "[handshake_family]")
{
	const Result<HandshakeRequest> server = HandshakeRequest::parse(request(2).u32(6, 0));
	REQUIRE(server);
	CHECK((*server).role == TlsRole::server);
	CHECK((*server).keys.empty()); // 0 is no key
	CHECK((*server).timeout.count() == 0);
	const Result<HandshakeRequest> x509 = HandshakeRequest::parse(request(1, 3)),
				       none = HandshakeRequest::parse(request(1, 1)),
				       unknown = HandshakeRequest::parse(request(1, 77).u32(60, 1));
	REQUIRE(x509);
	CHECK((*x509).auth == AuthMode::x509);
	REQUIRE(none);
	CHECK((*none).auth == AuthMode::none);
	REQUIRE(unknown);
	CHECK((*unknown).auth == AuthMode::none);
}

TEST_CASE("malformed requests are refused", "[handshake_family]")
{
	const std::uint16_t number = 0;
	CHECK(!HandshakeRequest::parse(Attributes()));
	CHECK(!HandshakeRequest::parse(request(0)));
	CHECK(!HandshakeRequest::parse(request(3)));
	CHECK(!HandshakeRequest::parse(request().put(4, &number, sizeof(number))));
	CHECK(!HandshakeRequest::parse(request().put(6, &number, sizeof(number))));
	CHECK(!HandshakeRequest::parse(request().put(3, nullptr, 0)));
	CHECK(!HandshakeRequest::parse(request().text(8, std::string(300, 'a'))));
	Attributes many = request();
	for (std::uint32_t i = 0; i < 20; i++)
		many.u32(6, i);
	CHECK(!HandshakeRequest::parse(many));
	const std::vector<std::byte> whole = request().bytes();
	for (std::size_t cut = 1; cut < whole.size(); cut++)
		if (cut != 16) // SOCKFD and MESSAGE_TYPE suffice
			CHECK(!HandshakeRequest::parse(std::span(whole).first(cut)));
	std::vector<std::byte> tooLong = whole;
	tooLong[0] = std::byte(0xff); // longer than what follows
	CHECK(!HandshakeRequest::parse(tooLong));
	tooLong[0] = std::byte(3); // shorter than its header
	CHECK(!HandshakeRequest::parse(tooLong));
}

TEST_CASE("the socket of a malformed request is found", "[handshake_family]")
{
	CHECK(acceptedSocket(Attributes().u32(3, 9).u32(1, 8)) == 8);
	CHECK(acceptedSocket(Attributes().u32(1, 8).put(4, nullptr, 0)) == 8);
	CHECK(acceptedSocket(Attributes()) == std::nullopt);
	CHECK(acceptedSocket(Attributes().u32(1, static_cast<std::uint32_t>(-1))) == std::nullopt);
	const std::uint16_t number = 8;
	CHECK(acceptedSocket(Attributes().put(1, &number, sizeof(number))) == std::nullopt);
}

TEST_CASE("random attributes are read within their bounds", "[handshake_family]")
{
	std::mt19937 random(1);
	int read = 0;
	for (int i = 0; i < 20'000; i++) {
		std::vector<std::byte> bytes = request().u32(4, 1).text(8, "name").u32(6, 5).bytes();
		for (int change = 0; change < 2; change++)
			bytes[random() % bytes.size()] = static_cast<std::byte>(random());
		bytes.resize(random() % 2 ? bytes.size() : random() % bytes.size());
		bytes.shrink_to_fit(); // so that the address sanitizer sees what is beyond
		acceptedSocket(bytes);
		if (const Result<HandshakeRequest> request = HandshakeRequest::parse(bytes)) {
			read++;
			CHECK((*request).keys.size() <= 16);
		}
	}
	CHECK(read > 100);
}

// Of a kernel 6.12: port 1111 has joined group 6, port 2222 groups 3 and 6, port 3333 none
TEST_CASE("other agents are found in /proc/net/netlink", "[handshake_family]")
{
	const std::string sockets =
		"sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n"
		"0000000000000000 0   4444       00000020 0        0        0     2        0        1000\n"
		"0000000000000000 16  1111       00000020 0        0        0     2        0        1001\n"
		"0000000000000000 16  2222       00000024 0        0        0     2        0        1002\n"
		"0000000000000000 16  3333       00000000 0        0        0     2        0        1003\n"
		"garbage\n";
	CHECK(listenedBy(sockets, 6, {}));
	CHECK(listenedBy(sockets, 6, {1111}));
	CHECK(!listenedBy(sockets, 6, {1111, 2222}));
	CHECK(listenedBy(sockets, 3, {1111}));
	CHECK(!listenedBy(sockets, 5, {}));
	CHECK(!listenedBy(sockets, 0, {}));
	CHECK(!listenedBy(sockets, 38, {}));
	CHECK(!listenedBy("", 6, {}));
}
