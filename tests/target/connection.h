// SPDX-License-Identifier: LGPL-2.1-or-later
// One NVMe/TCP connection: a queue of a controller, or what becomes one with a Connect command.
#pragma once

#include "fd.h"
#include "mutator.h"
#include "server.h"
#include "wire.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace target {

constexpr std::size_t log_limit = 1 << 20; // most that one Get Log Page returns here, bytes

// A reply that is on its way: what a command's execution has come to.
struct Reply {
	std::uint16_t status = st_ok;
	std::uint64_t result = 0;
	Bytes data = {}; // for the host
};

class Connection {
public:
	Connection(Server &server, Fd socket);
	~Connection();

	// Until the peer closes or end() is called.
	void run();

	// From any thread:
	void end(bool rst = false);
	void post(std::function<void()> fn); // runs fn on this connection's thread
	void wake() { wake_.set(); }
	std::uint64_t unreadBytes() const;
	std::uint16_t qid() const { return qid_; }

	// On the connection's thread; misbehaviours use these too.
	Server &server() { return server_; }
	void sendPdu(Bytes head, Bytes data, const Command *cmd, Hook hook); // head: as of make()
	void sendBytes(std::span<const std::uint8_t> bytes);
	void sendResponse(const Command &cmd, std::uint16_t status, std::uint64_t result = 0);
	void sendR2t(const Command &cmd, std::uint16_t ttag, std::uint32_t offset, std::uint32_t length);
	void sendData(const Command &cmd, const Bytes &data);
	void later(Clock::duration delay, std::function<void()> fn);
	void releaseHeld();
	std::uint16_t lastCid() const { return lastCid_; }
	bool discovery() const { return assoc_ && assoc_->discovery; }
	void tell(AsyncEvent event);

private:
	// A command whose data comes with H2CData PDUs
	struct Transfer {
		Command cmd;
		Bytes data;
		std::uint32_t received = 0;
		std::uint32_t asked = 0;
	};

	// connection.cpp
	bool pump();
	int pollTimeout() const;
	void runPosted();
	void fireDue();
	bool receive();
	bool parse();
	bool takePdu(const Pdu &pdu);
	bool broken(const std::string &text);
	void applyVerdict(Verdict verdict, Bytes &raw);
	void sendSlowly(std::span<const std::uint8_t> bytes, std::chrono::milliseconds pause);
	void sendMutated(Bytes raw);
	bool expired();
	bool silent() const;

	// PDUs
	bool takeIcReq(const IcReq &req);
	bool takeCommand(const Pdu &pdu);
	bool takeH2cData(const Pdu &pdu);

	// Commands
	void execute(const Command &cmd, Bytes data);
	void dispatch(const Command &cmd, Bytes data);
	void execution(const Command &cmd, Bytes data);
	void carryOut(const Command &cmd, Bytes data);
	void haunt(const Command &cmd, Bytes data, bool silent);
	void finish(const Command &cmd, Reply reply);
	void fetch(const Command &cmd);
	void askMore(std::uint16_t ttag, Transfer &t);

	// fabrics.cpp
	Reply fabrics(const Command &cmd, const Bytes &data);
	Reply connect(const Command &cmd, const Bytes &data);
	Reply connectAdmin(const Connect &c, bool discovery);
	Reply connectIo(const Connect &c);
	Reply propertyGet(const Command &cmd);
	Reply propertySet(const Command &cmd);
	// admin.cpp
	std::optional<Reply> admin(const Command &cmd);
	std::optional<Reply> asyncEvent(const Command &cmd);
	Reply identify(const Command &cmd);
	Reply getLog(const Command &cmd);
	Reply setFeatures(const Command &cmd);
	Reply getFeatures(const Command &cmd);
	// discovery_ctrl.cpp
	std::optional<Reply> discoveryAdmin(const Command &cmd);
	Reply discoveryLog(const Command &cmd);
	// ccr.cpp
	Reply crossReset(const Command &cmd);
	void endCrossReset(const CcrEntry &entry, CcrPlan plan);
	Reply ccrLog(bool removeCompleted);
	// io.cpp
	Reply io(const Command &cmd, const Bytes &data);
	Reply onStore(Store &store, const Command &cmd, const Bytes &data);
	Reply dsm(Store &store, const Command &cmd, const Bytes &data);

	void deliverEvents();
	friend class Server;

	Server &server_;
	Fd socket_;
	Wake wake_;
	Bytes rx_;
	std::atomic<bool> ending_{false};
	std::atomic<bool> rst_{false};
	bool mute_ = false;
	bool unheard_ = false; // what has come is left until the silence ends
	bool icDone_ = false;
	PduFormat format_;
	std::atomic<std::uint16_t> qid_{0};
	bool connected_ = false; // a Connect command was accepted
	bool sqFlow_ = true;
	std::uint16_t entries_ = 0;
	std::uint16_t sqhd_ = 0;
	std::uint16_t lastCid_ = 0;
	std::shared_ptr<Association> assoc_;
	std::set<std::uint16_t> inflight_;
	std::map<std::uint16_t, Transfer> transfers_;
	std::uint16_t lastTtag_ = 0;
	std::multimap<Clock::time_point, std::function<void()>> due_;
	std::vector<std::pair<Command, Bytes>> held_;
	std::unique_ptr<MutatedStream> mutated_; // null: what is sent stays as it is

	std::mutex lock_;
	std::vector<std::function<void()>> posted_;
};

} // namespace target
