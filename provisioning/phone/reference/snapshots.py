"""Saves and rewinds a phone through its console."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    LinkError,
    LinkProtocolError,
    ResetMismatchError,
    SnapshotError,
    SnapshotMissingError,
)
from foundation.files import write_atomic
from provisioning.phone.profile import REFERENCE
from provisioning.phone.reference.digest import (
    PhoneDigest,
    read_processes,
    take_phone_digest,
)
from provisioning.phone.reference.wake import wake
from provisioning.protocols import ResetReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.phone.adb.device import AdbDevice
    from provisioning.phone.profile import PhoneProfile
    from provisioning.phone.reference.console import ConsoleClient

_ASK_TIMEOUT_S = 10.0
_MAX_NAMED = 20
# On a busy host, a command takes a moment to exit after its output is complete.
_SETTLE_S = 2.0
_EVERY_S = 0.1
_STABLE_TIMEOUT_S = 30.0
_STABLE_EVERY_S = 0.5


class PhoneSnapshots:
    """`provisioning.protocols.Snapshots` with ``avd snapshot save|load|list|delete``.

    Snapshots are stored in the phone. For each, the host stores a digest of the state at the time of
    saving; a rewind that does not reproduce it fails.

    Args:
        name: name of the machine, for errors.
        folder: folder of the digests.
        device: the phone.
        console: opens a session with its console.
        profile: the kind of phone.
        around_rewind: entered before a rewind, which ends every process of a shell, and left after
            the phone was verified.
        clock: clock used for waits and timing.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        device: AdbDevice,
        console: Callable[[], ConsoleClient],
        *,
        profile: PhoneProfile = REFERENCE,
        around_rewind: Callable[[], AbstractContextManager[None]],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._name = name
        self._folder = folder
        self._device = device
        self._console = console
        self._profile = profile
        self._around_rewind = around_rewind
        self._clock = clock

    def save(self, name: str) -> None:
        """Save the whole state; replaces an older snapshot of the same name.

        Snapshots exclude processes of shells: a rewind ends them.

        Raises:
            SnapshotError: the state could not be saved.
        """
        path = self._digest_path(name)
        path.unlink(missing_ok=True)
        try:
            digest = self._stable_digest()
            self._ask(f"save {name}", self._profile.snapshot_timeout_s)
            listed = self._list()
        except LinkError as exc:
            raise SnapshotError(
                f"{self._name} could not be saved as {name!r}.", details=str(exc)
            ) from exc
        if name not in listed:
            raise SnapshotError(
                f"{self._name} did not save {name!r}, although it reported no error.",
                details=f"Its snapshots: {', '.join(listed) or 'none'}.",
                resolution="Check that the disk of the Docker engine has free space.",
            )
        write_atomic(path, digest.model_dump_json())

    def rewind(self, name: str) -> ResetReport:
        """Restore a snapshot and verify the phone.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            SnapshotError: restoring failed; the machine must not be used.
            ResetMismatchError: the machine differs from the snapshot; it must not be used.
        """
        before = self._read_digest(name)
        with self._around_rewind():
            return self._rewind(name, before)

    def _rewind(self, name: str, before: PhoneDigest) -> ResetReport:
        start_s = self._clock.monotonic_s()
        phases: dict[str, float] = {}
        try:
            with self._timed("load", phases):
                self._ask(f"load {name}", self._profile.snapshot_timeout_s)
                if self._profile.is_suspended:
                    self._device.disconnect()
                self._device.wait(self._profile.snapshot_timeout_s)
            if self._profile.is_suspended:
                with self._timed("wake", phases):
                    wake(self._device, clock=self._clock)
            with self._timed("verify", phases):
                differences = before.differences(self._settled_digest())
        except LinkError as exc:
            raise SnapshotError(
                f"{self._name} could not be rewound to {name!r}.", details=str(exc)
            ) from exc
        if differences:
            raise ResetMismatchError(
                f"{self._name} differs from its snapshot {name!r} in {len(differences)} places.",
                details="\n".join(line[:400] for line in differences[:_MAX_NAMED]),
                resolution="Remove the machine; another one is then made.",
            )
        return ResetReport("rewind", self._clock.monotonic_s() - start_s, (), phases)

    def _settled_digest(self) -> PhoneDigest:
        """Return the state; wait for the digest's own commands to exit.

        Raises:
            LinkError: the phone did not answer.
        """
        digest = self._stable_digest()
        processes = digest.processes

        def have_ended() -> bool:
            nonlocal processes
            processes = read_processes(self._device)
            return not processes

        if processes:
            wait_until(have_ended, timeout_s=_SETTLE_S, every_s=_EVERY_S, clock=self._clock)
        return digest.model_copy(update={"processes": processes})

    def _stable_digest(self) -> PhoneDigest:
        """Return the state; of a phone whose state settles by itself, one that was read twice.

        Raises:
            LinkError: the phone did not answer.
            LinkProtocolError: its state kept changing.
        """
        digest = take_phone_digest(self._device, self._profile)
        if not self._profile.is_suspended:
            return digest
        deadline_s = self._clock.monotonic_s() + _STABLE_TIMEOUT_S
        while True:
            before, digest = digest, take_phone_digest(self._device, self._profile)
            if not (changes := before.differences(digest)):
                return digest
            if self._clock.monotonic_s() > deadline_s:
                raise LinkProtocolError(
                    f"The state of {self._name} was still changing after {_STABLE_TIMEOUT_S:g} s.",
                    details="\n".join(line[:400] for line in changes[:_MAX_NAMED]),
                )
            self._clock.sleep(_STABLE_EVERY_S)

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of the snapshots, sorted.

        Raises:
            SnapshotError: the phone did not list them.
        """
        try:
            return self._list()
        except LinkError as exc:
            raise SnapshotError(
                f"{self._name} did not list its snapshots.", details=str(exc)
            ) from exc

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            SnapshotError: the phone did not delete it.
        """
        path = self._digest_path(name)
        if name not in self.list_snapshots():
            raise self._missing(name)
        try:
            self._ask(f"delete {name}", _ASK_TIMEOUT_S)
        except LinkError as exc:
            raise SnapshotError(
                f"{self._name} could not delete {name!r}.", details=str(exc)
            ) from exc
        path.unlink(missing_ok=True)

    def _list(self) -> list[str]:
        lines = self._ask("list", _ASK_TIMEOUT_S)
        return sorted(line.split()[1] for line in lines if line.startswith("--"))

    def _ask(self, subcommand: str, timeout_s: float) -> list[str]:
        with self._console() as console:
            return console.run(f"avd snapshot {subcommand}", timeout_s=timeout_s)

    def _read_digest(self, name: str) -> PhoneDigest:
        try:
            return PhoneDigest.model_validate_json(self._digest_path(name).read_bytes())
        except (OSError, ValueError) as exc:
            raise self._missing(name) from exc

    def _missing(self, name: str) -> SnapshotMissingError:
        known = ", ".join(path.stem for path in sorted(self._folder.glob("*.json"))) or "none"
        return SnapshotMissingError(
            f"{self._name} has no snapshot {name!r}.", details=f"Its snapshots: {known}."
        )

    def _digest_path(self, name: str) -> Path:
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise SnapshotError(
                f"{name!r} is not a valid snapshot name.",
                resolution="Use letters, digits, '-' and '_'.",
            )
        return self._folder / f"{name}.json"

    @contextmanager
    def _timed(self, phase: str, phases: dict[str, float]) -> Iterator[None]:
        start_s = self._clock.monotonic_s()
        try:
            yield
        finally:
            phases[phase] = self._clock.monotonic_s() - start_s
