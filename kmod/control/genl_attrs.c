// SPDX-License-Identifier: GPL-2.0-only
/* The generic netlink family, its replies, and objects as netlink attributes. */
#include <linux/module.h>
#include <net/netlink.h>
#include "control/genl.h"
#include "control/genl_attrs.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "mpath/events.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/path_stats.h"
#include "mpath/selector.h"
#include "wire/identify.h"

/*
 * netnsok: a connect uses the network namespace of the request, so the family exists in all of them. It reveals no
 * more than /sys/class/nvmeof, which every container can read. parallel_ops: handlers rely on the locks of the core
 * only; the slow part of a request runs after the handler, see struct deferred_ack in genl.c. resv_start_op is 0: all
 * commands are checked strictly. nof_genl_init() sets the commands.
 */
struct genl_family nof_genl_family __ro_after_init = {
	.name		= NVMEOF_GENL_NAME,
	.version	= NVMEOF_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
};

int nof_reply_begin(struct nof_reply *reply, struct genl_info *info)
{
	reply->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply->skb) {
		GENL_SET_ERR_MSG(info, "out of memory for the reply");
		return -ENOMEM;
	}
	/* the buffer is empty: a header always fits */
	reply->hdr = genlmsg_put_reply(reply->skb, info, &nof_genl_family, 0, info->genlhdr->cmd);
	return 0;
}

void nof_reply_send(struct nof_reply *reply, struct genl_info *info)
{
	genlmsg_end(reply->skb, reply->hdr);
	genlmsg_reply(reply->skb, info);
}

int nof_reply_end(struct nof_reply *reply, struct genl_info *info, int err)
{
	if (!err) {
		genlmsg_end(reply->skb, reply->hdr);
		return genlmsg_reply(reply->skb, info);
	}
	if (err == -EMSGSIZE)
		GENL_SET_ERR_MSG(info, "the reply does not fit into a netlink message");
	nlmsg_free(reply->skb);
	return err;
}

#define IDENTITY_TEXT	41	/* bytes of the longest text, the model, with the NUL */

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, NVMEOF_A_PAD);
}

static int put_flag(struct sk_buff *skb, int attr, bool set)
{
	return set ? nla_put_flag(skb, attr) : 0;
}

static int put_string_if(struct sk_buff *skb, int attr, const char *s)
{
	return *s ? nla_put_string(skb, attr, s) : 0;
}

/* A reconnect may overwrite the strings: copies guarantee that the length matches the content. */
static int put_identity(struct sk_buff *skb, const char *model, const char *serial, const char *firmware)
{
	char text[3][IDENTITY_TEXT];

	strscpy(text[0], model, sizeof(text[0]));
	strscpy(text[1], serial, sizeof(text[1]));
	strscpy(text[2], firmware, sizeof(text[2]));
	return nla_put_string(skb, NVMEOF_A_MODEL, text[0]) ?:
	       nla_put_string(skb, NVMEOF_A_SERIAL, text[1]) ?:
	       nla_put_string(skb, NVMEOF_A_FIRMWARE, text[2]);
}

/* SRCU keeps the selector, and its module, from going away without subsys->lock. */
static int put_iopolicy(struct sk_buff *skb, struct nof_subsys *s)
{
	int idx = srcu_read_lock(&s->srcu);
	int err = nla_put_string(skb, NVMEOF_A_IOPOLICY, rcu_dereference_raw(s->selector)->name);

	srcu_read_unlock(&s->srcu, idx);
	return err;
}

static int put_policy(struct sk_buff *skb, const struct nof_policy *p)
{
	return nla_put_u32(skb, NVMEOF_A_SPILL_US, READ_ONCE(p->spill_us)) ?:
	       nla_put_u32(skb, NVMEOF_A_SPILL_DEPTH, READ_ONCE(p->spill_depth)) ?:
	       nla_put_u8(skb, NVMEOF_A_DEGRADE, READ_ONCE(p->degrade)) ?:
	       nla_put_u32(skb, NVMEOF_A_FENCING, READ_ONCE(p->fencing)) ?:
	       nla_put_u32(skb, NVMEOF_A_DELAYED_REMOVAL, READ_ONCE(p->delayed_removal_secs)) ?:
	       nla_put_u32(skb, NVMEOF_A_QUIESCE_TMO, READ_ONCE(p->quiesce_tmo));
}

int nof_put_subsys(struct sk_buff *skb, struct nof_subsys *s)
{
	return nla_put_u32(skb, NVMEOF_A_SUBSYS_ID, s->id) ?:
	       nla_put_string(skb, NVMEOF_A_SUBSYS_NAME, nof_subsys_name(s)) ?:
	       nla_put_string(skb, NVMEOF_A_SUBSYSNQN, s->nqn) ?:
	       nla_put_string(skb, NVMEOF_A_HOSTNQN, s->hostnqn) ?:
	       nla_put(skb, NVMEOF_A_HOSTID, sizeof(s->hostid), s->hostid) ?:
	       put_identity(skb, s->model, s->serial, s->firmware) ?:
	       put_iopolicy(skb, s) ?:
	       put_policy(skb, &s->policy) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_CTRLS, READ_ONCE(s->nr_ctrls)) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_NS, READ_ONCE(s->nr_heads)) ?:
	       (READ_ONCE(s->tags_ready) ? nla_put_u32(skb, NVMEOF_A_TAGS, s->tags.queue_depth) : 0);
}

static int put_address(struct sk_buff *skb, const struct nof_opts *opts)
{
	return nla_put_string(skb, NVMEOF_A_TRANSPORT, opts->transport) ?:
	       nla_put_string(skb, NVMEOF_A_TRADDR, opts->traddr) ?:
	       nla_put_string(skb, NVMEOF_A_TRSVCID, opts->trsvcid) ?:
	       put_string_if(skb, NVMEOF_A_HOST_TRADDR, opts->host_traddr) ?:
	       put_string_if(skb, NVMEOF_A_HOST_IFACE, opts->host_iface);
}

static int put_settings(struct sk_buff *skb, const struct nof_opts *opts)
{
	return nla_put_u32(skb, NVMEOF_A_RECONNECT_DELAY, READ_ONCE(opts->reconnect_delay_ms)) ?:
	       nla_put_s32(skb, NVMEOF_A_CTRL_LOSS_TMO, READ_ONCE(opts->ctrl_loss_tmo_ms)) ?:
	       nla_put_s32(skb, NVMEOF_A_FAST_IO_FAIL_TMO, READ_ONCE(opts->fast_io_fail_tmo_ms)) ?:
	       nla_put_u32(skb, NVMEOF_A_CONNECT_TMO, opts->connect_tmo_ms) ?:
	       nla_put_u32(skb, NVMEOF_A_STALL_TMO, READ_ONCE(opts->stall_tmo_ms)) ?:
	       nla_put_u32(skb, NVMEOF_A_WANTED_POLL_QUEUES, opts->nr_poll_queues) ?:
	       nla_put_s32(skb, NVMEOF_A_FIRST_CONNECT_TMO, opts->first_connect_tmo_ms) ?:
	       nla_put_u8(skb, NVMEOF_A_TOS, opts->tos) ?:
	       put_flag(skb, NVMEOF_A_HDR_DIGEST, opts->hdr_digest) ?:
	       put_flag(skb, NVMEOF_A_DATA_DIGEST, opts->data_digest);
}

/* Values reported or granted by the target; zero or empty before the first connect. */
static int put_granted(struct sk_buff *skb, const struct nof_ctrl *ctrl)
{
	int err = 0;

	if (test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) || nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		err = nla_put_u16(skb, NVMEOF_A_CNTLID, ctrl->cntlid);
	return err ?: put_identity(skb, ctrl->ident.model, ctrl->ident.serial, ctrl->ident.firmware) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_IO_QUEUES, READ_ONCE(ctrl->queues.nr_default)) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_POLL_QUEUES, READ_ONCE(ctrl->queues.nr_poll)) ?:
	       nla_put_u32(skb, NVMEOF_A_QUEUE_SIZE, READ_ONCE(ctrl->sqsize)) ?:
	       put_flag(skb, NVMEOF_A_SQ_FLOW, READ_ONCE(ctrl->sq_flow)) ?:
	       put_flag(skb, NVMEOF_A_COPIES, READ_ONCE(ctrl->copies));
}

static int put_counts(struct sk_buff *skb, const struct nof_transport_info *info)
{
	return put_u64(skb, NVMEOF_A_POSTS, info->posts) ?:
	       put_u64(skb, NVMEOF_A_WORK_REQUESTS, info->work_requests) ?:
	       put_u64(skb, NVMEOF_A_CQES, info->cqes) ?:
	       put_u64(skb, NVMEOF_A_REGISTRATIONS, info->registrations) ?:
	       put_u64(skb, NVMEOF_A_INVALIDATIONS, info->invalidations) ?:
	       put_u64(skb, NVMEOF_A_REMOTE_INVALIDATIONS, info->remote_invalidations);
}

/* How the admin queue is authenticated, if it is, and by which key it would be */
static int put_auth(struct sk_buff *skb, struct nof_ctrl *ctrl)
{
	u32 agreed = READ_ONCE(ctrl->auth.agreed);
	u64 since, at = READ_ONCE(ctrl->auth.at);
	u32 key = nof_auth_key_serial(ctrl, &since);
	int err = put_flag(skb, NVMEOF_A_AUTH_REQUIRED, ctrl->opts.auth_required);

	if (!err && key)
		err = nla_put_u32(skb, NVMEOF_A_DHCHAP_KEY, key) ?: put_u64(skb, NVMEOF_A_AUTH_KEY_SINCE, since);
	if (err || !at)
		return err;
	return nla_put_u8(skb, NVMEOF_A_AUTH_HASH, NOF_AUTH_HASH(agreed)) ?:
	       nla_put_u8(skb, NVMEOF_A_AUTH_DHGROUP, NOF_AUTH_GROUP(agreed)) ?:
	       put_flag(skb, NVMEOF_A_AUTH_MUTUAL, NOF_AUTH_MUTUAL(agreed)) ?:
	       put_u64(skb, NVMEOF_A_AUTH_AT, at);
}

/* Without a key, the controller does not use TLS, or its authentication has not generated one yet. */
static int put_tls(struct sk_buff *skb, struct nof_ctrl *ctrl)
{
	u16 cipher = READ_ONCE(ctrl->tls.cipher);
	u32 serial, keyring;
	u64 since;
	int err;

	mutex_lock(&ctrl->tls.lock);
	serial = key_serial(ctrl->tls.key);
	keyring = ctrl->tls.keyring;
	since = ctrl->tls.since;
	mutex_unlock(&ctrl->tls.lock);
	err = put_flag(skb, NVMEOF_A_CONCAT, ctrl->opts.concat);
	if (err || !serial)
		return err;
	return nla_put_u32(skb, NVMEOF_A_TLS_KEY, serial) ?:
	       put_u64(skb, NVMEOF_A_TLS_KEY_SINCE, since) ?:
	       (keyring ? nla_put_u32(skb, NVMEOF_A_TLS_KEYRING, keyring) : 0) ?:
	       (cipher ? nla_put_u16(skb, NVMEOF_A_TLS_CIPHER, cipher) : 0) ?:
	       (cipher ? nla_put_u32(skb, NVMEOF_A_TLS_KEY_USED, READ_ONCE(ctrl->tls.used)) : 0) ?:
	       (cipher ? put_u64(skb, NVMEOF_A_TLS_AT, READ_ONCE(ctrl->tls.at)) : 0);
}

/* Puts nothing unless the controller is connected by a transport that has an info operation. */
static int put_connection(struct sk_buff *skb, struct nof_ctrl *ctrl)
{
	struct nof_transport_info info = {};

	nof_queues_info(ctrl, &info);
	if (!*info.device)
		return 0;
	return nla_put_string(skb, NVMEOF_A_RDMA_DEVICE, info.device) ?:
	       nla_put_u32(skb, NVMEOF_A_RDMA_PORT, info.port) ?:
	       nla_put(skb, NVMEOF_A_RDMA_GID, sizeof(info.gid), info.gid) ?:
	       nla_put_u32(skb, NVMEOF_A_ACK_TMO, ctrl->opts.ack_tmo_ms) ?:
	       nla_put_u32(skb, NVMEOF_A_RETRY_COUNT, ctrl->opts.retry_count) ?:
	       nla_put_u32(skb, NVMEOF_A_IN_CAPSULE, info.in_capsule) ?:
	       put_counts(skb, &info);
}

/* LAST_ERROR, LAST_ERRNO and LAST_STATUS, each if present */
static int put_last_error(struct sk_buff *skb, struct nof_ctrl *ctrl)
{
	char text[NOF_ERROR_TEXT];
	unsigned long flags;
	int err, code;
	u16 status;

	spin_lock_irqsave(&ctrl->error.lock, flags);
	strscpy(text, ctrl->error.text, sizeof(text));
	code = ctrl->error.err;
	status = ctrl->error.status;
	spin_unlock_irqrestore(&ctrl->error.lock, flags);

	err = put_string_if(skb, NVMEOF_A_LAST_ERROR, text);
	if (!err && code)
		err = nla_put_u32(skb, NVMEOF_A_LAST_ERRNO, code);
	if (!err && status)
		err = nla_put_u16(skb, NVMEOF_A_LAST_STATUS, status);
	return err;
}

/* Copied under the lock: CTRL_SET may change it at any time. */
static int put_owner(struct sk_buff *skb, struct nof_ctrl *ctrl)
{
	char owner[sizeof(ctrl->opts.owner)];
	unsigned long flags;

	spin_lock_irqsave(&ctrl->error.lock, flags);
	strscpy(owner, ctrl->opts.owner, sizeof(owner));
	spin_unlock_irqrestore(&ctrl->error.lock, flags);
	return put_string_if(skb, NVMEOF_A_OWNER, owner);
}

static int put_loss_left(struct sk_buff *skb, const struct nof_ctrl *ctrl)
{
	s64 ms = nof_ctrl_loss_left_ms(ctrl);

	return ms < 0 ? 0 : nla_put_u32(skb, NVMEOF_A_LOSS_LEFT, ms);
}

static int put_firmware_left(struct sk_buff *skb, const struct nof_ctrl *ctrl)
{
	if (!test_bit(NOF_CTRL_PAUSED, &ctrl->flags))
		return 0;
	return nla_put_u32(skb, NVMEOF_A_FIRMWARE_LEFT, nof_aer_pause_left_ms(ctrl));
}

int nof_put_ctrl(struct sk_buff *skb, struct nof_ctrl *ctrl)
{
	return nla_put_u32(skb, NVMEOF_A_SUBSYS_ID, ctrl->subsys->id) ?:
	       nla_put_u32(skb, NVMEOF_A_CTRL_ID, ctrl->id) ?:
	       nla_put_string(skb, NVMEOF_A_CTRL_NAME, nof_ctrl_name(ctrl)) ?:
	       nla_put_string(skb, NVMEOF_A_SUBSYSNQN, ctrl->opts.subsysnqn) ?:
	       nla_put_string(skb, NVMEOF_A_HOSTNQN, ctrl->opts.hostnqn) ?:
	       put_address(skb, &ctrl->opts) ?:
	       nla_put_u32(skb, NVMEOF_A_CTRL_STATE, nof_ctrl_state(ctrl)) ?:
	       put_granted(skb, ctrl) ?:
	       nla_put_u32(skb, NVMEOF_A_KATO, READ_ONCE(ctrl->ka.tmo_ms)) ?:
	       put_settings(skb, &ctrl->opts) ?:
	       nla_put_u32(skb, NVMEOF_A_RECONNECTS, READ_ONCE(ctrl->recovery.reconnects)) ?:
	       nla_put_u32(skb, NVMEOF_A_ATTEMPTS, READ_ONCE(ctrl->recovery.attempts)) ?:
	       put_loss_left(skb, ctrl) ?:
	       put_firmware_left(skb, ctrl) ?:
	       put_last_error(skb, ctrl) ?:
	       nla_put_u32(skb, NVMEOF_A_INFLIGHT, nof_ctrl_inflight(ctrl)) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_PATHS, READ_ONCE(ctrl->nr_paths)) ?:
	       nla_put_u32(skb, NVMEOF_A_SCANS, READ_ONCE(ctrl->scan.done)) ?:
	       put_auth(skb, ctrl) ?:
	       put_tls(skb, ctrl) ?:
	       put_connection(skb, ctrl) ?:
	       put_owner(skb, ctrl);
}

static int put_ids(struct sk_buff *skb, const struct nof_ns_ids *ids)
{
	int err = 0;

	if (ids->have & NOF_ID_UUID)
		err = nla_put(skb, NVMEOF_A_UUID, sizeof(ids->uuid), &ids->uuid);
	if (!err && ids->have & NOF_ID_NGUID)
		err = nla_put(skb, NVMEOF_A_NGUID, sizeof(ids->nguid), ids->nguid);
	if (!err && ids->have & NOF_ID_EUI64)
		err = nla_put(skb, NVMEOF_A_EUI64, sizeof(ids->eui64), ids->eui64);
	return err;
}

static int put_path_counts(struct sk_buff *skb, struct nof_head *head)
{
	u64 since = READ_ONCE(head->no_full_path_since);
	u32 usable = nof_head_nr_usable(head), live, expected;
	int err = 0;

	nof_head_count_paths(head, &live, &expected);
	if (!usable && since)
		err = put_u64(skb, NVMEOF_A_NO_PATH_SINCE, since);
	return err ?: nla_put_u32(skb, NVMEOF_A_NR_PATHS, READ_ONCE(head->nr_paths)) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_USABLE, usable) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_LIVE, live) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_EXPECTED, expected);
}

static int put_zones(struct sk_buff *skb, const struct nof_head *head)
{
	const struct nof_ns_format *f = &head->format;
	const struct nof_limits *lim = &head->limits;

	if (!f->zone_blocks)
		return 0;
	return put_u64(skb, NVMEOF_A_ZONE_SIZE, lim->zone_bytes) ?:
	       nla_put_u32(skb, NVMEOF_A_NR_ZONES, div64_u64(f->nlbas, f->zone_blocks)) ?:
	       nla_put_u32(skb, NVMEOF_A_OPEN_ZONES, READ_ONCE(lim->max_open_zones)) ?:
	       nla_put_u32(skb, NVMEOF_A_ACTIVE_ZONES, READ_ONCE(lim->max_active_zones)) ?:
	       nla_put_u32(skb, NVMEOF_A_ZONE_APPEND,
			   bdev_max_zone_append_sectors(head->disk->part0) << SECTOR_SHIFT);
}

/* Optional features of a namespace */
static int put_features(struct sk_buff *skb, const struct nof_head *head)
{
	const struct nof_limits *lim = &head->limits;
	u8 rescap = READ_ONCE(head->format.rescap);
	u32 atomic = READ_ONCE(lim->atomic_bytes), boundary = READ_ONCE(lim->atomic_boundary);
	int err = 0;

	if (rescap)
		err = nla_put_u8(skb, NVMEOF_A_RESERVATIONS, rescap);
	if (!err && head->format.pi_type)
		err = nla_put_u8(skb, NVMEOF_A_PROTECTION, head->format.pi_type);
	if (!err && atomic)
		err = nla_put_u32(skb, NVMEOF_A_ATOMIC_WRITE, atomic);
	if (!err && atomic && boundary)
		err = nla_put_u32(skb, NVMEOF_A_ATOMIC_BOUNDARY, boundary);
	return err;
}

/* Requests that fencing holds back, and the reason */
static int put_held(struct sk_buff *skb, struct nof_head *head)
{
	u32 held = nof_fence_held(head);
	struct nof_hold hold;
	int err;

	err = nla_put_u32(skb, NVMEOF_A_HELD, held);
	if (err || !held || !nof_fence_last(head->subsys, &hold))
		return err;
	err = nla_put_string(skb, NVMEOF_A_HOLD_OF, hold.of) ?: nla_put_u32(skb, NVMEOF_A_HOLD_LEFT, hold.left_ms);
	if (!err && *hold.resetter)
		err = nla_put_string(skb, NVMEOF_A_HOLD_ASKED, hold.resetter);
	return err;
}

/* The generic node counts only without a block device: monitoring programs keep it open. */
static u32 openers_of(const struct nof_head *head)
{
	return nof_format_is_generic(&head->format) ? atomic_read(&head->generic_opens) : disk_openers(head->disk);
}

int nof_put_ns(struct sk_buff *skb, struct nof_head *head)
{
	return nla_put_u32(skb, NVMEOF_A_SUBSYS_ID, head->subsys->id) ?:
	       nla_put_string(skb, NVMEOF_A_NS_NAME, nof_head_name(head)) ?:
	       nla_put_u32(skb, NVMEOF_A_NSID, head->nsid) ?:
	       nla_put_string(skb, NVMEOF_A_WWID, head->wwid) ?:
	       put_ids(skb, &head->format.ids) ?:
	       nla_put_u8(skb, NVMEOF_A_CSI, head->format.ids.csi) ?:
	       nla_put_u32(skb, NVMEOF_A_LBA_SIZE, nof_format_is_generic(&head->format) ? 0 : 1U << head->lba_shift) ?:
	       put_u64(skb, NVMEOF_A_SIZE, nof_head_size(head)) ?:
	       nla_put_u8(skb, NVMEOF_A_READ_ONLY, READ_ONCE(head->read_only)) ?:
	       put_path_counts(skb, head) ?:
	       nla_put_u32(skb, NVMEOF_A_OPENERS, openers_of(head)) ?:
	       nla_put_u32(skb, NVMEOF_A_WAITING, atomic_read(&head->waiting)) ?:
	       put_held(skb, head) ?:
	       put_flag(skb, NVMEOF_A_P2P, READ_ONCE(head->limits.p2p)) ?:
	       put_zones(skb, head) ?:
	       put_features(skb, head);
}

static int put_ana(struct sk_buff *skb, const struct nof_path *path)
{
	enum nvmeof_ana_state state = READ_ONCE(path->ana_state);
	int err;

	err = nla_put_u32(skb, NVMEOF_A_ANA_STATE, state);
	if (!err && state != NVMEOF_ANA_NONE)
		err = nla_put_u32(skb, NVMEOF_A_ANA_GROUP, READ_ONCE(path->ana_group));
	return err ?: put_u64(skb, NVMEOF_A_ANA_SINCE, READ_ONCE(path->ana_since));
}

static int put_hist(struct sk_buff *skb, int attr, const struct nof_path *path, bool write)
{
	u64 nr[NVMEOF_HIST_BUCKETS];

	nof_path_hist_sum(path, write, nr);
	return nla_put(skb, attr, sizeof(nr), nr);
}

static int put_stats(struct sk_buff *skb, const struct nof_path *path)
{
	struct nof_path_stats sum;

	nof_path_stats_sum(path, &sum);
	return put_u64(skb, NVMEOF_A_IOS, sum.ios) ?:
	       put_u64(skb, NVMEOF_A_BYTES_READ, sum.bytes_read) ?:
	       put_u64(skb, NVMEOF_A_BYTES_WRITTEN, sum.bytes_written) ?:
	       put_u64(skb, NVMEOF_A_ERRORS, sum.errors) ?:
	       put_u64(skb, NVMEOF_A_RETRIES, sum.retries) ?:
	       put_u64(skb, NVMEOF_A_ABORTS, atomic_read(&path->aborts)) ?:
	       put_u64(skb, NVMEOF_A_FAILOVERS_FROM, sum.failovers_from) ?:
	       put_u64(skb, NVMEOF_A_FAILOVERS_TO, sum.failovers_to) ?:
	       put_hist(skb, NVMEOF_A_LATENCY_READ, path, false) ?:
	       put_hist(skb, NVMEOF_A_LATENCY_WRITE, path, true) ?:
	       put_u64(skb, NVMEOF_A_LATENCY_READ_NS, sum.ns[0]) ?:
	       put_u64(skb, NVMEOF_A_LATENCY_WRITE_NS, sum.ns[1]);
}

int nof_put_path(struct sk_buff *skb, struct nof_path *path)
{
	return nla_put_string(skb, NVMEOF_A_PATH_NAME, path->name) ?:
	       nla_put_string(skb, NVMEOF_A_NS_NAME, nof_head_name(path->head)) ?:
	       nla_put_string(skb, NVMEOF_A_CTRL_NAME, nof_ctrl_name(path->ctrl)) ?:
	       nla_put_u32(skb, NVMEOF_A_NSID, path->nsid) ?:
	       nla_put_u32(skb, NVMEOF_A_CTRL_STATE, nof_ctrl_state(path->ctrl)) ?:
	       put_ana(skb, path) ?:
	       nla_put_u8(skb, NVMEOF_A_USABLE, READ_ONCE(path->usable)) ?:
	       nla_put_u8(skb, NVMEOF_A_DEGRADED, nof_path_degraded(path)) ?:
	       nla_put_u8(skb, NVMEOF_A_SUSPECT, READ_ONCE(path->ctrl->suspect)) ?:
	       nla_put_u8(skb, NVMEOF_A_PROBATION, READ_ONCE(path->ctrl->probation.on)) ?:
	       nla_put_u32(skb, NVMEOF_A_INFLIGHT, nof_path_inflight(path)) ?:
	       put_stats(skb, path) ?:
	       put_flag(skb, NVMEOF_A_P2P, READ_ONCE(path->ctrl->limits.p2p)) ?:
	       put_flag(skb, NVMEOF_A_NVFS, READ_ONCE(path->ctrl->limits.gpu)) ?:
	       nla_put_u32(skb, NVMEOF_A_RECONNECTS, READ_ONCE(path->ctrl->recovery.reconnects)) ?:
	       put_last_error(skb, path->ctrl);
}
