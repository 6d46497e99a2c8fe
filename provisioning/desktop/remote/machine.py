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
from appliance.base.process import run
from provisioning.desktop.probed import ProbedDesktop
from provisioning.desktop.remote.config import Reset, Side
from provisioning.links.deploy import PYTHON, TAG, guest_path, is_stored, stdio_argv, store
from provisioning.links.ssh import connect_ssh, open_ssh
from provisioning.links.zipapp import build_probe
from provisioning.protocols import READY, ResetReport
from provisioning.reset.phases import Phases
from provisioning.reset.reset_only import ResetOnly
from provisioning.reset.saved_state import SavedState, learn, tell

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.desktop.remote.config import Remote
    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshSession
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import BaseRecord

_LOGIN_TIMEOUT_S = 10.0
_ASK_TIMEOUT_S = 20.0
_EVERY_S = 0.5
_QUIET_TIMEOUT_S = 180.0
_PASSWD_FIELDS = 7
# What the probe needs: Python 3.9, xdotool for keys, and to be root.
_CHECK = """
[ "$(id -u)" = 0 ] || { echo 'the login is not root'; exit 1; }
python=$1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "no $python >= 3.9"; exit 1; }
id "$2" > /dev/null 2>&1 || { echo "there is no user $2"; exit 1; }
[ -x /usr/bin/xdotool ] || { echo 'xdotool is not installed'; exit 1; }
"""


class RemoteDesktop(ProbedDesktop):
    """A `provisioning.protocols.Machine` that is not this appliance's own.

    It is never started, stopped or installed from here, and nothing of it can be saved.

    Args:
        settings: where the appliance's key is.
        folder: of the machine; holds its first state.
        record: what it is.
        remote: how to reach it.
        clock: waits and measures.
    """

    def __init__(
        self,
        settings: Settings,
        folder: MachineFolder,
        record: BaseRecord,
        remote: Remote,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(folder, record, clock=clock)
        self._target = remote.target(settings)
        self._remote = remote

    @property
    def snapshots(self) -> ResetOnly:
        """Reset it by its owner's command, the only way back it has."""
        why = "A machine that is not this appliance's own cannot be saved."
        return ResetOnly(self.info.machine_id, self._renew, why=why)

    def is_running(self) -> bool:
        """Return whether its SSH server answers."""
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
            argv = ["/bin/sh", "-c", _CHECK, "sh", PYTHON, self._remote.user]
            result = session.run(argv, timeout_s=_ASK_TIMEOUT_S)
            if result.exit_code != 0:
                raise UnsupportedError(
                    f"{self.info.machine_id} cannot be used: {result.text or 'it refuses commands'}.",
                    details=result.stderr.decode(errors="replace")[-1000:],
                    resolution="It needs a login as root, Python 3.9, xdotool and the desktop's user.",
                )
            if not is_stored(session, archive):
                store(session, archive)

    def describe(self) -> str:
        """Return what its ``/etc/os-release`` calls it, such as ``debian-12``.

        Raises:
            LinkError: it does not answer.
        """
        with self._login() as session:
            text = session.run(["/bin/cat", "/etc/os-release"]).text
        rows = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        name, version = (rows.get(key, "").strip("\"'") for key in ("ID", "VERSION_ID"))
        return "-".join(part for part in (name, version) if part) or "linux"

    def home_of_user(self) -> str:
        """Return the home folder of the agent's user, as the machine itself knows it.

        Raises:
            LinkError: it does not answer.
            UnsupportedError: it knows no such folder.
        """
        with self._login() as session:
            result = session.run(["/usr/bin/getent", "passwd", self._remote.user])
        fields = result.text.split(":")
        if result.exit_code != 0 or len(fields) < _PASSWD_FIELDS or not fields[5].startswith("/"):
            raise UnsupportedError(
                f"{self.info.machine_id} does not tell where the home of {self._remote.user} is."
            )
        return fields[5]

    def learn(self) -> None:
        """Reset it, and keep what it looks like once it is quiet as its first state.

        Raises:
            UnsupportedError: it has no reset command.
            SnapshotError: the reset failed.
            MachineStartError: it did not come up, or never came to rest.
        """
        self._reset(self._require_reset())
        self._wait_for_session(self._remote.ready_timeout_s)

        learn(
            self.link,
            self.screen,
            name=self.info.machine_id,
            timeout_s=_QUIET_TIMEOUT_S,
            clock=self._clock,
        ).write(self._state_path)

    def _renew(self) -> ResetReport:
        """Run the reset and compare with the first state."""
        reset = self._require_reset()
        first = self._first_state()
        phases = Phases(self._clock)
        with phases.part("reset"):
            self._reset(reset)
        with phases.part("session"):
            self._wait_for_session(self._remote.ready_timeout_s)
        with phases.part("verify"):
            self._verify(first)
        return ResetReport("reset", phases.total_s(), (), phases.seconds)

    def _verify(self, first: SavedState) -> None:
        differences = first.wait_for(
            self.link,
            self.screen,
            timeout_s=self._remote.verify_timeout_s,
            every_s=_EVERY_S,
            clock=self._clock,
        )
        if differences:
            raise ResetMismatchError(
                f"{self.info.machine_id} is not as it was, in {len(differences)} places.",
                details=tell(differences),
                resolution="Its reset command leaves something behind; correct the command.",
            )

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

    def _connect(self) -> LinkClient:
        """Deploy the probe and start it.

        Raises:
            LinkError: the machine does not answer, or is another one.
            UnsupportedError: it lacks what the probe needs.
            MachineStartError: the probe cannot be stored there.
        """
        self.deploy()
        argv = stdio_argv(build_probe(), user=self._remote.user)
        return connect_ssh(self._target, argv, name=self.info.machine_id)

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

    def _first_state(self) -> SavedState:
        try:
            return SavedState.read(self._state_path)
        except (OSError, ValueError) as exc:
            raise SnapshotError(
                f"The first state of {self.info.machine_id} is not known.",
                details=str(exc),
                resolution="Delete the machine; it is learned anew when it is next made.",
            ) from exc

    @property
    def _state_path(self) -> Path:
        return self._folder.path / "snapshots" / f"{READY}.json"
