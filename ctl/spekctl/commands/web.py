# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl web: a page to configure, watch and compare runs."""

from __future__ import annotations

import ipaddress
import os
import pwd
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from spekctl.commands.fleet import keys_option, need_engine, wait_option
from spekctl.commands.options import FilePath
from spekctl.errors import SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.host.client import Helper
    from spekctl.host.protocol import AnyEvent
    from spekctl.web.server import Server
    from spekctl.web.session import Session

EPILOG = """\b
Examples:
  spekctl web                      # runs are started with sudo -n
  sudo .venv/bin/spekctl web       # the server itself drops root
  spekctl web --listen 127.0.0.1:8080 --directory results
  spekctl web --fleet plan.toml --keys keys/controller    # on hosts of a plan
"""
_BECOME = {
    "sudo": ["sudo", "-n", "--"],
    "pkexec": ["pkexec"],
    "none": [],
}


@click.command(epilog=EPILOG)
@click.option(
    "--listen",
    default="127.0.0.1:0",
    show_default=True,
    metavar="ADDRESS:PORT",
    help="Where to listen: an IP address or localhost, and a port of 0 to 65535, of which 0 picks a"
    " free one. Only this machine can reach 127.0.0.1; 0.0.0.0 and [::] are all its addresses.",
)
@click.option(
    "--directory",
    type=FilePath(file_okay=False, path_type=Path),
    default=".",
    metavar="DIR",
    help="Directory of the results to show, and of new ones.  [default: the current one]",
)
@click.option(
    "--become",
    type=click.Choice(list(_BECOME)),
    default="sudo",
    show_default=True,
    help="How to start the helper that needs root. As root it is started directly.",
)
@click.option(
    "--fleet",
    "fleet_file",
    type=FilePath(path_type=Path),
    metavar="PLAN",
    help="Run on all hosts of a plan of `spekctl fleet`, in place of this machine.",
)
@keys_option
@wait_option
@click.pass_context
def command(
    context: click.Context,
    listen: str,
    directory: Path,
    become: str,
    fleet_file: Path | None,
    keys_folder: Path,
    wait_ns: int,
) -> int:
    """Serve a page to configure a run, start and stop it, watch it, and compare results.

    The address of the page goes to standard output. It contains a token: with it, everyone who can
    reach the address can load, and overwrite, the unused disks of this machine. The page keeps the
    token in its memory only: to load the page again, open the printed address again. Writing
    follows the rules of `spekctl run`: a device that holds data needs its serial number typed.

    The server does not run as root. It starts `spekctl host --stdio` with --become; started by
    root, it becomes the user who called sudo, or nobody. Ctrl-C ends the server and its run.

    If that user cannot read DIR, or the Python and packages that run the server (which are in
    root's home, for example), the server does not start, says what it is, and ends with code 2.

    With --fleet the page runs a plan on its hosts: it shows the phase of each host, the figures of
    all on one clock, which hosts are late or lost, and how far apart they started. The server needs
    no root, because each host has a helper of its own, and listens for hosts only during a run. For
    each run, type which data may be destroyed, by host and serial number: the plan does not decide.
    """
    _check_options(context, fleet_file)
    if fleet_file is not None:
        return _of_fleet(listen, directory, fleet_file, keys_folder, wait_ns)
    return _of_machine(listen, directory, become)


def _check_options(context: click.Context, fleet_file: Path | None) -> None:
    """UsageError for options that have no meaning together."""

    def is_given(name: str) -> bool:
        return context.get_parameter_source(name) is ParameterSource.COMMANDLINE

    if fleet_file is None:
        for name, flag in (("keys_folder", "--keys"), ("wait_ns", "--wait")):
            if is_given(name):
                raise UsageError(f"{flag} needs --fleet as well")
    elif is_given("become"):
        raise UsageError(
            "--become has no use with --fleet: each host starts a helper of its own, and nothing"
            " here needs root"
        )


def _of_fleet(
    listen: str, directory: Path, fleet_file: Path, keys_folder: Path, wait_ns: int
) -> int:
    from spekctl.fleet import plan
    from spekctl.fleet.protocol import AnyEvent
    from spekctl.host import client, privilege
    from spekctl.report import page
    from spekctl.web.fleet_session import FleetSession
    from spekctl.web.library import Library
    from spekctl.web.server import Server

    address, port = parse_listen(listen)
    page.require()
    need_engine()
    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}")
    libraries = privilege.libraries()
    if os.geteuid() == 0:
        _drop_root("the server runs as {user}")
    _check(directory, libraries)
    folder = keys_folder.expanduser().resolve()
    _check_readable(fleet_file, folder)
    file = plan.read(fleet_file)
    words = [sys.executable, "-P", "-m", "spekctl.fleet.agent", str(folder), str(wait_ns)]
    session = FleetSession(
        lambda on_event, on_end: client.Helper(
            words, on_event, on_end, AnyEvent, "the agent of the fleet"
        ),
        *(file, fleet_file.resolve(), Library(directory.resolve())),
    )
    try:
        server = Server(address, port, session)
    except OSError as error:
        raise UsageError(f"cannot listen on {listen}: {error.strerror}") from error
    try:
        return _serve(server)
    finally:
        server.server_close()
        session.close()


def _of_machine(listen: str, directory: Path, become: str) -> int:
    from spekctl.host import privilege
    from spekctl.report import page
    from spekctl.web.library import Library
    from spekctl.web.server import Server
    from spekctl.web.session import Session

    address, port = parse_listen(listen)
    page.require()
    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}")
    root = os.geteuid() == 0
    libraries = privilege.libraries()
    library = Library(directory.resolve())
    session = Session(_starter([] if root else _BECOME[become]), library, again=not root)
    try:
        server = Server(address, port, session)
    except OSError as error:
        raise UsageError(f"cannot listen on {listen}: {error.strerror}") from error
    try:
        _connect(session)
        if root:
            _drop_root("the server runs as {user}, its helper as root")
        _check(directory, libraries)
        return _serve(server)
    finally:
        server.server_close()
        session.close()


def parse_listen(text: str) -> tuple[str, int]:
    """ADDRESS:PORT, an IPv6 address in brackets."""
    host, colon, port = text.rpartition(":")
    allowed = (
        f"--listen: '{text}' is not ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:0: an IP address"
        " or localhost, and a port of 0 to 65535"
    )
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(allowed)
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if host == "localhost":
        return "127.0.0.1", int(port)
    try:
        return str(ipaddress.ip_address(host)), int(port)
    except ValueError:
        raise UsageError(allowed) from None


def _starter(
    become: list[str],
) -> Callable[[Callable[[AnyEvent], None], Callable[[str], None]], Helper[AnyEvent]]:
    from spekctl.host import client

    words = client.agent_command(become)
    return lambda on_event, on_end: client.Helper(words, on_event, on_end, name="the agent")


def _connect(session: Session) -> None:
    try:
        session.connect()
    except SpekError as error:
        click.echo(
            f"spekctl: runs cannot be started, results can be shown: {error.message}", err=True
        )


def _drop_root(text: str) -> None:
    """Become an unprivileged user, and print @text."""
    from spekctl.host import privilege

    user = privilege.user_to_be()
    privilege.drop(user)
    click.echo(f"spekctl: {text.format(user=user.pw_name)}", err=True)


def _check(directory: Path, libraries: Sequence[Path]) -> None:
    """As the user that the server runs as by now."""
    from spekctl.host import privilege

    needed = privilege.unreadable([*libraries, directory])
    if needed is not None:
        raise UsageError(
            f"{_user()}, as whom the server runs, cannot read {needed}; move it to where that user"
            " can, or start the server as another one"
        )
    if not os.access(directory, os.W_OK):
        click.echo(f"spekctl: cannot write into {directory}: results will not be kept", err=True)


def _user() -> str:
    """The user that the server runs as: its name, or, as in containers, its number."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def _check_readable(fleet_file: Path, folder: Path) -> None:
    """Load plan and keys, after the change to the user of the server."""
    from spekctl.fleet import keys, plan

    try:
        plan.load(fleet_file)
        keys.load(folder)
    except UsageError as error:
        if isinstance(error.__cause__, PermissionError):
            raise UsageError(
                f"{error.message}; the server runs as {_user()}, who must own the keys and be able"
                " to read the plan: start the server as such a user, without root"
            ) from error
        raise


def _serve(server: Server) -> int:
    import signal
    import threading

    from spekctl.errors import ExitCode

    address = ipaddress.ip_address(str(server.server_address[0]).partition("%")[0])
    if not address.is_loopback:
        click.echo(
            f"spekctl: warning: {address} can be reached from the network, by the machine's IP"
            " address, and the connection is not encrypted: anyone who can read it gets the token,"
            " and with it control of the disks that it can load;"
            f" safer: ssh -L {server.port}:127.0.0.1:{server.port} HOST",
            err=True,
        )
    ended: list[int] = []

    def end(signum: int, frame: object) -> None:
        ended.append(signum)
        threading.Thread(target=server.shutdown, daemon=True).start()

    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, end)
    click.echo(server.url)
    server.serve_forever(poll_interval=0.2)
    return int(ExitCode.TERMINATED if ended[:1] == [signal.SIGTERM] else ExitCode.INTERRUPTED)
