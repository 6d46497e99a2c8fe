"""A remote desktop as a machine, reset by its owner's command."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    LinkClosedError,
    LinkError,
    MachineStartError,
    MesocosmError,
    ResetMismatchError,
    SnapshotError,
    ToolError,
    UnsupportedError,
)
from foundation.logging import suppress_logged
from foundation.process import run
from provisioning.desktop.probed import ProbedDesktop
from provisioning.desktop.remote.config import Reset, Side
from provisioning.links.deploy import (
    PYTHON,
    TAG,
    guest_path,
    is_stored,
    stdio_argv,
    store,
    streams_argv,
)
from provisioning.links.ssh import SshTransport, connect_ssh, open_ssh
from provisioning.links.zipapp import build_probe
from provisioning.protocols import READY, ResetReport
from provisioning.reset.phases import Phases
from provisioning.reset.reset_only import ResetOnly
from provisioning.reset.saved_state import SavedState, format_differences, learn

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.desktop.remote.config import Remote
    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshSession
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord

_log = logging.getLogger(__name__)

_LOGIN_TIMEOUT_S = 10.0
_ASK_TIMEOUT_S = 20.0
_EVERY_S = 0.5
_QUIET_TIMEOUT_S = 180.0
_PASSWD_FIELDS = 7
# The probe's requirements: Python 3.9, xdotool for keys, and root.
_CHECK = """
[ "$(id -u)" = 0 ] || { echo 'the login is not root'; exit 1; }
python=$1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "no $python >= 3.9"; exit 1; }
id "$2" > /dev/null 2>&1 || { echo "there is no user $2"; exit 1; }
[ -x /usr/bin/xdotool ] || { echo 'xdotool is not installed'; exit 1; }
"""


class RemoteDesktop(ProbedDesktop):
    """A `provisioning.protocols.Machine` that another owner provides.

    The appliance never starts, stops or installs it, and cannot save its state.

    Args:
        settings: location of the appliance's key.
        folder: the machine's folder; holds its initial state.
        record: the machine's record.
        remote: its entry in ``remotes.yaml``.
        clock: clock used for waits and timing.
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
        super().__init__(folder, record, clock=clock)
        self._target = remote.target(settings)
        self._remote = remote

    @property
    def snapshots(self) -> ResetOnly:
        """Return its snapshots: its owner's command is the only reset method."""
        why = "A remote machine cannot be saved."
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
            MachineStartError: the machine or its desktop does not answer.
        """
        if not self.is_running():
            raise MachineStartError(
                f"{self.info.machine_id} does not answer, and this appliance cannot start it.",
                resolution=f"Turn it on; its SSH server is {self._remote.host}:{self._remote.port}.",
            )
        self._wait_for_session(_ASK_TIMEOUT_S)

    def stop(self) -> None:
        """Raise an error: only its owner can turn it off.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"This appliance cannot stop {self.info.machine_id}.",
            resolution="To remove it from the fleet and the probe from it, run "
            "`mesocosm machine delete`.",
        )

    def delete(self) -> None:
        """Remove the probe from it and its folder; the machine stays. May be called more than once."""
        self.release()
        doing = f"remove the probe from {self.info.machine_id}"
        with suppress_logged(_log, doing, MesocosmError), self._login() as session:
            session.run(["/bin/rm", "-f", guest_path(build_probe()), TAG])
        self._folder.remove()

    def deploy(self) -> None:
        """Check that the machine meets the probe's requirements, and store the probe there.

        Raises:
            LinkError: the machine does not answer, or has another host key.
            UnsupportedError: the machine does not meet a requirement.
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
        """Return the name of its distribution from ``/etc/os-release``, such as ``debian-12``.

        Raises:
            LinkError: the machine does not answer.
        """
        with self._login() as session:
            text = session.run(["/bin/cat", "/etc/os-release"]).text
        rows = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        name, version = (rows.get(key, "").strip("\"'") for key in ("ID", "VERSION_ID"))
        return "-".join(part for part in (name, version) if part) or "linux"

    def home_of_user(self) -> str:
        """Return the home folder of the agent's user, according to the machine.

        Raises:
            LinkError: the machine does not answer.
            UnsupportedError: the user has no home folder there.
        """
        with self._login() as session:
            result = session.run(["/usr/bin/getent", "passwd", self._remote.user])
        fields = result.text.split(":")
        if result.exit_code != 0 or len(fields) < _PASSWD_FIELDS or not fields[5].startswith("/"):
            raise UnsupportedError(
                f"{self.info.machine_id} did not report the home folder of {self._remote.user}."
            )
        return fields[5]

    def learn(self) -> None:
        """Reset the machine, and record its state as the initial state once it is idle.

        Raises:
            UnsupportedError: the machine has no reset command.
            SnapshotError: the reset failed.
            MachineStartError: the machine did not start, or never became idle.
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
        """Run the reset and compare with the initial state."""
        reset = self._require_reset()
        initial = self._initial_state()
        phases = Phases(self._clock)
        with phases.part("reset"):
            self._reset(reset)
        with phases.part("session"):
            self._wait_for_session(self._remote.ready_timeout_s)
        with phases.part("verify"):
            self._verify(initial)
        self.reach.resume()
        return ResetReport("reset", phases.total_s(), (), phases.seconds)

    def _verify(self, initial: SavedState) -> None:
        differences = initial.wait_for(
            self.link,
            self.screen,
            timeout_s=self._remote.verify_timeout_s,
            every_s=_EVERY_S,
            clock=self._clock,
        )
        if differences:
            raise ResetMismatchError(
                f"{self.info.machine_id} differs from its initial state in {len(differences)} places.",
                details=format_differences(differences),
                resolution="Its reset command does not reset everything; correct the command.",
            )

    def _reset(self, reset: Reset) -> None:
        """Run the owner's command on the host or on the machine."""
        self.reach.suspend()
        self.close_link()
        try:
            match reset.on:
                case Side.HOST:
                    names = {"NAME": self._remote.name, "HOST": self._remote.host}
                    names["PORT"] = str(self._remote.port)
                    env = {f"MESOCOSM_REMOTE_{key}": value for key, value in names.items()}
                    run(reset.command, timeout_s=reset.timeout_s, env=env).require()
                case Side.MACHINE:
                    doing = "read the end of the reset, as the machine restarts"
                    restarts = suppress_logged(_log, doing, LinkClosedError)
                    with self._login() as session, restarts:
                        session.run(reset.command, timeout_s=reset.timeout_s).require()
        except (ToolError, LinkError) as exc:
            raise SnapshotError(
                f"The reset command of {self.info.machine_id} failed.",
                details=str(exc),
                resolution="Run it manually to find the cause; it is defined in remotes.yaml in the "
                "state folder.",
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
                f"The desktop of {self.info.machine_id} was not ready within {timeout_s:g} s.",
                details=reasons[-1],
                resolution="Its user must be logged in to a graphical session (X11).",
            )

    def _open_streams(self, nonce: bytes) -> SshTransport:
        """Start a second program of the probe on the machine.

        Raises:
            LinkError: the machine does not answer, or has another host key.
            UnsupportedError: the machine does not meet the probe's requirements.
            MachineStartError: the probe cannot be stored there.
        """
        self.deploy()
        session = self._login()
        try:
            return SshTransport(session, streams_argv(build_probe(), nonce))
        except BaseException:
            session.close()
            raise

    def _connect(self) -> LinkClient:
        """Deploy the probe and start it.

        Raises:
            LinkError: the machine does not answer, or has another host key.
            UnsupportedError: the machine does not meet the probe's requirements.
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
                details="remotes.yaml defines no reset command for it.",
                resolution="Add one: without a reset method, no trial can start from a known state.",
            )
        return self._remote.reset

    def _initial_state(self) -> SavedState:
        try:
            return SavedState.read(self._state_path)
        except (OSError, ValueError) as exc:
            raise SnapshotError(
                f"The initial state of {self.info.machine_id} cannot be read.",
                details=str(exc),
                resolution="Delete the machine; its state is recorded again when it is next made.",
            ) from exc

    @property
    def _state_path(self) -> Path:
        return self._folder.path / "snapshots" / f"{READY}.json"
