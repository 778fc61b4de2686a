// SPDX-License-Identifier: LGPL-2.1-or-later
// One NVMe/TCP connection.
#pragma once

#include "connection.h"
#include "mutator.h"
#include "tls_session.h"

namespace target {

class TcpConnection : public Connection {
public:
	TcpConnection(Server &server, Fd socket);
	~TcpConnection() override;

	std::uint64_t unreadBytes() const override;

	// Only on the connection's thread; misbehaviours use these, too.
	void sendPdu(Bytes head, Bytes data, const Command *cmd, Hook hook); // head: as from make()
	void sendBytes(std::span<const std::uint8_t> bytes);
	void sendR2t(const Command &cmd, std::uint16_t ttag, std::uint32_t offset, std::uint32_t length);
	void sendData(const Command &cmd, const Bytes &data, std::uint64_t result) override;
	bool encrypted() const override { return bool(tls_); }

private:
	// A command whose data the host sends in H2CData PDUs
	struct Transfer {
		Command cmd;
		Bytes data;
		std::uint32_t received = 0;
		std::uint32_t asked = 0;
	};

	bool begin(Verdict verdict) override;
	bool exchange(bool stalled, int timeout) override;
	bool resume() override { return parse(); }
	void close(bool rst) override;
	void sendCompletion(const Command &cmd, Completion cqe) override;
	bool dataAtHost(const Command &cmd) const override;
	void fetch(const Command &cmd) override;
	void misbehave(Verdict verdict) override;
	void change(const Command &cmd, Bytes &data) override;

	bool startsTls() const;
	bool startTls();
	bool receive();
	bool parse();
	bool takePdu(const Pdu &pdu);
	bool takeIcReq(const IcReq &req);
	bool takeCommand(const Pdu &pdu);
	bool takeH2cData(const Pdu &pdu);
	void askMore(std::uint16_t ttag, Transfer &t);
	void applyVerdict(Verdict verdict, Bytes &raw);
	void sendSlowly(std::span<const std::uint8_t> bytes, std::chrono::milliseconds pause);
	void sendMutated(Bytes raw);

	Fd socket_;
	std::unique_ptr<TlsSession> tls_; // null: without TLS
	Bytes rx_;
	bool icDone_ = false;
	PduFormat format_;
	std::map<std::uint16_t, Transfer> transfers_;
	std::uint16_t lastTtag_ = 0;
	std::unique_ptr<MutatedStream> mutated_; // null: nothing is mutated
};

} // namespace target
