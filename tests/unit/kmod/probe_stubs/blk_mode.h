/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef STUB_TYPE
typedef unsigned int blk_mode_t;

enum { BLK_OPEN_READ = 1, BLK_OPEN_WRITE = 2, BLK_OPEN_EXCL = 4, BLK_OPEN_NDELAY = 8 };
#endif

#ifdef STUB_FMODE
typedef unsigned int fmode_t;

enum { FMODE_READ = 1, FMODE_WRITE = 2, FMODE_EXCL = 4, FMODE_NDELAY = 8 };
#endif
