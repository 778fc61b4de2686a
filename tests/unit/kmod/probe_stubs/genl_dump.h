/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct nlattr;
struct netlink_callback;

#ifdef STUB_INFO
struct genl_info {
	struct nlattr **attrs;
};

const struct genl_info *genl_info_dump(struct netlink_callback *cb);
#endif

#ifdef STUB_DUMPIT
struct genl_dumpit_info {
	struct nlattr **attrs;
};

const struct genl_dumpit_info *genl_dumpit_info(struct netlink_callback *cb);
#endif
