// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for nvidia-fs and a GPU: pages that an application maps stand for other pages, its "GPU memory", which it
 * can only read and write by the device's file. Data that go by way of the functions that are registered are found
 * there, data that do not are found in the application's pages, which is how a mistake shows.
 *
 * /dev/nvmeof-standin: mmap() gives pages that stand for as much memory from the same offset on; read() and write() are
 * of that memory. The first open registers, the last close takes its leave, as nvidia-fs does.
 *
 * Parameters, each call of the functions counted:
 *   gathers, maps, unmaps, mapped	mapped: pieces that are mapped now
 *   virtual				maps for a device made of software, which has no DMA device
 *   registered				read: what registering returned; 1: not tried
 *   fail_gather, fail_map		write: what the next fail_times calls return instead (-1, -2, 0); 1: nothing
 *   fail_times
 *   lacks				write: bits of the feature map that are not told
 */
#include <linux/blk-mq.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include "nvfs/nvfs.h"

#define PAGES	1024

static atomic_t gathers, maps, unmaps, mapped, virtual;
static int fail_gather = 1, fail_map = 1, fail_times, registered = 1, lacks;
module_param(fail_gather, int, 0644);
module_param(fail_map, int, 0644);
module_param(fail_times, int, 0644);
module_param(lacks, int, 0644);
module_param(registered, int, 0444);

static int get_atomic(char *to, const struct kernel_param *param)
{
	return sysfs_emit(to, "%d\n", atomic_read((atomic_t *)param->arg));
}

static const struct kernel_param_ops atomic_ops = { .get = get_atomic };
module_param_cb(gathers, &atomic_ops, &gathers, 0444);
module_param_cb(maps, &atomic_ops, &maps, 0444);
module_param_cb(unmaps, &atomic_ops, &unmaps, 0444);
module_param_cb(mapped, &atomic_ops, &mapped, 0444);
module_param_cb(virtual, &atomic_ops, &virtual, 0444);

static struct page *shadow[PAGES], *memory[PAGES];
static DEFINE_MUTEX(open_lock);
static unsigned int openers;
static typeof(nvme_rdma_v1_register_nvfs_dma_ops) *register_ops;
static typeof(nvme_rdma_v1_unregister_nvfs_dma_ops) *unregister_ops;

/* Its place among those of ours, or -1 */
static int place_of(struct page *page)
{
	unsigned long i = page_private(page) - 1;

	return i < PAGES && shadow[i] == page ? i : -1;
}

static bool standin_is(struct page *page)
{
	return place_of(page) >= 0;
}

static bool fails(const int *how, int *ret)
{
	if (READ_ONCE(fail_times) <= 0 || *how == 1)
		return false;
	fail_times--;
	*ret = *how;
	return true;
}

/* A piece for each page, as if what stands side by side did not lie so */
static int standin_gather(struct request_queue *q, struct request *rq, struct scatterlist *sgl)
{
	struct scatterlist *sg = NULL;
	struct req_iterator iter;
	struct bio_vec bv;
	int n = 0, ret;

	might_sleep();
	atomic_inc(&gathers);
	if (fails(&fail_gather, &ret))
		return ret;
	rq_for_each_segment(bv, rq, iter) {
		if (!standin_is(bv.bv_page))
			return n ? NVFS_IO_ERR : NVFS_BAD_REQ;
		sg = sg ? sg_next(sg) : sgl;
		sg_unmark_end(sg);
		sg_set_page(sg, bv.bv_page, bv.bv_len, bv.bv_offset);
		n++;
	}
	if (sg)
		sg_mark_end(sg);
	return n;
}

static int standin_map(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir,
		       unsigned long attrs)
{
	struct scatterlist *sg;
	int i, ret;

	might_sleep();
	atomic_inc(&maps);
	if (fails(&fail_map, &ret))
		return ret;
	if (!dev)
		atomic_inc(&virtual);
	for_each_sg(sgl, sg, n, i) {
		/* what a device made of software takes for an address of DMA */
		sg_dma_address(sg) = (uintptr_t)page_address(memory[place_of(sg_page(sg))]) + sg->offset;
		sg_dma_len(sg) = sg->length;
	}
	atomic_add(n, &mapped);
	return n;
}

static int standin_unmap(struct device *dev, struct scatterlist *sgl, int n, enum dma_data_direction dir)
{
	atomic_inc(&unmaps);
	if (!standin_is(sg_page(sgl)))
		return 0;
	atomic_sub(n, &mapped);
	return n;
}

static struct nvfs_dma_rw_ops ops = {
	.nvfs_blk_rq_map_sg	= standin_gather,
	.nvfs_dma_map_sg_attrs	= standin_map,
	.nvfs_dma_unmap_sg	= standin_unmap,
	.nvfs_is_gpu_page	= standin_is,
};

static void find_driver(void)
{
	registered = 1;
	register_ops = __symbol_get("nvme_rdma_v1_register_nvfs_dma_ops");
	unregister_ops = __symbol_get("nvme_rdma_v1_unregister_nvfs_dma_ops");
	if (!register_ops || !unregister_ops)
		return;
	ops.ft_bmap = ~(unsigned int)lacks;
	registered = register_ops(&ops);
}

static void leave_driver(void)
{
	if (!registered)
		unregister_ops();
	if (register_ops)
		__symbol_put("nvme_rdma_v1_register_nvfs_dma_ops");
	if (unregister_ops)
		__symbol_put("nvme_rdma_v1_unregister_nvfs_dma_ops");
}

static int standin_open(struct inode *inode, struct file *file)
{
	mutex_lock(&open_lock);
	if (!openers++)
		find_driver();
	mutex_unlock(&open_lock);
	return 0;
}

static int standin_release(struct inode *inode, struct file *file)
{
	mutex_lock(&open_lock);
	if (!--openers)
		leave_driver();
	mutex_unlock(&open_lock);
	return 0;
}

static int standin_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long n = vma_pages(vma), i;
	int ret = 0;

	if (vma->vm_pgoff >= PAGES || n > PAGES - vma->vm_pgoff)
		return -EINVAL;
	for (i = 0; !ret && i < n; i++)
		ret = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE, shadow[vma->vm_pgoff + i]);
	return ret;
}

static ssize_t standin_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	size_t in = *pos & (PAGE_SIZE - 1), n = min_t(size_t, len, PAGE_SIZE - in);

	if (*pos >> PAGE_SHIFT >= PAGES)
		return 0;
	if (copy_to_user(to, page_address(memory[*pos >> PAGE_SHIFT]) + in, n))
		return -EFAULT;
	*pos += n;
	return n;
}

static ssize_t standin_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	size_t in = *pos & (PAGE_SIZE - 1), n = min_t(size_t, len, PAGE_SIZE - in);

	if (*pos >> PAGE_SHIFT >= PAGES)
		return -ENOSPC;
	if (copy_from_user(page_address(memory[*pos >> PAGE_SHIFT]) + in, from, n))
		return -EFAULT;
	*pos += n;
	return n;
}

static const struct file_operations standin_fops = {
	.owner		= THIS_MODULE,
	.open		= standin_open,
	.release	= standin_release,
	.mmap		= standin_mmap,
	.read		= standin_read,
	.write		= standin_write,
	.llseek		= default_llseek,
};

static struct miscdevice standin = {
	.minor = MISC_DYNAMIC_MINOR, .name = "nvmeof-standin", .fops = &standin_fops, .mode = 0600,
};

static void free_pages_of(struct page **pages)
{
	int i;

	for (i = 0; i < PAGES && pages[i]; i++) {
		set_page_private(pages[i], 0);
		__free_page(pages[i]);
	}
}

static bool alloc_pages_of(struct page **pages, bool marked)
{
	int i;

	for (i = 0; i < PAGES; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!pages[i])
			return false;
		set_page_private(pages[i], marked ? i + 1 : 0);
	}
	return true;
}

static int __init standin_init(void)
{
	int ret = -ENOMEM;

	if (alloc_pages_of(shadow, true) && alloc_pages_of(memory, false))
		ret = misc_register(&standin);
	if (ret) {
		free_pages_of(shadow);
		free_pages_of(memory);
	}
	return ret;
}

static void __exit standin_exit(void)
{
	misc_deregister(&standin);
	free_pages_of(shadow);
	free_pages_of(memory);
}

module_init(standin_init);
module_exit(standin_exit);
MODULE_DESCRIPTION("Stands in for nvidia-fs and a GPU");
MODULE_LICENSE("GPL");
