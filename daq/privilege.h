/* SPDX-License-Identifier: GPL-2.0 */
/* privilege.h - dropping capabilities */
#ifndef SPEK_DAQ_PRIVILEGE_H
#define SPEK_DAQ_PRIVILEGE_H

#include <stdbool.h>

#include "error.h"

/**
 * daq_drop_privileges() - drop capabilities of this thread and of threads it creates later
 * @keep_admin: keep CAP_SYS_ADMIN, which the prober requires
 *
 * Afterwards only the file permissions of the process's user apply.
 * Return: 0, or -EPERM and a sentence.
 */
int daq_drop_privileges(bool keep_admin, struct daq_error *err);

/**
 * daq_drop_all() - drop all capabilities between fork and exec, where no library may be called
 *
 * The program that exec() starts has none either, even as root.
 *
 * Return: whether they are gone.
 */
bool daq_drop_all(void);

#endif
