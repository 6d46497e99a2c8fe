"""Selection of the user's session when processes imitate one."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from provisioning.probe.system import proc
from provisioning.probe.system.identity import Identity, read_environment
from provisioning.probe.system.session import LEADERS, Sessions

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Started = subprocess.Popen[bytes]  # noqa: TID251 (a type only)
    Leader = Callable[[str], Started]

DISPLAY = f":{70000 + os.getpid() % 10000}"


@pytest.fixture
def leader(tmp_path: Path) -> Iterator[Leader]:
    """Start processes with the name of a session leader, on an unused display."""
    program = tmp_path / LEADERS[0]
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    started: list[Started] = []

    def start(display: str) -> Started:
        sleeper = process.start([str(program), "600"], env={"DISPLAY": display})
        started.append(sleeper)
        assert wait_until(
            lambda: proc.environment_of(sleeper.pid).get("DISPLAY") == display, timeout_s=10
        )
        return sleeper

    yield start
    for child in started:
        end(child)
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()


def end(child: Started) -> None:
    process.kill_group(child)
    child.wait()


def sessions() -> Sessions:
    return Sessions(Identity.own().name)


def test_session_leader_is_the_oldest_of_equal_candidates(leader: Leader) -> None:
    first, _ = leader(DISPLAY), leader(DISPLAY + "1")
    session = sessions().find()
    assert session is not None
    assert (session.leader_pid, session.display) == (first.pid, DISPLAY)


def test_other_display_is_never_used_after_its_leader_ended(
    leader: Leader,
) -> None:
    known = sessions()
    real = leader(DISPLAY)
    assert known.find() is not None
    leader(DISPLAY + "1")
    end(real)
    assert known.find() is None
    again = leader(DISPLAY)
    session = known.find()
    assert session is not None
    assert session.leader_pid == again.pid


def test_adopted_session_is_kept(leader: Leader) -> None:
    known = sessions()
    known.adopt([4194303, 1, {"DISPLAY": ":1"}])
    leader(DISPLAY)
    session = known.find()
    assert session is not None
    assert (session.leader_pid, session.display) == (4194303, ":1")
    known.adopt(None)
    assert known.find() is None


def test_login_variables_are_read_as_pam_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "environment"
    file.write_text(
        "# how toolkits draw\nGSK_RENDERER=cairo\nexport A='b c'\nB=\"d=e\"\n\nnothing\n"
    )
    assert read_environment(str(file)) == {"GSK_RENDERER": "cairo", "A": "b c", "B": "d=e"}
    assert read_environment(str(tmp_path / "none")) == {}
