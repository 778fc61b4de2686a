/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "c_client.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>

#include <nvmeof/nvmeof_c.h>

#define EXPECT(what)                     \
	do {                             \
		if (!(what))             \
			return __LINE__; \
	} while (0)

static int same(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

static void settle(nvmeof_client *client)
{
	struct pollfd entry = {nvmeof_client_fd(client), POLLIN, 0};

	for (int i = 0; i < 100 && poll(&entry, 1, 0) == 1; i++)
		nvmeof_client_dispatch(client);
}

int c_connect(nvmeof_client *client, int (*meanwhile)(void *context), void *context)
{
	nvmeof_options *options = nvmeof_options_new();
	nvmeof_pending *pending;
	nvmeof_item *item = NULL;
	uint64_t number = 0;

	EXPECT(!nvmeof_options_set(options, "traddr", "10.0.0.1", NULL));
	EXPECT(!nvmeof_options_set(options, "trsvcid", "4420", NULL));
	EXPECT(!nvmeof_options_set(options, "nqn", "nqn.test", NULL));
	EXPECT(!nvmeof_options_set(options, "hostnqn", "nqn.host", NULL));
	EXPECT(!nvmeof_options_set(options, "hostid", "12345678-9abc-4def-8123-456789abcdef", NULL));
	EXPECT(!nvmeof_options_set(options, "nsid", "1", NULL));
	pending = nvmeof_start_connect(client, options, NVMEOF_WAIT_NAMESPACES, 10000);
	nvmeof_options_free(options);
	settle(client);
	EXPECT(!nvmeof_pending_ready(pending));
	EXPECT(nvmeof_pending_take(pending, &item, NULL) == NVMEOF_INVALID);
	EXPECT(!meanwhile(context));
	settle(client);
	EXPECT(nvmeof_pending_ready(pending));
	EXPECT(!nvmeof_pending_take(pending, &item, NULL));
	nvmeof_pending_free(pending);
	EXPECT(nvmeof_item_kind(item) == NVMEOF_CONTROLLER);
	EXPECT(same(nvmeof_item_text(item, "name"), "nvmeof0c1"));
	EXPECT(same(nvmeof_item_text(item, "state"), "live"));
	EXPECT(same(nvmeof_item_disk(item, 0), "nvmeof0n1"));
	EXPECT(!nvmeof_item_disk(item, 1));
	EXPECT(!nvmeof_item_number(item, "scans", &number) && number == 1);
	EXPECT(!nvmeof_item_text(item, "no such field"));
	nvmeof_item_free(item);
	EXPECT(!nvmeof_disconnect(client, "nvmeof0c1", NULL));
	return 0;
}

int c_again(nvmeof_client *client, int (*meanwhile)(void *context), void *context)
{
	nvmeof_items *items = NULL;
	nvmeof_item *item = NULL;
	nvmeof_pending *pending;

	EXPECT(!nvmeof_rescan(client, "nvmeof0c1", NULL));
	EXPECT(nvmeof_rescan(client, "nvmeof7c7", NULL) == NVMEOF_NO_SUCH_OBJECT);
	pending = nvmeof_start_rescan(client, "nvmeof0c1");
	settle(client);
	EXPECT(nvmeof_pending_ready(pending));
	EXPECT(nvmeof_pending_take_items(pending, &items, NULL) == NVMEOF_INVALID && !items);
	EXPECT(!nvmeof_pending_take(pending, &item, NULL) && !item);
	nvmeof_pending_free(pending);

	EXPECT(nvmeof_reset(client, "nvmeof7c7", NVMEOF_WAIT_CONTROLLER, 10000, NULL, NULL) == NVMEOF_NO_SUCH_OBJECT);
	EXPECT(nvmeof_reset(client, "nvmeof0c1", NVMEOF_WAIT_CONTROLLER, 20, NULL, NULL) == NVMEOF_TIMED_OUT);
	pending = nvmeof_start_reset(client, "nvmeof0c1", NVMEOF_WAIT_NAMESPACES, 10000);
	settle(client);
	EXPECT(!nvmeof_pending_ready(pending));
	EXPECT(!meanwhile(context));
	settle(client);
	EXPECT(!nvmeof_pending_take(pending, &item, NULL) && item);
	nvmeof_pending_free(pending);
	EXPECT(same(nvmeof_item_text(item, "state"), "live"));
	nvmeof_item_free(item);
	return 0;
}

/* Where a connect that waits for no more than the controller's being there is done at once. */
int c_at_once(nvmeof_client *client)
{
	nvmeof_options *options = nvmeof_options_new();
	nvmeof_pending *pending;
	nvmeof_item *item = NULL;

	EXPECT(!nvmeof_options_set(options, "traddr", "10.0.0.1", NULL));
	EXPECT(!nvmeof_options_set(options, "nqn", "nqn.test", NULL));
	EXPECT(!nvmeof_options_set(options, "hostnqn", "nqn.host", NULL));
	EXPECT(!nvmeof_options_set(options, "hostid", "12345678-9abc-4def-8123-456789abcdef", NULL));
	EXPECT(!nvmeof_connect(client, options, NVMEOF_WAIT_CONTROLLER, 10000, &item, NULL));
	nvmeof_options_free(options);
	EXPECT(same(nvmeof_item_text(item, "name"), "nvmeof0c1"));
	pending = nvmeof_start_disconnect(client, nvmeof_item_text(item, "name"));
	nvmeof_item_free(item);
	item = NULL;
	settle(client);
	EXPECT(nvmeof_pending_ready(pending));
	EXPECT(!nvmeof_pending_take(pending, &item, NULL) && !item);
	nvmeof_pending_free(pending);
	return 0;
}

/* From a service whose node in /dev is not there. */
int c_discover(nvmeof_client *client)
{
	nvmeof_options *options = nvmeof_options_new();
	nvmeof_items *entries = NULL;
	nvmeof_item *item = NULL;
	nvmeof_pending *pending;
	struct pollfd entry = {nvmeof_client_fd(client), POLLIN, 0};

	EXPECT(!nvmeof_options_set(options, "traddr", "10.0.0.1", NULL));
	EXPECT(!nvmeof_options_set(options, "hostnqn", "nqn.host", NULL));
	EXPECT(!nvmeof_options_set(options, "hostid", "12345678-9abc-4def-8123-456789abcdef", NULL));
	EXPECT(nvmeof_discover(client, options, 10000, &entries, NULL) == NVMEOF_NO_SUCH_OBJECT && !entries);
	pending = nvmeof_start_discover(client, options, 10000);
	nvmeof_options_free(options);
	while (!nvmeof_pending_ready(pending) && poll(&entry, 1, 10000) == 1)
		nvmeof_client_dispatch(client);
	EXPECT(nvmeof_pending_ready(pending));
	EXPECT(nvmeof_pending_take(pending, &item, NULL) == NVMEOF_INVALID && !item);
	EXPECT(nvmeof_pending_take_items(pending, &entries, NULL) == NVMEOF_NO_SUCH_OBJECT && !entries);
	EXPECT(nvmeof_pending_take_items(pending, &entries, NULL) == NVMEOF_INVALID);
	nvmeof_pending_free(pending);
	return 0;
}

int c_list(nvmeof_client *client)
{
	nvmeof_items *items = NULL;

	EXPECT(!nvmeof_list(client, NVMEOF_NAMESPACE, &items, NULL));
	EXPECT(nvmeof_items_count(items) == 1);
	EXPECT(same(nvmeof_item_text(nvmeof_items_at(items, 0), "name"), "nvmeof0n1"));
	EXPECT(!nvmeof_items_at(items, 1));
	nvmeof_items_free(items);
	EXPECT(nvmeof_list(client, NVMEOF_EVENT, &items, NULL) == NVMEOF_INVALID);
	return 0;
}

int c_errors(nvmeof_client *client)
{
	nvmeof_options *options = nvmeof_options_new();
	nvmeof_error *error = NULL;

	EXPECT(nvmeof_disconnect(client, "nvmeof7c7", &error) == NVMEOF_NO_SUCH_OBJECT);
	EXPECT(nvmeof_error_code(error) == NVMEOF_NO_SUCH_OBJECT);
	EXPECT(*nvmeof_error_message(error));
	EXPECT(same(nvmeof_error_object(error), "nvmeof7c7"));
	EXPECT(same(nvmeof_error_object_kind(error), "controller"));
	EXPECT(nvmeof_error_errno(error) > 0);
	EXPECT(nvmeof_error_status(error) == -1);
	nvmeof_error_free(error);
	EXPECT(nvmeof_options_set(options, "colour", "red", NULL) == NVMEOF_INVALID);
	EXPECT(nvmeof_options_set(options, "io_queues", "many", NULL) == NVMEOF_INVALID);
	EXPECT(nvmeof_options_set(options, "hdr_digest", "2", NULL) == NVMEOF_INVALID);
	EXPECT(!nvmeof_options_set(options, "ctrl_loss", "-1", NULL));
	nvmeof_options_free(options);
	nvmeof_error_free(NULL);
	return 0;
}

int c_events(int (*meanwhile)(void *context), void *context)
{
	nvmeof_events *events = NULL;
	nvmeof_item *item = NULL;

	EXPECT(!nvmeof_events_open(0, &events, NULL));
	EXPECT(!nvmeof_events_next(events, 0, &item, NULL) && !item);
	EXPECT(!meanwhile(context));
	EXPECT(!nvmeof_events_next(events, 0, &item, NULL) && item);
	EXPECT(nvmeof_item_kind(item) == NVMEOF_EVENT);
	EXPECT(same(nvmeof_item_text(item, "type"), "scanned"));
	EXPECT(same(nvmeof_item_text(item, "object_kind"), "controller"));
	EXPECT(same(nvmeof_item_text(item, "name"), "nvmeof0c1"));
	nvmeof_item_free(item);
	nvmeof_events_free(events);
	return 0;
}
