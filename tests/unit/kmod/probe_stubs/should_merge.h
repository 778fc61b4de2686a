/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_ALWAYS
enum { BLK_MQ_F_NO_SCHED_BY_DEFAULT = 64 };
#endif

#ifdef STUB_FLAG
enum { BLK_MQ_F_SHOULD_MERGE = 1, BLK_MQ_F_NO_SCHED_BY_DEFAULT = 64 };
#endif
