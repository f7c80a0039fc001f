// SPDX-License-Identifier: GPL-2.0
/* Capabilities, and the service manager's socket. */
#include <cap-ng.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "privilege.h"

int daq_drop_privileges(bool keep_admin, struct daq_error *err)
{
	bool has_admin;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (capng_get_caps_process())
		return daq_fail(err, EPERM, "this process's capabilities can't be read");
	has_admin = capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN);
	capng_clear(CAPNG_SELECT_CAPS);
	if (keep_admin && has_admin)
		capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_SYS_ADMIN, -1);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return daq_fail(err, EPERM, "this process's capabilities can't be dropped");
	return 0;
}

void daq_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	socklen_t length;
	int fd;

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, strlen(path));
	/* Abstract sockets' names begin with a 0. */
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* Nobody to tell is no failure of ours. */
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to, length);
	close(fd);
}
