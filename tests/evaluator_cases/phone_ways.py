"""Forged states of phones, and legitimate ones that are reached differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case, State

    States = Mapping[str, State]

CYRILLIC_A = "\u0430"
MARKED = "\u202a+41\u00a044\u2011555\u202c"
"""A number as Android copies it, with direction marks."""


def row_within(column: str, value: str, before: str = "x") -> str:
    """Return a value that contains what looks like the start of a second row, with the id 9."""
    return f"{before}\nRow: 1 _id=9, {column}={value}"


def ways(args: Mapping[str, Any], forgeries: States, honest: States) -> tuple[Case, ...]:
    """Return cases of some states with the same arguments."""
    return (
        *(forged(name, state, **args) for name, state in forgeries.items()),
        *(another_way(name, state, **args) for name, state in honest.items()),
    )


def typed(text: str, package: str) -> str:
    """Return the attributes of an application's text field with typed text."""
    return f'text="{text}" class="android.widget.EditText" package="{package}"'


def elsewhere(text: str, package: str) -> States:
    """Return states in which a text is displayed, but not by the application."""
    return {
        "in the notification shade": _shown(f'text="{text}" package="com.android.systemui"'),
        "in a different application with a similar name": _shown(
            f'text="{text}" resource-id="{package}:id/title" package="{package}.copy"'
        ),
        "typed into a different application": _shown(typed(text, "org.keyboard")),
        "without a size": _shown(f'text="{text}" package="{package}" bounds="[5,7][5,90]"'),
        "without a height": _shown(f'text="{text}" package="{package}" bounds="[5,7][90,7]"'),
        "hidden element": _shown(f'text="{text}" package="{package}" visible-to-user="false"'),
        "with a letter from a different script": _shown(
            f'text="{text.replace(text[1], CYRILLIC_A, 1)}" package="{package}"'
        ),
    }


def _shown(*nodes: str) -> State:
    def put(fixture: Any) -> None:
        fixture.shell.resume("org.a/.Main")
        fixture.shell.show(*nodes)

    return put


def resumed(*lines: str) -> State:
    """Make the phone print lines about its activities."""

    def put(fixture: Any) -> None:
        fixture.shell.answers["dumpsys activity activities"] = "\n".join(
            ("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)", *lines, "")
        )

    return put


_OTHER = "ActivityRecord{8 u0 org.b/.Main t7}"


def front_cases(**args: str) -> tuple[Case, ...]:
    """Return cases of org.a/.Main in the foreground."""
    wanted = "ActivityRecord{1 u0 org.a/.Main t2}"
    top = f"  topResumedActivity={_OTHER}"
    forgeries = {
        "in the address that opened a different activity": resumed(
            f"  * Hist #0: {_OTHER}", f"    dat=x:topResumedActivity={wanted}", top
        ),
        "in the address, older Android": resumed(
            f"    dat=x: mResumedActivity: {wanted}", f"  mResumedActivity: {_OTHER}"
        ),
        "different application with a similar name": resumed(
            "  topResumedActivity=ActivityRecord{1 u0 org.a.copy/org.a.Main t2}"
        ),
        "paused in the background": resumed(f"  * Hist #0: {wanted} state=PAUSED", top),
        "locked screen": resumed(f"  * Hist #0: {wanted}", "  ResumedActivity: null"),
    }
    honest = {
        "in a split screen": resumed(
            f"  topResumedActivity={wanted}", f"  ResumedActivity: {_OTHER}"
        ),
        "CRLF line ends": resumed(f"  topResumedActivity={wanted}\r", "  x=1\r"),
        "in the profile of a different user": resumed(
            f"    topResumedActivity={wanted.replace('u0', 'u10')}"
        ),
    }
    return ways(args, forgeries, honest)
