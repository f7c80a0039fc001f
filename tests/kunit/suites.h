/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of tests share. */
#ifndef SPEK_KUNIT_SUITES_H
#define SPEK_KUNIT_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite spek_core_suite;
extern struct kunit_suite spek_fifo_suite;
extern struct kunit_suite spek_gen_suite;
extern struct kunit_suite spek_log_suite;
extern struct kunit_suite spek_run_suite;

/** spek_kunit_device() - Return: number of the block device that runs may use, 0 without one. */
dev_t spek_kunit_device(void);

#endif
