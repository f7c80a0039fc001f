/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What only the version and the vendor of a kernel say: which meanings changed while every name
 * and type stayed, so that no probe can ask the compiler.
 *
 * A version says so for kernels that follow the stable releases of kernel.org, as Debian's do.
 * Red Hat, SUSE and Ubuntu keep the version of a release and port later commits back to it: of
 * their kernels only that is known which was true of the release already. No vendor kernel is
 * listed yet; one would be where the tests have run on it.
 */
#ifndef SPEK_COMPAT_SERIES_H
#define SPEK_COMPAT_SERIES_H

#include <linux/version.h>

#include <generated/utsrelease.h>

/*
 * SPEK_COMPAT_MQ_SERIES() - kernel series on which the guest tests have run back end mq
 *
 * The only list: `make gen` copies it to ctl/spekctl/kernel/gen/series.py.
 */
#define SPEK_COMPAT_MQ_SERIES(is) (is(6, 1) || is(6, 12) || is(7, 3))

#define SPEK_COMPAT_IS_SERIES(major, minor) \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(major, (minor) + 1, 0))

/* RHEL_RELEASE_CODE is in version.h, UTS_UBUNTU_RELEASE_ABI in utsrelease.h. */
#if defined(RHEL_RELEASE_CODE) || defined(CONFIG_SUSE_VERSION) || defined(UTS_UBUNTU_RELEASE_ABI)
#define SPEK_COMPAT_IS_VENDOR 1
#else
#define SPEK_COMPAT_IS_VENDOR 0
#endif

#define SPEK_COMPAT_IS_TESTED SPEK_COMPAT_MQ_SERIES(SPEK_COMPAT_IS_SERIES)

/*
 * 99dc422335d8 ("block: support to account io_ticks precisely"), v6.10 and 6.1.93: requests count
 * as in flight, and time without one is not busy time. Earlier kernels don't decrement that count
 * for requests, and the start of a request adds a tick of busy time. Stable releases from 6.2 to
 * 6.9 differ and are not told apart here.
 */
#define SPEK_COMPAT_KNOWS_ACCOUNTING \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0) || \
	 (SPEK_COMPAT_IS_SERIES(6, 1) && !SPEK_COMPAT_IS_VENDOR))
#define SPEK_COMPAT_COUNTS_IN_FLIGHT (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 93))

/*
 * fd1464105cb3 ("fs: Avoid grabbing sb->s_umount under bdev->bd_holder_lock"), v6.7: since then
 * the callee of blk_holder_ops.mark_dead drops the lock, earlier the caller.
 */
#define SPEK_COMPAT_KNOWS_MARK_DEAD \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0) || !SPEK_COMPAT_IS_VENDOR)
#define SPEK_COMPAT_MARK_DEAD_UNLOCKS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0))

/*
 * What speaks against back end mq on this kernel, a sentence; empty: nothing. Where the accounting
 * is not known, mq is refused; elsewhere it has to be chosen explicitly.
 */
#if !SPEK_COMPAT_KNOWS_ACCOUNTING
#define SPEK_COMPAT_MQ_CAVEAT \
	"Back end mq counts requests in flight itself, and how this kernel counts them is not known."
#elif SPEK_COMPAT_IS_VENDOR
#define SPEK_COMPAT_MQ_CAVEAT \
	"Back end mq is untested on vendor kernels: their block layers are newer than their versions."
#elif !SPEK_COMPAT_IS_TESTED
#define SPEK_COMPAT_MQ_CAVEAT \
	"Back end mq is untested on this series of kernels."
#else
#define SPEK_COMPAT_MQ_CAVEAT ""
#endif

#endif
