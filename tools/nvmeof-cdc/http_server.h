// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * GET / (the page), /metrics, /healthz, /api/state, /api/events; on libmicrohttpd, in a thread of its own. All of it is
 * read-only. An event stream has no queue: all streams read one ring of the latest events, and a stream that is too
 * slow gets the number of events that it missed.
 */
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include <nvmeof/result.h>

#include "libctl/runtime/loop.h"
#include "status.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace cdc {

class HttpServer {
public:
	// A listening socket, and whether it accepts connections from this machine only
	struct ListenSocket {
		int socket;
		bool loopback;
	};
	struct Limits {
		// Per listening socket. Above three quarters of them, each new connection closes the one that has been
		// idle longest, so that a client with many connections does not keep others out.
		unsigned connections = 256;
		std::size_t streams = 64;
		std::size_t kept = 256; // latest events, for streams that have not read them yet
		std::chrono::seconds idle{30}, ping{15}, patience{5};
		std::chrono::seconds request{5}, answer{60}; // each as a whole, however slowly it progresses
		std::chrono::milliseconds fresh{100};        // age up to which a snapshot serves several requests
	};

	// @wanted: called in the thread of the server; a new snapshot is to be passed to take().
	explicit HttpServer(std::function<void()> wanted);
	HttpServer(std::function<void()> wanted, const Limits &limits);
	~HttpServer();
	HttpServer(const HttpServer &) = delete;
	HttpServer &operator=(const HttpServer &) = delete;

	nvmeof::Result<void> start(const std::vector<ListenSocket> &doors); // takes ownership of the sockets

	// From any thread:
	void take(SnapshotPtr snapshot);
	void onChange(ChangeEvent changeEvent);

private:
	using Clock = std::chrono::steady_clock;
	using Text = std::shared_ptr<const std::string>;
	struct Listener;
	struct Request;
	struct Stream;
	struct Client;
	struct Calls;

	void run();
	int answer(Listener &listener, MHD_Connection *connection, const char *path, const char *method,
		   std::unique_ptr<Request> &request);
	int snapshot(MHD_Connection *connection, std::string_view path, Request &request);
	int events(MHD_Connection *connection);
	void wake();
	void ping();
	void sweep();
	void want();
	bool fresh() const;
	void resume();

	std::function<void()> snapshotRequested_;
	const Limits limits_;
	runtime::Loop loop_{runtime::Loop::Watchdog::none};
	runtime::Mailbox mailbox_{loop_};
	runtime::Timer again_, ping_, patience_, sweep_;
	std::vector<std::unique_ptr<Listener>> listeners_;
	SnapshotPtr snapshot_;
	Text state_, metrics_; // of the snapshot; made on demand
	Clock::time_point taken_{};
	bool asked_ = false; // a snapshot is on its way
	std::vector<MHD_Connection *> waiting_;
	std::deque<Text> events_;
	std::uint64_t lastEvent_ = 0; // number of the last one in events_, from 1
	std::unordered_set<Stream *> streams_;
	std::thread thread_;
};

// The web page and the metrics of an instance. HTTP requests are handled in a thread of their own; the thread of the
// service only takes snapshots for it, one at a time.
class Web {
public:
	Web(runtime::Loop &loop, Service &service);
	~Web();

	// Without addresses it is off. Errors: an address is in use
	nvmeof::Result<void> start(const std::vector<nvmeof::Address> &addresses);

private:
	void takeSnapshot();

	Service &service_;
	runtime::Mailbox mailbox_;
	std::unique_ptr<HttpServer> server_; // null: off
	std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace cdc
