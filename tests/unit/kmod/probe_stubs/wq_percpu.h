/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_FLAG
enum { WQ_UNBOUND = 2, WQ_PERCPU = 256 };
#endif

#ifdef STUB_DEFAULT
enum { WQ_UNBOUND = 2 };
#endif
