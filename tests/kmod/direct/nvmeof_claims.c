// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device made of software (rxe, siw) that claims to be capable, so that what is for capable devices runs where
 * there is none. It moves data by the processor, which reaches peer-to-peer memory and what a stand-in for a GPU maps,
 * too; interrupts it has none, so that nothing is moderated; and gaps it cannot have, so that its claim is a lie, which
 * a driver meets with a copy.
 *
 * Parameters:
 *   devices	names of devices, by commas
 *   p2p, gpu	nof_rdma_device_p2p() and nof_rdma_device_gpu() say yes of them; may be changed at any time
 *   moderation	their completion queues can be moderated; by DIM
 *   moderated	read: how often they were
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static char devices[128];
module_param_string(devices, devices, sizeof(devices), 0444);
static bool p2p;
module_param(p2p, bool, 0644);
static bool gpu;
module_param(gpu, bool, 0644);
static bool moderation;
module_param(moderation, bool, 0444);
static int moderated;
module_param(moderated, int, 0444);

static bool claims(const struct ib_device *dev)
{
	const char *name = dev_name(&dev->dev), *at = strstr(devices, name);
	size_t len = strlen(name);

	return at && (at == devices || at[-1] == ',') && (!at[len] || at[len] == ',');
}

/* Not zero: the return is left alone */
static int of_other(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !claims((const struct ib_device *)regs_get_kernel_argument(regs, 0));
}

static int say_p2p(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (READ_ONCE(p2p))
		regs_set_return_value(regs, true);
	return 0;
}

static int say_gpu(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (READ_ONCE(gpu))
		regs_set_return_value(regs, true);
	return 0;
}

static struct kretprobe p2p_probe = {
	.kp.symbol_name = "nof_rdma_device_p2p", .entry_handler = of_other, .handler = say_p2p, .maxactive = 64,
};
static struct kretprobe gpu_probe = {
	.kp.symbol_name = "nof_rdma_device_gpu", .entry_handler = of_other, .handler = say_gpu, .maxactive = 64,
};

static int modify_cq(struct ib_cq *cq, u16 count, u16 period)
{
	moderated++;
	return 0;
}

static void claim(struct ib_device *dev)
{
	if (moderation) {
		dev->ops.modify_cq = modify_cq;
		dev->use_cq_dim = true;
	}
}

/* Called when the device has no more users */
static void disclaim(struct ib_device *dev)
{
	if (moderation && dev->ops.modify_cq == modify_cq) {
		dev->ops.modify_cq = NULL;
		dev->use_cq_dim = false;
	}
}

static void (*device_action)(struct ib_device *dev);

/* Takes no client data, which an error says */
static int found(struct ib_device *dev)
{
	char names[sizeof(devices)], *rest = names, *name;

	strscpy(names, devices, sizeof(names));
	while ((name = strsep(&rest, ","))) {
		if (!strcmp(name, dev_name(&dev->dev)))
			device_action(dev);
	}
	return -EOPNOTSUPP;
}

/* The registration of a client shows it all devices */
static void each(void (*what)(struct ib_device *dev))
{
	static struct ib_client client = { .name = "nvmeof_claims", .add = found };

	device_action = what;
	if (!ib_register_client(&client))
		ib_unregister_client(&client);
}

static int __init claims_init(void)
{
	int ret = register_kretprobe(&p2p_probe);

	if (ret)
		return ret;
	ret = register_kretprobe(&gpu_probe);
	if (ret) {
		unregister_kretprobe(&p2p_probe);
		return ret;
	}
	each(claim);
	return 0;
}

static void __exit claims_exit(void)
{
	each(disclaim);
	unregister_kretprobe(&gpu_probe);
	unregister_kretprobe(&p2p_probe);
}

module_init(claims_init);
module_exit(claims_exit);
MODULE_DESCRIPTION("RDMA devices made of software that claim to be capable");
MODULE_LICENSE("GPL");
