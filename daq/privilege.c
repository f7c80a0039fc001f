// SPDX-License-Identifier: GPL-2.0
/* Dropping capabilities. */
#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"

int daq_drop_privileges(bool keep_admin, struct daq_error *err)
{
	bool has_admin;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (capng_get_caps_process())
		return daq_fail(err, EPERM, "cannot read this process's capabilities");
	has_admin = capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN);
	capng_clear(CAPNG_SELECT_CAPS);
	if (keep_admin && has_admin)
		capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_SYS_ADMIN, -1);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return daq_fail(err, EPERM, "cannot drop this process's capabilities");
	return 0;
}

bool daq_drop_all(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(SYS_capset, &head, none);
}
