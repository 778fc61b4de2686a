/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * iocount: a fixed number of direct I/Os at a queue depth through libaio's system calls, between two markers.
 *
 * usage: iocount DEVICE read|write BLOCKSIZE DEPTH COUNT [random|sequential] [batch|single] [latency|huge]
 *
 * batch (default): all slots that one io_getevents() call reported done go into one io_submit() call, as with fio's
 * iodepth_batch. single: each is submitted by a call of its own, as fio does without that option. A quarter of COUNT
 * runs ahead of the first marker, so that caches, lazily made structures and translated code are warm. Prints
 * "BEGIN END IOS_PER_SECOND", the first two in seconds of CLOCK_MONOTONIC at the markers: whoever runs several at a
 * time divides all their I/Os by the time of them all, and does not add up rates. latency: a second line
 * "P50 P99 P99.9", microseconds from an I/O's submission to its completion being seen. huge: the buffers are in huge
 * pages, so that an I/O has few segments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measured.h"

#define MAX_DEPTH 256

static struct {
	int fd;
	bool write, sequential, single, huge;
	size_t size;
	long depth;
	uint64_t blocks, next;
	unsigned char *buffer;
	aio_context_t ctx;
	struct iocb slot[MAX_DEPTH];
	double since[MAX_DEPTH];
	struct latency took;
} job;

static void fatal(const char *what)
{
	perror(what);
	exit(1);
}

/* Every run takes the same offsets: the figures of two drivers are about the same I/Os. */
static uint64_t next_block(void)
{
	if (job.sequential)
		return job.next++ % job.blocks;
	job.next = job.next * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (job.next >> 33) % job.blocks;
}

static struct iocb *prepare(long index)
{
	struct iocb *cb = &job.slot[index];

	memset(cb, 0, sizeof(*cb));
	cb->aio_fildes = job.fd;
	cb->aio_lio_opcode = job.write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
	cb->aio_buf = (uintptr_t)(job.buffer + index * job.size);
	cb->aio_nbytes = job.size;
	cb->aio_offset = next_block() * job.size;
	cb->aio_data = index;
	job.since[index] = latency_start(&job.took);
	return cb;
}

static void submit(struct iocb **list, long n)
{
	long done = 0, step;

	while (done < n) {
		step = syscall(SYS_io_submit, job.ctx, job.single ? 1 : n - done, list + done);
		if (step <= 0)
			fatal("io_submit");
		done += step;
	}
}

static void check(const struct io_event *event)
{
	if (event->res == (int64_t)job.size)
		return;
	errno = event->res < 0 ? -event->res : EIO;
	fatal("I/O");
}

/* Run count I/Os to the last completion. */
static void run(long count)
{
	struct io_event events[MAX_DEPTH];
	struct iocb *list[MAX_DEPTH];
	long started = 0, done = 0, n, got, i;

	for (n = 0; n < job.depth && started < count; n++, started++)
		list[n] = prepare(n);
	submit(list, n);
	while (done < count) {
		got = syscall(SYS_io_getevents, job.ctx, 1L, job.depth, events, NULL);
		if (got <= 0)
			fatal("io_getevents");
		done += got;
		for (n = 0, i = 0; i < got; i++) {
			check(&events[i]);
			latency_end(&job.took, job.since[events[i].data]);
			if (started < count) {
				list[n++] = prepare(events[i].data);
				started++;
			}
		}
		submit(list, n);
	}
}

#define HUGE_PAGE ((size_t)2 << 20)

/* The memory is written once here, so that no I/O finds a page missing. */
static unsigned char *make_buffer(size_t size)
{
	size_t align = job.huge ? HUGE_PAGE : 4096;
	unsigned char *buffer;

	size = (size + align - 1) / align * align;
	buffer = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		fatal("mmap");
	buffer += -(uintptr_t)buffer % align;
	if (job.huge && madvise(buffer, size, MADV_HUGEPAGE))
		fatal("madvise");
	memset(buffer, 0x5a, size);
	return buffer;
}

static void open_device(const char *path)
{
	uint64_t bytes;

	job.fd = open(path, (job.write ? O_RDWR : O_RDONLY) | O_DIRECT);
	if (job.fd < 0)
		fatal(path);
	if (ioctl(job.fd, BLKGETSIZE64, &bytes))
		fatal("BLKGETSIZE64");
	job.blocks = bytes / job.size;
	job.buffer = make_buffer(job.depth * job.size);
	if (syscall(SYS_io_setup, MAX_DEPTH, &job.ctx))
		fatal("io_setup");
}

int main(int argc, char **argv)
{
	struct measured m;
	long count;

	if (argc < 6) {
		fprintf(stderr,
			"usage: iocount DEVICE read|write BLOCKSIZE DEPTH COUNT [random|sequential] [batch|single] "
			"[latency|huge]\n");
		return 2;
	}
	job.write = !strcmp(argv[2], "write");
	job.size = strtoul(argv[3], NULL, 0);
	job.depth = strtol(argv[4], NULL, 0);
	count = strtol(argv[5], NULL, 0);
	job.sequential = argc > 6 && !strcmp(argv[6], "sequential");
	job.single = argc > 7 && !strcmp(argv[7], "single");
	if (!job.size || job.depth < 1 || job.depth > MAX_DEPTH || count < 1)
		return 2;
	job.huge = argc > 8 && !strcmp(argv[8], "huge");
	open_device(argv[1]);
	if (argc > 8 && !job.huge)
		latency_room(&job.took, count + count / 4 + job.depth);
	m = measure(run, count, job.depth, &job.took);
	printf("%.9f %.9f %.1f\n", m.begin, m.end, count / (m.end - m.begin));
	latency_print(&job.took);
	return 0;
}
