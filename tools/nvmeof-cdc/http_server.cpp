// SPDX-License-Identifier: LGPL-2.1-or-later
#include "http_server.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <list>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <microhttpd.h>

#include "libctl/runtime/loop.h"
#include "service.h"
#include "status.h"

// NVMEOF_CDC_PAGE: the directory with the files
#define NVMEOF_CDC_FILE(symbol, file)                                                                \
	asm(".pushsection .rodata\n" #symbol ":\n.incbin \"" NVMEOF_CDC_PAGE "/" file "\"\n" #symbol \
	    "_end:\n.popsection\n");                                                                 \
	extern "C" const char symbol[], symbol##_end[]

NVMEOF_CDC_FILE(cdc_page_index, "index.html");
NVMEOF_CDC_FILE(cdc_page_style, "style.css");
NVMEOF_CDC_FILE(cdc_page_script, "page.js");
NVMEOF_CDC_FILE(cdc_page_map, "map.js");
NVMEOF_CDC_FILE(cdc_page_icon, "icon.svg");

namespace cdc {

using namespace std::chrono_literals;
using nvmeof::Address;
using nvmeof::Result;

namespace {

constexpr std::size_t connectionMemory = 32768, streamBlock = 16384;
constexpr auto httpSweepInterval = 1s;

std::string_view between(const char *begin, const char *end)
{
	return {begin, static_cast<std::size_t>(end - begin)};
}

struct PageFile {
	std::string_view path, type, text;
};

// @path: "/"; null: no such file
const PageFile *findPageFile(std::string_view path)
{
	static const PageFile files[] = {
		{"/", "text/html; charset=utf-8", between(cdc_page_index, cdc_page_index_end)},
		{"/style.css", "text/css; charset=utf-8", between(cdc_page_style, cdc_page_style_end)},
		{"/page.js", "text/javascript; charset=utf-8", between(cdc_page_script, cdc_page_script_end)},
		{"/map.js", "text/javascript; charset=utf-8", between(cdc_page_map, cdc_page_map_end)},
		{"/icon.svg", "image/svg+xml; charset=utf-8", between(cdc_page_icon, cdc_page_icon_end)},
	};
	for (const PageFile &file : files)
		if (file.path == path)
			return &file;
	return nullptr;
}

using Response = std::unique_ptr<MHD_Response, void (*)(MHD_Response *)>;

// No external resources, no inline scripts or styles, and no other site may embed or read the page.
constexpr std::pair<const char *, const char *> headers[] = {
	{"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
				    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

Response withHeaders(MHD_Response *made, std::string_view type, const char *caching)
{
	Response response(made, MHD_destroy_response);
	for (const auto &[name, value] : headers)
		MHD_add_response_header(made, name, value);
	MHD_add_response_header(made, "Content-Type", std::string(type).c_str());
	MHD_add_response_header(made, "Cache-Control", caching);
	return response;
}

// @file has to last as long as the program
Response fileResponse(const PageFile &file)
{
	auto *bytes = const_cast<char *>(file.text.data()); // not modified
	return withHeaders(MHD_create_response_from_buffer(file.text.size(), bytes, MHD_RESPMEM_PERSISTENT), file.type,
			   "no-cache");
}

// Shares the text with other responses
Response sharedResponse(const std::shared_ptr<const std::string> &text, std::string_view type)
{
	using Owner = std::shared_ptr<const std::string>;
	auto owner = std::make_unique<Owner>(text);
	auto *bytes = const_cast<char *>(text->data());
	auto forget = [](void *owner) { std::unique_ptr<Owner>(static_cast<Owner *>(owner)).reset(); };
	return withHeaders(
		MHD_create_response_from_buffer_with_free_callback_cls(text->size(), bytes, forget, owner.release()),
		type, "no-store");
}

int send(MHD_Connection *connection, unsigned status, const Response &response)
{
	return MHD_queue_response(connection, status, response.get());
}

int say(MHD_Connection *connection, unsigned status, std::string_view text)
{
	auto shared = std::make_shared<const std::string>(fmt::format("{}\n", text));
	Response response = sharedResponse(shared, "text/plain; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response.get(), "Allow", "GET, HEAD");
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response.get(), "Retry-After", "2");
	return send(connection, status, response);
}

std::string_view header(MHD_Connection *connection, const char *name)
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
	return value ? value : "";
}

// Protects against DNS rebinding: a foreign name that resolves to this machine must not give access to the page.
bool namesThisMachine(std::string_view host)
{
	if (host.empty() || host.front() == '[')
		return true;
	const std::string name(host.substr(0, host.find(':')));
	in_addr ignored;
	return name == "localhost" || ::inet_pton(AF_INET, name.c_str(), &ignored) == 1;
}

std::string eventText(std::uint64_t number, std::string_view kind, const Json &json)
{
	return fmt::format("id: {}\nevent: {}\ndata: {}\n", number, kind, lineOf(json));
}

} // namespace

// A connection
struct HttpServer::Client {
	MHD_Connection *connection;
	Clock::time_point since; // when it was accepted or last answered or, while busy, when its request arrived
	bool asks = false;       // its request is complete, its response not sent yet
	bool answered = false;   // at least once; it may stay idle for a while
	bool streams = false;    // the response is the event stream, which has no end
	bool ended = false;      // shut down; libmicrohttpd will notice

	void end()
	{
		const auto *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info && !std::exchange(ended, true))
			::shutdown(info->connect_fd, SHUT_RDWR);
	}
	bool late(Clock::time_point now, const Limits &limits) const
	{
		const auto max = asks ? limits.answer : answered ? limits.idle + limits.request : limits.request;
		return !streams && now - since > max;
	}
};

struct HttpServer::Listener {
	HttpServer &server;
	const bool loopback;
	MHD_Daemon *daemon = nullptr;
	std::list<Client> clients; // newest last
	std::unique_ptr<runtime::Readable> readable;

	Listener(HttpServer &server, bool loopback) : server(server), loopback(loopback) {}
	Listener(const Listener &) = delete;
	~Listener()
	{
		readable.reset();
		if (daemon)
			MHD_stop_daemon(daemon);
	}
	// Makes room for a new connection: closes the one that has been idle longest, else the one with the slowest
	// request.
	void makeRoom()
	{
		if (clients.size() <= softLimit())
			return;
		const auto longAgo = Clock::now() - server.limits_.patience;
		Client *oldest = nullptr;
		for (Client &one : clients) {
			const bool may = !one.ended && !one.streams && &one != &clients.back() &&
					 (!one.asks || one.since < longAgo);
			const bool first =
				!oldest || std::pair(one.asks, one.since) < std::pair(oldest->asks, oldest->since);
			if (may && first)
				oldest = &one;
		}
		if (oldest)
			oldest->end();
	}
	std::size_t softLimit() const { return server.limits_.connections * 3 / 4; }
	void sweep(Clock::time_point now)
	{
		for (Client &caller : clients)
			if (caller.late(now, server.limits_))
				caller.end();
		for (std::size_t over = clients.size(); over > softLimit(); over--)
			makeRoom();
	}
};

struct HttpServer::Request {
	bool waited = false; // for a snapshot
};

struct HttpServer::Stream {
	HttpServer &server;
	MHD_Connection *connection;
	std::uint64_t next;  // next event
	Text text = nullptr; // being sent
	std::size_t at = 0;  // position in text
	bool suspended = false;
	bool pinged = false; // send a comment line, which detects a dead peer

	Text more()
	{
		const std::uint64_t first = server.lastEvent_ + 1 - server.events_.size();
		if (next < first) {
			const Json dropped{{"dropped", first - next}};
			next = first;
			return std::make_shared<const std::string>(eventText(first - 1, "dropped", dropped));
		}
		if (next <= server.lastEvent_)
			return server.events_[next++ - first];
		return std::exchange(pinged, false) ? std::make_shared<const std::string>(":\n\n") : nullptr;
	}
	ssize_t read(char *to, std::size_t room)
	{
		if (!text && !(text = more())) {
			suspended = true;
			MHD_suspend_connection(connection);
			return 0;
		}
		const std::size_t count = std::min(room, text->size() - at);
		std::memcpy(to, text->data() + at, count);
		at += count;
		if (at == text->size()) {
			text.reset();
			at = 0;
		}
		return static_cast<ssize_t>(count);
	}
	void resume()
	{
		if (std::exchange(suspended, false))
			MHD_resume_connection(connection);
	}
};

// Callbacks of libmicrohttpd
struct HttpServer::Calls {
	static MHD_Result handle(void *cls, MHD_Connection *connection, const char *path, const char *method,
				 const char *, const char *, std::size_t *length, void **context)
	{
		auto &listener = *static_cast<Listener *>(cls);
		std::unique_ptr<Request> request(static_cast<Request *>(*context));
		*length = 0; // a request body is discarded
		if (Client *caller = clientOf(connection); caller && !request) {
			caller->asks = true;
			caller->since = Clock::now();
		}
		int result = MHD_NO;
		runtime::guarded([&] { result = listener.server.answer(listener, connection, path, method, request); });
		*context = request.release();
		return static_cast<MHD_Result>(result);
	}
	static void completed(void *, MHD_Connection *connection, void **context, MHD_RequestTerminationCode)
	{
		if (Client *caller = clientOf(connection)) {
			caller->asks = caller->streams = false;
			caller->answered = true;
			caller->since = Clock::now();
		}
		std::unique_ptr<Request>(static_cast<Request *>(*context)).reset();
		*context = nullptr;
	}
	static void connected(void *cls, MHD_Connection *connection, void **context,
			      MHD_ConnectionNotificationCode what)
	{
		auto &listener = *static_cast<Listener *>(cls);
		if (what == MHD_CONNECTION_NOTIFY_STARTED) {
			runtime::guarded([&] {
				listener.clients.push_back({connection, Clock::now()});
				*context = &listener.clients.back();
				listener.makeRoom();
			});
			return;
		}
		std::erase_if(listener.clients, [&](const Client &caller) { return &caller == *context; });
		*context = nullptr;
	}
	static Client *clientOf(MHD_Connection *connection)
	{
		const auto *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
		return info ? static_cast<Client *>(info->socket_context) : nullptr;
	}
	static ssize_t read(void *stream, std::uint64_t, char *to, std::size_t room)
	{
		ssize_t count = MHD_CONTENT_READER_END_WITH_ERROR;
		runtime::guarded([&] { count = static_cast<Stream *>(stream)->read(to, room); });
		return count;
	}
	static void forget(void *cls)
	{
		std::unique_ptr<Stream> stream(static_cast<Stream *>(cls));
		stream->server.streams_.erase(stream.get());
	}
};

HttpServer::HttpServer(std::function<void()> wanted) : HttpServer(std::move(wanted), Limits()) {}

HttpServer::HttpServer(std::function<void()> wanted, const Limits &limits)
	: snapshotRequested_(std::move(wanted)), limits_(limits), again_(loop_, [this] { run(); }),
	  ping_(loop_, [this] { ping(); }), patience_(loop_, [this] { resume(); }), sweep_(loop_, [this] { sweep(); })
{
}

// No connection may be suspended when its daemon is stopped.
HttpServer::~HttpServer()
{
	if (thread_.joinable()) {
		mailbox_.post([this] { loop_.end(0); });
		thread_.join();
	}
	for (Stream *stream : streams_)
		stream->resume();
	for (MHD_Connection *connection : std::exchange(waiting_, {}))
		MHD_resume_connection(connection);
	listeners_.clear();
}

Result<void> HttpServer::start(const std::vector<ListenSocket> &doors)
{
	for (auto at = doors.begin(); at != doors.end(); ++at) {
		const ListenSocket &door = *at;
		auto listener = std::make_unique<Listener>(*this, door.loopback);
		listener->daemon = MHD_start_daemon(
			MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, Calls::handle, listener.get(),
			MHD_OPTION_LISTEN_SOCKET, door.socket, MHD_OPTION_CONNECTION_LIMIT, limits_.connections,
			MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(limits_.idle.count()),
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, connectionMemory, MHD_OPTION_NOTIFY_COMPLETED,
			Calls::completed, nullptr, MHD_OPTION_NOTIFY_CONNECTION, Calls::connected, listener.get(),
			MHD_OPTION_END);
		if (!listener->daemon) {
			const int error = errno;
			for (; at != doors.end(); ++at) // those before belong to their daemons
				::close(at->socket);
			return nvmeof::errorFromErrno(error, "cannot serve HTTP");
		}
		const auto *info = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD);
		listener->readable = std::make_unique<runtime::Readable>(loop_, info->epoll_fd, [this] { run(); });
		listeners_.push_back(std::move(listener));
	}
	ping_.start(limits_.ping);
	sweep_.start(httpSweepInterval);
	thread_ = std::thread([this] { loop_.run(); });
	return {};
}

void HttpServer::take(SnapshotPtr snapshot)
{
	mailbox_.post([this, snapshot = std::move(snapshot)] {
		snapshot_ = snapshot;
		taken_ = Clock::now();
		state_.reset();
		metrics_.reset();
		resume();
	});
}

void HttpServer::onChange(ChangeEvent changeEvent)
{
	mailbox_.post([this, changeEvent = std::move(changeEvent)] {
		events_.push_back(std::make_shared<const std::string>(
			eventText(++lastEvent_, "change", changeEventJson(changeEvent))));
		if (events_.size() > limits_.kept)
			events_.pop_front();
		wake();
	});
}

void HttpServer::run()
{
	std::optional<MHD_UNSIGNED_LONG_LONG> wait;
	for (auto &listener : listeners_) {
		MHD_run(listener->daemon);
		MHD_UNSIGNED_LONG_LONG ms = 0;
		if (MHD_get_timeout(listener->daemon, &ms) == MHD_YES)
			wait = wait ? std::min(*wait, ms) : ms;
	}
	if (wait)
		again_.start(std::chrono::milliseconds(*wait));
	else
		again_.stop();
}

void HttpServer::wake()
{
	for (Stream *stream : streams_)
		stream->resume();
	run();
}

void HttpServer::ping()
{
	for (Stream *stream : streams_)
		stream->pinged = true;
	wake();
	ping_.start(limits_.ping);
}

void HttpServer::sweep()
{
	sweep_.start(httpSweepInterval);
	for (auto &listener : listeners_)
		listener->sweep(Clock::now());
	run();
}

bool HttpServer::fresh() const
{
	return snapshot_ && Clock::now() - taken_ < limits_.fresh;
}

void HttpServer::want()
{
	if (std::exchange(asked_, true))
		return;
	patience_.start(limits_.patience);
	snapshotRequested_();
}

// Resumes all requests that wait for a snapshot: it has arrived, or the wait has timed out.
void HttpServer::resume()
{
	asked_ = false;
	patience_.stop();
	for (MHD_Connection *connection : std::exchange(waiting_, {}))
		MHD_resume_connection(connection);
	run();
}

int HttpServer::answer(Listener &listener, MHD_Connection *connection, const char *path, const char *method,
		       std::unique_ptr<Request> &request)
{
	if (!request) { // libmicrohttpd calls again when the request is complete
		request = std::make_unique<Request>();
		return MHD_YES;
	}
	const std::string_view wanted = path;
	if (std::strcmp(method, MHD_HTTP_METHOD_GET) != 0 && std::strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "read-only: use GET or HEAD");
	if (listener.loopback && !namesThisMachine(header(connection, MHD_HTTP_HEADER_HOST)))
		return say(connection, MHD_HTTP_FORBIDDEN, "unknown host name");
	if (const PageFile *file = findPageFile(wanted))
		return send(connection, MHD_HTTP_OK, fileResponse(*file));
	if (wanted == "/api/state" || wanted == "/metrics" || wanted == "/healthz")
		return snapshot(connection, wanted, *request);
	if (wanted == "/api/events")
		return events(connection);
	return say(connection, MHD_HTTP_NOT_FOUND,
		   "there is no such page; try /, /metrics, /healthz, /api/state, /api/events");
}

int HttpServer::snapshot(MHD_Connection *connection, std::string_view path, Request &request)
{
	if (!fresh() && !std::exchange(request.waited, true)) {
		waiting_.push_back(connection);
		MHD_suspend_connection(connection);
		want();
		return MHD_YES;
	}
	if (!snapshot_ || Clock::now() - taken_ > limits_.patience)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy");
	if (path == "/healthz" && snapshot_->views && !snapshot_->draining)
		return say(connection, MHD_HTTP_OK, "ok");
	if (path == "/healthz")
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   snapshot_->draining ? "draining" : "the store has not loaded its records yet");
	if (path == "/metrics") {
		if (!metrics_)
			metrics_ = std::make_shared<const std::string>(metricsText(*snapshot_));
		return send(connection, MHD_HTTP_OK,
			    sharedResponse(metrics_, "text/plain; version=0.0.4; charset=utf-8"));
	}
	if (!state_)
		state_ = std::make_shared<const std::string>(lineOf(stateJson(*snapshot_)));
	return send(connection, MHD_HTTP_OK, sharedResponse(state_, "application/json"));
}

// Continues after the last event that the browser has, else starts with new events
int HttpServer::events(MHD_Connection *connection)
{
	if (streams_.size() >= limits_.streams)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many event streams");
	const std::string_view last = header(connection, "Last-Event-ID");
	std::uint64_t number = lastEvent_;
	if (std::uint64_t had = 0; std::from_chars(last.data(), last.data() + last.size(), had).ec == std::errc())
		number = std::min(had, lastEvent_);
	auto stream = std::make_unique<Stream>(Stream{*this, connection, number + 1});
	stream->text = std::make_shared<const std::string>("retry: 2000\n\n");
	if (Client *caller = Calls::clientOf(connection))
		caller->streams = true;
	streams_.insert(stream.get());
	MHD_Response *made = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, streamBlock, Calls::read,
							       stream.release(), Calls::forget);
	return send(connection, MHD_HTTP_OK, withHeaders(made, "text/event-stream", "no-store"));
}

// ---- class Web

namespace {

bool isLoopback(const Address &address)
{
	return address.traddr == "::1" || address.traddr.starts_with("127.");
}

} // namespace

Web::Web(runtime::Loop &loop, Service &service) : service_(service), mailbox_(loop)
{
	service_.onChangeEvent([this, alive = std::weak_ptr(alive_)](const ChangeEvent &changeEvent) {
		if (!alive.expired() && server_)
			server_->onChange(changeEvent);
	});
}

Web::~Web() = default;

Result<void> Web::start(const std::vector<Address> &addresses)
{
	std::vector<HttpServer::ListenSocket> doors;
	for (const Address &address : addresses) {
		Result<std::vector<int>> sockets = listenAt(address, 1);
		if (!sockets) {
			for (const HttpServer::ListenSocket &door : doors)
				::close(door.socket);
			return sockets.error();
		}
		doors.push_back({sockets->front(), isLoopback(address)});
	}
	if (doors.empty())
		return {};
	server_ = std::make_unique<HttpServer>([this] { mailbox_.post([this] { takeSnapshot(); }); });
	return server_->start(doors);
}

void Web::takeSnapshot()
{
	cdc::takeSnapshot(service_, [this, alive = std::weak_ptr(alive_)](SnapshotPtr snapshot) {
		if (!alive.expired())
			server_->take(std::move(snapshot));
	});
}

} // namespace cdc
