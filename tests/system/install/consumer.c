/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program of somebody else's in C, against the library as it is installed: header, linking, and calls across it. */
#include <stdio.h>

#include <nvmeof/nvmeof_c.h>

int main(void)
{
	nvmeof_options *options = nvmeof_options_new();
	nvmeof_client *client = NULL;
	nvmeof_error *error = NULL;
	int bad = nvmeof_options_set(options, "traddr", "::1", &error) != NVMEOF_OK;

	nvmeof_options_free(options);
	if (!bad && nvmeof_client_open(NULL, &client, &error) == NVMEOF_OK)
		printf("%s module is there\n", nvmeof_version());
	else
		printf("%s %s\n", nvmeof_version(), nvmeof_error_message(error));
	nvmeof_error_free(error);
	nvmeof_client_free(client);
	return bad;
}
