/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

typedef struct { int counter; } atomic_t;

#ifndef __cplusplus
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define atomic_read(v)		READ_ONCE((v)->counter)
#define atomic_set(v, value)	WRITE_ONCE((v)->counter, value)
#define atomic_inc_return(v)	__sync_add_and_fetch(&(v)->counter, 1)
#define cmpxchg(at, old, new)	__sync_val_compare_and_swap(at, old, new)
#endif

#endif
