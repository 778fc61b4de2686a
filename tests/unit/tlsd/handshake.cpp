// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "peer.h"

using namespace tlsd_test;

namespace {

using State = TlsHandshake::State;

bool ended(State state)
{
	return state == State::done || state == State::failed;
}

// Runs both until neither goes on.
struct Both {
	Both(MemoryStore &clientStore, MemoryStore &serverStore, const std::vector<KeySerial> &keys = {1})
		: client(contexts(), clientStore, TlsRole::client, pair.one.get(), keys, 0),
		  server(contexts(), serverStore, TlsRole::server, pair.other.get(), {}, 0)
	{
		for (int i = 0; i < 10; i++) {
			if (!ended(clientState))
				clientState = client.advance();
			if (!ended(serverState))
				serverState = server.advance();
		}
	}

	Pair pair;
	TlsHandshake client, server;
	State clientState = State::wantsRead, serverState = State::wantsRead;
};

// Ours and OpenSSL's
struct Mixed {
	Mixed(TlsRole role, PskStore &store)
		: peer(role == TlsRole::client ? TlsRole::server : TlsRole::client, pair.other.get()),
		  ours(contexts(), store, role, pair.one.get(), {1}, 0)
	{
	}
	void run()
	{
		for (int i = 0; i < 10 && !ended(state); i++) {
			state = ours.advance();
			peerDone = peer.advance();
		}
	}

	Pair pair;
	OpensslPeer peer;
	TlsHandshake ours;
	State state = State::wantsRead;
	bool peerDone = false;
};

bool same(const SecretBytes &one, const SecretBytes &other)
{
	return std::ranges::equal(one.bytes(), other.bytes());
}

const EVP_CIPHER *evpOf(RecordCipher cipher)
{
	switch (cipher) {
	case RecordCipher::aes128Gcm:
		return EVP_aes_128_gcm();
	case RecordCipher::aes256Gcm:
		return EVP_aes_256_gcm();
	case RecordCipher::chacha20Poly1305:
		break;
	}
	return EVP_chacha20_poly1305();
}

constexpr std::size_t headerSize = 5, tagSize = 16;

// The first record of a direction, as the kernel decrypts it: its content and type. Empty if the keys are wrong.
std::string decrypted(const std::string &record, RecordCipher cipher, const RecordKeys &keys)
{
	REQUIRE(record.size() > headerSize + tagSize);
	const auto *bytes = reinterpret_cast<const unsigned char *>(record.data());
	const std::size_t size = static_cast<std::size_t>(bytes[3] << 8 | bytes[4]);
	REQUIRE(record.size() >= headerSize + size);
	const std::size_t textSize = size - tagSize;
	std::string text(textSize, '\0');
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int n = 0;
	EVP_DecryptInit_ex(context, evpOf(cipher), nullptr, keys.key.bytes().data(), keys.iv.bytes().data());
	EVP_DecryptUpdate(context, nullptr, &n, bytes, headerSize);
	EVP_DecryptUpdate(context, reinterpret_cast<unsigned char *>(text.data()), &n, bytes + headerSize,
			  static_cast<int>(textSize));
	EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tagSize,
			    const_cast<unsigned char *>(bytes + headerSize + textSize));
	const bool right = EVP_DecryptFinal_ex(context, nullptr, &n) == 1;
	EVP_CIPHER_CTX_free(context);
	return right ? text : "";
}

// The first record of a direction, as the kernel encrypts it
std::string encrypted(std::string text, RecordCipher cipher, const RecordKeys &keys)
{
	text += '\x17'; // application data
	const std::size_t size = text.size() + tagSize;
	std::string record = {'\x17', '\x03', '\x03', static_cast<char>(size >> 8), static_cast<char>(size)};
	record.resize(headerSize + size);
	auto *bytes = reinterpret_cast<unsigned char *>(record.data());
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int n = 0;
	EVP_EncryptInit_ex(context, evpOf(cipher), nullptr, keys.key.bytes().data(), keys.iv.bytes().data());
	EVP_EncryptUpdate(context, nullptr, &n, bytes, headerSize);
	EVP_EncryptUpdate(context, bytes + headerSize, &n, reinterpret_cast<const unsigned char *>(text.data()),
			  static_cast<int>(text.size()));
	EVP_EncryptFinal_ex(context, nullptr, &n);
	EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tagSize, bytes + headerSize + text.size());
	EVP_CIPHER_CTX_free(context);
	return record;
}

// Data of OpenSSL's records against records made with the keys of ours, in both directions
void checkRecords(Mixed &mixed, RecordCipher cipher)
{
	REQUIRE(mixed.state == State::done);
	const Result<SessionKeys> keys = sessionKeysOf(mixed.ours);
	REQUIRE(keys);
	CHECK((*keys).cipher == cipher);
	REQUIRE(SSL_write(mixed.peer.tls(), "from OpenSSL", 12) == 12);
	CHECK(decrypted(receiveAll(mixed.pair.one.get()), cipher, (*keys).receive) == "from OpenSSL\x17");
	sendAll(mixed.pair.one.get(), encrypted("to OpenSSL", cipher, (*keys).send));
	char text[32];
	REQUIRE(SSL_read(mixed.peer.tls(), text, sizeof(text)) == 10);
	CHECK(std::string(text, 10) == "to OpenSSL");
}

void checkFailure(const TlsHandshake &handshake, int status, const char *part)
{
	CHECK(handshake.failure().status == status);
	INFO(handshake.failure().reason);
	CHECK(handshake.failure().reason.find(part) != std::string::npos);
}

} // namespace

TEST_CASE("both roles agree with each identity", "[handshake]")
{
	for (const std::string &identity : identities) {
		INFO(identity);
		MemoryStore store;
		store.add(identity);
		Both both(store, store);
		INFO(both.client.failure().reason);
		INFO(both.server.failure().reason);
		REQUIRE(both.clientState == State::done);
		REQUIRE(both.serverState == State::done);
		CHECK(both.client.identity() == identity);
		CHECK(both.server.identity() == identity);
		CHECK(both.client.serial() == 1);
		CHECK(both.server.serial() == 1);
		const Result<SessionKeys> client = sessionKeysOf(both.client), server = sessionKeysOf(both.server);
		REQUIRE(client);
		REQUIRE(server);
		const bool sha384 = hashOfIdentity(identity) == KeyHash::sha384;
		CHECK((*client).cipher == (sha384 ? RecordCipher::aes256Gcm : RecordCipher::aes128Gcm));
		CHECK((*client).cipher == (*server).cipher);
		CHECK((*client).send.key.size() == (sha384 ? 32 : 16));
		CHECK(same((*client).send.key, (*server).receive.key));
		CHECK(same((*client).send.iv, (*server).receive.iv));
		CHECK(same((*client).receive.key, (*server).send.key));
		CHECK(same((*client).receive.iv, (*server).send.iv));
		CHECK(!same((*client).receive.key, (*client).send.key));
		// Nothing follows a handshake: the first record of either side is the kernel's.
		CHECK(receiveAll(both.pair.one.get()).empty());
		CHECK(receiveAll(both.pair.other.get()).empty());
	}
}

TEST_CASE("records of OpenSSL and of the derived keys are the same", "[handshake]")
{
	for (const TlsRole role : {TlsRole::client, TlsRole::server})
		for (const std::string &identity : identities) {
			INFO(identity << (role == TlsRole::client ? ", client" : ", server"));
			MemoryStore store;
			store.add(identity);
			Mixed mixed(role, store);
			mixed.peer.identity = identity;
			SSL_CTX_set_num_tickets(mixed.peer.context(), 0);
			mixed.run();
			CHECK(mixed.peerDone);
			checkRecords(mixed, hashOfIdentity(identity) == KeyHash::sha384 ? RecordCipher::aes256Gcm
											: RecordCipher::aes128Gcm);
		}
}

TEST_CASE("CHACHA20-POLY1305 is used if the peer has nothing else", "[handshake]")
{
	for (const TlsRole role : {TlsRole::client, TlsRole::server}) {
		MemoryStore store;
		store.add(identities[2]);
		Mixed mixed(role, store);
		mixed.peer.identity = identities[2];
		SSL_CTX_set_num_tickets(mixed.peer.context(), 0);
		SSL_CTX_set_ciphersuites(mixed.peer.context(), "TLS_CHACHA20_POLY1305_SHA256");
		mixed.run();
		REQUIRE(mixed.state == State::done);
		checkRecords(mixed, RecordCipher::chacha20Poly1305);
	}
}

// The client's favourite suite does not fit its key.
TEST_CASE("a server chooses a cipher suite that fits the key", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::server, store);
	mixed.peer.identity = identities[0];
	SSL_CTX_set_ciphersuites(mixed.peer.context(), "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256");
	mixed.run();
	checkRecords(mixed, RecordCipher::aes128Gcm);
}

TEST_CASE("a server that asks for another group gets it", "[handshake]")
{
	for (const TlsRole role : {TlsRole::client, TlsRole::server}) {
		MemoryStore store;
		store.add(identities[3]);
		Mixed mixed(role, store);
		mixed.peer.identity = identities[3];
		SSL_CTX_set_num_tickets(mixed.peer.context(), 0);
		// The first one is not among ours: as a server, ours asks for the second.
		SSL_CTX_set1_groups_list(mixed.peer.context(), role == TlsRole::client ? "P-384" : "ffdhe8192:P-384");
		mixed.run();
		checkRecords(mixed, RecordCipher::aes256Gcm);
	}
}

// The kernel gets these records, and counts them.
TEST_CASE("session tickets of a server stay in the socket", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::client, store);
	mixed.peer.identity = identities[0];
	SSL_CTX_set_num_tickets(mixed.peer.context(), 2);
	mixed.run();
	REQUIRE(mixed.state == State::done);
	const Result<SessionKeys> keys = sessionKeysOf(mixed.ours);
	REQUIRE(keys);
	const std::string ticket = decrypted(receiveAll(mixed.pair.one.get()), (*keys).cipher, (*keys).receive);
	REQUIRE(!ticket.empty());
	CHECK(ticket.front() == 4);     // NewSessionTicket
	CHECK(ticket.back() == '\x16'); // handshake
}

TEST_CASE("data that follows a client's handshake at once stays in the socket", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::server, store);
	mixed.peer.identity = identities[0];
	mixed.peer.advance();
	mixed.ours.advance();
	REQUIRE(mixed.peer.advance());
	REQUIRE(SSL_write(mixed.peer.tls(), "early bird", 10) == 10);
	mixed.state = mixed.ours.advance();
	REQUIRE(mixed.state == State::done);
	const Result<SessionKeys> keys = sessionKeysOf(mixed.ours);
	REQUIRE(keys);
	CHECK(decrypted(receiveAll(mixed.pair.one.get()), (*keys).cipher, (*keys).receive) == "early bird\x17");
}

TEST_CASE("a wrong key fails at both ends", "[handshake]")
{
	for (const std::string &identity : identities) {
		MemoryStore one, other;
		one.add(identity, 1);
		other.add(identity, 2);
		Both both(one, other);
		CHECK(both.serverState == State::failed);
		CHECK(both.clientState == State::failed);
		checkFailure(both.server, EACCES, "another key");
		checkFailure(both.client, EACCES, "does not accept the key");
		CHECK(both.client.identity() == identity);
	}
}

TEST_CASE("a server rejects an identity without a key", "[handshake]")
{
	MemoryStore one, other;
	one.add(identities[0]);
	other.add(identities[0] + "x");
	Both both(one, other);
	checkFailure(both.server, EACCES, "unknown key");
	checkFailure(both.client, EACCES, "does not know this identity");
	CHECK(both.server.identity() == identities[0]);
}

TEST_CASE("a server looks up few identities, and none that is too long", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::server, store);
	mixed.peer.identity = "NVMe0R01 " + std::string(longestIdentity, 'a');
	mixed.run();
	checkFailure(mixed.ours, EACCES, "no identity of NVMe/TCP");
	CHECK(store.searches == 0);
}

TEST_CASE("a key that cannot be used is reported before anything is sent", "[handshake]")
{
	MemoryStore store;
	for (const int status : {ENOKEY, EKEYREVOKED, EKEYEXPIRED, EKEYREJECTED}) {
		store.status = status;
		Pair pair;
		TlsHandshake client(contexts(), store, TlsRole::client, pair.one.get(), {1}, 0);
		CHECK(client.advance() == State::failed);
		checkFailure(client, status, "no such key");
		CHECK(receiveAll(pair.other.get()).empty());
	}
	Pair pair;
	TlsHandshake client(contexts(), store, TlsRole::client, pair.one.get(), {}, 0);
	CHECK(client.advance() == State::failed);
	checkFailure(client, EINVAL, "names no key");
}

TEST_CASE("a client offers the first key that can be used", "[handshake]")
{
	MemoryStore store;
	store.add(identities[1]);
	Both both(store, store, {7, 1});
	CHECK(both.clientState == State::done);
	CHECK(both.client.serial() == 1);
}

TEST_CASE("a server that shows a certificate instead is not accepted", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::client, store);
	mixed.peer.useCertificate();
	mixed.run();
	CHECK(mixed.state == State::failed);
	checkFailure(mixed.ours, EACCES, "certificate instead");
}

TEST_CASE("a client without a key is not accepted", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::server, store);
	mixed.run();
	CHECK(mixed.state == State::failed);
	checkFailure(mixed.ours, EACCES, "no pre-shared key");
}

// If it were accepted, verifying the binder would be the next step, and fail in another way.
TEST_CASE("a key without Diffie-Hellman is not accepted", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Mixed mixed(TlsRole::server, store);
	mixed.peer.identity = identities[0];
	mixed.peer.advance();
	std::string hello = receiveAll(mixed.pair.one.get());
	const std::size_t modes = hello.find(std::string("\x00\x2d\x00\x02\x01\x01", 6));
	REQUIRE(modes != hello.npos);
	hello[modes + 5] = 0; // psk_ke
	sendAll(mixed.pair.other.get(), hello);
	CHECK(mixed.ours.advance() == State::failed);
	checkFailure(mixed.ours, EACCES, "psk_dhe_ke");
}

TEST_CASE("a peer without TLS 1.3 fails", "[handshake]")
{
	for (const TlsRole role : {TlsRole::client, TlsRole::server}) {
		MemoryStore store;
		store.add(identities[0]);
		Mixed mixed(role, store);
		if (role == TlsRole::client)
			mixed.peer.useCertificate();
		SSL_CTX_set_max_proto_version(mixed.peer.context(), TLS1_2_VERSION);
		mixed.run();
		CHECK(mixed.state == State::failed);
		checkFailure(mixed.ours, EPROTO, "no TLS 1.3");
	}
}

TEST_CASE("garbage and other protocols fail", "[handshake]")
{
	const std::string connectRequest = std::string("\0\0\x80\0\x80\0\0\0", 8) + std::string(120, '\0'); // ICReq
	for (const std::string &garbage :
	     {std::string(600, '\xff'), connectRequest, std::string("GET / HTTP/1.1\r\n\r\n"), std::string(5, '\0')})
		for (const TlsRole role : {TlsRole::client, TlsRole::server}) {
			MemoryStore store;
			store.add(identities[0]);
			Pair pair;
			TlsHandshake handshake(contexts(), store, role, pair.one.get(), {1}, 0);
			handshake.advance();
			sendAll(pair.other.get(), garbage);
			CHECK(handshake.advance() == State::failed);
			CHECK(handshake.failure().status == EPROTO);
		}
}

TEST_CASE("records that are too long fail, and so do endless ones", "[handshake]")
{
	MemoryStore store;
	store.add(identities[0]);
	Pair pair;
	SECTION("one record")
	{
		TlsHandshake server(contexts(), store, TlsRole::server, pair.one.get(), {}, 0);
		sendAll(pair.other.get(), std::string("\x16\x03\x01\xff\xff\x01", 6) + std::string(1000, 'x'));
		CHECK(server.advance() == State::failed);
		CHECK(server.failure().status == EPROTO);
	}
	SECTION("a message of many records")
	{
		TlsHandshake server(contexts(), store, TlsRole::server, pair.one.get(), {}, 0);
		// ClientHello of 16 MiB
		sendAll(pair.other.get(),
			std::string("\x16\x03\x01\x01\x00\x01\xff\xff\xff", 9) + std::string(252, 'x'));
		const std::string more = std::string("\x16\x03\x01\x01\x00", 5) + std::string(256, 'x');
		State state = State::wantsRead;
		for (int i = 0; i < 1000 && state == State::wantsRead; i++) {
			sendAll(pair.other.get(), more);
			state = server.advance();
		}
		CHECK(state == State::failed);
		CHECK(server.failure().status == EPROTO);
	}
	SECTION("change cipher spec for ever")
	{
		TlsHandshake client(contexts(), store, TlsRole::client, pair.one.get(), {1}, 0);
		State state = client.advance();
		for (int i = 0; i < 20'000 && state == State::wantsRead; i++) {
			sendAll(pair.other.get(), std::string("\x14\x03\x03\x00\x01\x01", 6));
			state = client.advance();
		}
		CHECK(state == State::failed);
		CHECK(client.failure().status == EPROTO);
	}
}

TEST_CASE("a peer that closes the connection, or says nothing", "[handshake]")
{
	for (const TlsRole role : {TlsRole::client, TlsRole::server}) {
		MemoryStore store;
		store.add(identities[0]);
		Pair pair;
		TlsHandshake handshake(contexts(), store, role, pair.one.get(), {1}, 0);
		CHECK(handshake.advance() == State::wantsRead);
		CHECK(handshake.advance() == State::wantsRead);
		CHECK(!handshake.heard());
		pair.other = OwnedFd();
		CHECK(handshake.advance() == State::failed);
		CHECK(handshake.failure().status == ECONNRESET);
	}
}

TEST_CASE("alerts of the peer", "[handshake]")
{
	struct Alert {
		char number;
		int status;
	};
	for (const Alert alert : {Alert{40, EACCES}, Alert{51, EACCES}, Alert{115, EACCES}, Alert{47, EACCES},
				  Alert{80, EPROTO}, Alert{70, EPROTO}, Alert{50, EPROTO}}) {
		MemoryStore store;
		store.add(identities[0]);
		Pair pair;
		TlsHandshake client(contexts(), store, TlsRole::client, pair.one.get(), {1}, 0);
		client.advance();
		sendAll(pair.other.get(), std::string("\x15\x03\x03\x00\x02\x02", 6) + alert.number);
		CHECK(client.advance() == State::failed);
		CHECK(client.failure().status == alert.status);
	}
}

TEST_CASE("identities of NVMe/TCP name a hash function", "[psk_store]")
{
	CHECK(hashOfIdentity("NVMe0R01 " + nqns) == KeyHash::sha256);
	CHECK(hashOfIdentity("NVMe1R02 " + nqns) == KeyHash::sha384);
	CHECK(hashOfIdentity("NVMe1G01 " + nqns) == KeyHash::sha256);
	for (const std::string wrong : {"", "NVMe", "NVMe0R01", "NVMe0R01 ", "NVMe2R01 a b", "NVMe0X01 a b",
					"NVMe0R03 a b", "nvme0R01 a b", "Client_identity"})
		CHECK(hashOfIdentity(wrong) == std::nullopt);
	CHECK(hashOfIdentity("NVMe0R01 " + std::string(longestIdentity, 'a')) == std::nullopt);
}
