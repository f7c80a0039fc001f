/* SPDX-License-Identifier: GPL-2.0 */
/* Large memory of a worker, on its NUMA node. */
#ifndef SPEK_MEMORY_H
#define SPEK_MEMORY_H

#include <linux/mm.h>
#include <linux/vmalloc.h>

/**
 * spek_zalloc_node() - allocate zeroed memory on a NUMA node, of any size
 * @bytes: size; SIZE_MAX, which array_size() returns on overflow, fails
 * @node: node preferred
 *
 * Fails instead of calling the OOM killer, unlike vzalloc_node(), which takes no flags.
 * kvmalloc_node() refuses more than INT_MAX bytes; those come from the node on which the
 * caller runs.
 *
 * Context: process, may sleep.
 * Return: the memory, 64-byte aligned if larger than 192 bytes, for kvfree(); or NULL.
 */
static inline void *spek_zalloc_node(size_t bytes, int node)
{
	gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN | __GFP_ZERO;

	if (bytes == SIZE_MAX)
		return NULL;
	return bytes <= INT_MAX ? kvmalloc_node(bytes, gfp, node) : __vmalloc(bytes, gfp);
}

#endif
