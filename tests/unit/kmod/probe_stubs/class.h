/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct class;

#ifdef STUB_CONST
int class_register(const struct class *c);
#endif

#ifdef STUB_PLAIN
int class_register(struct class *c);
#endif
