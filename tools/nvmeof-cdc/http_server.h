// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * GET / (the page), /metrics, /healthz, /api/state, /api/events; by libmicrohttpd, in a thread of its own. Nothing can
 * be changed over it. A stream of events has no queue: all read one ring of the last ones, and who is too slow for
 * that is told how many it has missed.
 */
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include <nvmeof/result.h>

#include "serving/loop.h"
#include "status.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace cdc {

class HttpServer {
public:
	// Where it listens, and whether only this machine can come from there
	struct Door {
		int socket;
		bool loopback;
	};
	struct Limits {
		// At each door. Beyond three quarters of them each that comes ends the one that has been without a
		// request longest, so that who opens many keeps nobody out.
		unsigned connections = 256;
		std::size_t streams = 64;
		std::size_t kept = 256; // events, for who has not read them yet
		std::chrono::seconds idle{30}, ping{15}, patience{5};
		std::chrono::seconds request{5}, answer{60}; // the whole of it, however it trickles
		std::chrono::milliseconds fresh{100};        // a picture, so that many requests are one's work
	};

	// @wanted: called in the server's thread: a picture is to be taken, and given to take().
	explicit HttpServer(std::function<void()> wanted);
	HttpServer(std::function<void()> wanted, const Limits &limits);
	~HttpServer();
	HttpServer(const HttpServer &) = delete;
	HttpServer &operator=(const HttpServer &) = delete;

	nvmeof::Result<void> start(const std::vector<Door> &doors); // whose sockets are its own from now on

	// From any thread:
	void take(PicturePtr picture);
	void happened(Happening happening);

private:
	using Clock = std::chrono::steady_clock;
	using Text = std::shared_ptr<const std::string>;
	struct Entrance;
	struct Request;
	struct Stream;
	struct Caller;
	struct Calls;

	void run();
	int answer(Entrance &entrance, MHD_Connection *connection, const char *path, const char *method,
		   std::unique_ptr<Request> &request);
	int picture(MHD_Connection *connection, std::string_view path, Request &request);
	int events(MHD_Connection *connection);
	void wake();
	void ping();
	void sweep();
	void want();
	bool fresh() const;
	void resume();

	std::function<void()> wanted_;
	const Limits limits_;
	serving::Loop loop_{serving::Loop::Watchdog::none};
	serving::Mailbox mailbox_{loop_};
	serving::Timer again_, ping_, patience_, sweep_;
	std::vector<std::unique_ptr<Entrance>> entrances_;
	PicturePtr picture_;
	Text state_, metrics_; // of the picture, where they were asked for
	Clock::time_point taken_{};
	bool asked_ = false; // for a picture
	std::vector<MHD_Connection *> waiting_;
	std::deque<Text> events_;
	std::uint64_t lastEvent_ = 0; // of events_, counted from 1
	std::unordered_set<Stream *> streams_;
	std::thread thread_;
};

} // namespace cdc
