/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct class;
struct module;

#ifdef STUB_NAME
struct class *class_create(const char *name);
#endif

#ifdef STUB_OWNER
#define THIS_MODULE ((struct module *)0)

struct class *class_create(struct module *owner, const char *name);
#endif
