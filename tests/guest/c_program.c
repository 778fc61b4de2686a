/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: c_program TRADDR PORT NQN. All that the C interface can do with one controller; 0: all of it went well. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <nvmeof/nvmeof_c.h>

enum { patience = 30000 }; /* ms */

static int fail(const char *what, nvmeof_error *error)
{
	printf("%s: %s\n", what, error ? nvmeof_error_message(error) : "not as it should be");
	nvmeof_error_free(error);
	return 1;
}

/* With a loop as a program has that does other things meanwhile. */
static int settled(nvmeof_client *client, const nvmeof_pending *pending)
{
	struct pollfd entry = {nvmeof_client_fd(client), POLLIN, 0};

	while (!nvmeof_pending_ready(pending)) {
		if (poll(&entry, 1, patience) != 1)
			return 0;
		nvmeof_client_dispatch(client);
	}
	return 1;
}

static int has_nqn(const nvmeof_items *items, const char *nqn)
{
	for (unsigned int i = 0; i < nvmeof_items_count(items); i++)
		if (!strcmp(nvmeof_item_text(nvmeof_items_at(items, i), "nqn"), nqn))
			return 1;
	return 0;
}

static int discover(nvmeof_client *client, const nvmeof_options *options, const char *nqn)
{
	nvmeof_pending *pending = nvmeof_start_discover(client, options, patience);
	nvmeof_items *entries = NULL, *again = NULL;
	nvmeof_error *error = NULL;
	int listed;

	if (!settled(client, pending) || nvmeof_pending_take_items(pending, &entries, &error))
		return fail("discover", error);
	nvmeof_pending_free(pending);
	if (nvmeof_discover(client, options, patience, &again, &error))
		return fail("discover, waiting", error);
	listed = has_nqn(entries, nqn) && nvmeof_items_count(entries) == nvmeof_items_count(again);
	printf("discovered %u entries\n", nvmeof_items_count(entries));
	nvmeof_items_free(entries);
	nvmeof_items_free(again);
	return listed ? 0 : fail("what was discovered", NULL);
}

static int list(nvmeof_client *client, const char *nqn)
{
	nvmeof_items *items = NULL;
	nvmeof_error *error = NULL;
	int good;

	if (nvmeof_list(client, NVMEOF_CONTROLLER, &items, &error))
		return fail("list", error);
	good = nvmeof_items_count(items) == 1 && has_nqn(items, nqn);
	nvmeof_items_free(items);
	return good ? 0 : fail("list of controllers", NULL);
}

static int scan_again(nvmeof_client *client, const char *name)
{
	nvmeof_pending *pending = nvmeof_start_rescan(client, name);
	nvmeof_error *error = NULL;

	if (!settled(client, pending) || nvmeof_pending_take(pending, NULL, &error))
		return fail("rescan", error);
	nvmeof_pending_free(pending);
	if (nvmeof_rescan(client, name, &error))
		return fail("rescan, waiting", error);
	printf("scanned again\n");
	return 0;
}

static int reset(nvmeof_client *client, const char *name)
{
	nvmeof_pending *pending = nvmeof_start_reset(client, name, NVMEOF_WAIT_NAMESPACES, patience);
	nvmeof_item *item = NULL;
	nvmeof_error *error = NULL;
	uint64_t before = 0, after = 0;

	if (!settled(client, pending) || nvmeof_pending_take(pending, &item, &error))
		return fail("reset", error);
	nvmeof_pending_free(pending);
	nvmeof_item_number(item, "reconnects", &before);
	nvmeof_item_free(item);
	if (nvmeof_reset(client, name, NVMEOF_WAIT_NAMESPACES, patience, &item, &error))
		return fail("reset, waiting", error);
	nvmeof_item_number(item, "reconnects", &after);
	printf("reset, %u reconnects\n", (unsigned int)(after - before));
	after = strcmp(nvmeof_item_text(item, "state"), "live") || !nvmeof_item_disk(item, 0);
	nvmeof_item_free(item);
	return after ? fail("after the reset", NULL) : 0;
}

static int use(nvmeof_client *client, const char *name, const char *nqn)
{
	nvmeof_pending *pending;
	nvmeof_error *error = NULL;

	if (list(client, nqn) || scan_again(client, name) || reset(client, name))
		return 1;
	pending = nvmeof_start_disconnect(client, name);
	if (!settled(client, pending) || nvmeof_pending_take(pending, NULL, &error))
		return fail("disconnect", error);
	nvmeof_pending_free(pending);
	printf("disconnected\n");
	return 0;
}

int main(int argc, char **argv)
{
	nvmeof_options *options = nvmeof_options_new();
	nvmeof_client *client = NULL;
	nvmeof_item *item = NULL;
	nvmeof_error *error = NULL;
	int bad;

	if (argc != 4)
		return 2;
	if (nvmeof_client_open("nvmeof_tcp", &client, &error) ||
	    nvmeof_options_set(options, "traddr", argv[1], &error) ||
	    nvmeof_options_set(options, "trsvcid", argv[2], &error))
		return fail("begin", error);
	bad = discover(client, options, argv[3]);
	if (bad)
		return bad;
	if (nvmeof_options_set(options, "nqn", argv[3], &error) ||
	    nvmeof_connect(client, options, NVMEOF_WAIT_NAMESPACES, patience, &item, &error))
		return fail("connect", error);
	printf("connected %s, its first disk is %s\n", nvmeof_item_text(item, "name"), nvmeof_item_disk(item, 0));
	bad = use(client, nvmeof_item_text(item, "name"), argv[3]);
	nvmeof_item_free(item);
	nvmeof_options_free(options);
	nvmeof_client_free(client);
	return bad;
}
