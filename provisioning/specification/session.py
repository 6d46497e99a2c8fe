"""Prepare the running session of a new machine as its image says, before it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import DesktopFaultyError
from provisioning.reset.digests import take_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock
    from images.custom.declaration import Readiness, Session
    from provisioning.protocols import Machine

_EVERY_S = 2.0
_TAIL_CHARS = 2000


def prepare_session(
    machine: Machine,
    session: Session,
    say: Callable[[str], None],
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Run the commands of a session, and wait for its conditions.

    Args:
        machine: a desktop that has booted.
        session: what its image says.
        say: called with one line of progress before slow steps.
        clock: clock used for waits.

    Raises:
        DesktopFaultyError: a command failed, or a condition did not come true in time.
        LinkError: the machine does not answer.
    """
    name = machine.info.image
    for command in session.run:
        say(f"running {command.run.splitlines()[0][:60]!r} in the session")
        user = "root" if command.run_as == "root" else machine.info.user
        argv = ["/bin/sh", "-eu", "-c", command.run]
        done = machine.run(argv, user=user, timeout_s=command.timeout_s)
        if done.exit_code != 0:
            output = (done.stderr or done.stdout).decode(errors="replace")
            raise DesktopFaultyError(
                f"A command in the session of {name} ended with exit code {done.exit_code}.",
                details=f"{command.run}\n{output[-_TAIL_CHARS:]}".strip(),
                resolution="Correct `session.run` in its image.yaml.",
            )
    waiting = list(session.ready)
    if not waiting:
        return
    say(f"waiting for {', '.join(map(str, waiting))}")

    def is_ready() -> bool:
        waiting[:] = [condition for condition in waiting if not _holds(machine, condition)]
        return not waiting

    if not wait_until(is_ready, timeout_s=session.timeout_s, every_s=_EVERY_S, clock=clock):
        raise DesktopFaultyError(
            f"The session of {name} was not ready within {session.timeout_s:g} s.",
            details="\n".join(f"not so: {condition}" for condition in waiting),
            resolution="Correct `session.ready` or `session.timeout_s` in its image.yaml.",
        )


def _holds(machine: Machine, condition: Readiness) -> bool:
    """Return whether a condition holds now."""
    if condition.window is not None:
        windows = take_digest(machine.link).windows
        return any(condition.window in window.title for window in windows)
    if condition.file is not None:
        return machine.files.stat(condition.file) is not None
    argv = ["/bin/sh", "-c", condition.command or ""]
    if condition.process is not None:
        argv = ["pgrep", "--exact", condition.process[:15]]
    return machine.run(argv, timeout_s=30.0).exit_code == 0
