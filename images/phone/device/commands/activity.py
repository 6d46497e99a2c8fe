"""The commands ``am`` and ``monkey``: start and stop applications.

Source: AOSP ``ActivityManagerShellCommand.java``, ``Monkey.java``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from images.phone.device.apps.catalog import ACTIONS, NEED_ARGUMENTS, SCREENS
from images.phone.device.apps.directory import APPS, LAUNCHER, full_activity, short_activity
from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_MAIN = "android.intent.action.MAIN"
_LAUNCH = "android.intent.category.LAUNCHER"
_HOME = "android.intent.category.HOME"
_TWO_VALUES = frozenset(("--es", "-e", "--ei", "--ez", "--el", "--ef", "--eu"))
_ONE_VALUE = frozenset(("-d", "-t", "-f", "--user", "--display", "--windowingMode", "-i"))


@dataclass
class Intent:
    """What is asked for."""

    action: str = ""
    categories: list[str] = field(default_factory=list)
    component: str = ""
    package: str = ""

    def describe(self) -> str:
        """Give the words that ``am`` prints."""
        parts = []
        if self.action:
            parts.append(f"act={self.action}")
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.package:
            parts.append(f"pkg={self.package}")
        if self.component:
            parts.append(f"cmp={self.component}")
        return f"Intent {{ {' '.join(parts)} }}"


def run_am(call: Invocation) -> str:
    """Carry out ``am``."""
    name, *words = call.words or [""]
    if name in {"start", "start-activity"}:
        return _start(call, words)
    if name in {"force-stop", "kill"} and words:
        call.phone.stop(_positional(words))
        return ""
    if name == "kill-all":
        return ""
    if name == "get-current-user":
        return "0\n"
    raise CommandError(f"Error: unknown command '{name}'", 255)


def run_monkey(call: Invocation) -> str:
    """Carry out ``monkey -p PACKAGE -c android.intent.category.LAUNCHER 1``: open an application."""
    words = call.words
    package = words[words.index("-p") + 1] if "-p" in words[:-1] else ""
    if package not in APPS or not words[-1].isdigit():
        raise CommandError("** No activities found to run, monkey aborted.", 252)
    call.phone.launch(package)
    return f"Events injected: {words[-1]}\n## Network stats: elapsed time=0ms\n"


def _positional(words: list[str]) -> str:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in _ONE_VALUE else 1]
    if not rest:
        raise CommandError("Error: Argument expected", 255)
    return rest[0]


def _read_intent(words: list[str]) -> tuple[Intent, bool]:
    """Read the arguments of ``am start``; the second value: stop the application before."""
    intent, stop_first = Intent(), False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-S":
            stop_first = True
        elif word in {"-a", "-c", "-n", "-p"} or word in _ONE_VALUE:
            if not rest:
                raise CommandError(f'Error: Argument expected after "{word}"', 255)
            _set(intent, word, rest.pop(0))
        elif word in _TWO_VALUES:
            del rest[:2]
        elif not word.startswith("-"):
            _set(intent, "-n" if "/" in word else "-p", word)
    return intent, stop_first


def _set(intent: Intent, option: str, value: str) -> None:
    if option == "-a":
        intent.action = value
    elif option == "-c":
        intent.categories.append(value)
    elif option == "-n":
        intent.component = value
    elif option == "-p":
        intent.package = value


def _resolve(intent: Intent) -> tuple[str, str] | None:
    """Give package and activity that an intent means."""
    if intent.component:
        package, _, activity = intent.component.partition("/")
        activity = full_activity(package, activity)
        known = activity in SCREENS.get(package, {}) and activity not in NEED_ARGUMENTS
        return (package, activity) if known else None
    if intent.action in ACTIONS and intent.package in {"", ACTIONS[intent.action][0]}:
        return ACTIONS[intent.action]
    if _HOME in intent.categories:
        return LAUNCHER, APPS[LAUNCHER].main
    if intent.package in APPS and intent.action in {"", _MAIN}:
        return intent.package, APPS[intent.package].main
    return None


def _start(call: Invocation, words: list[str]) -> str:
    intent, stop_first = _read_intent(words)
    goal = _resolve(intent)
    if goal is None:
        if intent.component:
            package, _, activity = intent.component.partition("/")
            name = f"{package}/{full_activity(package, activity)}"
            raise CommandError(
                f"Starting: {intent.describe()}\nError type 3\n"
                f"Error: Activity class {{{name}}} does not exist."
            )
        raise CommandError(
            f"Starting: {intent.describe()}\nError: Activity not started, unable to resolve "
            f"{intent.describe()}"
        )
    package, activity = goal
    if stop_first:
        call.phone.stop(package)
    with call.phone.event():
        was_open = call.phone.stack.find(package) is not None
        call.phone.open(package, activity)
    component = f"{package}/{short_activity(package, activity)}"
    shown = Intent(intent.action, intent.categories, component)
    said = f"Starting: {shown.describe()}\n"
    if was_open and not stop_first:
        said += "Warning: Activity not started, its current task has been brought to the front\n"
    if "-W" in words:
        said += f"Status: ok\nLaunchState: WARM\nActivity: {component}\nTotalTime: 1\nWaitTime: 1\nComplete\n"
    return said
