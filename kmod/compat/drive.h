/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels that only the modelled drive meets. See compat.h. */
#ifndef SPEK_COMPAT_DRIVE_H
#define SPEK_COMPAT_DRIVE_H

#include <linux/hrtimer.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_host.h>

#include "spek_have.h"

/**
 * spek_compat_hrtimer_setup() - initialise a timer of absolute monotonic times
 * @timer: timer
 * @function: called when it expires
 */
static inline void
spek_compat_hrtimer_setup(struct hrtimer *timer,
			  enum hrtimer_restart (*function)(struct hrtimer *timer))
{
#ifdef SPEK_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = function;
#endif
}

/* What scsi_host_template.queuecommand returns: an int, or an enum of its own since v7.0. */
#define spek_compat_qc_status \
	typeof(((struct scsi_host_template *)NULL)->queuecommand(NULL, NULL))

#endif
