// SPDX-License-Identifier: LGPL-2.1-or-later
// The C interface: handles that wrap the C++ objects. No exception leaves it; an allocation failure becomes an error.
#include "c_api.h"

#include <cerrno>
#include <charconv>
#include <cxxabi.h>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <variant>

#include <nvmeof/client.h>
#include <nvmeof/event_stream.h>
#include <nvmeof/nvmeof_c.h>

#include "libctl/base/make_error.h"
#include "libctl/keys/source.h"

using namespace nvmeof;
using std::chrono::milliseconds;

// Options of a connect as the C interface sets them: text values by name.
struct nvmeof_options {
	nvmeof::ConnectOptions connect{};
	nvmeof::WaitOptions wait{}; // only nsid and uuid are used
};

namespace nofctl {

// Errors: invalid, for an unknown name or value.
nvmeof::Result<void> setOption(nvmeof_options &options, const std::string &name, const std::string &value);

} // namespace nofctl

struct nvmeof_client {
	Client client;
};

struct nvmeof_error {
	Error error;
};

struct nvmeof_pending {
	std::variant<Pending<Result<Connection>>, Pending<Result<void>>, Pending<Result<DiscoveryLog>>> pending;
};

struct nvmeof_events {
	EventStream stream;
};

namespace {

nvmeof_code codeOf(const Error &error)
{
	return static_cast<nvmeof_code>(static_cast<int>(error.code) + 1);
}
static_assert(static_cast<int>(ErrorCode::failed) + 1 == NVMEOF_FAILED);
static_assert(static_cast<int>(ErrorCode::noModule) + 1 == NVMEOF_NO_MODULE);
static_assert(static_cast<int>(ErrorCode::cancelled) + 1 == NVMEOF_CANCELLED);

nvmeof_code fail(const Error &error, nvmeof_error **to)
{
	if (to)
		*to = std::make_unique<nvmeof_error>(nvmeof_error{error}).release();
	return codeOf(error);
}

// Error handle for allocation failures. Static: nvmeof_error_free() does not free it.
nvmeof_error noMemory{{ErrorCode::failed, ENOMEM, "out of memory", {}, {}, {}, false}};

// Converts the exception being handled to an error.
nvmeof_code caught(nvmeof_error **error) noexcept
{
	try {
		throw;
	} catch (const std::bad_alloc &) {
	} catch (const std::exception &exception) {
		try {
			return fail({ErrorCode::failed, 0, exception.what(), {}, {}, {}, false}, error);
		} catch (...) {
		}
	} catch (...) {
	}
	if (error)
		*error = &noMemory;
	return codeOf(noMemory.error);
}

template <typename F> nvmeof_code guarded(nvmeof_error **error, F call)
{
	try {
		return call();
	} catch (const abi::__forced_unwind &) { // pthread_cancel(3) of this thread: must be rethrown
		throw;
	} catch (...) {
		return caught(error);
	}
}

// Returns the handle, or NULL after an exception.
template <typename F> auto orNull(F call) -> decltype(call())
{
	decltype(call()) handle = nullptr;
	guarded(nullptr, [&] {
		handle = call();
		return NVMEOF_OK;
	});
	return handle;
}

// Moves @value into a handle that the caller of the C function frees.
template <typename T> T *given(T value)
{
	return std::make_unique<T>(std::move(value)).release();
}

template <typename T> void release(T *handle)
{
	std::unique_ptr<T> owner(handle);
}

WaitOptions waitOf(WaitOptions wait, nvmeof_wait what, int timeout)
{
	wait.wait = static_cast<WaitFor>(what);
	wait.timeout = milliseconds(timeout);
	return wait;
}
static_assert(static_cast<int>(WaitFor::udev) == NVMEOF_WAIT_UDEV);

nvmeof_code finish(const Result<Connection> &done, nvmeof_item **item, nvmeof_error **error)
{
	if (!done)
		return fail(done.error(), error);
	if (item)
		*item = given(nofctl::itemOf(*done));
	return NVMEOF_OK;
}

nvmeof_code finish(const Result<void> &done, nvmeof_error **error)
{
	return done ? NVMEOF_OK : fail(done.error(), error);
}

template <typename T>
nvmeof_code finish(const Result<std::vector<T>> &objects, nvmeof_items **items, nvmeof_error **error)
{
	if (!objects)
		return fail(objects.error(), error);
	nvmeof_items list;
	for (const T &object : *objects)
		list.items.push_back(nofctl::itemOf(object));
	*items = given(std::move(list));
	return NVMEOF_OK;
}

nvmeof_code finish(const Result<DiscoveryLog> &log, nvmeof_items **items, nvmeof_error **error)
{
	return log ? finish(Result<std::vector<DiscoveryEntry>>(log->entries), items, error) : fail(log.error(), error);
}

nvmeof_code notToTake(nvmeof_error **error)
{
	return fail(nofctl::invalidError("it is not ready, was taken, or has a result of another kind"), error);
}

} // namespace

const char *nvmeof_version(void)
{
	return libraryVersion();
}

nvmeof_code nvmeof_error_code(const nvmeof_error *error)
{
	return codeOf(error->error);
}

const char *nvmeof_error_message(const nvmeof_error *error)
{
	return error->error.message.c_str();
}

int nvmeof_error_errno(const nvmeof_error *error)
{
	return error->error.sysErrno;
}

int nvmeof_error_status(const nvmeof_error *error)
{
	return error->error.nvmeStatus ? *error->error.nvmeStatus : -1;
}

const char *nvmeof_error_object(const nvmeof_error *error)
{
	return error->error.object.name.c_str();
}

const char *nvmeof_error_object_kind(const nvmeof_error *error)
{
	return toString(error->error.object.kind);
}

void nvmeof_error_free(nvmeof_error *error)
{
	if (error != &noMemory)
		release(error);
}

nvmeof_kind nvmeof_item_kind(const nvmeof_item *item)
{
	return item->kind;
}

const char *nvmeof_item_text(const nvmeof_item *item, const char *field)
{
	auto found = item->texts.find(field);
	return found == item->texts.end() ? nullptr : found->second.c_str();
}

int nvmeof_item_number(const nvmeof_item *item, const char *field, std::uint64_t *value)
{
	auto found = item->numbers.find(field);
	if (found == item->numbers.end())
		return -1;
	*value = found->second;
	return 0;
}

const char *nvmeof_item_disk(const nvmeof_item *item, unsigned int index)
{
	return index < item->disks.size() ? item->disks[index].c_str() : nullptr;
}

void nvmeof_item_free(nvmeof_item *item)
{
	release(item);
}

unsigned int nvmeof_items_count(const nvmeof_items *items)
{
	return static_cast<unsigned int>(items->items.size());
}

const nvmeof_item *nvmeof_items_at(const nvmeof_items *items, unsigned int index)
{
	return index < items->items.size() ? &items->items[index] : nullptr;
}

void nvmeof_items_free(nvmeof_items *items)
{
	release(items);
}

nvmeof_code nvmeof_client_open(const char *load_module, nvmeof_client **client, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		Result<Client> opened = Client::open({load_module ? load_module : ""});
		if (!opened)
			return fail(opened.error(), error);
		*client = given(nvmeof_client{*std::move(opened)});
		return NVMEOF_OK;
	});
}

void nvmeof_client_free(nvmeof_client *client)
{
	release(client);
}

int nvmeof_client_fd(const nvmeof_client *client)
{
	return client->client.fd();
}

// Work that fails for lack of memory stays queued: the descriptor stays readable and the next call retries it.
void nvmeof_client_dispatch(nvmeof_client *client)
{
	guarded(nullptr, [&] {
		client->client.dispatch();
		return NVMEOF_OK;
	});
}

nvmeof_code nvmeof_list(nvmeof_client *client, nvmeof_kind kind, nvmeof_items **items, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		switch (kind) {
		case NVMEOF_SUBSYSTEM:
			return finish(client->client.subsystems(), items, error);
		case NVMEOF_CONTROLLER:
			return finish(client->client.controllers(), items, error);
		case NVMEOF_NAMESPACE:
			return finish(client->client.namespaces(), items, error);
		case NVMEOF_PATH:
			return finish(client->client.paths(), items, error);
		default:
			return fail(nofctl::invalidError("there is no list of that kind"), error);
		}
	});
}

nvmeof_options *nvmeof_options_new(void)
{
	return orNull([&] { return given(nvmeof_options()); });
}

nvmeof_code nvmeof_options_set(nvmeof_options *options, const char *name, const char *value, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code { return finish(nofctl::setOption(*options, name, value), error); });
}

void nvmeof_options_free(nvmeof_options *options)
{
	release(options);
}

nvmeof_code nvmeof_connect(nvmeof_client *client, const nvmeof_options *options, nvmeof_wait wait, int timeout_ms,
			   nvmeof_item **controller, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		return finish(client->client.connect(options->connect, waitOf(options->wait, wait, timeout_ms)),
			      controller, error);
	});
}

nvmeof_code nvmeof_wait_for(nvmeof_client *client, const char *controller, nvmeof_wait wait, int timeout_ms,
			    nvmeof_item **item, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		return finish(client->client.waitFor(controller, static_cast<WaitFor>(wait), milliseconds(timeout_ms)),
			      item, error);
	});
}

nvmeof_code nvmeof_disconnect(nvmeof_client *client, const char *controller, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code { return finish(client->client.disconnect(controller), error); });
}

nvmeof_code nvmeof_reset(nvmeof_client *client, const char *controller, nvmeof_wait wait, int timeout_ms,
			 nvmeof_item **item, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		Result<void> begun = client->client.reset(controller);
		return begun ? nvmeof_wait_for(client, controller, wait, timeout_ms, item, error)
			     : fail(begun.error(), error);
	});
}

nvmeof_code nvmeof_rescan(nvmeof_client *client, const char *controller, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code { return finish(client->client.rescan(controller), error); });
}

nvmeof_code nvmeof_discover(nvmeof_client *client, const nvmeof_options *options, int timeout_ms,
			    nvmeof_items **entries, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		return finish(client->client.discover(options->connect, milliseconds(timeout_ms)), entries, error);
	});
}

nvmeof_pending *nvmeof_start_connect(nvmeof_client *client, const nvmeof_options *options, nvmeof_wait wait,
				     int timeout_ms)
{
	return orNull([&] {
		return given(nvmeof_pending{
			client->client.startConnect(options->connect, waitOf(options->wait, wait, timeout_ms))});
	});
}

nvmeof_pending *nvmeof_start_wait(nvmeof_client *client, const char *controller, nvmeof_wait wait, int timeout_ms)
{
	return orNull([&] {
		return given(nvmeof_pending{client->client.startWait(controller, waitOf({}, wait, timeout_ms))});
	});
}

nvmeof_pending *nvmeof_start_disconnect(nvmeof_client *client, const char *controller)
{
	return orNull([&] { return given(nvmeof_pending{client->client.startDisconnect(controller)}); });
}

nvmeof_pending *nvmeof_start_reset(nvmeof_client *client, const char *controller, nvmeof_wait wait, int timeout_ms)
{
	return orNull([&] {
		return given(nvmeof_pending{client->client.startReset(controller, waitOf({}, wait, timeout_ms))});
	});
}

nvmeof_pending *nvmeof_start_rescan(nvmeof_client *client, const char *controller)
{
	return orNull([&] { return given(nvmeof_pending{client->client.startRescan(controller)}); });
}

nvmeof_pending *nvmeof_start_discover(nvmeof_client *client, const nvmeof_options *options, int timeout_ms)
{
	return orNull([&] {
		return given(nvmeof_pending{client->client.startDiscover(options->connect, milliseconds(timeout_ms))});
	});
}

int nvmeof_pending_ready(const nvmeof_pending *pending)
{
	return std::visit([](const auto &one) { return one.ready(); }, pending->pending);
}

nvmeof_code nvmeof_pending_take(nvmeof_pending *pending, nvmeof_item **item, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		if (item)
			*item = nullptr;
		if (!nvmeof_pending_ready(pending) || pending->pending.index() == 2)
			return notToTake(error);
		if (auto *connection = std::get_if<0>(&pending->pending))
			return finish(connection->take(), item, error);
		return finish(std::get<1>(pending->pending).take(), error);
	});
}

nvmeof_code nvmeof_pending_take_items(nvmeof_pending *pending, nvmeof_items **items, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		*items = nullptr;
		auto *log = std::get_if<2>(&pending->pending);
		if (!log || !log->ready())
			return notToTake(error);
		return finish(log->take(), items, error);
	});
}

void nvmeof_pending_free(nvmeof_pending *pending)
{
	release(pending);
}

nvmeof_code nvmeof_events_open(int snapshot, nvmeof_events **events, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		Result<EventStream> stream =
			EventStream::subscribe(snapshot ? StreamStart::snapshot : StreamStart::events);
		if (!stream)
			return fail(stream.error(), error);
		*events = given(nvmeof_events{*std::move(stream)});
		return NVMEOF_OK;
	});
}

int nvmeof_events_fd(const nvmeof_events *events)
{
	return events->stream.fd();
}

nvmeof_code nvmeof_events_next(nvmeof_events *events, int timeout_ms, nvmeof_item **item, nvmeof_error **error)
{
	return guarded(error, [&]() -> nvmeof_code {
		*item = nullptr;
		Result<std::optional<Event>> event = events->stream.next(milliseconds(timeout_ms));
		if (!event)
			return fail(event.error(), error);
		if (*event)
			*item = given(nofctl::itemOf(**event));
		return NVMEOF_OK;
	});
}

void nvmeof_events_free(nvmeof_events *events)
{
	release(events);
}

namespace nofctl {

// ---- items

namespace {

template <typename T> void put(nvmeof_item &item, const char *field, const std::optional<T> &value)
{
	if (value)
		item.numbers[field] = *value;
}

struct ItemOfObject {
	nvmeof_item operator()(std::monostate) const { return {}; }
	nvmeof_item operator()(const Aen &aen) const
	{
		nvmeof_item item;
		item.texts["name"] = aen.controller;
		item.texts["object_kind"] = "controller";
		item.numbers = {{"aen_type", aen.type}, {"aen_info", aen.info}, {"aen_log_page", aen.logPage}};
		return item;
	}
	template <typename T> nvmeof_item operator()(const T &object) const
	{
		nvmeof_item item = itemOf(object);
		constexpr const char *kinds[] = {"subsystem", "controller", "namespace", "path"};
		item.texts["object_kind"] = kinds[item.kind];
		return item;
	}
};

} // namespace

nvmeof_item itemOf(const Subsystem &subsystem)
{
	nvmeof_item item{NVMEOF_SUBSYSTEM};
	item.texts = {{"name", subsystem.name},        {"nqn", subsystem.nqn},       {"hostnqn", subsystem.hostnqn},
		      {"model", subsystem.model},      {"serial", subsystem.serial}, {"firmware", subsystem.firmware},
		      {"iopolicy", subsystem.iopolicy}};
	item.numbers = {{"id", subsystem.id}};
	return item;
}

nvmeof_item itemOf(const Controller &controller)
{
	nvmeof_item item{NVMEOF_CONTROLLER};
	item.texts = {{"name", controller.name},
		      {"nqn", controller.subsysnqn},
		      {"hostnqn", controller.hostnqn},
		      {"transport", controller.transport},
		      {"traddr", controller.traddr},
		      {"trsvcid", controller.trsvcid},
		      {"state", toString(controller.state)},
		      {"last_error", controller.lastError},
		      {"owner", controller.owner},
		      {"serial", controller.serial},
		      {"model", controller.model}};
	item.numbers = {{"subsystem", controller.subsystem},
			{"id", controller.id},
			{"reconnects", controller.reconnects},
			{"paths", controller.paths},
			{"inflight", controller.inflight},
			{"last_errno", static_cast<std::uint64_t>(controller.lastErrno)}};
	put(item, "last_status", controller.lastStatus);
	put(item, "scans", controller.scans);
	item.numbers["authenticated"] = controller.authentication.has_value();
	item.numbers["auth_required"] = controller.authRequired;
	item.numbers["concat"] = controller.concat;
	if (controller.authentication) {
		item.texts["auth_hash"] = controller.authentication->hash;
		item.texts["auth_dhgroup"] = controller.authentication->dhGroup;
		item.numbers["auth_mutual"] = controller.authentication->mutual;
		item.numbers["auth_time"] = static_cast<std::uint64_t>(controller.authentication->at.count());
	}
	if (controller.authKey)
		item.numbers["auth_key_time"] = static_cast<std::uint64_t>(controller.authKey->since.count());
	if (controller.tls) {
		Controller named = controller;
		readKeyNames(named);
		item.texts["tls_cipher"] = named.tls->cipher;
		item.texts["tls_identity"] = named.tls->identity;
		item.numbers["tls_time"] = static_cast<std::uint64_t>(named.tls->at.count());
		item.numbers["tls_key_time"] = static_cast<std::uint64_t>(named.tls->keySince.count());
	}
	return item;
}

nvmeof_item itemOf(const Connection &connection)
{
	nvmeof_item item = itemOf(static_cast<const Controller &>(connection));
	item.disks = connection.disks;
	return item;
}

nvmeof_item itemOf(const Namespace &ns)
{
	nvmeof_item item{NVMEOF_NAMESPACE};
	item.texts = {{"name", ns.name}, {"wwid", ns.wwid}};
	if (ns.uuid)
		item.texts["uuid"] = ns.uuid->toString();
	item.numbers = {{"subsystem", ns.subsystem},      {"nsid", ns.nsid},          {"size", ns.size},
			{"lba_size", ns.lbaSize},         {"read_only", ns.readOnly}, {"paths", ns.paths},
			{"usable_paths", ns.usablePaths}, {"openers", ns.openers}};
	return item;
}

nvmeof_item itemOf(const Path &path)
{
	nvmeof_item item{NVMEOF_PATH};
	item.texts = {{"name", path.name},
		      {"namespace", path.nameSpace},
		      {"controller", path.controller},
		      {"ana_state", toString(path.anaState)}};
	item.numbers = {{"nsid", path.nsid},       {"usable", path.usable},       {"degraded", path.degraded},
			{"suspect", path.suspect}, {"probation", path.probation}, {"inflight", path.inflight}};
	return item;
}

nvmeof_item itemOf(const DiscoveryEntry &entry)
{
	nvmeof_item item{NVMEOF_DISCOVERY_ENTRY};
	item.texts = {{"kind", toString(entry.kind)},
		      {"transport", entry.transport},
		      {"address_family", entry.addressFamily},
		      {"traddr", entry.traddr},
		      {"trsvcid", entry.trsvcid},
		      {"nqn", entry.subsysnqn},
		      {"secure_channel", toString(entry.secureChannel)},
		      {"defect", entry.defect}};
	item.numbers = {{"port_id", entry.portId},
			{"cntlid", entry.cntlid},
			{"admin_queue_size", entry.adminQueueSize},
			{"sq_flow_off", entry.sqFlowOff},
			{"duplicate", entry.duplicate},
			{"persistent", entry.persistent}};
	return item;
}

nvmeof_item itemOf(const Event &event)
{
	nvmeof_item item = std::visit(ItemOfObject(), event.object);
	item.kind = NVMEOF_EVENT;
	item.texts["type"] = toString(event.type);
	item.texts["reason"] = event.reason;
	item.numbers["time"] = static_cast<std::uint64_t>(event.time.count());
	return item;
}

// ---- options

namespace {

template <typename T> bool number(const std::string &text, T &value)
{
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	return error == std::errc() && end == text.data() + text.size();
}

bool take(std::string &to, const std::string &value)
{
	to = value;
	return true;
}

bool take(std::optional<std::string> &to, const std::string &value)
{
	to = value;
	return true;
}

bool take(std::optional<Uuid> &to, const std::string &value)
{
	to = Uuid::parse(value);
	return to.has_value();
}

bool take(std::optional<TlsUse> &to, const std::string &value)
{
	to = parseTlsUse(value);
	return to.has_value();
}

bool take(bool &to, const std::string &value)
{
	to = value == "1";
	return to || value == "0";
}

template <typename T> bool take(std::optional<T> &to, const std::string &value)
{
	T read{};
	if (!number(value, read))
		return false;
	to = read;
	return true;
}

bool take(std::optional<std::chrono::milliseconds> &to, const std::string &value)
{
	std::int32_t read = 0;
	if (!number(value, read))
		return false;
	to = std::chrono::milliseconds(read);
	return true;
}

struct Option {
	const char *name;
	bool (*take)(nvmeof_options &, const std::string &);
};

template <auto member> bool toConnect(nvmeof_options &options, const std::string &value)
{
	return take(options.connect.*member, value);
}

template <auto member> bool toWait(nvmeof_options &options, const std::string &value)
{
	return take(options.wait.*member, value);
}

template <auto member> bool toAddress(nvmeof_options &options, const std::string &value)
{
	return take(options.connect.address.*member, value);
}

constexpr Option table[] = {
	{"transport", toConnect<&ConnectOptions::transport>},
	{"traddr", toAddress<&Address::traddr>},
	{"trsvcid", toAddress<&Address::trsvcid>},
	{"nqn", toConnect<&ConnectOptions::subsysnqn>},
	{"hostnqn", toConnect<&ConnectOptions::hostnqn>},
	{"hostid", toConnect<&ConnectOptions::hostid>},
	{"host_traddr", toConnect<&ConnectOptions::hostTraddr>},
	{"host_iface", toConnect<&ConnectOptions::hostIface>},
	{"owner", toConnect<&ConnectOptions::owner>},
	{"dhchap_key", toConnect<&ConnectOptions::dhchapKey>},
	{"dhchap_ctrl_key", toConnect<&ConnectOptions::dhchapCtrlKey>},
	{"tls", toConnect<&ConnectOptions::tls>},
	{"tls_key", toConnect<&ConnectOptions::tlsKey>},
	{"concat", toConnect<&ConnectOptions::concat>},
	{"io_queues", toConnect<&ConnectOptions::ioQueues>},
	{"poll_queues", toConnect<&ConnectOptions::pollQueues>},
	{"queue_size", toConnect<&ConnectOptions::queueSize>},
	{"tags", toConnect<&ConnectOptions::tags>},
	{"tos", toConnect<&ConnectOptions::tos>},
	{"ack_timeout", toConnect<&ConnectOptions::ackTimeout>},
	{"retry_count", toConnect<&ConnectOptions::retryCount>},
	{"keep_alive", toConnect<&ConnectOptions::keepAlive>},
	{"reconnect_delay", toConnect<&ConnectOptions::reconnectDelay>},
	{"ctrl_loss", toConnect<&ConnectOptions::ctrlLoss>},
	{"fast_io_fail", toConnect<&ConnectOptions::fastIoFail>},
	{"connect_timeout", toConnect<&ConnectOptions::connectTimeout>},
	{"stall_timeout", toConnect<&ConnectOptions::stallTimeout>},
	{"first_connect", toConnect<&ConnectOptions::firstConnect>},
	{"hdr_digest", toConnect<&ConnectOptions::hdrDigest>},
	{"data_digest", toConnect<&ConnectOptions::dataDigest>},
	{"duplicate_connect", toConnect<&ConnectOptions::duplicateConnect>},
	{"idempotent", toConnect<&ConnectOptions::idempotent>},
	{"nsid", toWait<&WaitOptions::nsid>},
	{"uuid", toWait<&WaitOptions::uuid>},
};

} // namespace

Result<void> setOption(nvmeof_options &options, const std::string &name, const std::string &value)
{
	for (const Option &option : table) {
		if (name != option.name)
			continue;
		const bool isKey = name.starts_with("dhchap_") || name == "tls_key";
		if (isKey && !value.empty()) // before the value, which may be a secret, is stored
			if (Result<KeySource> source = KeySource::parseAbsolute(value); !source)
				return invalidError(name + ": " + source.error().message);
		if (option.take(options, value))
			return {};
		return invalidError("'" + value + "' is not a valid value of " + name);
	}
	return invalidError("there is no option '" + name + "'");
}

} // namespace nofctl
