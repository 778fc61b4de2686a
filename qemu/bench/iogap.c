/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * iogap: direct I/O of 4 KiB, one at a time, and the longest interval from one completion to the next.
 *
 * usage: iogap [OPTION]... DEVICE read|write SECONDS
 *   -t US         pause after each completion; it is no part of an interval
 *   -e MS         end soon after an interval longer than that, whatever SECONDS says
 *   -w FILE=TEXT  half way, write TEXT to FILE
 *   -u FILE       half way, unlink FILE
 *
 * Prints "LONGEST_MS IOS ERRORS". An I/O that fails ends its interval as a good one does, and is counted. A process
 * started at the beginning performs the action half way: starting one then would itself keep a single CPU from the I/O.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE	4096
#define BLOCKS	16384
#define SECOND	INT64_C(1000000000)
#define MS	(SECOND / 1000)
#define US	(SECOND / 1000000)
#define AFTER	(SECOND / 10)

static struct {
	int fd;
	bool write;
	void *buffer;
	uint64_t next;
	long ios, errors;
	int64_t length, think, end_at;
	char *file, *text;
} job = { .end_at = INT64_MAX };

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void pause_for(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	if (ns)
		nanosleep(&t, NULL);
}

static void one_io(void)
{
	off_t offset;
	ssize_t n;

	job.next = job.next * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	offset = (job.next >> 33) % BLOCKS * SIZE;
	if (job.write)
		n = pwrite(job.fd, job.buffer, SIZE, offset);
	else
		n = pread(job.fd, job.buffer, SIZE, offset);
	job.ios++;
	if (n != SIZE)
		job.errors++;
}

static int64_t longest_interval(void)
{
	int64_t longest = 0, before, after = now(), until = after + job.length;

	while (after < until) {
		pause_for(job.think);
		before = job.think ? now() : after;
		one_io();
		after = now();
		if (after - before > longest)
			longest = after - before;
		if (longest > job.end_at && until > after + AFTER)
			until = after + AFTER;
	}
	return longest;
}

/* Its exit status says whether it could do it. */
static int do_event(void)
{
	size_t size;
	int fd;

	pause_for(job.length / 2);
	if (!job.text)
		return unlink(job.file) ? 1 : 0;
	size = strlen(job.text);
	fd = open(job.file, O_WRONLY);
	return fd < 0 || write(fd, job.text, size) != (ssize_t)size;
}

static pid_t start_event(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(do_event());
	return pid;
}

static bool event_done(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "t:e:w:u:")) != -1) {
		switch (option) {
		case 't': job.think = atol(optarg) * US; break;
		case 'e': job.end_at = atol(optarg) * MS; break;
		case 'u': job.file = optarg; break;
		case 'w':
			job.file = strsep(&optarg, "=");
			job.text = optarg;
			break;
		default: return false;
		}
	}
	if (argc - optind != 3)
		return false;
	job.write = !strcmp(argv[optind + 1], "write");
	job.length = atof(argv[optind + 2]) * SECOND;
	return job.length > 0;
}

static bool open_device(const char *path)
{
	job.fd = open(path, (job.write ? O_RDWR : O_RDONLY) | O_DIRECT);
	job.buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return job.fd >= 0 && job.buffer != MAP_FAILED;
}

int main(int argc, char **argv)
{
	int64_t longest;
	pid_t event = 0;

	if (!parse(argc, argv)) {
		fprintf(stderr,
			"usage: iogap [-t US] [-e MS] [-w FILE=TEXT | -u FILE] DEVICE read|write SECONDS\n");
		return 2;
	}
	if (!open_device(argv[optind])) {
		perror(argv[optind]);
		return 1;
	}
	/* The in-tree driver sends from the process that submits: one that meets a lost connection gets this signal. */
	signal(SIGPIPE, SIG_IGN);
	one_io();	/* finds everything cold: it is no interval */
	if (job.file)
		event = start_event();
	longest = longest_interval();
	if (job.file && !event_done(event)) {
		fprintf(stderr, "iogap: %s: it did not take what was to happen\n", job.file);
		return 1;
	}
	printf("%.3f %ld %ld\n", (double)longest / MS, job.ios, job.errors);
	return 0;
}
