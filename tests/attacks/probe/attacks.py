"""Threat model of whoever judges: the probe, its evaluators and the link to it.

What the agent's user can do:

* **Write** start-up files of shells, sessions, PAM, systemd and Python; programs and modules in every
  folder of its own; anything to the devices and pipes it can find.
* **Start** programs that look like a session's leader, kill, trace and read what it may.
* **Serve** replies of its own to whoever listens.
* It cannot become root, signal or trace root's processes, or read root's memory and folders.

What stands against it: the probe is root's, its interpreter isolated, evaluators come from memory;
programs are named by absolute path and get an environment that owes nothing to the agent; the link
is a pipe, or a virtio port that only root may open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.attacks.calls import ALL, REPORT, SECRET, SETTING, WRONG_REPORT
from tests.attacks.model import CONTAINER, MACHINES, VM, ShellAttack, leaves
from tests.attacks.probe.scripts import (
    CLOCK,
    ENVIRONMENT,
    FAKE_MODULES,
    FAKE_PROGRAMS,
    FORGE,
    KILL,
    LOCALE,
    LOOT,
    PRELOAD,
    ROOT,
)

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "probe"
_MARK = "MESOCOSM_RED"
_FLOODS = 32


def _has_read_environment(arena: Arena) -> bool:
    return arena.shell(f"grep -ac {_MARK}= loot").strip() not in {"", "0"}


def _was_read(arena: Arena, _output: str) -> None:
    arena.clear()
    assert _has_read_environment(arena), "nothing was read"
    assert arena.shell(f"grep -ac -e '{SECRET}' -e 'def file_text_equals' loot").strip() == "0"


def _is_not_root(_arena: Arena, output: str) -> None:
    assert "uid=0" not in output


def _is_refused(_arena: Arena, output: str) -> None:
    assert "not permitted" in output.lower(), output


def _is_flooding(arena: Arena, _output: str) -> None:
    """Leave programs behind whose output, on a pipe each, never ends."""
    for _ in range(_FLOODS):
        arena.shell("setsid yes flood &")
    count = arena.shell("pgrep -u $(id -un) -x -c yes").strip()
    assert int(count) >= _FLOODS, count


ATTACKS = (
    # A real login session reads more files than the stand-in's.
    ShellAttack(
        name="fake programs on PATH",
        family=FAMILY,
        script=ENVIRONMENT + FAKE_PROGRAMS,
        defence="programs are named by absolute path, with an environment of their own",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
        represents_on=frozenset({CONTAINER}),
    ),
    ShellAttack(
        name="sitecustomize and shadowed modules",
        family=FAMILY,
        script=ENVIRONMENT + FAKE_MODULES,
        defence="the interpreter runs isolated (`-I`), evaluators come from memory",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
    ),
    ShellAttack(
        name="LD_PRELOAD, LD_AUDIT, GSETTINGS_BACKEND",
        family=FAMILY,
        script=ENVIRONMENT + PRELOAD,
        defence="no variable of the agent's reaches an evaluator",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
    ),
    ShellAttack(
        name="time zones and locales of one's own",
        family=FAMILY,
        script=ENVIRONMENT + LOCALE,
        defence="no variable of the agent's reaches an evaluator",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
    ),
    # The probe is a daemon on a VM and a child of `docker exec` in a container.
    ShellAttack(
        name="killing the probe",
        family=FAMILY,
        script=KILL,
        defence="the probe is root's, the agent is not",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
        represents_on=MACHINES,
    ),
    ShellAttack(
        name="reading the bundle",
        family=FAMILY,
        script=LOOT,
        defence="it is never on the guest's disk; root's memory is closed",
        calls=(REPORT, SETTING),
        prepare=WRONG_REPORT,
        goes_on=True,
        rounds=8,
        differs_on=MACHINES,
        effect=leaves("loot"),
        has_met=_has_read_environment,
        evidence=_was_read,
    ),
    # A pipe, or a virtio port.
    ShellAttack(
        name="writing to the link",
        family=FAMILY,
        script=FORGE,
        defence="it is a pipe or a virtio port that only root may open",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=frozenset({VM, CONTAINER}),
        represents_on=frozenset({VM, CONTAINER}),
    ),
    ShellAttack(
        name="setting the clock",
        family=FAMILY,
        script=CLOCK,
        defence="only root sets the clock",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
        evidence=_is_refused,
    ),
    ShellAttack(
        name="becoming root",
        family=FAMILY,
        script=ROOT,
        defence="the agent's user may not, by any program of the image",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=MACHINES,
        evidence=_is_not_root,
    ),
    ShellAttack(
        name="endless output of commands long over",
        family=FAMILY,
        script="echo tried",
        defence="what they leave behind is read a little at a time, and 64 pipes at most",
        calls=ALL,
        prepare=WRONG_REPORT,
        rounds=4,
        differs_on=MACHINES,
        effect=_is_flooding,
    ),
)
