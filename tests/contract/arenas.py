"""Where the red team plays: a desktop with a probe, and a shell of the agent's user on it.

The set runs on a stand-in desktop here, and on every desktop machine of `machines.IMPLEMENTATIONS`
that has a probe inside.
"""

from __future__ import annotations

import base64
import contextlib
import os
import pwd
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from appliance.base import process
from evaluators.bundle import Bundle, desktop_bundle
from evaluators.runners import BundleRunner
from provisioning.links.client import connect
from provisioning.links.local import ProcessTransport
from provisioning.links.zipapp import build_probe
from tests.contract.machines import IMPLEMENTATIONS
from tests.standins.desktop import DesktopStandIn, clean, is_ready
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from evaluators.graph.outcome import Call, Outcome
    from provisioning.protocols import Link

MARK = "MESOCOSM_RED"
_DISK = "size=16m,mode=755"

# The probe sees a user table in which the agent's user has a home folder, on a small disk.
_ENTER = """
mount --make-rprivate / && mount --bind {passwd} /etc/passwd &&
mount -t tmpfs -o {disk},uid={uid},gid={gid} none {home} && exec "$@"
"""


@dataclass(frozen=True)
class Arena:
    """One desktop.

    Attributes:
        link: to its probe.
        user: the agent's.
        may_fill: its disk may be filled up.
        back: rewinds it to what it was before the red team came, where that is quick.
    """

    link: Link
    user: str
    may_fill: bool
    back: Callable[[], object] | None = None

    def shell(self, script: str, *, timeout_s: float = 120.0, user: str = "") -> str:
        """Run a script as the agent; give what it printed, errors too."""
        reply = self.link.call(
            "exec",
            {
                "argv": ["/bin/sh", "-c", f"cd ~ || exit 1; {script}"],
                "user": user or self.user,
                "env": {MARK: "1"},
                "timeout_s": timeout_s,
            },
            timeout_s=timeout_s + 10,
        )
        said = cast("dict[str, str]", reply)
        return b"".join(
            base64.b64decode(said[f"{name}_b64"]) for name in ("stdout", "stderr")
        ).decode(errors="replace")

    def background(self, script: str) -> None:
        """Leave a script running as the agent."""
        self.shell(f"setsid /bin/sh -c {shlex.quote(script)} < /dev/null > /dev/null 2>&1 &")

    def judge(
        self, calls: Sequence[Call], *, timeout_s: float = 20.0, bundle: Bundle | None = None
    ) -> dict[str, Outcome]:
        """Ask the probe, as a trial does."""
        given = BundleRunner(self.link, bundle or desktop_bundle()).evaluate(
            calls, timeout_s=timeout_s
        )
        return {outcome.node: outcome for outcome in given}

    def clear(self) -> None:
        """End what the red team left running; nobody else's."""
        script = (
            f"for p in /proc/[0-9]*; do grep -qsz '^{MARK}=1$' $p/environ && "
            '[ "${p#/proc/}" != $$ ] && kill -9 "${p#/proc/}"; done; true'
        )
        self.shell(script, user="root")


@contextlib.contextmanager
def stand_in() -> Iterator[Arena]:
    """Make a desktop on this host; the probe runs as root in a mount namespace of its own."""
    if os.getuid() != 0 or process.run(["unshare", "-m", "true"]).exit_code != 0:
        pytest.skip("needs root and mount namespaces, to be another user than the agent")
    # Not pytest's folder: each session of pytest closes it to other users again.
    with tempfile.TemporaryDirectory(prefix="mesocosm-red-") as name:
        yield from _stand_in(Path(name))


def _stand_in(folder: Path) -> Iterator[Arena]:
    home, kept = folder / "home", folder / "kept"
    for path in (home, kept):
        path.mkdir()
    desktop = DesktopStandIn(folder)
    kept.chmod(0o700)
    archive = build_probe()
    probe, passwd = kept / archive.file_name, folder / "passwd"
    probe.write_bytes(archive.data)
    uid, gid = _write_users(passwd, desktop.user, home)
    enter = _ENTER.format(passwd=passwd, disk=_DISK, uid=uid, gid=gid, home=home)
    argv = [desktop.python, "-I", str(probe), "--stdio", "--user", desktop.user]
    transport = ProcessTransport(
        ["unshare", "-m", "/bin/sh", "-c", enter, "sh", *argv], env=clean()
    )
    link = connect(transport, name="red team's probe", timeout_s=30)
    try:
        assert is_ready(link)
        link.call("warm", {}, timeout_s=60)
        yield Arena(link, desktop.user, may_fill=True)
    finally:
        link.close()
        desktop.close()


def _write_users(path: Path, user: str, home: Path) -> tuple[int, int]:
    """Write a user table in which `user` lives in `home`; give its numbers."""
    entry = pwd.getpwnam(user)
    rows = [
        row for row in Path("/etc/passwd").read_text().splitlines() if row.split(":")[0] != user
    ]
    rows.append(f"{user}:x:{entry.pw_uid}:{entry.pw_gid}::{home}:/bin/sh")
    path.write_text("\n".join(rows) + "\n")
    path.chmod(0o644)
    return entry.pw_uid, entry.pw_gid


@contextlib.contextmanager
def machine(name: str) -> Iterator[Arena]:
    """Lend a desktop machine, as the contract suites do."""
    make, _ = IMPLEMENTATIONS[name]
    with make() as subject:
        snapshots, back = subject.machine.snapshots, None
        if subject.saves:  # the fixture of the contract suites does so too
            snapshots.save(subject.base)
            back = partial(snapshots.rewind, subject.base)
        yield Arena(subject.machine.link, "user", may_fill=name == "libvirt-desktop", back=back)


Make = Callable[[], AbstractContextManager[Arena]]
ARENAS: dict[str, tuple[Make, Sequence[pytest.MarkDecorator]]] = {
    "stand-in": (stand_in, (STAND_IN,)),
    **{
        name: (partial(machine, name), marks)
        for name, (_, marks) in IMPLEMENTATIONS.items()
        if name in {"libvirt-desktop", "container-desktop"}
    },
}
