/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * insncount: a QEMU TCG plugin that counts the instructions a guest executes between two markers (marker.h).
 *
 * Each translation block has a counter that the translated code itself adds to. At the second marker the counters that
 * moved are written as one section: "section TOTAL USER", then "ADDRESS INSTRUCTIONS" for each block of the kernel,
 * then "end". Blocks are counted whole: one that a fault leaves early counts as if it had been finished.
 *
 * One thread only (the counters are not atomic): a single vCPU, or several with -icount, of which one is counted.
 * Arguments: out=FILE, and cpu=N where there are several.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marker.h"
#include "plugin.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;

struct block {
	uint64_t address;
	uint64_t length;	/* instructions */
	uint64_t count;		/* executions; added to by translated code */
	uint64_t base;		/* count at the first marker */
	struct block *next;
};

#define BUCKETS (1u << 18)
static struct block *table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static int only = -1;	/* vCPU; any */

static bool in_kernel(uint64_t address)
{
	return address >> 63;
}

static unsigned int bucket(uint64_t address, uint64_t length)
{
	return ((address ^ length << 48) * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
}

/* The same code may be translated again, also with another length: one counter for each (address, length). */
static struct block *find_block(uint64_t address, uint64_t length)
{
	struct block **head = &table[bucket(address, length)];
	struct block *b;

	for (b = *head; b; b = b->next)
		if (b->address == address && b->length == length)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->address = address;
	b->length = length;
	b->next = *head;
	*head = b;
	return b;
}

static void each_block(void (*visit)(struct block *b, void *arg), void *arg)
{
	struct block *b;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		for (b = table[i]; b; b = b->next)
			visit(b, arg);
}

static void rebase(struct block *b, void *arg)
{
	(void)arg;
	b->base = b->count;
}

static void add_up(struct block *b, void *arg)
{
	uint64_t *sums = arg;
	uint64_t n = (b->count - b->base) * b->length;

	sums[0] += n;
	if (!in_kernel(b->address))
		sums[1] += n;
}

static void print(struct block *b, void *arg)
{
	(void)arg;
	if (b->count != b->base && in_kernel(b->address))
		fprintf(out, "%" PRIx64 " %" PRIu64 "\n", b->address, (b->count - b->base) * b->length);
}

static void on_from(unsigned int cpu, void *userdata)
{
	(void)cpu;
	(void)userdata;
	pthread_mutex_lock(&lock);
	each_block(rebase, NULL);
	pthread_mutex_unlock(&lock);
}

static void on_to(unsigned int cpu, void *userdata)
{
	uint64_t sums[2] = { 0, 0 };

	(void)cpu;
	(void)userdata;
	pthread_mutex_lock(&lock);
	each_block(add_up, sums);
	fprintf(out, "section %" PRIu64 " %" PRIu64 "\n", sums[0], sums[1]);
	each_block(print, NULL);
	fprintf(out, "end\n");
	fflush(out);
	pthread_mutex_unlock(&lock);
}

static void watch_marker(struct qemu_plugin_insn *insn)
{
	static const unsigned char marker[] = { MARKER_BYTES };
	const unsigned char *data = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) != MARKER_SIZE || memcmp(data, marker, sizeof(marker)))
		return;
	if (data[sizeof(marker)] == MARKER_FROM)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_from, QEMU_PLUGIN_CB_NO_REGS, NULL);
	else if (data[sizeof(marker)] == MARKER_TO)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_to, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void on_block(unsigned int cpu, void *userdata)
{
	struct block *b = userdata;

	if ((int)cpu == only)
		b->count++;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, length = qemu_plugin_tb_n_insns(tb);
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	struct block *b;

	(void)id;
	pthread_mutex_lock(&lock);
	b = find_block(address, length);
	pthread_mutex_unlock(&lock);
	if (only < 0)
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->count, 1);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
	if (in_kernel(address))
		return;
	for (i = 0; i < length; i++)
		watch_marker(qemu_plugin_tb_get_insn(tb, i));
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *path = NULL;
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			path = argv[i] + 4;
		else if (!strncmp(argv[i], "cpu=", 4))
			only = atoi(argv[i] + 4);
	if (!path || (info->system.smp_vcpus != 1 && only < 0)) {
		fprintf(stderr, "insncount: needs out=FILE, and a single vCPU or cpu=N\n");
		return -1;
	}
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
