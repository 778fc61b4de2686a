/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* C code that uses the C interface, called by C++ tests that provide the kernel. Each function returns 0, or the
 * number of the line that failed. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct nvmeof_client;

int c_connect(struct nvmeof_client *client, int (*meanwhile)(void *context), void *context);
int c_again(struct nvmeof_client *client, int (*meanwhile)(void *context), void *context);
int c_at_once(struct nvmeof_client *client);
int c_discover(struct nvmeof_client *client);
int c_list(struct nvmeof_client *client);
int c_errors(struct nvmeof_client *client);
int c_events(int (*meanwhile)(void *context), void *context);

#ifdef __cplusplus
}
#endif
