// SPDX-License-Identifier: LGPL-2.1-or-later
// One NVMe/RDMA connection.
#pragma once

#include "connection.h"
#include "libctl/wire/rdma.h"
#include "queue_pair.h"

namespace target {

// The work requests that answer a command, in this order. A misbehaviour can change it at Hook::answer.
struct Answer {
	Bytes data = {}; // written to the host's memory
	Remote to = {};
	std::uint32_t room = 0;                       // bytes available there
	Bytes response = {};                          // sent after the data; a Completion
	std::optional<std::uint32_t> invalidate = {}; // key that the response invalidates
	bool dataLater = false;                       // data are written after the response
	unsigned sends = 1;                           // how often the response is sent

	Completion cqe() const { return *decode<Completion>(response); }
	void setCqe(const Completion &cqe) { response = encode(cqe); }
};

// A received connect request
struct ConnectRequest {
	rdma_cm_id *id;
	Bytes privateData;
	std::uint8_t reads; // initiator depth of the host
};

class RdmaConnection : public Connection {
public:
	RdmaConnection(Server &server, ConnectRequest arrived);
	~RdmaConnection() override;

	void sendData(const Command &cmd, const Bytes &data, std::uint64_t result) override;
	// Misbehaviours use these.
	QueuePair &queuePair() { return *pair_; }
	const RdmaRequest &request() const { return request_; }

private:
	bool begin(Verdict verdict) override;
	bool exchange(bool stalled, int timeout) override;
	bool resume() override;
	void close(bool rst) override;
	void sendCompletion(const Command &cmd, Completion cqe) override;
	bool dataAtHost(const Command &cmd) const override;
	void fetch(const Command &cmd) override;
	void misbehave(Verdict verdict) override;

	std::uint16_t fault(std::size_t length) const; // 0: the request is valid
	bool accept();
	void reject(Bytes privateData);
	bool takeEvents();
	bool takeCapsules();
	bool takeCapsule(const Bytes &capsule);
	void answer(const Command &cmd, Answer answer);
	void carryOut(const Answer &answer, Verdict verdict);
	Answer answerTo(const Command &cmd, const Completion &cqe);

	rdma_event_channel *events_;
	rdma_cm_id *id_;
	Bytes privateData_;
	RdmaRequest request_{};
	std::uint8_t reads_;
	bool answered_ = false;
	std::unique_ptr<QueuePair> pair_;
	std::map<std::uint16_t, KeyedSgl> hostBuffers_; // host memory by command identifier
};

} // namespace target
