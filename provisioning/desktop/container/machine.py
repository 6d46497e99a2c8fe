"""A desktop container as a machine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    LinkError,
    MachineStartError,
    MesocosmError,
    ResetMismatchError,
)
from foundation.logging import suppress_logged
from foundation.measures import record
from images.desktop_container.recipe import GUEST_DIR
from provisioning.desktop.container.engine import PROBE_FILE, DesktopContainers
from provisioning.desktop.obstruction import find_obstruction
from provisioning.desktop.probed import ProbedDesktop
from provisioning.links.client import connect
from provisioning.links.guest_io import LinkScreen
from provisioning.links.zipapp import build_probe
from provisioning.machine_state import MachineState
from provisioning.protocols import End, EndCause, ResetReport
from provisioning.reset.phases import Phases
from provisioning.reset.reset_only import ResetOnly
from provisioning.reset.saved_state import format_differences, learn
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.desktop.container.baseline import Baseline
    from provisioning.desktop.container.link import ExecTransport
    from provisioning.links.client import LinkClient
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.reset.saved_state import SavedState

_log = logging.getLogger(__name__)

_PROBE = ("/usr/bin/python3", "-I", f"{GUEST_DIR}/{PROBE_FILE}")
_SESSION_TIMEOUT_S = 60.0
_VERIFY_TIMEOUT_S = 40.0
_LINK_TIMEOUT_S = 20.0
_ASK_TIMEOUT_S = 15.0
_PING_TIMEOUT_S = 5.0
_EVERY_S = 0.05
_QUIET_TIMEOUT_S = 90.0


class DesktopContainer(ProbedDesktop):
    """A `provisioning.protocols.Machine`: one container, one probe as root over ``docker exec``.

    The agent acts as an unprivileged user inside; the probe and its evaluators run as root there,
    with only six capabilities.

    Args:
        settings: its size, and the location of its appliance.
        folder: the machine's folder.
        record: the machine's record.
        image: Docker tag of the image it is made from.
        baseline: the state that it must have when it is fresh.
        clock: clock used for waits and timing.
    """

    def __init__(  # composes one machine
        self,
        settings: Settings,
        folder: MachineFolder,
        record: MachineRecord,
        image: str,
        baseline: Baseline,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(folder, record, clock=clock)
        self._settings = settings
        self._image = image
        self._baseline = baseline
        self._containers = DesktopContainers(settings.state_dir)
        self._is_untouched = False

    @property
    def link(self) -> LinkClient:
        """Return the link to its probe; from then on, the machine may have been changed.

        Raises:
            LinkClosedError, LinkTimeoutError: the probe does not answer.
        """
        self._is_untouched = False
        return self._open()

    @property
    def snapshots(self) -> ResetOnly:
        """Return its snapshots: recreation from its image is the only reset method."""
        why = "A container's memory cannot be saved: it can only be recreated from its image."
        return ResetOnly(self.info.machine_id, self._renew, why=why)

    def is_running(self) -> bool:
        """Return whether its container is running."""
        return self._containers.is_running(self.info.machine_id)

    def ended_by(self) -> End | None:
        """Return how it ended since it was made; None if it still runs.

        If its probe does not answer while a limit of its container is reached, it counts as ended
        from inside.

        Raises:
            RequirementError: the Docker engine does not answer.
        """
        end = self._containers.end_of(self.info.machine_id)
        if end is not None or self._answers():
            return end
        limits = self._containers.exhausted(self.info.machine_id)
        return End(EndCause.GUEST, f"The probe does not answer: {limits}.") if limits else None

    def find_obstruction(self) -> str:
        """Return what its programs do to block evaluators; see `find_obstruction`.

        Raises:
            LinkError: the probe does not answer.
            RequirementError: the Docker engine does not answer.
        """
        if limits := self._containers.exhausted(self.info.machine_id):
            return limits
        return find_obstruction(self._open(), self.info.user, shares_kernel=True)

    def start(self) -> None:
        """Recreate it from its image and return when it is verified; does nothing if it is running.

        Raises:
            MachineStartError: the desktop did not start in time.
            ResetMismatchError: the desktop differs from the baseline.
            RequirementError: the Docker engine does not answer.
        """
        if not self.is_running():
            seconds = self.recreate().seconds
            record("boot_seconds", seconds, kind=DESKTOP)

    def stop(self) -> None:
        """End it at once and discard its state; does nothing if it is not running."""
        self.release()
        self._containers.stop(self.info.machine_id)
        self._folder.mark(MachineState.STOPPED)

    def delete(self) -> None:
        """Stop it and remove all its files on the host; may be called more than once."""
        self.release()
        with suppress_logged(_log, f"remove {self.info.machine_id}", MesocosmError):
            self._containers.remove(self.info.machine_id)
        self._folder.remove()

    def recreate(self) -> ResetReport:
        """Discard the container, create another, and verify it.

        If no baseline is known, the state of the desktop once it is idle becomes the baseline.

        Raises:
            MachineStartError: the desktop did not start in time.
            ResetMismatchError: the desktop differs from the baseline.
            RequirementError: the Docker engine does not answer.
        """
        watch = Phases(self._clock)
        self.reach.suspend()
        self.close_link()
        with watch.part("remove"):
            self._containers.remove(self.info.machine_id)
        with watch.part("create"):
            self._containers.create(
                self.info.machine_id,
                self._image,
                memory_mib=self._settings.desktop_memory_mib,
                probe=build_probe().data,
            )
        with watch.part("start"):
            self._containers.start(self.info.machine_id)
        try:
            with watch.part("link"):
                self._open()
            with watch.part("session"):
                self._wait_for_session()
            with watch.part("verify"):
                self._verify()
        except LinkError as exc:
            raise self._start_error(str(exc)) from exc
        self._is_untouched = True
        return ResetReport("recreate", watch.total_s(), (), watch.seconds)

    def wake(self) -> ResetReport:
        """Verify a standby container, which no caller has had a link to.

        Raises:
            ResetMismatchError: the desktop differs from the baseline.
            LinkError: the probe does not answer.
        """
        return self._check("fork")

    def _answers(self) -> bool:
        try:
            self._open().call("ping", timeout_s=_PING_TIMEOUT_S)
        except LinkError:
            return False
        return True

    def _renew(self) -> ResetReport:
        """Recreate it; if no caller had a link to it since its verification, only verify it."""
        is_fresh = self._is_untouched and self.is_running()
        self.reach.suspend()
        report = self._check("fresh") if is_fresh else self.recreate()
        self.reach.resume()
        return report

    def _check(self, path: str) -> ResetReport:
        watch = Phases(self._clock)
        with watch.part("verify"):
            self._verify()
        return ResetReport(path, watch.total_s(), (), watch.seconds)

    def _open_streams(self, nonce: bytes) -> ExecTransport:
        """Start a second program of the probe in the container."""
        argv = [*_PROBE, "--streams", nonce.hex()]
        return self._containers.open_program(self.info.machine_id, argv)

    def _connect(self) -> LinkClient:
        argv = [*_PROBE, "--stdio", "--user", self.info.user]
        transport = self._containers.open_program(self.info.machine_id, argv)
        return connect(transport, name=self.info.machine_id, timeout_s=_LINK_TIMEOUT_S)

    def _wait_for_session(self) -> None:
        reasons = [""]

        def is_ready() -> bool:
            reply = self._open().call("session", timeout_s=_ASK_TIMEOUT_S)
            if not isinstance(reply, dict):
                return False
            reasons.append(str(reply.get("reason", "")))
            return reply.get("ready") is True

        if not wait_until(
            is_ready, timeout_s=_SESSION_TIMEOUT_S, every_s=_EVERY_S, clock=self._clock
        ):
            raise self._start_error(reasons[-1])

    def _verify(self) -> None:
        """Wait until the desktop matches the baseline, as its last programs may start late."""
        baseline = self._baseline.read()
        if baseline is None:
            self._baseline.write(self._take_baseline())
            return
        link = self._open()
        differences = baseline.wait_for(
            link,
            LinkScreen(link),
            timeout_s=_VERIFY_TIMEOUT_S,
            every_s=_EVERY_S,
            clock=self._clock,
        )
        if differences:
            raise ResetMismatchError(
                f"{self.info.machine_id} differs from its image in {len(differences)} places.",
                details=format_differences(differences),
                resolution="No action needed: the machine is discarded, and the next lease uses another.",
            )

    def _take_baseline(self) -> SavedState:
        """Return the state of the desktop once it is idle.

        Raises:
            MachineStartError: the desktop does not become idle.
        """
        link = self._open()
        return learn(
            link,
            LinkScreen(link),
            name=self.info.machine_id,
            timeout_s=_QUIET_TIMEOUT_S,
            clock=self._clock,
        )

    def _start_error(self, why: str) -> MachineStartError:
        logs = ""
        with suppress_logged(_log, "read the container's log", MesocosmError):
            logs = self._containers.logs(self.info.machine_id)
        return MachineStartError(
            f"The session of {self.info.machine_id} did not start.",
            details=f"{why}\n{logs}".strip(),
            resolution="Run `mesocosm image build desktop-container --force` to rebuild its image.",
        )
