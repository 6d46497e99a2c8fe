"""Threat model of evaluators of settings: GSettings, dconf, default applications, autostart.

What the agent's user can do to their input:

* **Write** its dconf database, profiles, schemas, desktop entries, lists of applications, and files
  that the next login reads.
* **Start** programs that stop, kill, or trace the helper that reads a setting as the same user.
* **Serve** names on its session bus.
* It cannot change the system's schemas and profile.

Defences: only the system's schemas and profile are read; helpers run in a separate group, so that
they can be killed but not impersonated; if a helper was killed or stopped on a healthy machine, its
node is unmet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.calls import SETTING
from tests.attacks.model import CONTAINER, MACHINES, ShellAttack, creates_file
from tests.attacks.settings.scripts import (
    CORRUPT,
    FLASHBACK,
    IMPERSONATE,
    MOVED_CONFIGURATION,
    PROFILE,
    SCHEMAS,
    SIGNAL,
    START_AT_LOGIN,
    UNDRAWN,
)

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "settings"
_WALLPAPER = Call("wallpaper", "wallpaper_is", {"path": "~/lake.png"})
_AUTOSTART = Call("autostart", "autostart_runs", {"program": "/usr/bin/xdotool"})


def _own_setting_changed(_arena: Arena, output: str) -> None:
    assert "prefer-dark" in output, f"the attack did not reach the agent's own gsettings: {output}"


def _background_is_off(arena: Arena, output: str) -> None:
    assert "false" in arena.shell(f"gsettings get {FLASHBACK} draw-background"), output


def _has_seen_helper(arena: Arena) -> bool:
    return "seen" in arena.shell("ls").split()


def _saw_helper(arena: Arena, _output: str) -> None:
    assert _has_seen_helper(arena), "the attack never saw a helper"


ATTACKS = (
    # The stand-in lacks the schema compiler or the user's runtime folder.
    ShellAttack(
        name="a schema with another default",
        family=FAMILY,
        script=SCHEMAS,
        defence="only the system's schemas are read",
        calls=(SETTING,),
        differs_on=MACHINES,
        represents_on=frozenset({CONTAINER}),
        evidence=_own_setting_changed,
    ),
    ShellAttack(
        name="a dconf profile in the runtime folder",
        family=FAMILY,
        script=PROFILE,
        defence="only the system's profile is read",
        calls=(SETTING,),
        differs_on=MACHINES,
        evidence=_own_setting_changed,
    ),
    # Permissions for tracing depend on the kernel's settings.
    ShellAttack(
        name="impersonating a helper",
        family=FAMILY,
        script=IMPERSONATE,
        defence="helpers run in a separate group, and the kernel denies others access",
        calls=(SETTING,),
        is_background=True,
        rounds=6,
        differs_on=MACHINES,
        represents_on=MACHINES,
        effect=creates_file("watching"),
        has_triggered=_has_seen_helper,
        evidence=_saw_helper,
    ),
    ShellAttack(
        name="killing helpers",
        family=FAMILY,
        script=SIGNAL.format(signal="KILL"),
        defence="if a helper was killed, its node is unmet",
        calls=(SETTING,),
        is_background=True,
        rounds=6,
        effect=creates_file("watching"),
        has_triggered=_has_seen_helper,
        evidence=_saw_helper,
    ),
    ShellAttack(
        name="stopping helpers",
        family=FAMILY,
        script=SIGNAL.format(signal="STOP"),
        defence="if a helper was stopped, its node is unmet",
        calls=(SETTING,),
        is_background=True,
        rounds=3,
        wave_timeout_s=4.0,
        effect=creates_file("watching"),
        has_triggered=_has_seen_helper,
        evidence=_saw_helper,
    ),
    ShellAttack(
        name="a corrupted dconf database",
        family=FAMILY,
        script=CORRUPT,
        defence="an unreadable setting is unmet",
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
        defence="an entry counts only if the session would start the program",
        calls=(_AUTOSTART,),
    ),
    *(
        ShellAttack(
            name=f"an autostart entry that the next login does not read, by {name}",
            family=FAMILY,
            script=f"{START_AT_LOGIN}{moving}",
            defence="files read at login must not move the configuration",
            calls=(_AUTOSTART,),
        )
        for name, moving in MOVED_CONFIGURATION.items()
    ),
    # Only machines have the schema.
    ShellAttack(
        name="a wallpaper on a background that is off",
        family=FAMILY,
        script=UNDRAWN,
        defence="the desktop must draw its background",
        calls=(_WALLPAPER,),
        differs_on=MACHINES,
        evidence=_background_is_off,
    ),
)
HONEST = (
    ShellAttack(
        name="honest autostart entry",
        family=FAMILY,
        script=START_AT_LOGIN,
        defence="",
        calls=(_AUTOSTART,),
    ),
)
