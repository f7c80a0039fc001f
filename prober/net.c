// SPDX-License-Identifier: GPL-2.0
/*
 * Packets and bytes of the network interfaces.
 *
 * The source keeps no reference to an interface, which would delay its removal: each row looks
 * interfaces up by index. One that was removed or moved to another namespace is absent.
 *
 * Some drivers clear their counters, for example when the interface goes down. A counter that has
 * fallen is absent from that row and continues from its last value (core/counter.h).
 */
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "core/counter.h"
#include "source.h"
#include "uapi/spek_prober.h"

enum { NR_COLUMNS = SPEK_PROBER_NET_COLUMN_TX_DROPPED + 1 };

static const struct spek_probe_column columns[NR_COLUMNS] = {
	[SPEK_PROBER_NET_COLUMN_RX_PACKETS]	= { "rx-packets" },
	[SPEK_PROBER_NET_COLUMN_TX_PACKETS]	= { "tx-packets" },
	[SPEK_PROBER_NET_COLUMN_RX_BYTES]	= { "rx-bytes" },
	[SPEK_PROBER_NET_COLUMN_TX_BYTES]	= { "tx-bytes" },
	[SPEK_PROBER_NET_COLUMN_RX_ERRORS]	= { "rx-errors" },
	[SPEK_PROBER_NET_COLUMN_TX_ERRORS]	= { "tx-errors" },
	[SPEK_PROBER_NET_COLUMN_RX_DROPPED]	= { "rx-dropped" },
	[SPEK_PROBER_NET_COLUMN_TX_DROPPED]	= { "tx-dropped" },
};

static int net_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct net_device *dev;
	u32 nr = 0;
	int err;

	/* The only lock that protects the list and allows sleeping. */
	rtnl_lock();
	for_each_netdev(&init_net, dev)
		nr++;
	err = spek_probe_source_set_named(source, nr);
	if (err)
		goto out_unlock;

	/* One more, so that 0 interfaces get memory as well. */
	source->private = kvcalloc(array_size(nr + 1, NR_COLUMNS), sizeof(struct spek_counter),
				   GFP_KERNEL);
	if (!source->private) {
		err = -ENOMEM;
		goto out_unlock;
	}

	nr = 0;
	for_each_netdev(&init_net, dev) {
		source->entities[nr] = dev->ifindex;
		strscpy(spek_probe_source_name(source, nr), dev->name, SPEK_ENTITY_NAME);
		nr++;
	}

out_unlock:
	rtnl_unlock();
	return err;
}

static void net_stop(struct spek_probe_source *source)
{
	kvfree(source->private);
	source->private = NULL;
}

/* Cells without a value are absent already. */
static void sample_one(struct net_device *dev, struct spek_counter *counters, u64 *cells)
{
	struct rtnl_link_stats64 stats;
	u64 raw[NR_COLUMNS];
	u32 i;

	dev_get_stats(dev, &stats);
	raw[SPEK_PROBER_NET_COLUMN_RX_PACKETS] = stats.rx_packets;
	raw[SPEK_PROBER_NET_COLUMN_TX_PACKETS] = stats.tx_packets;
	raw[SPEK_PROBER_NET_COLUMN_RX_BYTES] = stats.rx_bytes;
	raw[SPEK_PROBER_NET_COLUMN_TX_BYTES] = stats.tx_bytes;
	raw[SPEK_PROBER_NET_COLUMN_RX_ERRORS] = stats.rx_errors;
	raw[SPEK_PROBER_NET_COLUMN_TX_ERRORS] = stats.tx_errors;
	raw[SPEK_PROBER_NET_COLUMN_RX_DROPPED] = stats.rx_dropped;
	raw[SPEK_PROBER_NET_COLUMN_TX_DROPPED] = stats.tx_dropped;

	for (i = 0; i < NR_COLUMNS; i++)
		spek_counter_read(&counters[i], raw[i], &cells[i]);
}

static void net_sample(struct spek_probe_source *source, u64 *cells)
{
	struct spek_counter *counters = source->private;
	struct net_device *dev;
	u32 i;

	spek_probe_source_set_absent(source, cells);
	for (i = 0; i < source->nr_entities; i++, counters += NR_COLUMNS, cells += NR_COLUMNS) {
		/* One at a time, as /proc/net/dev does, to keep RCU read sections short. */
		rcu_read_lock();
		dev = dev_get_by_index_rcu(&init_net, source->entities[i]);
		if (dev)
			sample_one(dev, counters, cells);
		rcu_read_unlock();
	}
}

const struct spek_probe_source_ops spek_probe_source_net = {
	.name		= "net",
	.table		= SPEK_PROBER_TABLE_NET,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.start		= net_start,
	.stop		= net_stop,
	.sample		= net_sample,
};
