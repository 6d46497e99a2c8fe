"""Environments for attacks: a desktop with a probe, and a shell as the agent's user.

All attacks run on a stand-in desktop on this host, and on every desktop machine of
`machines.IMPLEMENTATIONS` that contains a probe.
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

from evaluators.bundle import Bundle, desktop_bundle
from evaluators.runners import BundleRunner
from foundation import process
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import LinkClosedError
from provisioning.desktop.probed import ProbedDesktop
from provisioning.links.client import LinkClient, connect
from provisioning.links.local import ProcessTransport
from provisioning.links.zipapp import build_probe
from provisioning.machine_folder import MachineFolder
from provisioning.machine_record import MachineRecord
from provisioning.resource import DESKTOP
from tests.contract.machines import IMPLEMENTATIONS
from tests.standins.desktop import DesktopStandIn, clean, is_ready
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from evaluators.graph.outcome import Call, Outcome
    from provisioning.links.transport import Transport
    from provisioning.protocols import Link, Machine

MARK = "MESOCOSM_RED"
_DISK = "size=16m,nr_inodes=16k,mode=755"

_KEPT = ".red-kept"
_COPY = "find {source} -mindepth 1 -maxdepth 1 ! -name .red-kept -exec cp -a -t {target} {{}} + 2> /dev/null"

# For the probe, the user table gives the agent's user a home folder on a small disk, and /tmp is a
# small disk that still contains the X server's sockets and this arena's folder.
_ENTER = """
mount --make-rprivate / && mount --bind {passwd} /etc/passwd &&
mount -t tmpfs -o {disk},uid={uid},gid={gid} none {home} &&
mkdir -p {kept}/tmp && mount -t tmpfs -o size=16m,mode=1777 none {kept}/tmp &&
mkdir -p {kept}/tmp/.X11-unix {kept}/tmp/{folder.name} && chmod 755 {kept}/tmp/{folder.name} &&
mount --bind /tmp/.X11-unix {kept}/tmp/.X11-unix && mount --rbind {folder} {kept}/tmp/{folder.name} &&
mount --rbind {kept}/tmp /tmp && cd / && exec "$@"
"""


@dataclass(frozen=True)
class Arena:
    """One desktop.

    Attributes:
        machine: the desktop.
        may_fill: whether attacks may fill its disk.
        rewind: rewinds it to its state before the attacks; None where that is slow.
    """

    machine: Machine
    may_fill: bool
    rewind: Callable[[], object] | None = None

    @property
    def link(self) -> Link:
        """The link to its probe."""
        return self.machine.link

    @property
    def user(self) -> str:
        """The agent's user."""
        return self.machine.info.user

    @property
    def home(self) -> str:
        """That user's home folder."""
        return self.machine.info.home

    def shell(self, script: str, *, timeout_s: float = 120.0, user: str = "") -> str:
        """Run a script as the agent; return its output, including errors."""
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
        encoded_output = cast("dict[str, str]", reply)
        return b"".join(
            base64.b64decode(encoded_output[f"{name}_b64"]) for name in ("stdout", "stderr")
        ).decode(errors="replace")

    def run_script(self, script: str, *, timeout_s: float = 180.0) -> str:
        """Run a script of any length as the agent; return its output."""
        path = f"{self.home}/attacks/script.sh"
        self.machine.files.put(path, script.encode())
        return self.shell(f". {path}", timeout_s=timeout_s)

    def background(self, script: str) -> None:
        """Start a script in the background as the agent."""
        self.shell(f"setsid /bin/sh -c {shlex.quote(script)} < /dev/null > /dev/null 2>&1 &")

    def judge(
        self, calls: Sequence[Call], *, timeout_s: float = 20.0, bundle: Bundle | None = None
    ) -> dict[str, Outcome]:
        """Evaluate calls with the probe, as a trial does."""
        outcomes = BundleRunner(self.link, bundle or desktop_bundle()).evaluate(
            calls, timeout_s=timeout_s
        )
        return {outcome.node: outcome for outcome in outcomes}

    def save_home(self) -> None:
        """Save a copy of the home folder."""
        self.shell(f"mkdir ~/{_KEPT} && {_COPY.format(source='.', target=_KEPT)}")

    def restore_home(self) -> None:
        """Restore the home folder, and delete files that attacks left elsewhere."""
        self.shell(
            "[ -e speech.py ] && PYTHONPATH=. python3 speech.py restore x 2> /dev/null; "
            f"find . -mindepth 1 -maxdepth 1 ! -name {_KEPT} -exec chmod -R u+rwX {{}} + 2> /dev/null; "
            f"find . -mindepth 1 -maxdepth 1 ! -name {_KEPT} -exec rm -rf {{}} + 2> /dev/null; "
            f"{_COPY.format(source=_KEPT, target='.')}; rm -rf {_KEPT} "
            '"$XDG_RUNTIME_DIR/dconf" /tmp/full /tmp/full2 /tmp/desk /tmp/desk.aside /tmp/sitecustomize.py '
            "/tmp/usercustomize.py /tmp/evaluators.py /tmp/signal.py"
        )

    def kill_leftovers(self) -> None:
        """Kill the processes and remove the mounts that attacks left; touch no others."""
        script = (
            f"for p in $(grep -lsz '^{MARK}=1$' /proc/[0-9]*/environ | cut -d / -f 3); do "
            '[ "$p" != $$ ] && kill -9 "$p" 2> /dev/null; done; '
            f"grep -o ' {self.home}/attacks/[^ ]*' /proc/mounts | xargs -r -n 1 umount -l; true"
        )
        self.shell(script, user="root")


class _StandIn(ProbedDesktop):
    """The stand-in as a machine.

    Args:
        link: to its probe.
        user: login name of the agent's user.
        home: that user's home folder.
    """

    def __init__(self, link: LinkClient, user: str, home: str) -> None:
        record = MachineRecord(
            machine_id="stand-in",
            kind=DESKTOP,
            backend="stand-in",
            image="",
            image_digest="",
            accelerator="none",
            user=user,
            home=home,
        )
        super().__init__(MachineFolder(Path(home).parent / "kept"), record, clock=SYSTEM_CLOCK)
        self._link = link

    def _open_streams(self, nonce: bytes) -> Transport:
        raise LinkClosedError("The stand-in reaches no services.")

    def _connect(self) -> LinkClient:
        raise LinkClosedError("The stand-in's probe ended.")


@contextlib.contextmanager
def stand_in() -> Iterator[Arena]:
    """Create a desktop on this host; the probe runs as root in a separate mount namespace."""
    if os.getuid() != 0 or process.run(["unshare", "-m", "true"]).exit_code != 0:
        pytest.skip("needs root and mount namespaces, to run as another user than the agent")
    # Not in pytest's folder: each pytest session makes that inaccessible to other users.
    with tempfile.TemporaryDirectory(prefix="mesocosm-red-", dir="/tmp") as name:
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
    enter = _ENTER.format(
        passwd=passwd, disk=_DISK, uid=uid, gid=gid, home=home, kept=kept, folder=folder
    )
    argv = [desktop.python, "-I", str(probe), "--stdio", "--user", desktop.user]
    transport = ProcessTransport(
        ["unshare", "-m", "/bin/sh", "-c", enter, "sh", *argv], env=clean()
    )
    link = connect(transport, name="red team's probe", timeout_s=30)
    try:
        assert is_ready(link)
        link.call("warm", {}, timeout_s=60)
        machine = cast("Machine", _StandIn(link, desktop.user, str(home)))
        yield Arena(machine, may_fill=True)
    finally:
        link.close()
        desktop.close()


def _write_users(path: Path, user: str, home: Path) -> tuple[int, int]:
    """Write a user table in which `user` has the home folder `home`; return its uid and gid."""
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
    """Provide a desktop machine, as the contract suites do."""
    make, _ = IMPLEMENTATIONS[name]
    with make() as subject:
        is_vm = name == "libvirt-desktop"
        rewind = partial(subject.machine.snapshots.rewind, subject.base) if is_vm else None
        yield Arena(subject.machine, may_fill=is_vm, rewind=rewind)


Make = Callable[[], AbstractContextManager[Arena]]
ARENAS: dict[str, tuple[Make, Sequence[pytest.MarkDecorator]]] = {
    "stand-in": (stand_in, (STAND_IN,)),
    **{
        name: (partial(machine, name), marks)
        for name, (_, marks) in IMPLEMENTATIONS.items()
        if name in {"libvirt-desktop", "container-desktop"}
    },
}
