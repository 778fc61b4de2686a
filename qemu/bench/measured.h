/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run of I/Os that is measured: between two markers, when as many as a quarter of it have warmed things up. */
#ifndef BENCH_MEASURED_H
#define BENCH_MEASURED_H

#include "latency.h"
#include "marker.h"

/* At the markers, seconds of CLOCK_MONOTONIC */
struct measured {
	double begin, end;
};

/* @run: to the last completion of so many; @took: of those between the markers */
static inline struct measured measure(void (*run)(long), long count, long depth, struct latency *took)
{
	struct measured m;

	run(count / 4 + depth);
	took->nr = 0;
	m.begin = latency_now();
	MARKER_HERE(MARKER_FROM);
	run(count);
	MARKER_HERE(MARKER_TO);
	m.end = latency_now();
	return m;
}

#endif
