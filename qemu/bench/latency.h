/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long each of a number of I/Os took; nothing is timed where there is no room for it. */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct latency {
	double *seconds;
	size_t nr;
};

static inline double latency_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void latency_room(struct latency *l, size_t most)
{
	l->seconds = calloc(most, sizeof(*l->seconds));
	if (!l->seconds) {
		perror("latency");
		exit(1);
	}
}

static inline double latency_start(const struct latency *l)
{
	return l->seconds ? latency_now() : 0;
}

static inline void latency_end(struct latency *l, double since)
{
	if (l->seconds)
		l->seconds[l->nr++] = latency_now() - since;
}

static inline int latency_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A line "P50 P99 P99.9" in microseconds, where something was timed */
static inline void latency_print(struct latency *l)
{
	if (!l->nr)
		return;
	qsort(l->seconds, l->nr, sizeof(*l->seconds), latency_compare);
	printf("%.1f %.1f %.1f\n", l->seconds[l->nr / 2] * 1e6, l->seconds[l->nr * 99 / 100] * 1e6,
	       l->seconds[l->nr * 999 / 1000] * 1e6);
}

#endif
