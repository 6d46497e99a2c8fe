"""Threat model of evaluators of settings: GSettings, dconf, default applications, autostart.

What the agent's user can do to what they read:

* **Write** its dconf database, profiles, schemas, desktop entries and lists of applications.
* **Start** programs that stop, end or trace the helper that reads a setting as the same user.
* **Serve** names on its session bus.
* It cannot change the system's schemas and profile.

What stands against it: only the system's schemas and profile are read; helpers have a group of their
own, so that they may be ended but not answered for; a helper that was ended or stopped on a machine
that is in order leaves its node unmet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.calls import SETTING
from tests.attacks.model import CONTAINER, MACHINES, ShellAttack, leaves
from tests.attacks.settings.scripts import ANSWER_FIRST, ENDLESS, PROFILE, SCHEMAS, WRECK

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "settings"
_AUTOSTART = Call("autostart", "autostart_runs", {"program": "/usr/bin/xdotool"})


def _own_settings_changed(_arena: Arena, output: str) -> None:
    assert "prefer-dark" in output, f"the attack did not reach the agent's own gsettings: {output}"


def _has_seen_helper(arena: Arena) -> bool:
    return "seen" in arena.shell("ls").split()


def _saw_helper(arena: Arena, _output: str) -> None:
    assert _has_seen_helper(arena), "the attack never saw a helper"


ATTACKS = (
    # The stand-in lacks the schemas' compiler or the user's runtime folder.
    ShellAttack(
        name="a schema with another default",
        family=FAMILY,
        script=SCHEMAS,
        defence="only the system's schemas are read",
        calls=(SETTING,),
        differs_on=MACHINES,
        represents_on=frozenset({CONTAINER}),
        evidence=_own_settings_changed,
    ),
    ShellAttack(
        name="a dconf profile in the runtime folder",
        family=FAMILY,
        script=PROFILE,
        defence="only the system's profile is read",
        calls=(SETTING,),
        differs_on=MACHINES,
        evidence=_own_settings_changed,
    ),
    # Who may trace whom is the kernel's setting.
    ShellAttack(
        name="answering in a helper's place",
        family=FAMILY,
        script=ANSWER_FIRST,
        defence="helpers have a group of their own: the kernel keeps others out",
        calls=(SETTING,),
        goes_on=True,
        rounds=6,
        differs_on=MACHINES,
        represents_on=MACHINES,
        effect=leaves("watching"),
        has_met=_has_seen_helper,
        evidence=_saw_helper,
    ),
    ShellAttack(
        name="ending helpers",
        family=FAMILY,
        script=ENDLESS.format(signal="KILL"),
        defence="a helper that was ended leaves its node unmet",
        calls=(SETTING,),
        goes_on=True,
        rounds=6,
        effect=leaves("watching"),
        has_met=_has_seen_helper,
        evidence=_saw_helper,
    ),
    ShellAttack(
        name="stopping helpers",
        family=FAMILY,
        script=ENDLESS.format(signal="STOP"),
        defence="a helper that was stopped leaves its node unmet",
        calls=(SETTING,),
        goes_on=True,
        rounds=3,
        wave_timeout_s=4.0,
        effect=leaves("watching"),
        has_met=_has_seen_helper,
        evidence=_saw_helper,
    ),
    ShellAttack(
        name="a wrecked dconf database",
        family=FAMILY,
        script=WRECK,
        defence="what cannot be read as a setting is not the setting",
        calls=(SETTING,),
    ),
    ShellAttack(
        name="an autostart entry that starts nothing",
        family=FAMILY,
        script="mkdir -p .config/autostart; cd .config/autostart; "
        "printf '[Desktop Entry]\\nType=Application\\nExec=/usr/bin/xdotool\\nTryExec=/none\\n' "
        "> a.desktop; ln -s /dev/zero b.desktop; mkfifo c.desktop; "
        "printf '[Desktop Entry]\\nType=Application\\nExec=sh -c /usr/bin/xdotool\\nHidden=true\\n' "
        "> d.desktop; ls",
        defence="an entry counts when the session would start the program",
        calls=(_AUTOSTART,),
    ),
)
