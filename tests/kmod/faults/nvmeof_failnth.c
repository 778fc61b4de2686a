// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the n-th allocation that nvmeof and nvmeof_tcp make fail, directly or in something of the kernel's that they
 * call: once, so that what a test sees is the handling of this one failure.
 *
 * /sys/kernel/debug/nvmeof_failnth/
 *   arm	write n: counting begins, and the n-th allocation fails; 0: none, only count; "off": no more counting
 *   count	allocations since then
 *   hit	the one that failed: function of ours, kind of memory, call stack; empty: none did
 *   sites	functions of ours that allocated since then, a line each: number of the first, how many, where
 *
 * Allocations are seen at should_failslab() and should_fail_alloc_page(), which the kernel's own fault injection calls
 * for each of them. Allocations of an interrupt handler do not count because it interrupted our code: only the part of
 * the call stack up to the interrupt does. Memory of the kernel's checkers does not count, as they would only fail to
 * check, nor do pages of the slab allocator, which serve the next caller, nor memory for vmalloc(), which reports a
 * failure by a call trace as if it were a defect.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#define DEPTH		64	/* frames looked at */
#define SITES		512	/* more than there are in our modules */
#define KNOWN_BITS	11

enum kind { OTHER = 1, OURS, SPARED };

struct site {
	unsigned long	ip;	/* 0: free. Written once, by cmpxchg */
	atomic_t	first;	/* number of its first allocation */
	atomic_t	count;
};

struct hit {
	const char	*what;
	char		where[KSYM_SYMBOL_LEN];	/* a name now: the function of a module's start is gone later */
	unsigned int	nr;		/* frames */
	unsigned long	frames[DEPTH];
};

struct scratch {
	unsigned long	frames[DEPTH];
	char		symbol[KSYM_SYMBOL_LEN];
};

static DEFINE_MUTEX(lock);	/* arming and reading */
static bool armed;
static int target;		/* number of the allocation that fails; 0: none */
static atomic_t count;
static struct site sites[SITES];
static struct hit hit;
static bool hit_valid;		/* set behind the rest */

/* Probes run with interrupts off, and not inside one another */
static DEFINE_PER_CPU(struct scratch, scratch);

/*
 * Cache of the kind of code at an address, as each lookup costs a search: address << 2 | kind, which loses nothing as
 * the topmost bits are set in all addresses of code.
 */
static unsigned long known[1 << KNOWN_BITS];

static const char *const spared[] = {
	"kmemleak_", "debug_object", "__debug_object", "stack_depot_", "kasan_", "__kasan_", "ref_tracker_",
	"fill_pool", "gcov_", "__gcov_", "new_node", "___slab_alloc", "__slab_alloc", "new_slab", "allocate_slab",
	"__vmalloc_node_range",
};

static enum kind name_kind(const char *symbol)
{
	unsigned int i;

	if (strstr(symbol, " [nvmeof]") || strstr(symbol, " [nvmeof_tcp]"))
		return OURS;
	for (i = 0; i < ARRAY_SIZE(spared); i++)
		if (strstarts(symbol, spared[i]))
			return SPARED;
	return OTHER;
}

static enum kind address_kind(unsigned long ip, char *symbol)
{
	unsigned long *slot = &known[hash_long(ip, KNOWN_BITS)];
	unsigned long entry = READ_ONCE(*slot);
	enum kind kind;

	if (entry >> 2 == ip << 2 >> 2)
		return entry & 3;
	sprint_symbol(symbol, ip);
	kind = name_kind(symbol);
	WRITE_ONCE(*slot, ip << 2 | kind);
	return kind;
}

/* Index of the innermost frame of ours; @nr: the allocation is not ours */
static unsigned int find_ours(const unsigned long *frames, unsigned int nr, char *symbol)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		enum kind kind = address_kind(frames[i], symbol);

		if (kind == OURS)
			return i;
		if (kind == SPARED)
			break;
	}
	return nr;
}

static void count_site(unsigned long ip, int n)
{
	unsigned int i, at = hash_long(ip, 32) % SITES;

	for (i = 0; i < SITES; i++, at = (at + 1) % SITES) {
		unsigned long was = cmpxchg(&sites[at].ip, 0, ip);

		if (was && was != ip)
			continue;
		if (!was)
			atomic_set(&sites[at].first, n);
		atomic_inc(&sites[at].count);
		return;
	}
}

static void remember(const char *what, const unsigned long *frames, unsigned int nr, unsigned int ours)
{
	hit.what = what;
	sprint_symbol(hit.where, frames[ours]);
	hit.nr = nr;
	memcpy(hit.frames, frames, nr * sizeof(*frames));
	smp_store_release(&hit_valid, true);
}

/* The stack from the probed function outwards, up to an interrupt */
static unsigned int save_stack(const struct kprobe *p, unsigned long **frames)
{
	unsigned long addr = (unsigned long)p->addr;
	unsigned int i, nr = stack_trace_save(*frames, DEPTH, 0);

	for (i = 0; i < nr; i++)
		if ((*frames)[i] - addr <= sizeof(kprobe_opcode_t))
			break;
	if (i == nr)
		return 0;
	*frames += i + 1;
	return filter_irq_stacks(*frames, nr - i - 1);
}

/* True for the one that shall fail */
static bool count_allocation(const struct kprobe *p, const char *what)
{
	struct scratch *s = this_cpu_ptr(&scratch);
	unsigned long *frames = s->frames;
	unsigned int nr, ours;
	int n;

	if (!READ_ONCE(armed))
		return false;
	nr = save_stack(p, &frames);
	ours = find_ours(frames, nr, s->symbol);
	if (ours == nr)
		return false;
	n = atomic_inc_return(&count);
	count_site(frames[ours], n);
	if (n != READ_ONCE(target))
		return false;
	remember(what, frames, nr, ours);
	return true;
}

/* The probe is at the first instruction: what is on top of the stack is where the function returns to */
static int return_at_once(struct pt_regs *regs, unsigned long value)
{
	regs_set_return_value(regs, value);
	instruction_pointer_set(regs, READ_ONCE_NOCHECK(*(unsigned long *)regs->sp));
	regs->sp += sizeof(unsigned long);
	return 1;
}
NOKPROBE_SYMBOL(return_at_once);

static int at_slab(struct kprobe *p, struct pt_regs *regs)
{
	gfp_t gfp = regs_get_kernel_argument(regs, 1);

	if (gfp & __GFP_NOFAIL || !count_allocation(p, "slab"))
		return 0;
	return return_at_once(regs, -ENOMEM);
}
NOKPROBE_SYMBOL(at_slab);

static int at_page(struct kprobe *p, struct pt_regs *regs)
{
	gfp_t gfp = regs_get_kernel_argument(regs, 0);

	if (gfp & __GFP_NOFAIL || !count_allocation(p, "pages"))
		return 0;
	return return_at_once(regs, true);
}
NOKPROBE_SYMBOL(at_page);

/* That there is one keeps the probe from being turned into a jump, from which no other way back leads */
static void behind(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe slab_probe = {
	.symbol_name = "should_failslab", .pre_handler = at_slab, .post_handler = behind,
};
static struct kprobe page_probe = {
	.symbol_name = "should_fail_alloc_page", .pre_handler = at_page, .post_handler = behind,
};

/* By way of ftrace the stack pointer could not be changed */
static int check_probe(struct kprobe *p)
{
	int ret = register_kprobe(p);

	if (ret)
		return ret;
	return kprobe_ftrace(p) ? -EOPNOTSUPP : 0;
}

static void disarm(void)
{
	WRITE_ONCE(armed, false);
	disable_kprobe(&slab_probe);
	disable_kprobe(&page_probe);
	synchronize_rcu();	/* no handler runs any more */
}

static int arm(int n)
{
	int ret;

	disarm();
	hit_valid = false;
	target = n;
	memset(sites, 0, sizeof(sites));
	memset(known, 0, sizeof(known));	/* modules come and go */
	atomic_set(&count, 0);
	ret = enable_kprobe(&slab_probe) ?: enable_kprobe(&page_probe);
	if (!ret)
		smp_store_release(&armed, true);
	return ret;
}

static ssize_t arm_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char text[16] = "";
	unsigned int n;
	int ret = 0;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	mutex_lock(&lock);
	if (sysfs_streq(text, "off"))
		disarm();
	else
		ret = kstrtouint(text, 0, &n) ?: n > INT_MAX ? -EINVAL : arm(n);
	mutex_unlock(&lock);
	return ret ?: len;
}

static const struct file_operations arm_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = arm_write, .llseek = noop_llseek,
};

static int count_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", atomic_read(&count));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(count);

static int hit_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&lock);
	if (smp_load_acquire(&hit_valid)) {
		seq_printf(m, "%s %s\n", hit.where, hit.what);
		for (i = 0; i < hit.nr; i++)
			seq_printf(m, "  %pS\n", (void *)hit.frames[i]);
	}
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hit);

static int sites_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&lock);
	for (i = 0; i < SITES; i++)
		if (sites[i].ip)
			seq_printf(m, "%d %d %pS\n", atomic_read(&sites[i].first), atomic_read(&sites[i].count),
				   (void *)sites[i].ip);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sites);

static struct dentry *dir;

static int __init failnth_init(void)
{
	int ret;

	BUILD_BUG_ON_MSG(!IS_ENABLED(CONFIG_X86_64), "return_at_once() knows one architecture");
	ret = check_probe(&slab_probe);
	if (ret)
		goto undo_slab;
	ret = check_probe(&page_probe);
	if (ret)
		goto undo_page;
	disarm();
	dir = debugfs_create_dir("nvmeof_failnth", NULL);
	debugfs_create_file("arm", 0200, dir, NULL, &arm_fops);
	debugfs_create_file("count", 0400, dir, NULL, &count_fops);
	debugfs_create_file("hit", 0400, dir, NULL, &hit_fops);
	debugfs_create_file("sites", 0400, dir, NULL, &sites_fops);
	return 0;
undo_page:
	unregister_kprobe(&page_probe);
undo_slab:
	unregister_kprobe(&slab_probe);
	pr_err("nvmeof_failnth: allocations of this kernel cannot be made to fail (%d)\n", ret);
	return ret;
}

static void __exit failnth_exit(void)
{
	debugfs_remove(dir);
	disarm();
	unregister_kprobe(&page_probe);
	unregister_kprobe(&slab_probe);
}

module_init(failnth_init);
module_exit(failnth_exit);
MODULE_DESCRIPTION("Makes the n-th allocation of nvmeof fail");
MODULE_LICENSE("GPL");
