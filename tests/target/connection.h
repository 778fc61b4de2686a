// SPDX-License-Identifier: LGPL-2.1-or-later
// One connection: a queue of a controller once its Connect command was accepted. Subclasses implement the transport.
#pragma once

#include "fd.h"
#include "server.h"
#include "wire.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace target {

constexpr std::size_t logLimit = 1 << 20; // bytes; maximum of one Get Log Page

// Result of executing a command, to be sent.
struct Reply {
	std::uint16_t status = st_ok;
	std::uint64_t result = 0;
	Bytes data = {}; // to the host
};

class Connection {
public:
	explicit Connection(Server &server);
	virtual ~Connection();
	Connection(const Connection &) = delete;
	Connection &operator=(const Connection &) = delete;

	// Runs until the peer closes the connection or end() is called.
	void run();

	// Callable from any thread:
	void end(bool rst = false);
	void post(std::function<void()> fn); // runs fn on this connection's thread
	void wake() { wake_.set(); }
	virtual std::uint64_t unreadBytes() const { return 0; }
	std::uint16_t qid() const { return qid_; }

	// Only on the connection's thread; misbehaviours use these, too.
	Server &server() { return server_; }
	void sendResponse(const Command &cmd, std::uint16_t status, std::uint64_t result = 0);
	// Sends the data of a command, then its completion.
	// @result: dword 0 and 1 of the completion
	virtual void sendData(const Command &cmd, const Bytes &data, std::uint64_t result) = 0;
	Completion completion(const Command &cmd, std::uint16_t status, std::uint64_t result = 0) const;
	void later(Clock::duration delay, std::function<void()> fn);
	void releaseHeld();
	// Authentication of this queue; null before Connect, and if the port does not authenticate hosts
	Dhchap *authentication() { return dhchap_ ? &*dhchap_ : nullptr; }
	// Returns a message to the host, as if nothing misbehaved.
	void sendMessage(const Command &cmd, Bytes message);
	virtual bool encrypted() const { return false; }
	bool discovery() const { return assoc_ && assoc_->discovery; }
	void tell(AsyncEvent event);

protected:
	// Transport operations, on the connection's thread. begin() gets the verdict of the hook `accept`. False: the
	// connection has ended.
	virtual bool begin(Verdict verdict) = 0;
	// Waits up to `timeout` ms for an event and processes received data. If stalled, received data and disconnects
	// are left unprocessed. False: the connection has ended.
	virtual bool exchange(bool stalled, int timeout) = 0;
	// Processes data that was received while the controller was silent. False: the connection has ended.
	virtual bool resume() = 0;
	virtual void close(bool rst) = 0;
	virtual void sendCompletion(const Command &cmd, Completion cqe) = 0;
	// Whether the data of the command must still be fetched from the host. fetch() calls dispatch() when they have
	// arrived.
	virtual bool dataAtHost(const Command &cmd) const = 0;
	virtual void fetch(const Command &cmd) = 0;
	// Applies a verdict when there is nothing to send.
	virtual void misbehave(Verdict verdict) = 0;
	// Mutates the data of an admin command at random.
	virtual void change(const Command &, Bytes &) {}

	bool take(const Command &cmd, Bytes data);
	void dispatch(const Command &cmd, Bytes data);
	bool reportViolation(const std::string &text);
	bool silent() const;

	Server &server_;
	Wake wake_;
	std::atomic<bool> ending_{false};
	bool mute_ = false;
	bool inputDeferred_ = false; // received data stays unprocessed until the silence ends
	std::atomic<std::uint16_t> qid_{0};
	bool sqFlow_ = true;
	std::set<std::uint16_t> inflight_;
	mutable std::mutex lock_;

private:
	// connection.cpp
	bool pump();
	int pollTimeout(bool quiet) const;
	void runPosted();
	void fireDue();
	bool expired();

	// commands
	void execute(const Command &cmd, Bytes data);
	void offerExecute(const Command &cmd, Bytes data);
	void carryOut(const Command &cmd, Bytes data);
	void stallCommand(const Command &cmd, Bytes data, bool silent);
	void finish(const Command &cmd, Reply reply);

	// fabrics.cpp
	Reply fabrics(const Command &cmd, const Bytes &data);
	Reply connect(const Command &cmd, const Bytes &data);
	Reply connectAdmin(const Connect &c, bool discovery);
	Reply connectIo(const Connect &c);
	Reply propertyGet(const Command &cmd);
	Reply propertySet(const Command &cmd);
	// authentication.cpp
	void askForAuthentication(const Command &cmd, Reply &reply, const std::string &hostnqn);
	bool admits(const Command &cmd) const;
	void keepGeneratedKey();
	void authenticationSend(const Command &cmd, const Bytes &data);
	void authenticationReceive(const Command &cmd);
	// admin.cpp
	std::optional<Reply> admin(const Command &cmd, const Bytes &data);
	std::optional<Reply> asyncEvent(const Command &cmd);
	Reply identify(const Command &cmd);
	Reply getLog(const Command &cmd);
	Reply setFeatures(const Command &cmd, const Bytes &data);
	Reply getFeatures(const Command &cmd);
	// discovery_ctrl.cpp
	std::optional<Reply> discoveryAdmin(const Command &cmd, const Bytes &data);
	Reply takeRegistration(const Command &cmd, const Bytes &data);
	Reply discoveryLog(const Command &cmd);
	// ccr.cpp
	Reply crossReset(const Command &cmd);
	void endCrossReset(const CcrEntry &entry, CcrPlan plan);
	Reply ccrLog(bool removeCompleted);
	// io.cpp
	Reply io(const Command &cmd, const Bytes &data);
	std::uint16_t allowed(Store &store, const Command &cmd);
	Reply onStore(Store &store, const Command &cmd, const Bytes &data);
	Reply onZones(Store &store, ZoneTable &zones, const Command &cmd, const Bytes &data);
	Reply copy(Store &store, const Command &cmd, const Bytes &data);
	Reply dsm(Store &store, const Command &cmd, const Bytes &data);
	// reservation_commands.cpp
	Reply reservationCommand(Store &store, const Command &cmd, const Bytes &data);
	void notifyReservations(const Store &store, const std::vector<ReservationNotice> &notices);
	Bytes reservationLog();

	void deliverEvents();
	friend class Server;

	std::atomic<bool> rst_{false};
	bool connected_ = false; // a Connect command was accepted
	std::optional<Dhchap> dhchap_;
	bool mustAuthenticate_ = false;
	std::uint16_t entries_ = 0;
	std::uint16_t sqhd_ = 0;
	std::shared_ptr<Association> assoc_;
	std::multimap<Clock::time_point, std::function<void()>> due_;
	std::vector<std::pair<Command, Bytes>> held_;
	std::vector<std::function<void()>> posted_;
};

} // namespace target
