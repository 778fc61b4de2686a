/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cmdcount: a fixed number of NVMe commands at a queue depth, by io_uring passthrough, between two markers.
 *
 * usage: cmdcount NODE NSID LBA_BYTES read|append BLOCKSIZE DEPTH COUNT [ZONE_BLOCKS]
 *
 * Reads go to offsets at random; zone appends to one zone after another, ZONE_BLOCKS apart, and are timed. As with
 * iocount, what has completed goes into one system call with what follows it, and a quarter of COUNT runs ahead of the
 * first marker. Prints the commands per second, and of appends "P50 P99 P99.9", as iocount does.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/nvme_ioctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measured.h"

#define MAX_DEPTH	256
#define OPCODE_READ	0x02
#define OPCODE_APPEND	0x7d
/* Minimum size of both drivers' disks */
#define SPAN_BYTES	(UINT64_C(1) << 30)

static struct {
	int fd;
	uint32_t nsid, lba, size;
	long depth;
	bool append;
	uint64_t zone_blocks, next;
	unsigned char *buffer;
	struct io_uring ring;
	double since[MAX_DEPTH];
	struct latency took;
} job;

static void fatal(const char *what, int error)
{
	fprintf(stderr, "cmdcount: %s: %s\n", what, strerror(error));
	exit(1);
}

/* Of a read, a block; of an append, the zone that has room for one more. */
static uint64_t next_slba(void)
{
	uint64_t blocks = job.size / job.lba, each;

	if (job.append) {
		each = job.zone_blocks / blocks;
		return job.next++ / each * job.zone_blocks;
	}
	job.next = job.next * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (job.next >> 33) % (SPAN_BYTES / job.size) * blocks;
}

static void submit_one(uint64_t slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&job.ring);
	struct nvme_uring_cmd *cmd = (struct nvme_uring_cmd *)sqe->cmd;
	uint64_t slba = next_slba();

	memset(sqe, 0, 2 * sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = job.fd;
	sqe->cmd_op = NVME_URING_CMD_IO;
	sqe->user_data = slot;
	cmd->opcode = job.append ? OPCODE_APPEND : OPCODE_READ;
	cmd->nsid = job.nsid;
	cmd->addr = (uintptr_t)(job.buffer + slot * job.size);
	cmd->data_len = job.size;
	cmd->cdw10 = slba;
	cmd->cdw11 = slba >> 32;
	cmd->cdw12 = job.size / job.lba - 1;
	job.since[slot] = latency_start(&job.took);
}

static void check(const struct io_uring_cqe *cqe)
{
	if (!cqe->res)
		return;
	if (cqe->res < 0)
		fatal("command", -cqe->res);
	fprintf(stderr, "cmdcount: command: NVMe status 0x%x\n", cqe->res);
	exit(1);
}

/* Run count commands to the last completion. */
static void run(long count)
{
	struct io_uring_cqe *cqes[MAX_DEPTH];
	long started = 0, done = 0;
	unsigned int got, i;

	for (; started < job.depth && started < count; started++)
		submit_one(started);
	while (done < count) {
		int ret = io_uring_submit_and_wait(&job.ring, 1);

		if (ret < 0)
			fatal("io_uring_enter", -ret);
		got = io_uring_peek_batch_cqe(&job.ring, cqes, job.depth);
		for (i = 0; i < got; i++) {
			uint64_t slot = cqes[i]->user_data;

			check(cqes[i]);
			latency_end(&job.took, job.since[slot]);
			if (started < count) {
				submit_one(slot);
				started++;
			}
		}
		io_uring_cq_advance(&job.ring, got);
		done += got;
	}
}

static void open_node(const char *path)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SQE128 | IORING_SETUP_CQE32 };
	int ret;

	job.fd = open(path, O_RDWR);
	if (job.fd < 0)
		fatal(path, errno);
	job.buffer = mmap(NULL, job.depth * job.size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (job.buffer == MAP_FAILED)
		fatal("mmap", errno);
	memset(job.buffer, 0x5a, job.depth * job.size);
	ret = io_uring_queue_init_params(job.depth, &job.ring, &params);
	if (ret)
		fatal("io_uring_setup", -ret);
}

int main(int argc, char **argv)
{
	struct measured m;
	long count;

	if (argc < 8) {
		fprintf(stderr,
			"usage: cmdcount NODE NSID LBA_BYTES read|append BLOCKSIZE DEPTH COUNT [ZONE_BLOCKS]\n");
		return 2;
	}
	job.nsid = strtoul(argv[2], NULL, 0);
	job.lba = strtoul(argv[3], NULL, 0);
	job.append = !strcmp(argv[4], "append");
	job.size = strtoul(argv[5], NULL, 0);
	job.depth = strtol(argv[6], NULL, 0);
	count = strtol(argv[7], NULL, 0);
	job.zone_blocks = argc > 8 ? strtoull(argv[8], NULL, 0) : 0;
	if (!job.lba || job.size < job.lba || job.depth < 1 || job.depth > MAX_DEPTH || count < 1 ||
	    (job.append && job.zone_blocks < job.size / job.lba))
		return 2;
	open_node(argv[1]);
	if (job.append)
		latency_room(&job.took, count + count / 4 + job.depth);
	m = measure(run, count, job.depth, &job.took);
	printf("%.1f\n", count / (m.end - m.begin));
	latency_print(&job.took);
	return 0;
}
