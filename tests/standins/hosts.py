"""Machines and images as hosts for testinfra."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import testinfra
from testinfra.backend.base import BaseBackend
from testinfra.host import Host

from foundation.clock import wait_until
from foundation.process import find_tool, kill_group, run, start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.links.ssh import SshSession

_COMMAND_TIMEOUT_S = 60.0


class SessionBackend(BaseBackend):  # type: ignore[misc]  # testinfra has no types
    """testinfra backend over the appliance's SSH session, which verifies the guest's host key."""

    NAME = "session"

    def __init__(self, session: SshSession) -> None:
        super().__init__(session.name)
        self._session = session

    def run(self, command: str, *args: str, **_kwargs: object) -> Any:  # noqa: ANN401
        command_line = self.get_command(command, *args)
        argv = ["/bin/sh", "-c", command_line]
        done = self._session.run(argv, timeout_s=_COMMAND_TIMEOUT_S)
        return self.result(done.exit_code, self.encode(command_line), done.stdout, done.stderr)


def guest_host(session: SshSession) -> Any:  # noqa: ANN401
    """Return a running guest as a host."""
    return Host(SessionBackend(session))


@contextlib.contextmanager
def image_host(disk: Path) -> Iterator[Any]:
    """Yield an image that is not running as a host: mounted read-only, with commands in a chroot.

    QEMU exports the qcow2 as a raw file (FUSE), so nothing is copied. Skips the test if the host
    does not allow the mount.
    """
    missing = [name for name in ("qemu-storage-daemon", "mount", "chroot") if not find_tool(name)]
    if missing or not Path("/dev/fuse").exists():
        pytest.skip(f"needs {', '.join(missing) or '/dev/fuse'}")
    with tempfile.TemporaryDirectory(prefix="image-") as folder, contextlib.ExitStack() as stack:
        raw, root = Path(folder) / "disk.raw", Path(folder) / "root"
        raw.touch()
        root.mkdir()
        file = f"driver=file,node-name=file,filename={disk},read-only=on,locking=off"
        shown = "driver=qcow2,node-name=disk,file=file,read-only=on"
        export = f"type=fuse,id=export,node-name=disk,mountpoint={raw}"
        argv = ["qemu-storage-daemon", "--blockdev", file, "--blockdev", shown, "--export", export]
        daemon = start(argv)
        stack.callback(daemon.communicate)
        stack.callback(kill_group, daemon)
        stack.callback(run, ["umount", "-l", str(raw)])
        assert wait_until(lambda: raw.stat().st_size, timeout_s=20), daemon.poll()
        mounted = run(["mount", "-o", "loop,ro,noload", str(raw), str(root)])
        if mounted.exit_code != 0:
            pytest.skip(f"no image can be mounted here: {mounted.stderr.decode()}")
        stack.callback(run, ["umount", str(root)])
        yield testinfra.get_host(str(root), connection="chroot")
