# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of a fleet: an authority of its own, and a pair for the controller and for each host.

Each certificate says the fleet (organization), the role (organizational unit) and the name (common
name). The peer of a connection is checked in the handshake, before a byte of it is parsed: its
signature and times by OpenSSL, its fleet, role, name and serial number here, since the engine
checks no names.

    DIR/authority/     ca.key, which signs further hosts: keep it away from all hosts
    DIR/controller/    ca.pem, cert.pem, key.pem, revoked
    DIR/NAME/          the same of a host, to be copied to it
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import ssl
import stat
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spekctl import extras, files
from spekctl.errors import NotPermittedError, UsageError
from spekctl.fleet.plan import CONTROLLER, check_name

HOST = "host"
AUTHORITY = "authority"
DAYS_MAX = 3650
_BACKDATED = datetime.timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a certificate says."""

    fleet: str
    role: str
    name: str
    serial: int


class Revoked:
    """The serial numbers of a list, which may change while a controller waits for hours or a
    campaign takes days. A serial number that it has had stays revoked, whatever becomes of the
    list: an editor may empty a file, or remove it, before it writes."""

    def __init__(self, path: Path) -> None:
        """UsageError: see serials()."""
        self._path = path
        self._has_existed = False
        self._seen: frozenset[int] = frozenset()
        self.serials()

    def serials(self) -> frozenset[int]:
        """Read the list again. UsageError if it cannot be read, or is no longer there."""
        if files.exists(self._path):
            self._has_existed = True
            self._seen |= _revoked(self._path)
        elif self._has_existed:
            raise UsageError(f"{self._path} is no longer there")
        return self._seen


@dataclass(frozen=True, slots=True)
class Bundle:
    """The keys of a member of a fleet, in a folder, with its list of revoked certificates. @ends:
    when its certificate expires."""

    folder: Path
    own: Identity
    revoked: Revoked
    ends: datetime.datetime

    def context(self, serving: bool, roles: Collection[str]) -> ssl.SSLContext:
        """For connections whose peer has a certificate of this fleet, in one of @roles. UsageError
        if OpenSSL does not take the keys."""
        purpose = ssl.Purpose.CLIENT_AUTH if serving else ssl.Purpose.SERVER_AUTH
        try:
            context = ssl.create_default_context(purpose, cafile=str(self.folder / "ca.pem"))
            context.load_cert_chain(self.folder / "cert.pem", self.folder / "key.pem")
        except OSError as error:
            raise UsageError(
                f"{self.folder}: ca.pem, cert.pem and key.pem are not the keys of one member of a"
                f" fleet: {error.strerror or error}"
            ) from error
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # Members are known by names that need not be in DNS; _Checked looks at them.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.sslsocket_class = _checking(self, frozenset(roles))
        return context

    def refusal(self, peer: Identity | None, roles: Collection[str]) -> str:
        """Why a peer is refused; empty if it is not."""
        if peer is None:
            return "it has no certificate of a fleet"
        if peer.fleet != self.own.fleet:
            return f"its certificate is of another fleet, {peer.fleet}"
        try:
            revoked = self.revoked.serials()
        except UsageError as error:
            return f"nobody is let in, because {error.message}"
        if peer.serial in revoked:
            return f"its certificate {peer.serial:x} of {peer.name} is revoked"
        if peer.role not in roles:
            return f"its certificate is of a {peer.role}, {peer.name}"
        return ""


def identity_of(certificate: Any) -> Identity | None:
    """What ssl's getpeercert() says; None if it is not as ours are."""
    if not certificate:
        return None
    subject = {key: value for part in certificate.get("subject", ()) for key, value in part}
    try:
        return Identity(
            subject["organizationName"],
            subject["organizationalUnitName"],
            subject["commonName"],
            int(certificate["serialNumber"], 16),
        )
    except (KeyError, ValueError):
        return None


def _checking(bundle: Bundle, roles: frozenset[str]) -> type[ssl.SSLSocket]:
    class Checked(ssl.SSLSocket):
        """Ends its handshake with a look at who the peer is."""

        def do_handshake(self, block: bool = False) -> None:
            super().do_handshake(block)
            refusal = bundle.refusal(identity_of(self.getpeercert()), roles)
            if refusal:
                raise ssl.SSLCertVerificationError(1, f"the peer is refused: {refusal}")

    return Checked


def load(folder: Path) -> Bundle:
    """The keys in a folder; an error says what is wrong with them."""
    for name in ("ca.pem", "cert.pem", "key.pem"):
        _check_readable(folder / name)
    for path in (folder, folder / "key.pem"):
        try:
            status = os.stat(path)
        except OSError as error:
            raise UsageError(f"cannot access {path}: {error.strerror}") from error
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise NotPermittedError(
                f"{path} can be accessed by others; chmod go= {path}, or make new keys if they may"
                " have been read"
            )
    own, ends = _own(folder / "cert.pem")
    if ends <= datetime.datetime.now(datetime.UTC):
        raise UsageError(
            f"the certificate of {own.name} in {folder} has expired ({ends:%Y-%m-%d}); make new"
            " keys with `spekctl fleet init`"
        )
    return Bundle(folder, own, Revoked(folder / "revoked"), ends)


def _check_readable(path: Path) -> None:
    """OpenSSL opens it later by its name, and says less."""
    try:
        with open(path, "rb") as file:
            file.read(1)
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no {path}; name the folder of the keys with --keys, or make the keys of a"
            " fleet with `spekctl fleet init`"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def _own(path: Path) -> tuple[Identity, datetime.datetime]:
    """What a certificate in a file says, and when it ends."""
    _need_cryptography()
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    wanted = (
        NameOID.ORGANIZATION_NAME,
        NameOID.ORGANIZATIONAL_UNIT_NAME,
        NameOID.COMMON_NAME,
    )
    try:
        own = x509.load_pem_x509_certificate(path.read_bytes())
        texts = [str(own.subject.get_attributes_for_oid(each)[0].value) for each in wanted]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, IndexError) as error:
        raise UsageError(f"{path} is not a certificate of `spekctl fleet init`") from error
    ends = own.not_valid_after_utc
    return Identity(texts[0], texts[1], texts[2], own.serial_number), ends


def _need_cryptography() -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise UsageError(
            f"keys need the Python package cryptography; install it: {extras.install('fleet')}"
        )


def _revoked(path: Path) -> frozenset[int]:
    """Serial numbers, in hexadecimal, one on each line; text behind # is for people."""
    serials = set()
    for number, line in enumerate(files.read_text(path).splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                serials.add(int(text, 16))
            except ValueError:
                raise UsageError(
                    f"{path}, line {number}: '{text}' is not a serial number in hexadecimal"
                ) from None
    return frozenset(serials)


def make(folder: Path, hosts: Sequence[str], days: int) -> dict[str, int]:
    """Make a fleet: all keys, below @folder, which must not be there. Return: serial numbers of the
    certificates by name."""
    _need_cryptography()
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    if not hosts:
        raise UsageError("name the hosts")
    for place, name in enumerate(hosts):
        check_name(name)
        if name == AUTHORITY:
            raise UsageError(
                f"a host cannot be called {AUTHORITY}: that folder has the fleet's key"
            )
        if name in hosts[:place]:
            raise UsageError(f"{name} is named twice")
    fleet = str(uuid.uuid4())
    now = datetime.datetime.now(datetime.UTC)

    def subject(role: str, name: str) -> x509.Name:
        return x509.Name(
            [
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, fleet),
                x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, role),
                x509.NameAttribute(NameOID.COMMON_NAME, name),
            ]
        )

    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = subject(AUTHORITY, "spek fleet")

    def certificate(
        name: x509.Name, public: ec.EllipticCurvePublicKey, is_ca: bool
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(ca_name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            # A host's clock may be behind.
            .not_valid_before(now - _BACKDATED)
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(is_ca, 0 if is_ca else None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()),
                critical=False,
            )
            .add_extension(
                x509.KeyUsage(
                    digital_signature=not is_ca,
                    content_commitment=False,
                    key_encipherment=False,
                    data_encipherment=False,
                    key_agreement=False,
                    key_cert_sign=is_ca,
                    crl_sign=is_ca,
                    encipher_only=False,
                    decipher_only=False,
                ),
                critical=True,
            )
        )
        if not is_ca:
            usages = [x509.OID_SERVER_AUTH, x509.OID_CLIENT_AUTH]
            builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        return builder.sign(ca_key, hashes.SHA256())

    def private(key: ec.EllipticCurvePrivateKey) -> bytes:
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    pem = serialization.Encoding.PEM
    ca = certificate(ca_name, ca_key.public_key(), True).public_bytes(pem)
    _new_folder(folder)
    _new_folder(folder / AUTHORITY)
    _new_file(folder / AUTHORITY / "ca.key", private(ca_key))
    _new_file(folder / AUTHORITY / "ca.pem", ca)
    serials = {}
    for name in (CONTROLLER, *hosts):
        role = CONTROLLER if name == CONTROLLER else HOST
        key = ec.generate_private_key(ec.SECP256R1())
        own = certificate(subject(role, name), key.public_key(), False)
        serials[name] = own.serial_number
        _new_folder(folder / name)
        _new_file(folder / name / "ca.pem", ca)
        _new_file(folder / name / "cert.pem", own.public_bytes(pem))
        _new_file(folder / name / "key.pem", private(key))
        listed = "# serial numbers of certificates that are refused, one on each line\n"
        _new_file(folder / name / "revoked", listed.encode())
    return serials


def _new_folder(folder: Path) -> None:
    try:
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)
    except FileExistsError as error:
        raise UsageError(
            f"{folder} exists already; keys are not overwritten: name a new folder"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot create {folder}: {error.strerror}") from error


def _new_file(path: Path, data: bytes) -> None:
    """A new file that only its owner can read."""
    try:
        place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(place, "wb") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def sudoers(user: str, program: str) -> str:
    """The line that lets @user start the host helper, and nothing else, without a password."""
    return f"{user} ALL=(root) NOPASSWD: {program} host --stdio"
