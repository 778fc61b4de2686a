// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include <nvmeof/identity.h>

#include "decode.h"
#include "libctl/base/make_error.h"
#include "libctl/base/security.h"
#include "module.h"

namespace nofctl {

using namespace nvmeof;

namespace {

template <typename T> Result<T> one(const Messages &messages, Result<T> (*decode)(const Attributes &))
{
	if (!messages)
		return messages.error();
	return messages->empty() ? Result<T>(malformedMessage("the answer is empty")) : decode(messages->front());
}

template <typename T> Result<std::vector<T>> all(const Messages &messages, Result<T> (*decode)(const Attributes &))
{
	if (!messages)
		return messages.error();
	std::vector<T> objects;
	std::set<std::string> names;
	// If a name occurs twice, the later object has reused it while the list was read: keep that one.
	for (auto at = messages->rbegin(); at != messages->rend(); ++at) {
		Result<T> object = decode(*at);
		if (!object)
			return object.error();
		if (names.insert(object->name).second)
			objects.push_back(*std::move(object));
	}
	std::ranges::reverse(objects);
	return objects;
}

template <typename T> Result<std::vector<EventObject>> asObjects(Result<std::vector<T>> list)
{
	if (!list)
		return list.error();
	return std::vector<EventObject>(std::make_move_iterator(list->begin()), std::make_move_iterator(list->end()));
}

Request ofSubsystem(nvmeof_cmd command, std::optional<std::uint32_t> subsystem)
{
	Request request(command);
	if (subsystem)
		request.u32(NVMEOF_A_SUBSYS_ID, *subsystem);
	return request;
}

Request named(nvmeof_cmd command, nvmeof_attr type, const std::string &name)
{
	Request request(command);
	request.text(type, name);
	return request;
}

template <typename T> T clamped(std::int64_t value, std::int64_t min)
{
	return static_cast<T>(std::clamp<std::int64_t>(value, min, std::numeric_limits<T>::max()));
}

void putNumber(Request &request, nvmeof_attr type, const std::optional<std::uint32_t> &value)
{
	if (value)
		request.u32(type, *value);
}

void putUnsigned(Request &request, nvmeof_attr type, const std::optional<std::chrono::milliseconds> &value)
{
	if (value)
		request.u32(type, clamped<std::uint32_t>(value->count(), 0));
}

void putSigned(Request &request, nvmeof_attr type, const std::optional<std::chrono::milliseconds> &value)
{
	if (value)
		request.s32(type, clamped<std::int32_t>(value->count(), -1)); // all negative values mean the same
}

void putTimes(Request &request, const ConnectOptions &options)
{
	putUnsigned(request, NVMEOF_A_KATO, options.keepAlive);
	putUnsigned(request, NVMEOF_A_RECONNECT_DELAY, options.reconnectDelay);
	putSigned(request, NVMEOF_A_CTRL_LOSS_TMO, options.ctrlLoss);
	putSigned(request, NVMEOF_A_FAST_IO_FAIL_TMO, options.fastIoFail);
	putUnsigned(request, NVMEOF_A_CONNECT_TMO, options.connectTimeout);
	putUnsigned(request, NVMEOF_A_STALL_TMO, options.stallTimeout);
	putSigned(request, NVMEOF_A_FIRST_CONNECT_TMO, options.firstConnect);
	putUnsigned(request, NVMEOF_A_ACK_TMO, options.ackTimeout);
}

void putKeys(Request &request, const ConnectKeys &keys)
{
	auto put = [&](nvmeof_attr type, KeySerial serial) { request.u32(type, static_cast<std::uint32_t>(serial)); };
	if (keys.dhchap.host)
		put(NVMEOF_A_DHCHAP_KEY, keys.dhchap.host->serial());
	if (keys.dhchap.controller)
		put(NVMEOF_A_DHCHAP_CTRL_KEY, keys.dhchap.controller->serial());
	if (keys.tls) {
		put(NVMEOF_A_TLS_KEY, keys.tls->serial);
		put(NVMEOF_A_TLS_KEYRING, keys.tls->keyring.serial());
	}
}

Error wrongApi(const ModuleVersion &version)
{
	Error error;
	error.code = ErrorCode::noModule;
	bool old = version.api < NVMEOF_API_VERSION;
	error.message = "the loaded module " + version.module + " has API version " + std::to_string(version.api) +
			", this library needs " + std::to_string(NVMEOF_API_VERSION) + ": the " +
			(old ? "module" : "library") + " is too old";
	return error;
}

} // namespace

Result<Session> Session::open(std::chrono::milliseconds answer)
{
	Result<Socket> socket = Socket::open();
	if (!socket)
		return socket.error();
	Session session(*std::move(socket), answer);
	Result<ModuleVersion> version = session.version();
	if (!version)
		return version.error();
	if (version->api != NVMEOF_API_VERSION)
		return wrongApi(*version);
	return session;
}

Result<ModuleVersion> Session::version()
{
	return one(socket_.call(Request(NVMEOF_CMD_VERSION_GET), due()), decodeVersion);
}

Result<std::vector<Subsystem>> Session::subsystems()
{
	return all(socket_.dump(Request(NVMEOF_CMD_SUBSYS_GET), due()), decodeSubsystem);
}

Result<std::vector<Controller>> Session::controllers(std::optional<std::uint32_t> subsystem)
{
	return all(socket_.dump(ofSubsystem(NVMEOF_CMD_CTRL_GET, subsystem), due()), decodeController);
}

Result<std::vector<Namespace>> Session::namespaces(std::optional<std::uint32_t> subsystem)
{
	return all(socket_.dump(ofSubsystem(NVMEOF_CMD_NS_GET, subsystem), due()), decodeNamespace);
}

Result<std::vector<Path>> Session::paths(const PathFilter &filter)
{
	Request request(NVMEOF_CMD_PATH_GET);
	request.textUnlessEmpty(NVMEOF_A_NS_NAME, filter.nameSpace)
		.textUnlessEmpty(NVMEOF_A_CTRL_NAME, filter.controller);
	return all(socket_.dump(std::move(request), due()), decodePath);
}

Socket::Id Session::startList(int kind)
{
	constexpr nvmeof_cmd commands[listKinds] = {NVMEOF_CMD_SUBSYS_GET, NVMEOF_CMD_CTRL_GET, NVMEOF_CMD_NS_GET,
						    NVMEOF_CMD_PATH_GET};
	return socket_.startDump(Request(commands[kind]));
}

std::optional<Result<std::vector<EventObject>>> Session::takeList(Socket::Id id, int kind)
{
	std::optional<Messages> messages = socket_.finished(id);
	if (!messages)
		return std::nullopt;
	switch (kind) {
	case 0:
		return asObjects(all(*messages, decodeSubsystem));
	case 1:
		return asObjects(all(*messages, decodeController));
	case 2:
		return asObjects(all(*messages, decodeNamespace));
	default:
		return asObjects(all(*messages, decodePath));
	}
}

Result<Subsystem> Session::subsystem(std::uint32_t id)
{
	return one(socket_.call(ofSubsystem(NVMEOF_CMD_SUBSYS_GET, id), due()), decodeSubsystem);
}

Result<Controller> Session::controller(const std::string &name)
{
	return one(socket_.call(named(NVMEOF_CMD_CTRL_GET, NVMEOF_A_CTRL_NAME, name), due()), decodeController);
}

Result<Namespace> Session::nameSpace(const std::string &name)
{
	return one(socket_.call(named(NVMEOF_CMD_NS_GET, NVMEOF_A_NS_NAME, name), due()), decodeNamespace);
}

Result<Path> Session::path(const std::string &name)
{
	return one(socket_.call(named(NVMEOF_CMD_PATH_GET, NVMEOF_A_PATH_NAME, name), due()), decodePath);
}

Request connectRequest(const ConnectOptions &options, const std::string &hostnqn, const Uuid &hostid,
		       const ConnectKeys &keys)
{
	Request request(NVMEOF_CMD_CTRL_NEW);
	request.text(NVMEOF_A_TRANSPORT, options.transport)
		.text(NVMEOF_A_TRADDR, options.address.traddr)
		.textUnlessEmpty(NVMEOF_A_TRSVCID, options.address.trsvcid)
		.text(NVMEOF_A_SUBSYSNQN, options.subsysnqn)
		.text(NVMEOF_A_HOSTNQN, hostnqn)
		.binary(NVMEOF_A_HOSTID, hostid.bytes)
		.textUnlessEmpty(NVMEOF_A_HOST_TRADDR, options.hostTraddr)
		.textUnlessEmpty(NVMEOF_A_HOST_IFACE, options.hostIface)
		.textUnlessEmpty(NVMEOF_A_OWNER, options.owner);
	putNumber(request, NVMEOF_A_NR_IO_QUEUES, options.ioQueues);
	putNumber(request, NVMEOF_A_NR_POLL_QUEUES, options.pollQueues);
	putNumber(request, NVMEOF_A_QUEUE_SIZE, options.queueSize);
	putNumber(request, NVMEOF_A_TAGS, options.tags);
	putNumber(request, NVMEOF_A_RETRY_COUNT, options.retryCount);
	putTimes(request, options);
	if (options.tos)
		request.u8(NVMEOF_A_TOS, *options.tos);
	request.flag(NVMEOF_A_HDR_DIGEST, options.hdrDigest)
		.flag(NVMEOF_A_DATA_DIGEST, options.dataDigest)
		.flag(NVMEOF_A_SQ_FLOW, options.sqFlow)
		.flag(NVMEOF_A_DUPLICATE_CONNECT, options.duplicateConnect)
		.flag(NVMEOF_A_AUTH_REQUIRED, options.security.auth == SecurityUse::required)
		.flag(NVMEOF_A_CONCAT, options.concat);
	putKeys(request, keys);
	return request;
}

Result<TlsKeyring> openTlsKeyring()
{
	Result<TlsKeyring> keyring = TlsKeyring::open();
	if (!keyring && loadModule("nvme-keyring"))
		keyring = TlsKeyring::open();
	return keyring;
}

namespace {

Result<std::optional<TlsRequestKey>> tlsKeyOf(const ConnectOptions &options, const std::string &hostnqn,
					      Result<TlsKeyring> (*open)())
{
	const TlsUse use = tlsUseOf(options.tls, !options.tlsKey.empty());
	if (use == TlsUse::off || (use == TlsUse::preferred && options.transport != "tcp"))
		return std::optional<TlsRequestKey>();
	if (const std::string wrong = tlsContradiction(options); !wrong.empty())
		return invalidError(wrong);
	Result<TlsKeyring> keyring = open();
	if (!keyring && use == TlsUse::preferred && options.tlsKey.empty())
		return std::optional<TlsRequestKey>(); // without a keyring, there is no key
	if (!keyring)
		return ofSetting("tls", keyring.error());
	return tlsRequestKey(*std::move(keyring), use, options.tlsKey, hostnqn, options.subsysnqn);
}

} // namespace

Result<ConnectKeys> connectKeys(const ConnectOptions &options, const std::string &hostnqn,
				Result<TlsKeyring> (*keyring)())
{
	if (const std::vector<std::string> wrong = keyContradictions(options); !wrong.empty())
		return invalidError(wrong.front());
	if (const std::string missing = missingConcatKey(options); !missing.empty())
		return invalidError(missing);
	// The kernel keeps the generated key of TLS as a key of the type that the module of that keyring has.
	if (options.concat)
		if (const Result<TlsKeyring> there = keyring(); !there)
			return ofSetting("concat", there.error());
	Result<DhchapKeys> dhchap = dhchapKeys(options.dhchapKey, options.dhchapCtrlKey);
	if (!dhchap)
		return dhchap.error();
	Result<std::optional<TlsRequestKey>> tls = tlsKeyOf(options, hostnqn, keyring);
	if (!tls)
		return tls.error();
	return ConnectKeys{*std::move(dhchap), *std::move(tls)};
}

Result<Controller> Session::create(const ConnectOptions &wanted)
{
	if (Result<void> good = checkNqn(wanted.subsysnqn); !good)
		return good.error();
	ConnectOptions options = wanted;
	if (Result<void> allowed = applySecurity(options); !allowed)
		return allowed.error();
	Result<HostIdentity> identity = resolveIdentity(options.hostnqn, options.hostid, {}, options.identity);
	if (!identity)
		return identity.error();
	const Result<ConnectKeys> keys = connectKeys(options, identity->hostnqn);
	if (!keys)
		return keys.error();
	auto ask = [&] {
		return one(socket_.call(connectRequest(options, identity->hostnqn, identity->hostid, *keys), due()),
			   decodeController);
	};
	Result<Controller> made = ask();
	// The kernel does not load modules while it handles a request, so load the transport here and try again.
	if (!made && made.error().sysErrno == EPROTONOSUPPORT && loadModule("nvmeof-" + options.transport))
		made = ask();
	if (made || made.error().code != ErrorCode::noSuchObject)
		return made;
	Error error = made.error(); // about a network interface: a connect names no object of the module
	error.code = ErrorCode::invalid;
	return error;
}

Result<void> Session::act(Request request, Clock::time_point deadline)
{
	Messages messages = socket_.call(std::move(request), deadline);
	return messages ? Result<void>() : Result<void>(messages.error());
}

// May take long: disks write back their data first.
Socket::Id Session::startRemove(const std::string &controller, const std::string &subsysnqn)
{
	Request request = named(NVMEOF_CMD_CTRL_DEL, NVMEOF_A_CTRL_NAME, controller);
	request.textUnlessEmpty(NVMEOF_A_SUBSYSNQN, subsysnqn);
	return socket_.startCall(std::move(request));
}

Socket::Id Session::startRescan(const std::string &controller)
{
	return socket_.startCall(named(NVMEOF_CMD_CTRL_RESCAN, NVMEOF_A_CTRL_NAME, controller));
}

std::optional<Result<void>> Session::finished(Socket::Id id)
{
	std::optional<Messages> messages = socket_.finished(id);
	if (!messages)
		return std::nullopt;
	return *messages ? Result<void>() : Result<void>(messages->error());
}

Result<void> Session::reset(const std::string &controller)
{
	return act(named(NVMEOF_CMD_CTRL_RESET, NVMEOF_A_CTRL_NAME, controller), due());
}

Result<void> Session::keepTransport(const std::string &name)
{
	return act(named(NVMEOF_CMD_TRANSPORT_KEEP, NVMEOF_A_TRANSPORT, name), due());
}

// A key is for a pair of NQNs.
Result<std::optional<TlsRequestKey>> Session::newTlsKey(const std::string &name, const std::string &source)
{
	Result<Controller> is = controller(name);
	if (!is)
		return is.error();
	ConnectOptions options;
	options.transport = is->transport;
	options.subsysnqn = is->subsysnqn;
	options.tlsKey = source;
	return tlsKeyOf(options, is->hostnqn, openTlsKeyring);
}

// The kernel has taken the keys when the request was sent: the handler runs in that call.
Result<Socket::Id> Session::startSet(const std::string &controller, const ControllerSettings &settings)
{
	Request request = named(NVMEOF_CMD_CTRL_SET, NVMEOF_A_CTRL_NAME, controller);
	putUnsigned(request, NVMEOF_A_RECONNECT_DELAY, settings.reconnectDelay);
	putSigned(request, NVMEOF_A_CTRL_LOSS_TMO, settings.ctrlLoss);
	putSigned(request, NVMEOF_A_FAST_IO_FAIL_TMO, settings.fastIoFail);
	putUnsigned(request, NVMEOF_A_STALL_TMO, settings.stallTimeout);
	if (settings.owner)
		request.text(NVMEOF_A_OWNER, *settings.owner);
	ConnectKeys keys;
	Result<DhchapKeys> dhchap = dhchapKeys(settings.dhchapKey.value_or(""), settings.dhchapCtrlKey.value_or(""));
	if (!dhchap)
		return dhchap.error();
	keys.dhchap = *std::move(dhchap);
	if (settings.tlsKey) {
		Result<std::optional<TlsRequestKey>> tls = newTlsKey(controller, *settings.tlsKey);
		if (!tls)
			return tls.error();
		keys.tls = *std::move(tls);
	}
	putKeys(request, keys);
	return socket_.startCall(std::move(request));
}

Result<void> Session::set(const std::string &controller, const ControllerSettings &settings)
{
	Clock::time_point deadline = due();
	if (settings.dhchapKey || settings.dhchapCtrlKey) {
		const Result<Controller> now = this->controller(controller);
		if (!now)
			return now.error();
		deadline += now->connectTimeout;
	}
	const Result<Socket::Id> id = startSet(controller, settings);
	if (!id)
		return id.error();
	const Messages messages = socket_.wait(*id, deadline);
	return messages ? Result<void>() : Result<void>(messages.error());
}

Request settingsRequest(std::uint32_t subsystem, const SubsystemSettings &settings)
{
	Request request = ofSubsystem(NVMEOF_CMD_SUBSYS_SET, subsystem);
	if (settings.iopolicy)
		request.text(NVMEOF_A_IOPOLICY, *settings.iopolicy);
	if (settings.spillLatency)
		request.u32(NVMEOF_A_SPILL_US, clamped<std::uint32_t>(settings.spillLatency->count(), 0));
	putNumber(request, NVMEOF_A_SPILL_DEPTH, settings.spillDepth);
	if (settings.degrade)
		request.u8(NVMEOF_A_DEGRADE, *settings.degrade);
	if (settings.fencing)
		request.u32(NVMEOF_A_FENCING, static_cast<std::uint32_t>(*settings.fencing));
	if (settings.quiesceTimeout)
		request.u32(NVMEOF_A_QUIESCE_TMO, clamped<std::uint32_t>(settings.quiesceTimeout->count(), 0));
	if (settings.delayedRemoval)
		request.u32(NVMEOF_A_DELAYED_REMOVAL, clamped<std::uint32_t>(settings.delayedRemoval->count(), 0));
	return request;
}

Result<void> Session::set(std::uint32_t subsystem, const SubsystemSettings &settings)
{
	return act(settingsRequest(subsystem, settings), due());
}

} // namespace nofctl
