/* SPDX-License-Identifier: GPL-2.0 */
/* privilege.h - rights that are not needed any more */
#ifndef SPEK_DAQ_PRIVILEGE_H
#define SPEK_DAQ_PRIVILEGE_H

#include <stdbool.h>

#include "error.h"

/**
 * daq_drop_privileges() - give up capabilities, for this thread and those it makes
 * @keep_admin: keep CAP_SYS_ADMIN, without which the prober takes nothing
 *
 * Files stay readable that belong to the user who runs this; nothing else does.
 * Return: 0, or -EPERM and a sentence.
 */
int daq_drop_privileges(bool keep_admin, struct daq_error *err);

#endif
