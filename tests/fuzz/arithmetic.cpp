// SPDX-License-Identifier: LGPL-2.1-or-later
// Calculations on values that a target influences: statuses, back-off, latencies and outlier detection.
#include "input.h"

#include <cerrno>

extern "C" {
#include "core/backoff.h"
#include "wire/status.h"
#include "mpath/latency.h"
#include "mpath/degrade_limits.h"
#include <linux/nvme.h>
}

namespace {

void status(Input &in)
{
	const u16 value = in.take<u16>();
	const bool retriable = in.take<u8>() & 1, good = !(value & 0x7ff), never = value & NVME_STATUS_DNR;
	const nof_disposition how = nof_status_disposition(value, retriable);
	expect((how == NOF_DONE) == good, "success is success, and nothing else is");
	expect(good || (retriable && !never) || how == NOF_FAIL, "nothing is sent again that must not be");
	const int error = nof_status_errno(value);
	expect(good ? error == 0 : error < 0 && error > -4096, "an error has an errno");
	expect(*nof_status_name(value), "every status has a name");
}

void backoff(Input &in)
{
	const u32 attempt = in.take<u32>(), max = in.take<u32>(), random = in.take<u32>();
	const u32 delay = nof_backoff_ms(attempt, max, random), longest = nof_backoff_ms(attempt, max, 0);
	expect(delay <= longest && delay >= longest / 2 && longest <= max, "between half the step and the step");
	expect(nof_backoff_ms(attempt | 1, max, 0) >= longest, "steps do not get shorter");
	const u32 flaps = nof_backoff_flaps(attempt, max);
	expect(flaps == 0 || (flaps >= attempt && flaps - attempt <= 1), "flaps are counted one by one");
}

void average(Input &in)
{
	u32 ewma = 0, min = ~0u, max = 1;
	for (int i = 0; i < 16; i++) {
		const u64 sample = in.take<u64>();
		const u32 bounded = static_cast<u32>(std::clamp<u64>(sample, 1, ~0u));
		ewma = nof_lat_next(ewma, sample, false);
		min = std::min(min, bounded);
		max = std::max(max, bounded);
		expect(ewma >= min && ewma <= max, "an average lies between its samples, and is never 0");
		const unsigned int bucket = nof_lat_bucket(sample);
		expect(bucket < NVMEOF_HIST_BUCKETS, "a bucket that there is");
		expect(!bucket || sample >= u64{NVMEOF_HIST_UNIT_NS} << (bucket - 1), "not above its sample");
		expect(bucket + 1 == NVMEOF_HIST_BUCKETS || sample < u64{NVMEOF_HIST_UNIT_NS} << bucket, "nor below");
	}
}

void choice(Input &in)
{
	const u32 a = in.take<u32>(), depthA = in.take<u32>(), b = in.take<u32>(), depthB = in.take<u32>();
	const bool toB = nof_lat_better(a, depthA, b, depthB), toA = nof_lat_better(b, depthB, a, depthA);
	expect(!(toA && toB), "of two paths not each is better than the other");
	expect(!nof_lat_better(a, depthA, a, depthA), "no path is better than itself");
	if (a && b)
		expect(toB == (nof_lat_expect(b, depthB) < nof_lat_expect(a, depthA)), "the one that is done first");
}

void slow(Input &in)
{
	const u32 own = in.take<u32>(), peer = in.take<u32>();
	if (nof_outlier_slow(own, peer))
		expect(own > peer && own > nof_outlier_limit(peer),
		       "a path left out as slow is not taken back at once");
	expect(nof_outlier_limit(peer) >= peer, "as good as the others is good enough");
}

void faulty(Input &in)
{
	constexpr u32 max = (1 << 28) - 1; // bound of the requests in a watch interval
	const u32 done = in.take<u32>() & max, faults = in.take<u32>() & max;
	const u32 othersDone = in.take<u32>() & max, othersFaults = in.take<u32>() & max;
	if (nof_outlier_faulty(done, faults, othersDone, othersFaults))
		expect(faults >= NOF_OUTLIER_FAULTS && u64{done} + faults <= u64{faults} * NOF_OUTLIER_SHARE,
		       "a few errors are no pattern");
	expect(!nof_outlier_faulty(done, faults, done, faults), "a path as bad as the others is no outlier");
}

} // namespace

void fuzz(Input in)
{
	for (auto number : {status, backoff, average, choice, slow, faulty})
		number(in);
}
