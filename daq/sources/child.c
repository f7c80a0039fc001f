// SPDX-License-Identifier: GPL-2.0
/* Starting a program, listening to it, and ending it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"
#include "privilege.h"
#include "say.h"
#include "sources/child.h"

#define SHELL "/bin/sh"
#define TERM_MS 1000
#define LAST_READS 256
#define STEP_NS 5000000

/* ---- start ---- */

/* Only calls that are safe after fork: another thread may hold a lock of the C library. */
static void __attribute__((noreturn)) become(const char *command, pid_t parent, int out, int errors)
{
	static const int reset[] = { SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGHUP };
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;
	size_t i;

	setpgid(0, 0);
	sigemptyset(&none);
	for (i = 0; i < sizeof(reset) / sizeof(reset[0]); i++)
		signal(reset[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(errors, STDERR_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) ||
	    !daq_drop_all() || prctl(PR_SET_PDEATHSIG, SIGTERM))
		_exit(EXIT_FAILURE);
	/* The parent may have died before the request for its signal. */
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	execl(SHELL, SHELL, "-c", command, NULL);
	_exit(127);
}

int daq_child_start(struct daq_child *child, const char *command, struct daq_error *err)
{
	pid_t parent = getpid();
	int out[2], errors[2];

	memset(child, 0, sizeof(*child));
	if (pipe2(out, O_CLOEXEC))
		return daq_fail(err, errno, "cannot create a pipe: %s", strerror(errno));
	if (pipe2(errors, O_CLOEXEC)) {
		daq_error_set(err, "cannot create a pipe: %s", strerror(errno));
		close(out[0]);
		close(out[1]);
		return -EMFILE;
	}
	child->pid = fork();
	if (!child->pid)
		become(command, parent, out[1], errors[1]);
	close(out[1]);
	close(errors[1]);
	child->out = out[0];
	child->errors = errors[0];
	if (child->pid < 0) {
		child->pid = 0;
		close(child->out);
		close(child->errors);
		return daq_fail(err, EAGAIN, "cannot create a process for the program");
	}
	/* In both processes, as either may be first; it fails once the program is executed. */
	setpgid(child->pid, child->pid);
	fcntl(child->out, F_SETFL, O_NONBLOCK);
	fcntl(child->errors, F_SETFL, O_NONBLOCK);
	return 0;
}

/* ---- what it says ---- */

static void say_line(struct daq_child *child)
{
	if (child->said_length)
		daq_say("the program: %.*s", (int)child->said_length, child->said);
	child->said_length = 0;
}

/* Control characters could make a terminal do things. A line without an end is said in pieces. */
static void hear(struct daq_child *child, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == '\n' || child->said_length == sizeof(child->said))
			say_line(child);
		if (byte == '\n' || byte == '\r')
			continue;
		child->said[child->said_length++] =
			(byte < ' ' && byte != '\t') || byte == 0x7f ? '?' : (char)byte;
	}
}

static void listen_to(struct daq_child *child)
{
	char text[512];
	ssize_t length = read(child->errors, text, sizeof(text));

	if (length > 0) {
		hear(child, text, (size_t)length);
		return;
	}
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	say_line(child);
	close(child->errors);
	child->errors = -1;
}

bool daq_child_wait(struct daq_child *child, int timeout_ms)
{
	uint64_t end_ns = daq_now_ns() + (uint64_t)timeout_ms * 1000000;
	uint64_t now_ns;

	do {
		struct pollfd wait[] = {
			{ .fd = child->out, .events = POLLIN },
			{ .fd = child->errors, .events = POLLIN },
		};

		now_ns = daq_now_ns();
		poll(wait, 2, now_ns < end_ns ? (int)((end_ns - now_ns + 999999) / 1000000) : 0);
		if (wait[1].revents)
			listen_to(child);
		if (wait[0].revents)
			return true;
	} while (daq_now_ns() < end_ns);
	return false;
}

/* ---- end ---- */

/*
 * Return: whether the program has ended. It remains a zombie, so that its group cannot be
 * another's.
 */
static bool has_ended(const struct daq_child *child, int within_ms)
{
	uint64_t end_ns = daq_now_ns() + (uint64_t)within_ms * 1000000;

	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid)
			return true;
		if (daq_now_ns() >= end_ns)
			return false;
		daq_sleep_until(daq_now_ns() + STEP_NS, within_ms);
	}
}

bool daq_child_stop(struct daq_child *child, int grace_ms, int *status)
{
	bool by_itself;

	if (!child->pid)
		return false;
	by_itself = has_ended(child, grace_ms);
	kill(-child->pid, SIGTERM);
	if (!by_itself)
		has_ended(child, TERM_MS);
	kill(-child->pid, SIGKILL);
	while (waitpid(child->pid, status, 0) < 0 && errno == EINTR)
		;
	/* A descendant that has left the group may go on writing. */
	for (int rest = LAST_READS; child->errors >= 0 && rest; rest--) {
		struct pollfd wait = { .fd = child->errors, .events = POLLIN };

		if (poll(&wait, 1, 0) <= 0)
			break;
		listen_to(child);
	}
	say_line(child);
	close(child->out);
	if (child->errors >= 0)
		close(child->errors);
	child->pid = 0;
	return by_itself;
}
