/* SPDX-License-Identifier: GPL-2.0 */
/* Does a configuration fit: in itself, on this machine, on these devices? */
#ifndef SPEK_FIT_H
#define SPEK_FIT_H

#include <linux/types.h>

struct spek_asu;
struct spek_refusal;
struct spek_run;
struct spek_run_config;

/**
 * spek_fit_config() - check what needs no device
 *
 * Return: 0, or a negative errno with @refusal filled in.
 */
int spek_fit_config(const struct spek_run_config *config, struct spek_refusal *refusal);

/**
 * spek_fit_devices() - check everything that only the devices can tell
 * @run: its targets are open
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_fit_devices(const struct spek_run *run, struct spek_refusal *refusal);

/** spek_fit_extent_bytes() - Return: bytes of @asu on each of its targets. */
u64 spek_fit_extent_bytes(const struct spek_asu *asu);

/** spek_fit_parts() - Return: parts that an operation of @bytes can need at most. */
u32 spek_fit_parts(const struct spek_run *run, u32 bytes);

/** spek_fit_memory() - Return: true if what grows with the configuration fits. */
bool spek_fit_memory(const struct spek_run *run);

#endif
