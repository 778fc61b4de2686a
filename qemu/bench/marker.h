/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The marker: a long no-op, nopl disp32(%rax,%rax,1), whose displacement says "mf" (measure from) or "mt" (measure to).
 * On real hardware it does nothing; insncount knows it when QEMU translates it.
 */
#ifndef BENCH_MARKER_H
#define BENCH_MARKER_H

#define MARKER_BYTES	0x0f, 0x1f, 0x84, 0x00, 'n', 'o', 'f'
#define MARKER_SIZE	8
#define MARKER_FROM	'<'
#define MARKER_TO	'>'

#define MARKER_HERE(kind) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 'n', 'o', 'f', %c0" : : "i"(kind) : "memory")

#endif
