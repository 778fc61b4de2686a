/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR LGPL-2.1-or-later) */
/*
 * nvmeof: the control interface of the NVMe-over-Fabrics host, a generic netlink family.
 *
 * All commands share one flat attribute space (enum nvmeof_attr). Each command below lists the attributes that it takes
 * and returns: "(req)" is required, "(opt)" optional, "-> ..." the reply. Strings are NUL terminated.
 *
 * VERSION_GET   do                    -> API_VERSION, MODULE_VERSION, TRANSPORT (one per registered transport),
 *                                        SELECTOR (one per registered selector)
 * TRANSPORT_KEEP do, admin: TRANSPORT (req). If the module of this transport is unloaded within 10 s, its controllers
 *               are kept. They reconnect when the module is loaded again; their timeouts apply in the meantime.
 *
 * SUBSYS_GET    do: SUBSYS_ID (req)   -> a subsystem object
 *               dump                  -> all subsystems
 *   a subsystem object: SUBSYS_ID, SUBSYS_NAME, SUBSYSNQN, HOSTNQN, HOSTID, MODEL, SERIAL, FIRMWARE, IOPOLICY,
 *   SPILL_US, SPILL_DEPTH, DEGRADE, FENCING, DELAYED_REMOVAL, QUIESCE_TMO, NR_CTRLS, NR_NS, [TAGS]
 * SUBSYS_SET    do, admin: SUBSYS_ID (req), IOPOLICY, SPILL_US, SPILL_DEPTH, DEGRADE, FENCING, DELAYED_REMOVAL,
 *               QUIESCE_TMO (opt).
 *               If one value is invalid, none is changed. -ENOENT if there is no such selector.
 *
 * CTRL_NEW      do, admin: TRANSPORT, TRADDR, SUBSYSNQN, HOSTNQN, HOSTID (req), TRSVCID, HOST_TRADDR, HOST_IFACE,
 *               NR_IO_QUEUES, NR_POLL_QUEUES, QUEUE_SIZE, KATO, RECONNECT_DELAY, CTRL_LOSS_TMO, FAST_IO_FAIL_TMO,
 *               CONNECT_TMO, STALL_TMO, TOS, HDR_DIGEST, DATA_DIGEST, SQ_FLOW, DUPLICATE_CONNECT, OWNER,
 *               FIRST_CONNECT_TMO, TAGS, ACK_TMO, RETRY_COUNT, DHCHAP_KEY, DHCHAP_CTRL_KEY, TLS_KEY, TLS_KEYRING,
 *               AUTH_REQUIRED, CONCAT (opt)
 *                                     -> a controller object, in state "connecting". The connect runs in the
 *               background; CTRL_NTF events report the result. -EALREADY with CTRL_NAME of the existing controller if
 *               the same host already has a controller at this address. CONCAT needs TRANSPORT "tcp" and
 *               DHCHAP_KEY, and excludes TLS_KEY, also in CTRL_SET.
 * CTRL_DEL      do, admin: CTRL_NAME (req), SUBSYSNQN (opt). Acknowledged when no listing has the controller any more.
 *               -ENODEV also if SUBSYSNQN is given and the controller of this name belongs to another subsystem.
 * CTRL_RESET    do, admin: CTRL_NAME (req), of a live or lost controller. Returns at once; CTRL_NTF events report the
 *               result.
 * CTRL_RESCAN   do, admin: CTRL_NAME (req). Acknowledged when the scan is done.
 *               CTRL_DEL, CTRL_RESCAN: later requests of the same socket may be answered before this acknowledgement.
 * CTRL_SET      do, admin: CTRL_NAME (req), RECONNECT_DELAY, CTRL_LOSS_TMO, FAST_IO_FAIL_TMO, STALL_TMO, OWNER,
 *               DHCHAP_KEY, DHCHAP_CTRL_KEY, TLS_KEY, TLS_KEYRING (opt). With keys of authentication, acknowledged when
 *               a live controller that is authenticated has been authenticated again with them. -EKEYREJECTED and other
 *               errors of that leave the previous keys in use. Other controllers use the new keys when the previous
 *               ones are refused. TLS_KEY: of the next connections, if the controller was connected with one.
 * CTRL_GET      do: CTRL_NAME (req)   -> a controller object
 *               dump; SUBSYS_ID (opt) -> all controllers (of that subsystem)
 *   a controller object: SUBSYS_ID, CTRL_ID, CTRL_NAME, SUBSYSNQN, HOSTNQN, TRANSPORT, TRADDR, TRSVCID, [HOST_TRADDR],
 *   [HOST_IFACE], CTRL_STATE, [CNTLID], SERIAL, MODEL, FIRMWARE, NR_IO_QUEUES (granted), NR_POLL_QUEUES (granted),
 *   QUEUE_SIZE (granted), KATO, RECONNECT_DELAY, CTRL_LOSS_TMO, FAST_IO_FAIL_TMO, CONNECT_TMO, STALL_TMO, TOS,
 *   [HDR_DIGEST], [DATA_DIGEST], [SQ_FLOW], [COPIES], RECONNECTS (successful), ATTEMPTS (since the controller
 *   was last live), [LOSS_LEFT], [LAST_ERROR], [LAST_ERRNO], [LAST_STATUS], INFLIGHT, NR_PATHS, SCANS, [OWNER],
 *   WANTED_POLL_QUEUES, [FIRMWARE_LEFT], FIRST_CONNECT_TMO, if it was authenticated AUTH_HASH, AUTH_DHGROUP,
 *   [AUTH_MUTUAL], AUTH_AT, with a key of the host DHCHAP_KEY, AUTH_KEY_SINCE, [AUTH_REQUIRED], with TLS TLS_KEY,
 *   TLS_KEY_SINCE, [TLS_KEYRING], and while connected TLS_CIPHER, TLS_KEY_USED, TLS_AT, [CONCAT] (each connect then
 *   generates a TLS_KEY, which is removed when the connection ends), and over RDMA while connected: RDMA_DEVICE,
 *   RDMA_PORT, RDMA_GID, ACK_TMO, RETRY_COUNT, IN_CAPSULE, and sums over the current connections: POSTS,
 *   WORK_REQUESTS, CQES, REGISTRATIONS, INVALIDATIONS, REMOTE_INVALIDATIONS
 *
 * NS_GET        do: NS_NAME (req)     -> a namespace object
 *               dump; SUBSYS_ID (opt) -> all namespaces (of that subsystem)
 *   a namespace object: SUBSYS_ID, NS_NAME, NSID, WWID, [UUID], [NGUID], [EUI64], CSI, LBA_SIZE, SIZE, READ_ONLY,
 *   NR_PATHS, NR_USABLE, NR_LIVE, NR_EXPECTED, WAITING, HELD, [HOLD_OF, HOLD_LEFT], [HOLD_ASKED], OPENERS,
 *   [NO_PATH_SINCE], [P2P], if zoned ZONE_SIZE, NR_ZONES, OPEN_ZONES, ACTIVE_ZONES, ZONE_APPEND; [RESERVATIONS],
 *   [PROTECTION], [ATOMIC_WRITE], [ATOMIC_BOUNDARY]
 *
 * PATH_GET      do: PATH_NAME (req)   -> a path object
 *               dump; NS_NAME or CTRL_NAME (opt) -> all paths (of that namespace or controller)
 *   a path object: PATH_NAME, NS_NAME, CTRL_NAME, NSID, CTRL_STATE, ANA_STATE, [ANA_GROUP], ANA_SINCE, USABLE,
 *   DEGRADED, SUSPECT, PROBATION, INFLIGHT, IOS, BYTES_READ, BYTES_WRITTEN, ERRORS, RETRIES, ABORTS, FAILOVERS_FROM,
 *   FAILOVERS_TO, LATENCY_READ, LATENCY_WRITE, LATENCY_READ_NS, LATENCY_WRITE_NS, [P2P], [NVFS], and of its controller:
 *   RECONNECTS, [LAST_ERROR], [LAST_ERRNO], [LAST_STATUS]
 *
 * Events, multicast group "events": a notification carries the full new state of its object.
 *   SUBSYS_NTF (added, removed, changed), CTRL_NTF (added, removed, state changed, ...), NS_NTF, PATH_NTF, AEN_NTF.
 *   Each has EVENT (enum nvmeof_event), TIME (CLOCK_BOOTTIME, ns), then the object; AEN_NTF has CTRL_NAME, AEN_TYPE,
 *   AEN_INFO, AEN_LOG_PAGE. Every CTRL_NTF of a state change has OLD_STATE. An NS_NTF of a failover has PATH_NAME,
 *   FAILOVER_IOS and FAILOVER_NS. It is sent when all requests that left this path have completed on other paths. A
 *   CTRL_NTF of a scan has SCAN_ERRNO.
 */
#ifndef _UAPI_LINUX_NVMEOF_H
#define _UAPI_LINUX_NVMEOF_H

#define NVMEOF_GENL_NAME	"nvmeof"
#define NVMEOF_GENL_VERSION	1
#define NVMEOF_MCGRP_EVENTS	"events"

/* Raised when userspace built for an older value could misinterpret a reply. Additions do not raise it. */
#define NVMEOF_API_VERSION	1

#define NVMEOF_NQN_MAX		223	/* bytes without the NUL; NVMe Base 2.0, 4.5 */
#define NVMEOF_TRADDR_MAX	63
#define NVMEOF_NAME_MAX		31	/* any object name */
#define NVMEOF_POLICY_MAX	15	/* selector and transport names */
#define NVMEOF_HOSTID_LEN	16	/* bytes, binary, in the byte order of the text form */
#define NVMEOF_SPILL_US_MAX	60000000	/* microseconds: one minute */
#define NVMEOF_SPILL_DEPTH_MAX	1024		/* the maximum queue size */
#define NVMEOF_DELAYED_REMOVAL_MAX 604800	/* seconds: one week */
#define NVMEOF_QUIESCE_TMO_MAX	86400		/* seconds: one day */
#define NVMEOF_DEF_QUIESCE_TMO	30		/* seconds: the I/O timeout */
#define NVMEOF_DEF_IOPOLICY	"numa"	/* for a new subsystem */

enum nvmeof_cmd {
	NVMEOF_CMD_UNSPEC,
	NVMEOF_CMD_VERSION_GET,
	NVMEOF_CMD_SUBSYS_GET,
	NVMEOF_CMD_SUBSYS_SET,
	NVMEOF_CMD_CTRL_NEW,
	NVMEOF_CMD_CTRL_DEL,
	NVMEOF_CMD_CTRL_RESET,
	NVMEOF_CMD_CTRL_RESCAN,
	NVMEOF_CMD_CTRL_SET,
	NVMEOF_CMD_CTRL_GET,
	NVMEOF_CMD_NS_GET,
	NVMEOF_CMD_PATH_GET,
	/* notifications */
	NVMEOF_CMD_SUBSYS_NTF,
	NVMEOF_CMD_CTRL_NTF,
	NVMEOF_CMD_NS_NTF,
	NVMEOF_CMD_PATH_NTF,
	NVMEOF_CMD_AEN_NTF,
	NVMEOF_CMD_TRANSPORT_KEEP,

	__NVMEOF_CMD_MAX,
	NVMEOF_CMD_MAX = __NVMEOF_CMD_MAX - 1
};

enum nvmeof_attr {
	NVMEOF_A_UNSPEC,
	NVMEOF_A_PAD,
	NVMEOF_A_API_VERSION,		/* u32 */
	NVMEOF_A_MODULE_VERSION,	/* string */
	NVMEOF_A_SUBSYS_ID,		/* u32: the 0 of nvmeof0 */
	NVMEOF_A_SUBSYS_NAME,		/* string: nvmeof0 */
	NVMEOF_A_SUBSYSNQN,		/* string */
	NVMEOF_A_HOSTNQN,		/* string */
	NVMEOF_A_HOSTID,		/* binary, NVMEOF_HOSTID_LEN */
	NVMEOF_A_MODEL,			/* string, trailing blanks removed, 40 at most */
	NVMEOF_A_SERIAL,		/* string, likewise, 20 */
	NVMEOF_A_FIRMWARE,		/* string, likewise, 8 */
	NVMEOF_A_IOPOLICY,		/* string: a selector's name */
	NVMEOF_A_SELECTOR,		/* string, one per registered selector */
	NVMEOF_A_NR_CTRLS,		/* u32 */
	NVMEOF_A_NR_NS,			/* u32 */
	NVMEOF_A_NR_PATHS,		/* u32 */
	NVMEOF_A_CTRL_ID,		/* u32: the 1 of nvmeof0c1 */
	NVMEOF_A_CTRL_NAME,		/* string: nvmeof0c1 */
	NVMEOF_A_TRANSPORT,		/* string: tcp, rdma */
	NVMEOF_A_TRADDR,		/* string: numeric IPv4 or IPv6 address; IPv6 may have a %scope */
	NVMEOF_A_TRSVCID,		/* string: port, decimal; default 4420 */
	NVMEOF_A_HOST_TRADDR,		/* string: local address */
	NVMEOF_A_HOST_IFACE,		/* string: network interface */
	NVMEOF_A_NR_IO_QUEUES,		/* u32, default: online CPUs */
	NVMEOF_A_NR_POLL_QUEUES,	/* u32, default 0 */
	NVMEOF_A_QUEUE_SIZE,		/* u32, entries, 16..1024, default 128 */
	NVMEOF_A_KATO,			/* u32, ms, 0 = off, default 5000, or 2000 if KAS allows; get: in effect */
	NVMEOF_A_RECONNECT_DELAY,	/* u32, ms: upper bound of the back-off, default 10000 */
	NVMEOF_A_CTRL_LOSS_TMO,		/* s32, ms without connection until LOST, -1 = never, default 600000 */
	NVMEOF_A_FAST_IO_FAIL_TMO,	/* s32, ms without a connection until I/O fails, -1 = off, default -1 */
	NVMEOF_A_CONNECT_TMO,		/* u32, ms: limit of one connect attempt, default 10000 */
	NVMEOF_A_TOS,			/* u8: IP type of service */
	NVMEOF_A_HDR_DIGEST,		/* flag */
	NVMEOF_A_DATA_DIGEST,		/* flag */
	NVMEOF_A_SQ_FLOW,	/* flag: SQ flow control; if absent, the host requests to disable it */
	NVMEOF_A_DUPLICATE_CONNECT,	/* flag */
	NVMEOF_A_CTRL_STATE,		/* u32, enum nvmeof_ctrl_state */
	NVMEOF_A_OLD_STATE,		/* u32, enum nvmeof_ctrl_state */
	NVMEOF_A_CNTLID,		/* u16, once connected */
	NVMEOF_A_RECONNECTS,		/* u32 */
	NVMEOF_A_ATTEMPTS,		/* u32 */
	NVMEOF_A_LAST_ERROR,		/* string: the last error, human-readable */
	NVMEOF_A_LAST_ERRNO,		/* u32: positive errno of that error */
	NVMEOF_A_LAST_STATUS,		/* u16: its NVMe status (SCT, SC; no phase bit), if the target returned one */
	NVMEOF_A_INFLIGHT,		/* u32: commands outstanding */
	NVMEOF_A_NS_NAME,		/* string: nvmeof0n1 */
	NVMEOF_A_NSID,			/* u32 */
	NVMEOF_A_WWID,			/* string: as in sysfs */
	NVMEOF_A_UUID,			/* binary, 16 */
	NVMEOF_A_NGUID,			/* binary, 16 */
	NVMEOF_A_EUI64,			/* binary, 8 */
	NVMEOF_A_LBA_SIZE,		/* u32, bytes; 0 for a namespace without a block device */
	NVMEOF_A_SIZE,			/* u64, bytes */
	NVMEOF_A_READ_ONLY,		/* u8: 0 or 1 */
	NVMEOF_A_NR_USABLE,		/* u32: paths that can take I/O now */
	NVMEOF_A_WAITING,		/* u32: requests waiting for a path */
	NVMEOF_A_PATH_NAME,		/* string: nvmeof0c1n1 */
	NVMEOF_A_ANA_STATE,		/* u32, enum nvmeof_ana_state */
	NVMEOF_A_ANA_GROUP,		/* u32 */
	NVMEOF_A_USABLE,		/* u8: 0 or 1 */
	NVMEOF_A_IOS,			/* u64: completed */
	NVMEOF_A_BYTES_READ,		/* u64 */
	NVMEOF_A_BYTES_WRITTEN,		/* u64 */
	NVMEOF_A_ERRORS,		/* u64: completions with an error status */
	NVMEOF_A_RETRIES,		/* u64: requests that left this path to be retried */
	NVMEOF_A_ABORTS,		/* u64: Abort commands sent after a timeout */
	NVMEOF_A_EVENT,			/* u32, enum nvmeof_event */
	NVMEOF_A_TIME,			/* u64: CLOCK_BOOTTIME, ns */
	NVMEOF_A_AEN_TYPE,		/* u8: NVMe Base 2.0, figure 145 */
	NVMEOF_A_AEN_INFO,		/* u8 */
	NVMEOF_A_AEN_LOG_PAGE,		/* u8 */
	NVMEOF_A_SPILL_US,		/* u32, microseconds, 0 = off, default 0 */
	NVMEOF_A_SPILL_DEPTH,		/* u32, commands outstanding on a queue, 0 = off, default 0 */
	NVMEOF_A_DEGRADE,		/* u8: 0 or 1, default 0 */
	NVMEOF_A_FENCING,		/* u32, enum nvmeof_fencing, default auto */
	NVMEOF_A_DELAYED_REMOVAL,	/* u32, seconds, default 0 */
	NVMEOF_A_STALL_TMO,		/* u32, ms of silence until a path is suspect, 0 = off, default 300 */
	NVMEOF_A_FAILOVERS_FROM,	/* u64: requests that failed over from this path */
	NVMEOF_A_FAILOVERS_TO,		/* u64: requests that failed over to this path */
	NVMEOF_A_DEGRADED,		/* u8: 0 or 1: gets no new I/O while a better path is usable */
	NVMEOF_A_ANA_SINCE,		/* u64: CLOCK_BOOTTIME, ns: time of the last change of ANA_STATE */
	NVMEOF_A_LATENCY_READ,		/* binary: NVMEOF_HIST_BUCKETS u64 counters, host byte order */
	NVMEOF_A_LATENCY_WRITE,		/* binary: likewise */
	NVMEOF_A_LATENCY_READ_NS,	/* u64: sum of the latencies in the histogram, ns */
	NVMEOF_A_LATENCY_WRITE_NS,	/* u64: likewise */
	NVMEOF_A_HELD,			/* u32: requests held by fencing */
	NVMEOF_A_FAILOVER_IOS,		/* u32: requests that failed over */
	NVMEOF_A_FAILOVER_NS,		/* u64: longest time from first submission to completion on another path */
	NVMEOF_A_COPIES,		/* flag: sent data is copied: the peer is local, or zero_copy off */
	NVMEOF_A_SCANS,			/* u32: complete namespace scans since the controller last became live */
	NVMEOF_A_SCAN_ERRNO,		/* u32: positive errno of the finished scan, 0 = success */
	NVMEOF_A_OWNER,			/* string: program that manages the controller; not used by the driver */
	NVMEOF_A_OPENERS,		/* u32: openers of the disk: processes, mounts, stacked devices */
	NVMEOF_A_WANTED_POLL_QUEUES,	/* u32: requested; NR_POLL_QUEUES is the number granted */
	NVMEOF_A_FIRST_CONNECT_TMO,	/* s32, ms to retry a failed first connect, -1 = forever, default 0 */
	NVMEOF_A_NR_LIVE,		/* u32: paths whose controller is live, regardless of ANA state */
	NVMEOF_A_NR_EXPECTED,		/* u32: NR_LIVE if all controllers, also lost and unscanned ones, were live */
	NVMEOF_A_NO_PATH_SINCE,		/* u64: CLOCK_BOOTTIME, ns; present only while no path is usable */
	NVMEOF_A_TAGS,			/* u32, 64..4096: requests per hardware queue; default fits 16 MiB, max 1024 */
	NVMEOF_A_ACK_TMO,		/* u32, ms, 1..10000, default 134: RDMA, rounded up to 4.096 us * 2^n */
	NVMEOF_A_RETRY_COUNT,		/* u32, 0..7, default 7: RDMA retransmissions of a packet after ACK_TMO */
	NVMEOF_A_RDMA_DEVICE,		/* string */
	NVMEOF_A_RDMA_PORT,		/* u32 */
	NVMEOF_A_RDMA_GID,		/* binary, 16 bytes: local GID */
	NVMEOF_A_IN_CAPSULE,		/* u32: bytes of in-capsule data of a write command */
	NVMEOF_A_POSTS,			/* u64: calls of ib_post_send() */
	NVMEOF_A_WORK_REQUESTS,		/* u64: work requests posted by these calls */
	NVMEOF_A_CQES,			/* u64: completion queue entries reaped */
	NVMEOF_A_REGISTRATIONS,		/* u64: memory registrations */
	NVMEOF_A_INVALIDATIONS,		/* u64: memory keys invalidated by the host */
	NVMEOF_A_REMOTE_INVALIDATIONS,	/* u64: memory keys invalidated by the target */
	NVMEOF_A_P2P,			/* flag: PCI peer-to-peer memory is supported; of a disk: by all its paths */
	NVMEOF_A_NVFS,			/* flag: GPU memory mapped by nvidia-fs is supported */
	NVMEOF_A_ZONE_SIZE,		/* u64, bytes; zoned namespaces only, like the next four */
	NVMEOF_A_NR_ZONES,		/* u32 */
	NVMEOF_A_OPEN_ZONES,		/* u32: maximum number of open zones, 0 = no limit */
	NVMEOF_A_ACTIVE_ZONES,		/* u32: maximum number of active zones, 0 = no limit */
	NVMEOF_A_ZONE_APPEND,		/* u32: maximum bytes of a Zone Append, 0 = not supported */
	NVMEOF_A_RESERVATIONS,		/* u8: RESCAP: bit n: type n, 1 to 6; bit 0: persist through power loss */
	NVMEOF_A_PROTECTION,		/* u8: end-to-end protection type, 1 to 3 */
	NVMEOF_A_ATOMIC_WRITE,		/* u32: maximum bytes of an atomic write */
	NVMEOF_A_ATOMIC_BOUNDARY,	/* u32: bytes; an atomic write must not cross a multiple of this */
	NVMEOF_A_SUSPECT,		/* u8: 0 or 1: DEGRADED because its controller does not answer */
	NVMEOF_A_QUIESCE_TMO,		/* u32, s, default 30: used if the target reports no Command Quiesce Time */
	NVMEOF_A_PROBATION,		/* u8: 0 or 1: DEGRADED because its controller was lost repeatedly */
	NVMEOF_A_LOSS_LEFT,		/* u32, ms until a controller without a connection is LOST */
	NVMEOF_A_HOLD_OF,		/* string: controller of the lost association whose hold ends last */
	NVMEOF_A_HOLD_LEFT,		/* u32, ms until the time bound of that hold */
	NVMEOF_A_HOLD_ASKED,		/* string: controller asked for a Cross-Controller Reset of it */
	NVMEOF_A_FIRMWARE_LEFT,		/* u32, ms to the deadline of a firmware activation; no I/O meanwhile */
	NVMEOF_A_CSI,			/* u8: command set identifier: 0 NVM, 1 Key Value, 2 zoned, ... */
	NVMEOF_A_DHCHAP_KEY,		/* u32: serial number of a key of type "logon" or "user": the host's secret */
	NVMEOF_A_DHCHAP_CTRL_KEY,	/* u32: likewise, the controller's secret: it has to authenticate itself, too */
	NVMEOF_A_AUTH_HASH,		/* u8: hash function: 1 SHA-256, 2 SHA-384, 3 SHA-512 */
	NVMEOF_A_AUTH_DHGROUP,		/* u8: DH group: 0 NULL, 1 to 5: 2048, 3072, 4096, 6144, 8192 bits */
	NVMEOF_A_AUTH_MUTUAL,		/* flag: the controller has authenticated itself, too */
	NVMEOF_A_AUTH_AT,		/* u64, CLOCK_BOOTTIME ns: when the admin queue was last authenticated */
	NVMEOF_A_TLS_KEY,		/* u32: serial number of a key of type "psk": connections use TLS with it */
	NVMEOF_A_TLS_KEYRING,		/* u32: of the keyring through which the TLS agent gets the key */
	NVMEOF_A_TLS_CIPHER,		/* u16: cipher of the admin queue, TLS_CIPHER_* of linux/tls.h */
	NVMEOF_A_TLS_KEY_USED,		/* u32: serial number of the key that the TLS agent has used for it */
	NVMEOF_A_AUTH_REQUIRED,		/* flag: refuse a controller that does not ask for authentication */
	NVMEOF_A_AUTH_KEY_SINCE,	/* u64, CLOCK_BOOTTIME ns: when the driver was given the key with DHCHAP_KEY */
	NVMEOF_A_TLS_KEY_SINCE,		/* u64, CLOCK_BOOTTIME ns: when the driver got, or has generated, TLS_KEY */
	NVMEOF_A_TLS_AT,		/* u64, CLOCK_BOOTTIME ns: end of the admin queue's handshake */
	NVMEOF_A_CONCAT,		/* flag: TLS with a key that the authentication generates; tcp only */

	__NVMEOF_A_MAX,
	NVMEOF_A_MAX = __NVMEOF_A_MAX - 1
};

enum nvmeof_ctrl_state {
	NVMEOF_CTRL_NEW,
	NVMEOF_CTRL_CONNECTING,		/* first connect, reconnect, or waiting for the next attempt */
	NVMEOF_CTRL_LIVE,
	NVMEOF_CTRL_RECOVERING,		/* connection lost: the queues are torn down */
	NVMEOF_CTRL_DELETING,
	NVMEOF_CTRL_DEAD,		/* deleted; an open file still holds a reference */
	NVMEOF_CTRL_LOST,		/* CTRL_LOSS_TMO has passed: no I/O waits for it; reconnects every 30 to 60 s */
};

enum nvmeof_ana_state {			/* values of the ANA log; NVMe Base 2.0, 8.20.3 */
	NVMEOF_ANA_NONE			= 0x0,	/* the controller does not report ANA; treated as optimized */
	NVMEOF_ANA_OPTIMIZED		= 0x1,
	NVMEOF_ANA_NON_OPTIMIZED	= 0x2,
	NVMEOF_ANA_INACCESSIBLE		= 0x3,
	NVMEOF_ANA_PERSISTENT_LOSS	= 0x4,
	NVMEOF_ANA_CHANGE		= 0xf,
};

enum nvmeof_fencing {
	NVMEOF_FENCING_IMMEDIATE,	/* retry requests of a lost path on another path at once */
	NVMEOF_FENCING_SAFE,		/* hold writes until the lost association cannot execute them any more */
	NVMEOF_FENCING_AUTO,		/* hold writes until the peer knows of the loss or was silent for KATO */
};

/*
 * Latency histogram: bucket 0 counts latencies below NVMEOF_HIST_UNIT_NS, bucket i from 2^(i-1) to 2^i units. The last
 * bucket has no upper bound.
 */
#define NVMEOF_HIST_BUCKETS	24
#define NVMEOF_HIST_UNIT_NS	1024

enum nvmeof_event {
	NVMEOF_EVENT_ADDED,
	NVMEOF_EVENT_REMOVED,
	NVMEOF_EVENT_CHANGED,		/* attributes other than the state: size, read-only, policy */
	NVMEOF_EVENT_STATE,		/* a new CTRL_STATE, ANA_STATE or USABLE */
	NVMEOF_EVENT_CONNECT_FAILED,	/* one attempt failed, LAST_ERROR has the reason; more may follow */
	NVMEOF_EVENT_REFUSED,		/* the driver does not use a namespace or path; LAST_ERROR has the reason */
	NVMEOF_EVENT_AEN,
	NVMEOF_EVENT_FAILOVER,		/* NS_NTF: requests that left PATH_NAME have completed on other paths */
	NVMEOF_EVENT_DEGRADED,		/* PATH_NTF: avoided: an outlier, SUSPECT, or on PROBATION */
	NVMEOF_EVENT_RESTORED,		/* PATH_NTF: no longer degraded */
	NVMEOF_EVENT_SCANNED,		/* CTRL_NTF: a scan has finished; SCAN_ERRNO has the result */
	NVMEOF_EVENT_NO_PATH,		/* NS_NTF: no usable path is left */
	NVMEOF_EVENT_PATH_BACK,		/* NS_NTF: a path is usable again */
	NVMEOF_EVENT_FEWER_PATHS,	/* NS_NTF: NR_LIVE is less than NR_EXPECTED */
	NVMEOF_EVENT_ALL_PATHS,		/* NS_NTF: NR_LIVE is no longer less than NR_EXPECTED */
	NVMEOF_EVENT_SAME_IDS,		/* NS_NTF: a disk of another subsystem has the same identifiers */
};

#endif /* _UAPI_LINUX_NVMEOF_H */
