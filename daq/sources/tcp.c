// SPDX-License-Identifier: GPL-2.0
/* See tcp.h. */
#include "sources/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool daq_tcp_is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static int begin(int fd, const char *host, uint16_t port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, host, &four.sin_addr) == 1)
		return connect(fd, (struct sockaddr *)&four, sizeof(four));
	inet_pton(AF_INET6, host, &six.sin6_addr);
	return connect(fd, (struct sockaddr *)&six, sizeof(six));
}

static int finish(int fd, const struct daq_stop *stop, uint64_t end_ns)
{
	int error = daq_stop_wait(stop, fd, POLLOUT, end_ns);
	socklen_t length = sizeof(error);

	if (error)
		return error;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) ? -errno : -error;
}

int daq_tcp_connect(const char *host, uint16_t port, const struct daq_stop *stop, uint64_t end_ns)
{
	int family = strchr(host, ':') ? AF_INET6 : AF_INET;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = 0, yes = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (begin(fd, host, port))
		error = errno == EINPROGRESS ? finish(fd, stop, end_ns) : -errno;
	if (!error)
		return fd;
	close(fd);
	return error;
}
