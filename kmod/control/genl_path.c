// SPDX-License-Identifier: GPL-2.0-only
/* Netlink commands on paths. */
#include "control/genl.h"
#include "control/put.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"

static int put_path(struct sk_buff *skb, void *path)
{
	return nof_put_path(skb, path);
}

int nof_genl_path_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NVMEOF_A_PATH_NAME];
	struct nlattr *odd = info->attrs[NVMEOF_A_NS_NAME] ?: info->attrs[NVMEOF_A_CTRL_NAME];
	struct nof_path *path;
	int err;

	if (odd) {
		nof_genl_bad(info->extack, odd, "NS_NAME and CTRL_NAME only select in a dump");
		return -EINVAL;
	}
	if (nof_genl_missing(info, NVMEOF_A_PATH_NAME, "PATH_NAME is missing"))
		return -EINVAL;
	path = nof_path_find(nla_data(name));
	if (!path) {
		nof_genl_bad(info->extack, name, "there is no path of this name");
		return -ENODEV;
	}
	/* A path outlives its disk, whose name is shown, but not while it is in the list. */
	err = nof_reply_object(info, path->head->subsys, &path->entry, put_path, path);
	kobject_put(&path->kobj);
	return err;
}
