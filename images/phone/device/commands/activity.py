"""The command ``am``: start and stop applications.

Source: AOSP ``ActivityManagerShellCommand.java``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from images.phone.device.apps.catalog import ACTIONS, NEED_ARGUMENTS, SCREENS
from images.phone.device.apps.directory import APPS, LAUNCHER, full_activity, short_activity
from images.phone.device.commands.alarms import set_by_intent
from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_VIEW = "android.intent.action.VIEW"
_MAIN = "android.intent.action.MAIN"
_CLOSE_DIALOGS = "android.intent.action.CLOSE_SYSTEM_DIALOGS"
_IDLE = "All broadcast queues are idle!\n"
_HOME = "android.intent.category.HOME"
_TWO_VALUES = frozenset(
    [
        "-e",
        "--ecn",
        "--ed",
        "--ef",
        "--efa",
        "--efal",
        "--ei",
        "--eia",
        "--eial",
        "--el",
        "--ela",
        "--elal",
        "--es",
        "--esa",
        "--esal",
        "--eu",
        "--ez",
    ]
)
_ONE_VALUE = frozenset(
    ("-f", "-i", "-R", "-P", "--user", "--display", "--windowingMode", "--activityType", "--esn")
)


@dataclass
class Intent:
    """A parsed request."""

    action: str = ""
    categories: list[str] = field(default_factory=list)
    component: str = ""
    package: str = ""
    data: str = ""
    mime_type: str = ""
    extras: dict[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        """Return the output of ``am`` for the intent."""
        parts = []
        if self.action:
            parts.append(f"act={self.action}")
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.data:
            parts.append(f"dat={self.data}")
        if self.mime_type:
            parts.append(f"typ={self.mime_type}")
        if self.package:
            parts.append(f"pkg={self.package}")
        if self.component:
            parts.append(f"cmp={self.component}")
        if self.extras:
            parts.append("(has extras)")
        return f"Intent {{ {' '.join(parts)} }}"


def run_am(call: Invocation) -> str:
    """Run ``am``."""
    name, *args = call.args or [""]
    if name in {"start", "start-activity"}:
        return _start(call, args)
    if name in {"force-stop", "kill"} and args:
        call.phone.stop(_positional(args))
        return ""
    if name == "broadcast":
        return _broadcast(call, args)
    if name in {"startservice", "start-service", "start-foreground-service", "stopservice"}:
        intent, _ = _read_intent(args)
        raise CommandError(f"Starting service: {intent.describe()}\nError: Not found; no service")
    outputs = {"kill-all": "", "get-current-user": "0\n", "wait-for-broadcast-idle": _IDLE}
    if name in outputs:
        return outputs[name]
    raise CommandError(f"Error: unknown command '{name}'", 255)


def _positional(args: list[str]) -> str:
    rest = list(args)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in _ONE_VALUE else 1]
    if not rest:
        raise CommandError("Error: Argument expected", 255)
    return rest[0]


def _read_intent(args: list[str]) -> tuple[Intent, bool]:
    """Parse the arguments of ``am start``; also return whether to stop the application first."""
    intent, stop_first = Intent(), False
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "-S":
            stop_first = True
        elif word in {"-a", "-c", "-d", "-n", "-p", "-t"} or word in _ONE_VALUE:
            if not rest:
                raise CommandError(f'Error: Argument expected after "{word}"', 255)
            _set(intent, word, rest.pop(0))
        elif word in _TWO_VALUES:
            if len(rest) < 2:  # noqa: PLR2004
                raise CommandError(f'Error: Argument expected after "{word}"', 255)
            name, value, *rest = rest
            intent.extras[name] = value
        elif not word.startswith("-"):
            is_address = ":" in word and not word.startswith(".")
            _set(intent, "-d" if is_address else "-n" if "/" in word else "-p", word)
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
    elif option == "-d":
        intent.data = value
        intent.action = intent.action or _VIEW
    elif option == "-t":
        intent.mime_type = value


def _resolve(intent: Intent) -> tuple[str, str] | None:
    """Return the package and activity of an intent."""
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


def _broadcast(call: Invocation, args: list[str]) -> str:
    intent, _ = _read_intent(args)
    if not intent.action and not intent.component:
        raise CommandError("Error: no intent supplied", 255)
    if intent.action == _CLOSE_DIALOGS:
        call.phone.collapse_shade()
    return f"Broadcasting: {intent.describe()}\nBroadcast completed: result=0\n"


def _log_start(call: Invocation, intent: Intent) -> None:
    call.phone.log.write(
        "I", "ActivityTaskManager", f"START u0 {{{intent.describe()[9:-2]}}} from uid 2000"
    )


def _start(call: Invocation, args: list[str]) -> str:
    intent, stop_first = _read_intent(args)
    goal = _resolve(intent)
    _log_start(call, intent)
    if set_by_intent(call.phone, intent.action, intent.extras):
        return f"Starting: {intent.describe()}\n"
    if goal is None:
        if not intent.component and call.phone.view(intent.action, intent.data, intent.extras):
            return f"Starting: {intent.describe()}\n"
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
    output = f"Starting: {shown.describe()}\n"
    if was_open and not stop_first:
        output += "Warning: Activity not started, its current task has been brought to the front\n"
    if "-W" in args:
        output += f"Status: ok\nLaunchState: WARM\nActivity: {component}\nTotalTime: 1\nWaitTime: 1\nComplete\n"
    return output
