// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decode.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <limits>

#include <linux/tls.h>

#include "libctl/keys/keyring.h"

namespace nofctl {

using nvmeof::AnaState;
using nvmeof::ControllerState;
using nvmeof::Error;
using nvmeof::Result;
using nvmeof::Uuid;

namespace {

// Reads typed values and keeps the first error, so that a decoder is a plain list of assignments.
class AttributeReader {
public:
	explicit AttributeReader(const Attributes &attributes) : attributes_(attributes) {}

	template <typename T> std::optional<T> maybe(nvmeof_attr type)
	{
		std::optional<std::span<const std::byte>> payload = attributes_.find(type);
		if (!payload)
			return std::nullopt;
		std::optional<T> value = numberOf<T>(*payload);
		if (!value)
			fail(type, "has the wrong size");
		return value;
	}

	template <typename T> T number(nvmeof_attr type) { return maybe<T>(type).value_or(T{}); }

	template <typename T> T required(nvmeof_attr type)
	{
		if (!attributes_.find(type))
			fail(type, "is missing");
		return number<T>(type);
	}

	std::string text(nvmeof_attr type)
	{
		std::optional<std::span<const std::byte>> payload = attributes_.find(type);
		return payload ? textOf(*payload) : std::string();
	}

	std::string requiredText(nvmeof_attr type)
	{
		std::string value = text(type);
		if (value.empty())
			fail(type, "is missing");
		return value;
	}

	std::vector<std::string> texts(nvmeof_attr type)
	{
		std::vector<std::string> values;
		for (std::span<const std::byte> payload : attributes_.findAll(type))
			values.push_back(textOf(payload));
		return values;
	}

	template <std::size_t size> std::optional<std::array<std::uint8_t, size>> binary(nvmeof_attr type)
	{
		std::optional<std::span<const std::byte>> payload = attributes_.find(type);
		if (!payload)
			return std::nullopt;
		std::array<std::uint8_t, size> value{};
		if (payload->size() == size)
			std::memcpy(value.data(), payload->data(), size);
		else
			fail(type, "has the wrong size");
		return value;
	}

	std::optional<Uuid> uuid(nvmeof_attr type)
	{
		auto bytes = binary<16>(type);
		return bytes ? std::optional(Uuid{*bytes}) : std::nullopt;
	}

	nvmeof::Histogram histogram(nvmeof_attr type)
	{
		nvmeof::Histogram counters{};
		if (auto bytes = binary<sizeof(counters)>(type))
			std::memcpy(counters.data(), bytes->data(), sizeof(counters));
		return counters;
	}

	template <typename T> std::chrono::milliseconds milliseconds(nvmeof_attr type)
	{
		return std::chrono::milliseconds(number<T>(type));
	}

	std::chrono::nanoseconds nanoseconds(nvmeof_attr type) { return timeOf(number<std::uint64_t>(type)); }

	std::optional<std::chrono::nanoseconds> maybeNanoseconds(nvmeof_attr type)
	{
		auto time = maybe<std::uint64_t>(type);
		return time ? std::optional(timeOf(*time)) : std::nullopt;
	}

	bool flag(nvmeof_attr type) const { return attributes_.find(type).has_value(); }
	bool boolean(nvmeof_attr type) { return number<std::uint8_t>(type) != 0; }

	template <typename T> Result<T> finish(T object)
	{
		if (error_)
			return *error_;
		return object;
	}

private:
	// Clamped to 146 years, so that sums and differences of two times cannot overflow.
	static std::chrono::nanoseconds timeOf(std::uint64_t value)
	{
		constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max() / 2;
		return std::chrono::nanoseconds(std::min(value, max));
	}

	void fail(nvmeof_attr type, const char *what)
	{
		if (!error_)
			error_ = malformedMessage("attribute " + std::to_string(type) + " " + what);
	}

	const Attributes &attributes_;
	std::optional<Error> error_;
};

} // namespace

Result<nvmeof::ModuleVersion> decodeVersion(const Attributes &attributes)
{
	AttributeReader in(attributes);
	nvmeof::ModuleVersion version;
	version.api = in.required<std::uint32_t>(NVMEOF_A_API_VERSION);
	version.module = in.text(NVMEOF_A_MODULE_VERSION);
	version.transports = in.texts(NVMEOF_A_TRANSPORT);
	version.selectors = in.texts(NVMEOF_A_SELECTOR);
	return in.finish(std::move(version));
}

Result<nvmeof::Subsystem> decodeSubsystem(const Attributes &attributes)
{
	AttributeReader in(attributes);
	nvmeof::Subsystem subsystem;
	subsystem.id = in.required<std::uint32_t>(NVMEOF_A_SUBSYS_ID);
	subsystem.name = in.requiredText(NVMEOF_A_SUBSYS_NAME);
	subsystem.nqn = in.requiredText(NVMEOF_A_SUBSYSNQN);
	subsystem.hostnqn = in.text(NVMEOF_A_HOSTNQN);
	subsystem.hostid = in.uuid(NVMEOF_A_HOSTID);
	subsystem.model = in.text(NVMEOF_A_MODEL);
	subsystem.serial = in.text(NVMEOF_A_SERIAL);
	subsystem.firmware = in.text(NVMEOF_A_FIRMWARE);
	subsystem.iopolicy = in.text(NVMEOF_A_IOPOLICY);
	subsystem.spillLatency = std::chrono::microseconds(in.number<std::uint32_t>(NVMEOF_A_SPILL_US));
	subsystem.spillDepth = in.number<std::uint32_t>(NVMEOF_A_SPILL_DEPTH);
	subsystem.degrade = in.boolean(NVMEOF_A_DEGRADE);
	subsystem.fencing = static_cast<nvmeof::Fencing>(in.number<std::uint32_t>(NVMEOF_A_FENCING));
	subsystem.delayedRemoval = std::chrono::seconds(in.number<std::uint32_t>(NVMEOF_A_DELAYED_REMOVAL));
	subsystem.quiesceTimeout = std::chrono::seconds(in.number<std::uint32_t>(NVMEOF_A_QUIESCE_TMO));
	subsystem.tags = in.number<std::uint32_t>(NVMEOF_A_TAGS);
	subsystem.controllers = in.number<std::uint32_t>(NVMEOF_A_NR_CTRLS);
	subsystem.namespaces = in.number<std::uint32_t>(NVMEOF_A_NR_NS);
	return in.finish(std::move(subsystem));
}

static void decodeAddress(AttributeReader &in, nvmeof::Controller &controller)
{
	controller.transport = in.requiredText(NVMEOF_A_TRANSPORT);
	controller.traddr = in.requiredText(NVMEOF_A_TRADDR);
	controller.trsvcid = in.text(NVMEOF_A_TRSVCID);
	controller.hostTraddr = in.text(NVMEOF_A_HOST_TRADDR);
	controller.hostIface = in.text(NVMEOF_A_HOST_IFACE);
}

static void decodeSettings(AttributeReader &in, nvmeof::Controller &controller)
{
	controller.ioQueues = in.number<std::uint32_t>(NVMEOF_A_NR_IO_QUEUES);
	controller.pollQueues = in.number<std::uint32_t>(NVMEOF_A_NR_POLL_QUEUES);
	controller.wantedPollQueues = in.number<std::uint32_t>(NVMEOF_A_WANTED_POLL_QUEUES);
	controller.queueSize = in.number<std::uint32_t>(NVMEOF_A_QUEUE_SIZE);
	controller.keepAlive = in.milliseconds<std::uint32_t>(NVMEOF_A_KATO);
	controller.reconnectDelay = in.milliseconds<std::uint32_t>(NVMEOF_A_RECONNECT_DELAY);
	controller.ctrlLoss = in.milliseconds<std::int32_t>(NVMEOF_A_CTRL_LOSS_TMO);
	controller.fastIoFail = in.milliseconds<std::int32_t>(NVMEOF_A_FAST_IO_FAIL_TMO);
	controller.connectTimeout = in.milliseconds<std::uint32_t>(NVMEOF_A_CONNECT_TMO);
	controller.stallTimeout = in.milliseconds<std::uint32_t>(NVMEOF_A_STALL_TMO);
	controller.firstConnect = in.milliseconds<std::int32_t>(NVMEOF_A_FIRST_CONNECT_TMO);
	controller.tos = in.number<std::uint8_t>(NVMEOF_A_TOS);
	controller.hdrDigest = in.flag(NVMEOF_A_HDR_DIGEST);
	controller.dataDigest = in.flag(NVMEOF_A_DATA_DIGEST);
	controller.sqFlow = in.flag(NVMEOF_A_SQ_FLOW);
	controller.copies = in.flag(NVMEOF_A_COPIES);
}

static void decodeCondition(AttributeReader &in, nvmeof::Controller &controller)
{
	controller.state = static_cast<ControllerState>(in.required<std::uint32_t>(NVMEOF_A_CTRL_STATE));
	controller.reconnects = in.number<std::uint32_t>(NVMEOF_A_RECONNECTS);
	controller.attempts = in.number<std::uint32_t>(NVMEOF_A_ATTEMPTS);
	if (std::optional<std::uint32_t> left = in.maybe<std::uint32_t>(NVMEOF_A_LOSS_LEFT))
		controller.lossLeft = std::chrono::milliseconds(*left);
	if (std::optional<std::uint32_t> left = in.maybe<std::uint32_t>(NVMEOF_A_FIRMWARE_LEFT))
		controller.firmwareLeft = std::chrono::milliseconds(*left);
	controller.lastError = in.text(NVMEOF_A_LAST_ERROR);
	controller.lastErrno = static_cast<int>(in.number<std::uint32_t>(NVMEOF_A_LAST_ERRNO));
	controller.lastStatus = in.maybe<std::uint16_t>(NVMEOF_A_LAST_STATUS);
	controller.inflight = in.number<std::uint32_t>(NVMEOF_A_INFLIGHT);
	controller.paths = in.number<std::uint32_t>(NVMEOF_A_NR_PATHS);
	controller.scans = in.maybe<std::uint32_t>(NVMEOF_A_SCANS);
	controller.owner = in.text(NVMEOF_A_OWNER);
}

static std::string gidText(const std::array<std::uint8_t, 16> &gid)
{
	char text[INET6_ADDRSTRLEN];
	return ::inet_ntop(AF_INET6, gid.data(), text, sizeof(text)) ? text : "";
}

static void decodeRdma(AttributeReader &in, nvmeof::Controller &controller)
{
	nvmeof::RdmaConnection rdma;
	rdma.device = in.text(NVMEOF_A_RDMA_DEVICE);
	if (rdma.device.empty())
		return;
	rdma.port = in.number<std::uint32_t>(NVMEOF_A_RDMA_PORT);
	if (auto gid = in.binary<16>(NVMEOF_A_RDMA_GID))
		rdma.gid = gidText(*gid);
	rdma.ackTimeout = in.milliseconds<std::uint32_t>(NVMEOF_A_ACK_TMO);
	rdma.retryCount = in.number<std::uint32_t>(NVMEOF_A_RETRY_COUNT);
	rdma.inCapsule = in.number<std::uint32_t>(NVMEOF_A_IN_CAPSULE);
	rdma.posts = in.number<std::uint64_t>(NVMEOF_A_POSTS);
	rdma.workRequests = in.number<std::uint64_t>(NVMEOF_A_WORK_REQUESTS);
	rdma.completions = in.number<std::uint64_t>(NVMEOF_A_CQES);
	rdma.registrations = in.number<std::uint64_t>(NVMEOF_A_REGISTRATIONS);
	rdma.invalidations = in.number<std::uint64_t>(NVMEOF_A_INVALIDATIONS);
	rdma.remoteInvalidations = in.number<std::uint64_t>(NVMEOF_A_REMOTE_INVALIDATIONS);
	controller.rdma = std::move(rdma);
}

static void decodeAuthentication(AttributeReader &in, nvmeof::Controller &controller)
{
	if (const std::optional<std::uint32_t> key = in.maybe<std::uint32_t>(NVMEOF_A_DHCHAP_KEY)) {
		controller.authKey.emplace();
		controller.authKey->serial = static_cast<KeySerial>(*key);
		controller.authKey->since = in.nanoseconds(NVMEOF_A_AUTH_KEY_SINCE);
	}
	constexpr std::array<const char *, 4> hashes{"none", "SHA-256", "SHA-384", "SHA-512"};
	constexpr std::array<const char *, 6> groups{"NULL",      "ffdhe2048", "ffdhe3072",
						     "ffdhe4096", "ffdhe6144", "ffdhe8192"};
	const std::optional<std::uint8_t> hash = in.maybe<std::uint8_t>(NVMEOF_A_AUTH_HASH);
	if (!hash)
		return;
	const std::uint8_t group = in.number<std::uint8_t>(NVMEOF_A_AUTH_DHGROUP);
	nvmeof::Authentication authentication;
	authentication.hash = *hash < hashes.size() ? hashes[*hash] : "unknown";
	authentication.dhGroup = group < groups.size() ? groups[group] : "unknown";
	authentication.mutual = in.flag(NVMEOF_A_AUTH_MUTUAL);
	authentication.at = in.nanoseconds(NVMEOF_A_AUTH_AT);
	controller.authentication = std::move(authentication);
}

static void decodeTls(AttributeReader &in, nvmeof::Controller &controller)
{
	const std::optional<std::uint32_t> key = in.maybe<std::uint32_t>(NVMEOF_A_TLS_KEY);
	const std::optional<std::uint16_t> cipher = in.maybe<std::uint16_t>(NVMEOF_A_TLS_CIPHER);
	if (!key && !cipher)
		return;
	nvmeof::Tls tls;
	if (cipher == TLS_CIPHER_AES_GCM_128)
		tls.cipher = "AES-GCM-128";
	else if (cipher == TLS_CIPHER_AES_GCM_256)
		tls.cipher = "AES-GCM-256";
	else if (cipher == TLS_CIPHER_CHACHA20_POLY1305)
		tls.cipher = "CHACHA20-POLY1305";
	else if (cipher)
		tls.cipher = "unknown";
	tls.key = static_cast<KeySerial>(key.value_or(0));
	tls.keyUsed = static_cast<KeySerial>(in.number<std::uint32_t>(NVMEOF_A_TLS_KEY_USED));
	tls.keySince = in.nanoseconds(NVMEOF_A_TLS_KEY_SINCE);
	tls.at = in.nanoseconds(NVMEOF_A_TLS_AT);
	tls.generated = controller.concat;
	controller.tls = std::move(tls);
}

Result<nvmeof::Controller> decodeController(const Attributes &attributes)
{
	AttributeReader in(attributes);
	nvmeof::Controller controller;
	controller.subsystem = in.required<std::uint32_t>(NVMEOF_A_SUBSYS_ID);
	controller.id = in.required<std::uint32_t>(NVMEOF_A_CTRL_ID);
	controller.name = in.requiredText(NVMEOF_A_CTRL_NAME);
	controller.subsysnqn = in.requiredText(NVMEOF_A_SUBSYSNQN);
	controller.hostnqn = in.text(NVMEOF_A_HOSTNQN);
	controller.cntlid = in.maybe<std::uint16_t>(NVMEOF_A_CNTLID);
	controller.serial = in.text(NVMEOF_A_SERIAL);
	controller.model = in.text(NVMEOF_A_MODEL);
	controller.firmware = in.text(NVMEOF_A_FIRMWARE);
	decodeAddress(in, controller);
	decodeSettings(in, controller);
	decodeCondition(in, controller);
	decodeRdma(in, controller);
	decodeAuthentication(in, controller);
	controller.authRequired = in.flag(NVMEOF_A_AUTH_REQUIRED);
	controller.concat = in.flag(NVMEOF_A_CONCAT);
	decodeTls(in, controller);
	return in.finish(std::move(controller));
}

static std::optional<nvmeof::Zones> zonesOf(AttributeReader &in)
{
	nvmeof::Zones zones;
	zones.size = in.number<std::uint64_t>(NVMEOF_A_ZONE_SIZE);
	zones.count = in.number<std::uint32_t>(NVMEOF_A_NR_ZONES);
	zones.maxOpen = in.number<std::uint32_t>(NVMEOF_A_OPEN_ZONES);
	zones.maxActive = in.number<std::uint32_t>(NVMEOF_A_ACTIVE_ZONES);
	zones.maxAppend = in.number<std::uint32_t>(NVMEOF_A_ZONE_APPEND);
	return zones.size ? std::optional(zones) : std::nullopt;
}

static std::optional<nvmeof::Hold> holdOf(AttributeReader &in)
{
	nvmeof::Hold hold;
	hold.controller = in.text(NVMEOF_A_HOLD_OF);
	hold.asked = in.text(NVMEOF_A_HOLD_ASKED);
	hold.left = std::chrono::milliseconds(in.number<std::uint32_t>(NVMEOF_A_HOLD_LEFT));
	return hold.controller.empty() ? std::nullopt : std::optional(hold);
}

Result<nvmeof::Namespace> decodeNamespace(const Attributes &attributes)
{
	AttributeReader in(attributes);
	nvmeof::Namespace ns;
	ns.subsystem = in.required<std::uint32_t>(NVMEOF_A_SUBSYS_ID);
	ns.name = in.requiredText(NVMEOF_A_NS_NAME);
	ns.nsid = in.required<std::uint32_t>(NVMEOF_A_NSID);
	ns.wwid = in.text(NVMEOF_A_WWID);
	ns.uuid = in.uuid(NVMEOF_A_UUID);
	ns.nguid = in.binary<16>(NVMEOF_A_NGUID);
	ns.eui64 = in.binary<8>(NVMEOF_A_EUI64);
	ns.csi = in.maybe<std::uint8_t>(NVMEOF_A_CSI);
	ns.lbaSize = in.number<std::uint32_t>(NVMEOF_A_LBA_SIZE);
	ns.size = in.number<std::uint64_t>(NVMEOF_A_SIZE);
	ns.readOnly = in.boolean(NVMEOF_A_READ_ONLY);
	ns.paths = in.number<std::uint32_t>(NVMEOF_A_NR_PATHS);
	ns.usablePaths = in.number<std::uint32_t>(NVMEOF_A_NR_USABLE);
	ns.livePaths = in.number<std::uint32_t>(NVMEOF_A_NR_LIVE);
	ns.expectedPaths = in.number<std::uint32_t>(NVMEOF_A_NR_EXPECTED);
	ns.waiting = in.number<std::uint32_t>(NVMEOF_A_WAITING);
	ns.held = in.number<std::uint32_t>(NVMEOF_A_HELD);
	ns.hold = holdOf(in);
	ns.openers = in.number<std::uint32_t>(NVMEOF_A_OPENERS);
	ns.noPathSince = in.maybeNanoseconds(NVMEOF_A_NO_PATH_SINCE);
	ns.p2p = in.flag(NVMEOF_A_P2P);
	ns.zones = zonesOf(in);
	ns.reservations = in.number<std::uint8_t>(NVMEOF_A_RESERVATIONS);
	ns.protection = in.number<std::uint8_t>(NVMEOF_A_PROTECTION);
	ns.atomicWrite = in.number<std::uint32_t>(NVMEOF_A_ATOMIC_WRITE);
	ns.atomicBoundary = in.number<std::uint32_t>(NVMEOF_A_ATOMIC_BOUNDARY);
	return in.finish(std::move(ns));
}

Result<nvmeof::Path> decodePath(const Attributes &attributes)
{
	AttributeReader in(attributes);
	nvmeof::Path path;
	path.name = in.requiredText(NVMEOF_A_PATH_NAME);
	path.nameSpace = in.requiredText(NVMEOF_A_NS_NAME);
	path.controller = in.requiredText(NVMEOF_A_CTRL_NAME);
	path.nsid = in.required<std::uint32_t>(NVMEOF_A_NSID);
	path.controllerState = static_cast<ControllerState>(in.number<std::uint32_t>(NVMEOF_A_CTRL_STATE));
	path.anaState = static_cast<AnaState>(in.number<std::uint32_t>(NVMEOF_A_ANA_STATE));
	path.anaGroup = in.maybe<std::uint32_t>(NVMEOF_A_ANA_GROUP);
	path.anaSince = in.maybeNanoseconds(NVMEOF_A_ANA_SINCE);
	path.usable = in.boolean(NVMEOF_A_USABLE);
	path.degraded = in.boolean(NVMEOF_A_DEGRADED);
	path.suspect = in.boolean(NVMEOF_A_SUSPECT);
	path.probation = in.boolean(NVMEOF_A_PROBATION);
	path.inflight = in.number<std::uint32_t>(NVMEOF_A_INFLIGHT);
	path.ios = in.number<std::uint64_t>(NVMEOF_A_IOS);
	path.bytesRead = in.number<std::uint64_t>(NVMEOF_A_BYTES_READ);
	path.bytesWritten = in.number<std::uint64_t>(NVMEOF_A_BYTES_WRITTEN);
	path.errors = in.number<std::uint64_t>(NVMEOF_A_ERRORS);
	path.retries = in.number<std::uint64_t>(NVMEOF_A_RETRIES);
	path.aborts = in.number<std::uint64_t>(NVMEOF_A_ABORTS);
	path.failoversFrom = in.number<std::uint64_t>(NVMEOF_A_FAILOVERS_FROM);
	path.failoversTo = in.number<std::uint64_t>(NVMEOF_A_FAILOVERS_TO);
	path.readLatency = in.histogram(NVMEOF_A_LATENCY_READ);
	path.writeLatency = in.histogram(NVMEOF_A_LATENCY_WRITE);
	path.readLatencyTotal = nvmeof::LatencyTotal(in.number<std::uint64_t>(NVMEOF_A_LATENCY_READ_NS));
	path.writeLatencyTotal = nvmeof::LatencyTotal(in.number<std::uint64_t>(NVMEOF_A_LATENCY_WRITE_NS));
	path.p2p = in.flag(NVMEOF_A_P2P);
	path.nvfs = in.flag(NVMEOF_A_NVFS);
	path.reconnects = in.number<std::uint32_t>(NVMEOF_A_RECONNECTS);
	path.lastError = in.text(NVMEOF_A_LAST_ERROR);
	path.lastErrno = static_cast<int>(in.number<std::uint32_t>(NVMEOF_A_LAST_ERRNO));
	path.lastStatus = in.maybe<std::uint16_t>(NVMEOF_A_LAST_STATUS);
	return in.finish(std::move(path));
}

static Result<nvmeof::Aen> decodeAen(const Attributes &attributes)
{
	AttributeReader in(attributes);
	nvmeof::Aen aen;
	aen.controller = in.requiredText(NVMEOF_A_CTRL_NAME);
	aen.type = in.required<std::uint8_t>(NVMEOF_A_AEN_TYPE);
	aen.info = in.required<std::uint8_t>(NVMEOF_A_AEN_INFO);
	aen.logPage = in.number<std::uint8_t>(NVMEOF_A_AEN_LOG_PAGE);
	return in.finish(std::move(aen));
}

template <typename T> static Result<nvmeof::EventObject> asObject(Result<T> decoded)
{
	if (!decoded)
		return decoded.error();
	return nvmeof::EventObject(*std::move(decoded));
}

static Result<nvmeof::EventObject> decodeEventObject(std::uint8_t command, const Attributes &attributes)
{
	switch (command) {
	case NVMEOF_CMD_SUBSYS_NTF:
		return asObject(decodeSubsystem(attributes));
	case NVMEOF_CMD_CTRL_NTF:
		return asObject(decodeController(attributes));
	case NVMEOF_CMD_NS_NTF:
		return asObject(decodeNamespace(attributes));
	case NVMEOF_CMD_PATH_NTF:
		return asObject(decodePath(attributes));
	case NVMEOF_CMD_AEN_NTF:
		return asObject(decodeAen(attributes));
	default:
		return nvmeof::EventObject();
	}
}

static nvmeof::Failover decodeFailover(AttributeReader &in)
{
	nvmeof::Failover failover;
	failover.path = in.text(NVMEOF_A_PATH_NAME);
	failover.ios = in.number<std::uint32_t>(NVMEOF_A_FAILOVER_IOS);
	failover.duration = in.nanoseconds(NVMEOF_A_FAILOVER_NS);
	return failover;
}

Result<std::optional<nvmeof::Event>> decodeEvent(std::uint8_t command, const Attributes &attributes)
{
	if (command < NVMEOF_CMD_SUBSYS_NTF || command > NVMEOF_CMD_AEN_NTF)
		return std::optional<nvmeof::Event>();
	Result<nvmeof::EventObject> object = decodeEventObject(command, attributes);
	if (!object)
		return object.error();
	AttributeReader in(attributes);
	nvmeof::Event event;
	event.object = *std::move(object);
	event.type = static_cast<nvmeof::EventType>(in.required<std::uint32_t>(NVMEOF_A_EVENT));
	event.time = in.nanoseconds(NVMEOF_A_TIME);
	if (auto old = in.maybe<std::uint32_t>(NVMEOF_A_OLD_STATE))
		event.oldState = static_cast<ControllerState>(*old);
	if (event.type == nvmeof::EventType::connectFailed || event.type == nvmeof::EventType::refused)
		event.reason = in.text(NVMEOF_A_LAST_ERROR);
	if (event.type == nvmeof::EventType::failover)
		event.failover = decodeFailover(in);
	if (event.type == nvmeof::EventType::scanned)
		event.scanErrno = static_cast<int>(in.number<std::uint32_t>(NVMEOF_A_SCAN_ERRNO));
	return in.finish(std::optional(std::move(event)));
}

} // namespace nofctl
