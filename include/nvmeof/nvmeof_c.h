/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C interface of the library, also for languages that can call C: connect, wait, list, events, disconnect, reset,
 * rescan, discovery logs. The interface is stable: new functions and field names may be added, existing ones do not
 * change. All types are opaque handles; fields are read by name. See Documentation/library.md.
 *
 * Functions that can fail return 0 (NVMEOF_OK) or another enum nvmeof_code. On failure, and if error is not NULL,
 * *error is a new handle that the caller frees. Every ..._free() accepts NULL. Strings belong to their handle. A handle
 * must not be used by two threads at the same time.
 *
 * No C++ exception leaves a function. Without memory, functions that return a code fail with NVMEOF_FAILED and errno
 * ENOMEM, functions that return a handle return NULL, and nvmeof_client_dispatch() leaves unfinished work to the next
 * call.
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
/* The object of the error: its name and kind ("controller", "file", ...); "" and "none" if unknown. */
NVMEOF_C_API const char *nvmeof_error_object(const nvmeof_error *error);
NVMEOF_C_API const char *nvmeof_error_object_kind(const nvmeof_error *error);
NVMEOF_C_API void nvmeof_error_free(nvmeof_error *error);

/*
 * A snapshot of an object or an event. Strings: all objects: "name"; subsystem: "nqn", "hostnqn", "model", "serial",
 * "firmware", "iopolicy"; controller: "nqn", "hostnqn", "transport", "traddr", "trsvcid", "state", "last_error",
 * "owner", "serial", "model", if it was authenticated "auth_hash", "auth_dhgroup", if it uses TLS "tls_cipher",
 * "tls_identity"; namespace: "wwid", "uuid"; path: "namespace", "controller", "ana_state"; event: "type",
 * "object_kind", "reason". Numbers: subsystem: "id"; controller: "subsystem", "id", "last_errno", "last_status",
 * "scans", "reconnects", "paths", "inflight", "auth_required", "concat" (1 or 0), "authenticated" (1 or 0), and if so
 * "auth_mutual" (1 or 0), "auth_time" (ns, CLOCK_BOOTTIME), with a key of the host "auth_key_time", if it uses TLS
 * "tls_time" and "tls_key_time" (likewise); namespace: "subsystem", "nsid", "size", "lba_size", "read_only", "paths",
 * "usable_paths", "openers"; path: "nsid", "usable", "degraded", "suspect", "probation", "inflight"; event: "time" (ns,
 * CLOCK_BOOTTIME); of type "aen" also "aen_type", "aen_info", "aen_log_page".
 */
NVMEOF_C_API enum nvmeof_kind nvmeof_item_kind(const nvmeof_item *item);
NVMEOF_C_API const char *nvmeof_item_text(const nvmeof_item *item, const char *field); /* NULL: no such field */
NVMEOF_C_API int nvmeof_item_number(const nvmeof_item *item, const char *field, uint64_t *value); /* 0; -1: no field */
/* Disks of a connected controller: "nvmeof0n1", ...; NULL after the last one. */
NVMEOF_C_API const char *nvmeof_item_disk(const nvmeof_item *item, unsigned int index);
NVMEOF_C_API void nvmeof_item_free(nvmeof_item *item);

NVMEOF_C_API unsigned int nvmeof_items_count(const nvmeof_items *items);
NVMEOF_C_API const nvmeof_item *nvmeof_items_at(const nvmeof_items *items,
						unsigned int index); /* NULL after the last one */
NVMEOF_C_API void nvmeof_items_free(nvmeof_items *items);

/* load_module: module to load if the driver is not loaded and the caller is root; may be NULL. */
NVMEOF_C_API enum nvmeof_code nvmeof_client_open(const char *load_module, nvmeof_client **client, nvmeof_error **error);
NVMEOF_C_API void nvmeof_client_free(nvmeof_client *client);
/* For poll(2): readable when nvmeof_client_dispatch() has work. That function does not block. */
NVMEOF_C_API int nvmeof_client_fd(const nvmeof_client *client);
NVMEOF_C_API void nvmeof_client_dispatch(nvmeof_client *client);

/* Lists all objects of a kind. NVMEOF_INVALID for events and discovery entries. */
NVMEOF_C_API enum nvmeof_code nvmeof_list(nvmeof_client *client, enum nvmeof_kind kind, nvmeof_items **items,
					  nvmeof_error **error);

/*
 * Options of a connect, all set as text: "transport", "traddr", "trsvcid", "nqn", "hostnqn", "hostid", "host_traddr",
 * "host_iface", "owner"; keys, as the absolute path of a file, "credential:NAME" or "keyring:DESCRIPTION":
 * "dhchap_key", "dhchap_ctrl_key", "tls_key"; "off", "preferred" or "required": "tls"; numbers: "io_queues",
 * "poll_queues", "queue_size", "tags", "tos", "retry_count"; times in milliseconds: "keep_alive", "reconnect_delay",
 * "ctrl_loss", "fast_io_fail", "connect_timeout", "stall_timeout", "first_connect", "ack_timeout"; "1" or "0":
 * "hdr_digest", "data_digest", "duplicate_connect", "idempotent", "concat"; namespace to wait for: "nsid", "uuid".
 */
NVMEOF_C_API nvmeof_options *nvmeof_options_new(void);
NVMEOF_C_API enum nvmeof_code nvmeof_options_set(nvmeof_options *options, const char *name, const char *value,
						 nvmeof_error **error);
NVMEOF_C_API void nvmeof_options_free(nvmeof_options *options);

/*
 * The blocking calls. A negative timeout_ms has no limit. controller and item may be NULL. If there is no memory for
 * the item (NVMEOF_FAILED with ENOMEM), the controller may have been created and then stays; nvmeof_list() has it.
 */
NVMEOF_C_API enum nvmeof_code nvmeof_connect(nvmeof_client *client, const nvmeof_options *options,
					     enum nvmeof_wait wait, int timeout_ms, nvmeof_item **controller,
					     nvmeof_error **error);
NVMEOF_C_API enum nvmeof_code nvmeof_wait_for(nvmeof_client *client, const char *controller, enum nvmeof_wait wait,
					      int timeout_ms, nvmeof_item **item, nvmeof_error **error);
NVMEOF_C_API enum nvmeof_code nvmeof_disconnect(nvmeof_client *client, const char *controller, nvmeof_error **error);
/* Resets the controller and waits until it is connected again, like nvmeof_connect(). */
NVMEOF_C_API enum nvmeof_code nvmeof_reset(nvmeof_client *client, const char *controller, enum nvmeof_wait wait,
					   int timeout_ms, nvmeof_item **item, nvmeof_error **error);
/* Returns when the scan of its namespaces has finished; only the kernel limits its time. */
NVMEOF_C_API enum nvmeof_code nvmeof_rescan(nvmeof_client *client, const char *controller, nvmeof_error **error);
/*
 * Connects to the discovery service at the options' address, reads its log and disconnects. "nqn" may be omitted;
 * "nsid" and "uuid" are ignored. Each entry is an item of kind NVMEOF_DISCOVERY_ENTRY with strings as the target sent
 * them: "kind" ("subsystem", "referral", "service", "unknown"), "transport", "address_family", "traddr", "trsvcid",
 * "nqn", "secure_channel", "defect" (why no host can use the entry; "": valid); numbers: "port_id", "cntlid",
 * "admin_queue_size", "sq_flow_off", "duplicate", "persistent".
 */
NVMEOF_C_API enum nvmeof_code nvmeof_discover(nvmeof_client *client, const nvmeof_options *options, int timeout_ms,
					      nvmeof_items **entries, nvmeof_error **error);

/*
 * The non-blocking calls: nvmeof_client_dispatch() advances them. Freeing the handle cancels the operation; a cancelled
 * connect removes the controller it created.
 */
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
/*
 * Takes the result, once, when it is ready. *item is NULL after a disconnect or rescan. NVMEOF_INVALID if the result is
 * not ready, was already taken, or is of the other kind: nvmeof_pending_take_items() takes the result of a discovery,
 * nvmeof_pending_take() all others. A result without memory for its item (NVMEOF_FAILED with ENOMEM) is lost;
 * nvmeof_list() has the objects.
 */
NVMEOF_C_API enum nvmeof_code nvmeof_pending_take(nvmeof_pending *pending, nvmeof_item **item, nvmeof_error **error);
NVMEOF_C_API enum nvmeof_code nvmeof_pending_take_items(nvmeof_pending *pending, nvmeof_items **items,
							nvmeof_error **error);
NVMEOF_C_API void nvmeof_pending_free(nvmeof_pending *pending);

/* snapshot not 0: the stream starts with "present" for each object and "synced". Both also follow "lost". */
NVMEOF_C_API enum nvmeof_code nvmeof_events_open(int snapshot, nvmeof_events **events, nvmeof_error **error);
NVMEOF_C_API int nvmeof_events_fd(const nvmeof_events *events);
/* *item is NULL after the timeout. An item of kind NVMEOF_EVENT also has the fields of its object. */
NVMEOF_C_API enum nvmeof_code nvmeof_events_next(nvmeof_events *events, int timeout_ms, nvmeof_item **item,
						 nvmeof_error **error);
NVMEOF_C_API void nvmeof_events_free(nvmeof_events *events);

#ifdef __cplusplus
}
#endif
