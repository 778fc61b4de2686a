// SPDX-License-Identifier: LGPL-2.1-or-later
// HTTP/1.1 over libcurl, on a loop: nothing blocks, names are looked up by threads of libcurl's.
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

// Files, as PEM; what is empty is not given
struct HttpTls {
	std::string ca{}; // that is trusted; empty: the system's
	std::string cert{}, key{};
};

struct HttpAnswer {
	CURLcode outcome = CURLE_OK; // CURLE_OK: there is an answer
	bool sent = false;           // the request, or some of it
	long status = 0;
	std::string body;
	std::string trouble; // for people
};

class HttpClient;

// A request under way. It ends with the object, which may be ended by what it calls.
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

	// @timeout: of the whole; 0: none but for connecting. @piece: is given the body as it comes, where it is there.
	std::unique_ptr<HttpCall> post(const std::string &url, const std::vector<std::string> &headers,
				       std::string body, std::chrono::milliseconds timeout, HttpCall::Done done,
				       HttpCall::Piece piece = {});

private:
	friend class HttpCall;
	struct Socket final : serving::Poller::Handler {
		Socket(HttpClient &client, curl_socket_t fd) : client_(client), fd_(fd) {}
		void ready(std::uint32_t events) override;
		void threw() override {} // libcurl, in C, does not; what was made of an answer is over

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
	std::vector<HttpCall *> fresh_; // with something to deliver
};

} // namespace cdc
