/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library for C, and for languages that call C: connect, wait, list, events, disconnect, reset, rescan, discovery
 * logs. This interface is stable: functions and names of fields are added, none changes or goes. Everything is an
 * opaque handle; what a handle has is asked for by name. See Documentation/library.md.
 *
 * Functions that can fail return 0, or an enum nvmeof_code; then *error, where error is not NULL, is a handle that the
 * caller frees. Every ..._free() takes NULL. Texts belong to their handle. A handle belongs to one thread at a time.
 *
 * No C++ exception leaves a function. Without memory those that return a code fail with NVMEOF_FAILED and errno ENOMEM,
 * those that return a handle return NULL, and nvmeof_client_dispatch() leaves what it could not do to the next call.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVMEOF_C_API __attribute__((visibility("default")))

enum nvmeof_code {
	NVMEOF_OK,
	NVMEOF_FAILED,
	NVMEOF_INVALID,
	NVMEOF_NO_SUCH_OBJECT,
	NVMEOF_ALREADY_CONNECTED,
	NVMEOF_REFUSED, /* by the target, with an NVMe status */
	NVMEOF_TIMED_OUT,
	NVMEOF_NOT_PERMITTED,
	NVMEOF_NO_MODULE,
	NVMEOF_CONNECTION_REFUSED,
	NVMEOF_UNREACHABLE,
	NVMEOF_CONNECTION_RESET,
	NVMEOF_NAME_RESOLUTION,
	NVMEOF_AUTHENTICATION,
	NVMEOF_CANCELLED,
};

enum nvmeof_kind {
	NVMEOF_SUBSYSTEM,
	NVMEOF_CONTROLLER,
	NVMEOF_NAMESPACE,
	NVMEOF_PATH,
	NVMEOF_EVENT,
	NVMEOF_DISCOVERY_ENTRY,
};

enum nvmeof_wait { NVMEOF_WAIT_NONE, NVMEOF_WAIT_CONTROLLER, NVMEOF_WAIT_NAMESPACES, NVMEOF_WAIT_UDEV };

typedef struct nvmeof_client nvmeof_client;
typedef struct nvmeof_error nvmeof_error;
typedef struct nvmeof_options nvmeof_options;
typedef struct nvmeof_item nvmeof_item;
typedef struct nvmeof_items nvmeof_items;
typedef struct nvmeof_pending nvmeof_pending;
typedef struct nvmeof_events nvmeof_events;

NVMEOF_C_API const char *nvmeof_version(void);

NVMEOF_C_API enum nvmeof_code nvmeof_error_code(const nvmeof_error *error);
NVMEOF_C_API const char *nvmeof_error_message(const nvmeof_error *error);
NVMEOF_C_API int nvmeof_error_errno(const nvmeof_error *error);  /* positive; 0: none */
NVMEOF_C_API int nvmeof_error_status(const nvmeof_error *error); /* NVMe status; -1: none */
/* What it is about: a name and its kind ("controller", "file", ...); "" and "none" when it is not known. */
NVMEOF_C_API const char *nvmeof_error_object(const nvmeof_error *error);
NVMEOF_C_API const char *nvmeof_error_object_kind(const nvmeof_error *error);
NVMEOF_C_API void nvmeof_error_free(nvmeof_error *error);

/*
 * An object or an event, as it was when it was asked for. Texts: of all "name"; "nqn", "hostnqn", "model", "serial",
 * "firmware", "iopolicy" of a subsystem; "nqn", "hostnqn", "transport", "traddr", "trsvcid", "state", "last_error",
 * "owner", "serial", "model" of a controller; "wwid", "uuid" of a namespace; "namespace", "controller", "ana_state"
 * of a path; "type", "object_kind", "reason" of an event. Numbers: "subsystem", "id", "last_errno", "last_status",
 * "scans", "reconnects", "paths", "inflight"; "nsid", "size", "lba_size", "read_only", "usable_paths", "openers";
 * "usable", "degraded", "suspect", "probation"; "time" (ns, CLOCK_BOOTTIME).
 */
NVMEOF_C_API enum nvmeof_kind nvmeof_item_kind(const nvmeof_item *item);
NVMEOF_C_API const char *nvmeof_item_text(const nvmeof_item *item, const char *field); /* NULL: it has none */
NVMEOF_C_API int nvmeof_item_number(const nvmeof_item *item, const char *field, uint64_t *value); /* 0; -1: likewise */
/* Of a connect: its disks, "nvmeof0n1"; NULL behind the last one. */
NVMEOF_C_API const char *nvmeof_item_disk(const nvmeof_item *item, unsigned int index);
NVMEOF_C_API void nvmeof_item_free(nvmeof_item *item);

NVMEOF_C_API unsigned int nvmeof_items_count(const nvmeof_items *items);
NVMEOF_C_API const nvmeof_item *nvmeof_items_at(const nvmeof_items *items,
						unsigned int index); /* NULL behind the last */
NVMEOF_C_API void nvmeof_items_free(nvmeof_items *items);

/* load_module: loaded when the driver is not there and the caller is root; may be NULL */
NVMEOF_C_API enum nvmeof_code nvmeof_client_open(const char *load_module, nvmeof_client **client, nvmeof_error **error);
NVMEOF_C_API void nvmeof_client_free(nvmeof_client *client);
/* Readable when nvmeof_client_dispatch() has something to do, which does not wait. */
NVMEOF_C_API int nvmeof_client_fd(const nvmeof_client *client);
NVMEOF_C_API void nvmeof_client_dispatch(nvmeof_client *client);

/* All objects of that kind; not events. */
NVMEOF_C_API enum nvmeof_code nvmeof_list(nvmeof_client *client, enum nvmeof_kind kind, nvmeof_items **items,
					  nvmeof_error **error);

/*
 * What a connect asks for, all as text: "transport", "traddr", "trsvcid", "nqn", "hostnqn", "hostid", "host_traddr",
 * "host_iface", "owner"; "io_queues", "poll_queues", "queue_size", "tos", "retry_count", "nsid"; times in milliseconds:
 * "keep_alive", "reconnect_delay", "ctrl_loss", "fast_io_fail", "connect_timeout", "stall_timeout", "first_connect",
 * "ack_timeout"; "1" or "0": "hdr_digest", "data_digest", "duplicate_connect", "idempotent"; "uuid" of a namespace to
 * wait for.
 */
NVMEOF_C_API nvmeof_options *nvmeof_options_new(void);
NVMEOF_C_API enum nvmeof_code nvmeof_options_set(nvmeof_options *options, const char *name, const char *value,
						 nvmeof_error **error);
NVMEOF_C_API void nvmeof_options_free(nvmeof_options *options);

/* The blocking forms; a negative timeout waits for ever. *controller, an item, may be NULL. Without memory for it
 * (NVMEOF_FAILED with ENOMEM) the controller may have been made and stay: nvmeof_list() has it then. */
NVMEOF_C_API enum nvmeof_code nvmeof_connect(nvmeof_client *client, const nvmeof_options *options,
					     enum nvmeof_wait wait, int timeout_ms, nvmeof_item **controller,
					     nvmeof_error **error);
NVMEOF_C_API enum nvmeof_code nvmeof_wait_for(nvmeof_client *client, const char *controller, enum nvmeof_wait wait,
					      int timeout_ms, nvmeof_item **item, nvmeof_error **error);
NVMEOF_C_API enum nvmeof_code nvmeof_disconnect(nvmeof_client *client, const char *controller, nvmeof_error **error);
/* Connects anew, and waits until it has come back as for nvmeof_connect(). */
NVMEOF_C_API enum nvmeof_code nvmeof_reset(nvmeof_client *client, const char *controller, enum nvmeof_wait wait,
					   int timeout_ms, nvmeof_item **item, nvmeof_error **error);
/* Over when the scan of its namespaces is done; no bound but the kernel's. */
NVMEOF_C_API enum nvmeof_code nvmeof_rescan(nvmeof_client *client, const char *controller, nvmeof_error **error);
/*
 * What the discovery service at the options' address tells; "nqn" may be left out, and "nsid" and "uuid" do not count.
 * Connects for it, and disconnects. Of each entry, an item of kind NVMEOF_DISCOVERY_ENTRY, the texts "kind"
 * ("subsystem", "referral", "service", "unknown"), "transport", "address_family", "traddr", "trsvcid", "nqn",
 * "secure_channel", "defect" (why no host can use it; "": nothing is wrong with it), as the target sent them; the
 * numbers "port_id", "cntlid", "admin_queue_size", "sq_flow_off", "duplicate", "persistent".
 */
NVMEOF_C_API enum nvmeof_code nvmeof_discover(nvmeof_client *client, const nvmeof_options *options, int timeout_ms,
					      nvmeof_items **entries, nvmeof_error **error);

/* The same without waiting: ready at some time after nvmeof_client_dispatch(). Freed before, a connect is undone. */
NVMEOF_C_API nvmeof_pending *nvmeof_start_connect(nvmeof_client *client, const nvmeof_options *options,
						  enum nvmeof_wait wait, int timeout_ms);
NVMEOF_C_API nvmeof_pending *nvmeof_start_wait(nvmeof_client *client, const char *controller, enum nvmeof_wait wait,
					       int timeout_ms);
NVMEOF_C_API nvmeof_pending *nvmeof_start_disconnect(nvmeof_client *client, const char *controller);
NVMEOF_C_API nvmeof_pending *nvmeof_start_reset(nvmeof_client *client, const char *controller, enum nvmeof_wait wait,
						int timeout_ms);
NVMEOF_C_API nvmeof_pending *nvmeof_start_rescan(nvmeof_client *client, const char *controller);
NVMEOF_C_API nvmeof_pending *nvmeof_start_discover(nvmeof_client *client, const nvmeof_options *options,
						   int timeout_ms);
NVMEOF_C_API int nvmeof_pending_ready(const nvmeof_pending *pending);
/* Once, when it is ready; *item is NULL for a disconnect and a rescan. NVMEOF_INVALID when it is not, was taken, or is
 * a discovery, whose entries the second one has, and has only of those. A result that there is no memory for
 * (NVMEOF_FAILED with ENOMEM) is lost; nvmeof_list() has what is there. */
NVMEOF_C_API enum nvmeof_code nvmeof_pending_take(nvmeof_pending *pending, nvmeof_item **item, nvmeof_error **error);
NVMEOF_C_API enum nvmeof_code nvmeof_pending_take_items(nvmeof_pending *pending, nvmeof_items **items,
							nvmeof_error **error);
NVMEOF_C_API void nvmeof_pending_free(nvmeof_pending *pending);

/* snapshot not 0: begins with "present" for each object and "synced". After "lost" both come again. */
NVMEOF_C_API enum nvmeof_code nvmeof_events_open(int snapshot, nvmeof_events **events, nvmeof_error **error);
NVMEOF_C_API int nvmeof_events_fd(const nvmeof_events *events);
/* *item is NULL when the time is over first; an item of kind NVMEOF_EVENT has its object's fields, too. */
NVMEOF_C_API enum nvmeof_code nvmeof_events_next(nvmeof_events *events, int timeout_ms, nvmeof_item **item,
						 nvmeof_error **error);
NVMEOF_C_API void nvmeof_events_free(nvmeof_events *events);

#ifdef __cplusplus
}
#endif
