"""Deploys the probe to a desktop over SSH and starts it; skips steps already done."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import MachineStartError, MesocosmError
from foundation.files import canonical_json, digest_bytes
from provisioning.links.virtio import GUEST_PORT
from provisioning.links.zipapp import build_probe

if TYPE_CHECKING:
    from provisioning.links.ssh import SshSession
    from provisioning.links.zipapp import ProbeArchive

GUEST_DIR = "/usr/local/lib/mesocosm"
TAG = f"{GUEST_DIR}/probe.json"
PIDFILE = "/run/mesocosm/probe.pid"
LOG = "/var/log/mesocosm-probe.log"
PYTHON = "/usr/bin/python3"

_TAG_FORMAT = 1
_EXIT_RUNNING = 75

# Ends the daemon in the pid file if it is a probe of another version.
_STOP = """
pid=$(cat {pidfile} 2>/dev/null) || exit 0
case "$(tr '\\0' ' ' < /proc/$pid/cmdline 2>/dev/null)" in
  *{path}*) exit 3;;
  *mesocosm/probe-*) ;;
  *) exit 0;;
esac
kill "$pid"
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2>/dev/null || exit 0; sleep 0.2; done
kill -9 "$pid"
"""


@dataclass(frozen=True, slots=True)
class Deployment:
    """The result of a deployment.

    Attributes:
        digest: digest of the running probe.
        path: path of its file in the guest.
        was_stored: whether the file was stored already.
        was_running: whether the daemon was running already.
    """

    digest: str
    path: str
    was_stored: bool
    was_running: bool


def deploy_probe(
    ssh: SshSession, *, port: str = GUEST_PORT, user: str = "user", timeout_s: float = 60.0
) -> Deployment:
    """Store this checkout's probe in the guest and start it as a daemon on its port.

    The tag file, which identifies the stored probe, is written last, after the probe's file is
    written and verified. So an interrupted deployment is repeated from the start.

    Args:
        ssh: SSH session as root.
        port: path of the virtio-serial port in the guest.
        user: user of the graphical session.
        timeout_s: time limit of each step.

    Raises:
        MachineStartError: the probe could not be stored or started.
        LinkTimeoutError, LinkClosedError: the guest did not answer.
    """
    archive = build_probe()
    was_stored = is_stored(ssh, archive, timeout_s=timeout_s)
    if not was_stored:
        store(ssh, archive, timeout_s=timeout_s)
    was_running = _start(ssh, archive, port, user, timeout_s=timeout_s)
    return Deployment(archive.digest, guest_path(archive), was_stored, was_running)


def guest_path(archive: ProbeArchive) -> str:
    """Return the path of a probe in guests."""
    return f"{GUEST_DIR}/{archive.file_name}"


def stdio_argv(archive: ProbeArchive, *, user: str = "user") -> list[str]:
    """Return the command that runs a stored probe on its standard streams."""
    return [PYTHON, "-I", guest_path(archive), "--stdio", "--user", user]


def streams_argv(archive: ProbeArchive, nonce: bytes) -> list[str]:
    """Return the command that carries streams over the standard streams of a stored probe.

    Args:
        archive: the probe.
        nonce: what its output begins with.
    """
    return [PYTHON, "-I", guest_path(archive), "--streams", nonce.hex()]


def is_stored(ssh: SshSession, archive: ProbeArchive, *, timeout_s: float = 30.0) -> bool:
    """Return whether this version of the probe is stored completely in the guest."""
    result = ssh.run(["/bin/cat", TAG], timeout_s=timeout_s)
    try:
        tag = json.loads(result.stdout) if result.exit_code == 0 else None
    except ValueError:
        return False
    return tag == _tag(archive)


def store(ssh: SshSession, archive: ProbeArchive, *, timeout_s: float = 60.0) -> None:
    """Write the probe, accessible to root only, verify it, and write its tag.

    Raises:
        MachineStartError: the guest refused, or the stored file differs from what was sent.
    """
    path = guest_path(archive)
    try:
        ssh.run(["/bin/mkdir", "-p", "-m", "0755", GUEST_DIR], timeout_s=timeout_s).require()
        ssh.put(path, archive.data, mode=0o700, timeout_s=timeout_s)
        check = ssh.run(["/usr/bin/sha256sum", path], timeout_s=timeout_s).require()
    except MesocosmError as exc:
        raise MachineStartError("The probe could not be stored in the guest.", str(exc)) from exc
    if check.text.split()[:1] != [digest_bytes(archive.data)]:
        raise MachineStartError("The probe was corrupted in the transfer to the guest.", check.text)
    ssh.put(TAG, canonical_json(_tag(archive)).encode(), timeout_s=timeout_s)


def _start(
    ssh: SshSession, archive: ProbeArchive, port: str, user: str, *, timeout_s: float
) -> bool:
    """Start the daemon unless it is running; return whether it was running."""
    path = guest_path(archive)
    stop = _STOP.format(pidfile=PIDFILE, path=shlex.quote(path))
    if ssh.run(["/bin/sh", "-c", stop], timeout_s=timeout_s).exit_code == 3:  # noqa: PLR2004
        return True
    argv = [PYTHON, "-I", path, "--port", port, "--user", user]
    argv += ["--daemon", "--pidfile", PIDFILE, "--log", LOG]
    started = ssh.run(argv, timeout_s=timeout_s)
    if started.exit_code not in (0, _EXIT_RUNNING):
        raise MachineStartError(
            "The probe did not start in the guest.",
            details=started.stderr.decode(errors="replace")[-2000:],
            resolution="The guest image does not meet the probe's requirements; rebuild the image.",
        )
    return started.exit_code == _EXIT_RUNNING


def _tag(archive: ProbeArchive) -> dict[str, str | int]:
    return {"format": _TAG_FORMAT, "digest": archive.digest, "file": archive.file_name}
