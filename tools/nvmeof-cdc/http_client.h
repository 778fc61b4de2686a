// SPDX-License-Identifier: LGPL-2.1-or-later
// HTTP/1.1 client on libcurl and an event loop. It does not block; libcurl resolves names in its own threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>

#include "serving/loop.h"
#include "serving/poller.h"

namespace cdc {

// Paths of PEM files; empty: not used
struct HttpTls {
	std::string ca{}; // trusted CAs; empty: those of the system
	std::string cert{}, key{};
};

struct HttpAnswer {
	CURLcode outcome = CURLE_OK; // CURLE_OK: there is a response
	bool sent = false;           // at least part of the request may have been sent
	long status = 0;
	std::string body;
	std::string trouble; // for messages
};

class HttpClient;

// A request in progress. Destroying the object cancels it; its callbacks may do so.
class HttpCall {
public:
	using Done = std::function<void(HttpAnswer)>;
	using Piece = std::function<void(std::string_view)>;

	~HttpCall();
	HttpCall(const HttpCall &) = delete;
	HttpCall &operator=(const HttpCall &) = delete;

private:
	friend class HttpClient;
	HttpCall(HttpClient &client, std::string body, Done done, Piece piece);
	static std::size_t write(char *bytes, std::size_t one, std::size_t count, void *call);
	void deliver();
	void finish(CURLcode outcome);

	HttpClient &client_;
	CURL *easy_;
	curl_slist *headers_ = nullptr;
	std::string body_, got_;
	Done done_;
	Piece piece_;
	char error_[CURL_ERROR_SIZE] = "";
};

class HttpClient {
public:
	HttpClient(serving::Loop &loop, HttpTls tls); // throws std::system_error
	~HttpClient();
	HttpClient(const HttpClient &) = delete;
	HttpClient &operator=(const HttpClient &) = delete;

	// @timeout: of the whole request; 0: of connecting only. @piece: if set, receives the body as it arrives
	std::unique_ptr<HttpCall> post(const std::string &url, const std::vector<std::string> &headers,
				       std::string body, std::chrono::milliseconds timeout, HttpCall::Done done,
				       HttpCall::Piece piece = {});

private:
	friend class HttpCall;
	struct Socket final : serving::Poller::Handler {
		Socket(HttpClient &client, curl_socket_t fd) : client_(client), fd_(fd) {}
		void ready(std::uint32_t events) override;
		void threw() override {} // only callbacks of a call throw, and that call has ended

		HttpClient &client_;
		curl_socket_t fd_;
	};

	void watch(curl_socket_t fd, int what);
	void act(curl_socket_t fd, int what);
	void deliver();

	HttpTls tls_;
	serving::Poller poller_;
	serving::Timer timer_;
	CURLM *multi_;
	std::map<curl_socket_t, std::unique_ptr<Socket>> sockets_;
	std::vector<HttpCall *> fresh_; // with undelivered data
};

} // namespace cdc
