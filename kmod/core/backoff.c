// SPDX-License-Identifier: GPL-2.0-only
#include "core/backoff.h"

/* 100 ms, doubled this often, exceeds any u32 of milliseconds. */
#define MAX_DOUBLINGS	26

static u32 step_ms(u32 attempt, u32 max_ms)
{
	u64 step = (u64)NOF_BACKOFF_FIRST_MS << (attempt < MAX_DOUBLINGS ? attempt : MAX_DOUBLINGS);

	return step < max_ms ? (u32)step : max_ms;
}

u32 nof_backoff_ms(u32 attempt, u32 max_ms, u32 random)
{
	u32 step = step_ms(attempt, max_ms);
	u32 half = step / 2;
	u64 values = (u64)step - half + 1;

	return step - (u32)((random * values) >> 32);
}

u32 nof_backoff_flaps(u32 flaps, u32 live_ms)
{
	if (live_ms >= NOF_FLAP_MS)
		return 0;
	return flaps < MAX_DOUBLINGS ? flaps + 1 : flaps;
}
