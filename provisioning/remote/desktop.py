"""A desktop elsewhere as a machine: deploy, observe, act; reset by its owner's command."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import (
    LinkClosedError,
    LinkError,
    MachineStartError,
    MesocosmError,
    ResetMismatchError,
    SnapshotError,
    ToolError,
    UnsupportedError,
)
from appliance.base.files import write_atomic
from appliance.base.process import run
from provisioning.deploy import PYTHON, TAG, guest_path, is_stored, stdio_argv, store
from provisioning.links.files_over_link import LinkFiles
from provisioning.links.guest_io import LinkInput, LinkScreen, LinkTree
from provisioning.links.ssh import connect_ssh, open_ssh
from provisioning.protocols import READY, MachineInfo, ResetReport
from provisioning.remote.config import Reset, Side
from provisioning.reset_only import ResetOnly
from provisioning.state_digest import StateDigest, take_digest
from provisioning.zipapp import build_probe

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshSession
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.remote.config import Remote

BACKEND = "remote"
_LOGIN_TIMEOUT_S = 10.0
_ASK_TIMEOUT_S = 20.0
_EVERY_S = 0.5
_QUIET_TIMEOUT_S = 180.0
_QUIET_WINDOW_S = 3.0
_MAX_NAMED = 20
# What the probe needs: Python 3.9, xdotool for keys, and to be root.
_CHECK = """
[ "$(id -u)" = 0 ] || { echo 'the login is not root'; exit 1; }
python=$1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "no $python >= 3.9"; exit 1; }
id "$2" > /dev/null 2>&1 || { echo "there is no user $2"; exit 1; }
[ -x /usr/bin/xdotool ] || { echo 'xdotool is not installed'; exit 1; }
"""


class RemoteDesktop:
    """A `provisioning.protocols.Machine` that is not this appliance's own.

    It is never started, stopped or installed from here, and nothing of it can be saved. Whoever
    uses it holds the lock of its folder.

    Args:
        settings: where the appliance's key is.
        folder: of the machine; holds the digest of its first state.
        record: what it is.
        remote: how to reach it.
        clock: waits and measures.
    """

    def __init__(
        self,
        settings: Settings,
        folder: MachineFolder,
        record: MachineRecord,
        remote: Remote,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._target = remote.target(settings)
        self._folder = folder
        self._record = record
        self._remote = remote
        self._clock = clock
        self._link: LinkClient | None = None

    @property
    def info(self) -> MachineInfo:
        """Say what it is."""
        return self._record.info

    @property
    def folder(self) -> MachineFolder:
        """Its folder on this host."""
        return self._folder

    @property
    def power(self) -> RemoteDesktop:
        """Ask whether it runs; it cannot be turned on or off from here."""
        return self

    @property
    def link(self) -> LinkClient:
        """Talk to the probe, which is deployed and started when there is none.

        Raises:
            LinkError: the machine does not answer, or is another one.
            UnsupportedError: it lacks what the probe needs.
            MachineStartError: the probe cannot be stored there.
        """
        if self._link is None or self._link.is_closed:
            self.deploy()
            argv = stdio_argv(build_probe(), user=self._remote.user)
            self._link = connect_ssh(self._target, argv, name=self.info.machine_id)
        return self._link

    @property
    def snapshots(self) -> ResetOnly:
        """Reset it by its owner's command, the only way back it has."""
        why = "A machine that is not this appliance's own cannot be saved."
        return ResetOnly(self.info.machine_id, self._renew, why=why)

    @property
    def files(self) -> LinkFiles:
        """Read and write its files, as the agent's user."""
        return LinkFiles(self.link, user=self._remote.user)

    @property
    def screen(self) -> LinkScreen:
        """See it."""
        return LinkScreen(self.link)

    @property
    def input(self) -> LinkInput:
        """Act on it."""
        return LinkInput(self.link)

    @property
    def tree(self) -> LinkTree:
        """Read its UI."""
        return LinkTree(self.link)

    def is_running(self) -> bool:
        """Tell whether its SSH server answers."""
        try:
            self._login().close()
        except LinkError:
            return False
        return True

    def start(self) -> None:
        """Return when its desktop answers.

        Raises:
            MachineStartError: it does not, and cannot be turned on from here.
        """
        if not self.is_running():
            raise MachineStartError(
                f"{self.info.machine_id} does not answer, and cannot be started from here.",
                resolution=f"Turn it on; its SSH server is {self._remote.host}:{self._remote.port}.",
            )
        self._wait_for_session(_ASK_TIMEOUT_S)

    def stop(self) -> None:
        """Refuse: its owner turns it off.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"{self.info.machine_id} cannot be stopped from here.",
            resolution="`mesocosm machine delete` forgets it and removes the probe from it.",
        )

    def release(self) -> None:
        """Let the connection go; what runs there goes on running."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def delete(self) -> None:
        """Remove the probe from it and forget it; the machine stays. Harmless twice."""
        self.release()
        with contextlib.suppress(MesocosmError), self._login() as session:
            session.run(["/bin/rm", "-f", guest_path(build_probe()), TAG])
        self._folder.remove()

    def deploy(self) -> None:
        """Check that the machine has what the probe needs, and store the probe there.

        Raises:
            LinkError: it does not answer, or is another one.
            UnsupportedError: it lacks something.
            MachineStartError: the probe cannot be stored there.
        """
        archive = build_probe()
        with self._login() as session:
            words = ["/bin/sh", "-c", _CHECK, "sh", PYTHON, self._remote.user]
            found = session.run(words, timeout_s=_ASK_TIMEOUT_S)
            if found.exit_code != 0:
                raise UnsupportedError(
                    f"{self.info.machine_id} cannot be used: {found.text or 'it refuses commands'}.",
                    details=found.stderr.decode(errors="replace")[-1000:],
                    resolution="It needs a login as root, Python 3.9, xdotool and the desktop's user.",
                )
            if not is_stored(session, archive):
                store(session, archive)

    def describe(self) -> str:
        """Give what its ``/etc/os-release`` calls it, such as ``debian-12``.

        Raises:
            LinkError: it does not answer.
        """
        with self._login() as session:
            text = session.run(["/bin/cat", "/etc/os-release"]).text
        rows = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        name, version = (rows.get(key, "").strip("\"'") for key in ("ID", "VERSION_ID"))
        return "-".join(part for part in (name, version) if part) or "linux"

    def learn(self) -> None:
        """Reset it, and keep what it looks like once it is quiet as its first state.

        Raises:
            UnsupportedError: it has no reset command.
            SnapshotError: the reset failed.
            MachineStartError: it did not come up, or never came to rest.
        """
        self._reset(self._require_reset())
        self._wait_for_session(self._remote.ready_timeout_s)

        def look_twice() -> StateDigest | None:
            before = take_digest(self.link)
            self._clock.sleep(_QUIET_WINDOW_S)
            after = take_digest(self.link)
            return None if before.differences(after) else after

        found = wait_until(look_twice, timeout_s=_QUIET_TIMEOUT_S, every_s=0.0, clock=self._clock)
        if found is None:
            raise MachineStartError(
                f"{self.info.machine_id} did not come to rest within {_QUIET_TIMEOUT_S:g} s."
            )
        write_atomic(self._digest_path, found.model_dump_json())

    def _renew(self) -> ResetReport:
        """Run the reset and compare with the first state."""
        reset = self._require_reset()
        first = self._first_state()
        phases: dict[str, float] = {}
        start_s = self._clock.monotonic_s()
        self._reset(reset)
        phases["reset"] = self._clock.monotonic_s() - start_s
        self._wait_for_session(self._remote.ready_timeout_s)
        phases["session"] = self._clock.monotonic_s() - start_s - phases["reset"]
        differences: tuple[str, ...] = ()

        def is_as_it_was() -> bool:
            nonlocal differences
            differences = first.differences(take_digest(self.link))
            return not differences

        timeout_s = self._remote.verify_timeout_s
        if not wait_until(is_as_it_was, timeout_s=timeout_s, every_s=_EVERY_S, clock=self._clock):
            raise ResetMismatchError(
                f"{self.info.machine_id} is not as it was, in {len(differences)} places.",
                details="\n".join(line[:400] for line in differences[:_MAX_NAMED]),
                resolution="Its reset command leaves something behind; correct the command.",
            )
        seconds = self._clock.monotonic_s() - start_s
        phases["verify"] = seconds - phases["reset"] - phases["session"]
        return ResetReport("reset", seconds, (), phases)

    def _reset(self, reset: Reset) -> None:
        """Run the owner's command, here or there."""
        self.release()
        try:
            match reset.on:
                case Side.HOST:
                    names = {"NAME": self._remote.name, "HOST": self._remote.host}
                    names["PORT"] = str(self._remote.port)
                    env = {f"MESOCOSM_REMOTE_{key}": value for key, value in names.items()}
                    run(reset.command, timeout_s=reset.timeout_s, env=env).require()
                case Side.MACHINE:
                    with self._login() as session, contextlib.suppress(LinkClosedError):
                        session.run(reset.command, timeout_s=reset.timeout_s).require()
        except (ToolError, LinkError) as exc:
            raise SnapshotError(
                f"The reset command of {self.info.machine_id} failed.",
                details=str(exc),
                resolution="Run it by hand; remotes.yaml in the state folder names it.",
            ) from exc

    def _wait_for_session(self, timeout_s: float) -> None:
        reasons = [""]

        def is_ready() -> bool:
            try:
                reply = self.link.call("session", timeout_s=_ASK_TIMEOUT_S)
            except (LinkError, MachineStartError) as exc:
                reasons.append(str(exc))
                return False
            if isinstance(reply, dict):
                reasons.append(str(reply.get("reason", "")))
            return isinstance(reply, dict) and reply.get("ready") is True

        if not wait_until(is_ready, timeout_s=timeout_s, every_s=_EVERY_S, clock=self._clock):
            raise MachineStartError(
                f"The desktop of {self.info.machine_id} was not there within {timeout_s:g} s.",
                details=reasons[-1],
                resolution="Its user must be logged in to a graphical session (X11).",
            )

    def _login(self) -> SshSession:
        return open_ssh(self._target, timeout_s=_LOGIN_TIMEOUT_S)

    def _require_reset(self) -> Reset:
        if self._remote.reset is None:
            raise UnsupportedError(
                f"{self.info.machine_id} cannot be reset.",
                details="remotes.yaml names no reset command for it.",
                resolution="Add one: without a way back no trial can begin from a known state.",
            )
        return self._remote.reset

    def _first_state(self) -> StateDigest:
        try:
            return StateDigest.model_validate_json(self._digest_path.read_bytes())
        except (OSError, ValueError) as exc:
            raise SnapshotError(
                f"The first state of {self.info.machine_id} is not known.",
                resolution="Delete the machine; it is learned anew when it is next made.",
            ) from exc

    @property
    def _digest_path(self) -> Path:
        return self._folder.path / "snapshots" / f"{READY}.json"
