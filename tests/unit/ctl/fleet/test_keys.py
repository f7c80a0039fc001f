# SPDX-License-Identifier: GPL-2.0
"""Keys of a fleet: made once, for their owner alone, and checked in the handshake."""

from __future__ import annotations

import socket
import ssl
import stat
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from spekctl.errors import NotPermittedError, SpekError, UsageError
from spekctl.fleet import keys
from spekctl.fleet.keys import Identity


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two fleets, with hosts of the same names."""
    place = tmp_path_factory.mktemp("keys")
    keys.make(place / "ours", ["a", "b"], 30)
    keys.make(place / "theirs", ["a", "b"], 30)
    return place


def test_nobody_but_the_owner_reads_them(folder: Path) -> None:
    for path in (folder / "ours").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((folder / "ours").stat().st_mode) == 0o700


def test_a_host_gets_no_key_but_its_own(folder: Path) -> None:
    own = sorted(path.name for path in (folder / "ours/a").iterdir())
    assert own == ["ca.pem", "cert.pem", "key.pem", "revoked"]


def test_they_are_not_overwritten(folder: Path) -> None:
    with pytest.raises(UsageError, match="exists already; keys are not overwritten"):
        keys.make(folder / "ours", ["a"], 30)


@pytest.mark.parametrize(
    ("hosts", "sentence"),
    [
        ([], "name the hosts"),
        (["a", "a"], "a is named twice"),
        (["controller"], "cannot be called controller"),
        (["authority"], "cannot be called authority"),
        (["a/b"], "is not the name of a host"),
    ],
)
def test_wrong_names_are_refused(tmp_path: Path, hosts: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        keys.make(tmp_path / "new", hosts, 30)
    assert not (tmp_path / "new").exists()


def test_a_certificate_says_who_it_is(folder: Path) -> None:
    host, controller = keys.load(folder / "ours/a"), keys.load(folder / "ours/controller")
    assert (host.own.role, host.own.name) == ("host", "a")
    assert (controller.own.role, controller.own.fleet) == ("controller", host.own.fleet)
    assert host.own.fleet != keys.load(folder / "theirs/a").own.fleet


def test_keys_that_others_can_read_are_not_used(tmp_path: Path) -> None:
    keys.make(tmp_path / "open", ["a"], 30)
    key = tmp_path / "open/a/key.pem"
    key.chmod(0o640)
    with pytest.raises(NotPermittedError, match="can be accessed by others"):
        keys.load(tmp_path / "open/a")
    key.chmod(0o600)
    (tmp_path / "open/a").chmod(0o755)
    with pytest.raises(NotPermittedError, match="can be accessed by others"):
        keys.load(tmp_path / "open/a")


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no .*ca\.pem; name the folder"):
        keys.load(tmp_path)
    keys.make(tmp_path / "new", ["a"], 30)
    (tmp_path / "new/a/cert.pem").write_text("no certificate")
    with pytest.raises(UsageError, match="is not a certificate of `spekctl fleet init`"):
        keys.load(tmp_path / "new/a")


@pytest.mark.parametrize("name", ["ca.pem", "cert.pem", "key.pem"])
def test_keys_that_cannot_be_read_are_named(tmp_path: Path, name: str) -> None:
    keys.make(tmp_path / "new", ["a"], 30)
    path = tmp_path / "new/a" / name
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match=rf"^cannot read {path}: Is a directory$"):
        keys.load(tmp_path / "new/a")


def test_a_list_of_serials_that_cannot_be_reached_is_not_passed_over(tmp_path: Path) -> None:
    keys.make(tmp_path / "new", ["a"], 30)
    path = tmp_path / "new/a/revoked"
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(UsageError, match="Too many levels of symbolic links"):
        keys.load(tmp_path / "new/a")


@pytest.mark.parametrize(("name", "other"), [("key.pem", "b/key.pem"), ("ca.pem", "b/key.pem")])
def test_keys_that_do_not_belong_together_are_refused(
    tmp_path: Path, name: str, other: str
) -> None:
    keys.make(tmp_path / "new", ["a", "b"], 30)
    (tmp_path / "new/a" / name).write_bytes((tmp_path / "new" / other).read_bytes())
    bundle = keys.load(tmp_path / "new/a")
    with pytest.raises(UsageError, match=r"are not the keys of one member of a fleet: "):
        bundle.context(True, ["host"])


def test_expired_keys_are_refused(tmp_path: Path) -> None:
    keys.make(tmp_path / "old", ["a"], 0)
    with pytest.raises(UsageError, match=r"the certificate of a in .* has expired"):
        keys.load(tmp_path / "old/a")


def test_a_wrong_list_of_serials_is_refused(tmp_path: Path) -> None:
    keys.make(tmp_path / "new", ["a"], 30)
    (tmp_path / "new/a/revoked").write_text("# a comment\n0aF3 # of b\nxyz\n")
    with pytest.raises(UsageError, match="line 3: 'xyz' is not a serial number"):
        keys.load(tmp_path / "new/a")
    (tmp_path / "new/a/revoked").write_text("0aF3 # of b\n")
    assert keys.load(tmp_path / "new/a").revoked.serials() == {0xAF3}


def test_a_certificate_without_a_fleet_is_nobody() -> None:
    assert keys.identity_of(None) is None
    assert keys.identity_of({"subject": (), "serialNumber": "AB"}) is None
    subject = ((("organizationName", "f"),), (("organizationalUnitName", "host"),))
    named = (*subject, (("commonName", "a"),))
    assert keys.identity_of({"subject": named, "serialNumber": "AB"}) == Identity(
        "f", "host", "a", 0xAB
    )


def shake(server: ssl.SSLContext, client: ssl.SSLContext) -> tuple[str, bytes]:
    """A handshake over a socket pair: the server's complaint, and what it then reads."""
    near, far = socket.socketpair()
    said: list[str] = []

    def connect() -> None:
        try:
            with client.wrap_socket(far) as tls:
                tls.sendall(b"hello")
        except OSError as error:
            said.append(str(error))
        finally:
            far.close()

    thread = threading.Thread(target=connect)
    thread.start()
    try:
        with server.wrap_socket(near, server_side=True) as tls:
            return "", tls.recv(5)
    except OSError as error:
        return str(error), b""
    finally:
        near.close()
        thread.join()


def contexts(
    server: Path, client: Path, roles: Sequence[str] = ("host",)
) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return (
        keys.load(server).context(True, roles),
        keys.load(client).context(False, ("controller", "host")),
    )


def test_members_of_a_fleet_talk(folder: Path) -> None:
    server, client = contexts(folder / "ours/controller", folder / "ours/a")
    assert shake(server, client) == ("", b"hello")


@pytest.mark.parametrize(
    ("client", "roles", "complaint"),
    [
        ("theirs/a", ("host",), "certificate verify failed"),
        ("ours/a", ("controller",), "its certificate is of a host, a"),
        ("ours/controller", ("host",), "its certificate is of a controller"),
    ],
)
def test_a_peer_that_should_not_be_there_is_refused_before_a_byte_is_read(
    folder: Path, client: str, roles: tuple[str, ...], complaint: str
) -> None:
    server, trusting = contexts(folder / "ours/controller", folder / client, roles)
    trusting.verify_mode = ssl.CERT_NONE
    refused, read = shake(server, trusting)
    assert complaint in refused and read == b""


def test_a_client_without_a_certificate_is_refused(folder: Path) -> None:
    server, _ = contexts(folder / "ours/controller", folder / "ours/a")
    client = ssl.create_default_context(cafile=str(folder / "ours/a/ca.pem"))
    client.check_hostname = False
    complaint, read = shake(server, client)
    assert "did not return a certificate" in complaint and read == b""


def test_a_server_of_another_fleet_or_role_is_refused(folder: Path) -> None:
    client = keys.load(folder / "ours/a").context(False, ("controller",))
    for place in ("theirs/controller", "ours/b"):
        server = keys.load(folder / place).context(True, ("host",))
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            thread = threading.Thread(target=accept_once, args=(listening, server))
            thread.start()
            with (
                socket.create_connection(listening.getsockname()) as plain,
                pytest.raises(ssl.SSLError, match=r"certificate|refused"),
            ):
                client.wrap_socket(plain)
            thread.join()


def accept_once(listening: socket.socket, context: ssl.SSLContext) -> None:
    plain, _ = listening.accept()
    try:
        with context.wrap_socket(plain, server_side=True) as tls:
            tls.recv(1)
    except OSError:
        plain.close()


def test_a_revoked_certificate_is_refused(tmp_path: Path) -> None:
    serials = keys.make(tmp_path / "new", ["a"], 30)
    (tmp_path / "new/controller/revoked").write_text(f"{serials['a']:x}\n")
    complaint, read = shake(*contexts(tmp_path / "new/controller", tmp_path / "new/a"))
    assert f"{serials['a']:x} of a is revoked" in complaint and read == b""


def test_a_certificate_that_is_revoked_while_the_controller_waits_is_refused(
    tmp_path: Path,
) -> None:
    serials = keys.make(tmp_path / "new", ["a", "b"], 30)
    listed = tmp_path / "new/controller/revoked"
    both = contexts(tmp_path / "new/controller", tmp_path / "new/a")
    assert shake(*both) == ("", b"hello")
    listed.write_text(f"{serials['a']:x}\n")
    complaint, read = shake(*both)
    assert f"{serials['a']:x} of a is revoked" in complaint and read == b""
    # A list that cannot be read refuses nobody by itself: so nobody gets in.
    listed.write_text("not a number\n")
    complaint, read = shake(both[0], keys.load(tmp_path / "new/b").context(False, ("controller",)))
    assert (
        "nobody is let in, because" in complaint and "'not a number' is not a serial" in complaint
    )
    assert read == b""


@pytest.mark.parametrize("left", ["# none\n", "", None], ids=["shortened", "empty", "gone"])
@pytest.mark.parametrize("added", ["before", "meanwhile"])
def test_a_certificate_that_was_revoked_stays_so(
    tmp_path: Path, added: str, left: str | None
) -> None:
    serials = keys.make(tmp_path / "new", ["a", "b"], 30)
    a, b = (keys.load(tmp_path / "new" / name).own for name in ("a", "b"))
    listed = tmp_path / "new/controller/revoked"
    text = f"{serials['b']:x}\n"
    if added == "before":
        listed.write_text(text)
    controller = keys.load(tmp_path / "new/controller")
    listed.write_text(text)
    assert "is revoked" in controller.refusal(b, [keys.HOST])
    if left is None:
        listed.unlink()
        # Nobody knows which serial numbers the list would have had.
        for host in (a, b):
            refusal = controller.refusal(host, [keys.HOST])
            assert refusal == f"nobody is let in, because {listed} is no longer there"
        listed.write_text("")
    else:
        listed.write_text(left)
    assert controller.refusal(a, [keys.HOST]) == ""
    assert "is revoked" in controller.refusal(b, [keys.HOST])


def test_a_folder_without_a_list_of_serials_revokes_none(tmp_path: Path) -> None:
    keys.make(tmp_path / "new", ["a"], 30)
    (tmp_path / "new/controller/revoked").unlink()
    controller = keys.load(tmp_path / "new/controller")
    assert controller.refusal(keys.load(tmp_path / "new/a").own, [keys.HOST]) == ""


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpekError, match="cannot create"):
        keys.make(tmp_path / "none/new", ["a"], 30)


def test_sudo_is_for_the_helper_alone() -> None:
    line = keys.sudoers("alice", "/usr/bin/spekctl")
    assert line == "alice ALL=(root) NOPASSWD: /usr/bin/spekctl host --stdio"
