"""The command ``dumpsys``: what other tools read of it, in the words of several Androids.

Source: AOSP ``ActivityTaskManagerService.java``, ``WindowManagerService.java``,
``BatteryService.java``; ``mResumedActivity`` up to Android 9, ``topResumedActivity`` later.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import short_activity
from images.phone.device.commands.base import CommandError
from images.phone.device.commands.package import describe
from images.phone.device.ui.metrics import DENSITY_DPI, HEIGHT_PX, WIDTH_PX

if TYPE_CHECKING:
    from images.phone.device.apps.stack import AppTask, Entry
    from images.phone.device.commands.base import Invocation

SERVICES = ("activity", "battery", "display", "package", "power", "reference_phone", "window")


def run_dumpsys(call: Invocation) -> str:
    """Carry out ``dumpsys``."""
    words = [word for word in call.words if word == "-l" or not word.startswith("-")]
    if not words or words[0] == "-l":
        return "Currently running services:\n" + "".join(f"  {name}\n" for name in SERVICES)
    name, *rest = words
    with call.phone.lock:
        if name == "activity":
            return _activity(call, rest[0] if rest else "activities")
        if name == "window":
            return _window(call)
        if name == "package" and rest:
            return describe(call, rest[0])
        if name == "reference_phone":
            return "".join(f"{key}={value}\n" for key, value in call.phone.digest().items())
    if name in _CONSTANT:
        return _CONSTANT[name]
    raise CommandError(f"Can't find service: {name}", 0 if name in SERVICES else 1)


def _record(task: AppTask, entry: Entry) -> str:
    """Give the words for one activity; the number in front is the same as long as it is open."""
    place = task.entries.index(entry)
    number = zlib.crc32(f"{task.task_id}/{place}/{entry.activity}".encode()) & 0xFFFFFFF
    name = f"{task.package}/{short_activity(task.package, entry.activity)}"
    return f"ActivityRecord{{{number:x} u0 {name} t{task.task_id}}}"


def _activity(call: Invocation, what: str) -> str:
    stack = call.phone.stack
    top = _record(stack.front, stack.top)
    if what == "top":
        name = f"{stack.front.package}/{short_activity(stack.front.package, stack.top.activity)}"
        return f"TASK {stack.front.package} id={stack.front.task_id}\n  ACTIVITY {name} 0 pid=1\n"
    if what not in {"activities", "a", "recents"}:
        raise CommandError(f"Bad activity command, or no activities match: {what}", 0)
    lines = [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)",
        "Display #0 (activities from top to bottom):",
    ]
    for task in reversed(stack.tasks):
        visible = str(task is stack.front).lower()
        size = len(task.entries)
        lines.append(
            f"  * Task{{{task.task_id:x} #{task.task_id} type=standard A={task.package} U=0 "
            f"visible={visible} mode=fullscreen sz={size}}}"
        )
        lines += [
            f"    * Hist  #{index}: {_record(task, task.entries[index])}"
            for index in reversed(range(size))
        ]
    lines += [
        f"    mResumedActivity: {top}",
        f"  topResumedActivity={top}",
        f"  ResumedActivity: {top}",
    ]
    return "\n".join(lines) + "\n"


def _window(call: Invocation) -> str:
    stack = call.phone.stack
    package, activity = stack.front.package, stack.top.activity
    number = zlib.crc32(f"{stack.front.task_id}/{activity}".encode()) & 0xFFFFFFF
    size = f"{WIDTH_PX}x{HEIGHT_PX}"
    return (
        "WINDOW MANAGER WINDOWS (dumpsys window windows)\n"
        "  Display: mDisplayId=0\n"
        f"    init={size} {DENSITY_DPI}dpi cur={size} app={size}\n"
        f"  mCurrentFocus=Window{{{number:x} u0 {package}/{activity}}}\n"
        f"  mFocusedApp={_record(stack.front, stack.top)}\n"
    )


_CONSTANT = {
    "battery": (
        "Current Battery Service state:\n  AC powered: true\n  USB powered: false\n"
        "  Wireless powered: false\n  status: 2\n  health: 2\n  present: true\n  level: 100\n"
        "  scale: 100\n  voltage: 5000\n  temperature: 250\n  technology: Li-ion\n"
    ),
    "display": (
        "DISPLAY MANAGER (dumpsys display)\n"
        f"  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, displayId=0, orientation=0, "
        f"deviceWidth={WIDTH_PX}, deviceHeight={HEIGHT_PX}}}]\n"
    ),
    "power": (
        "POWER MANAGER (dumpsys power)\n  mWakefulness=Awake\n"
        "  mHoldingDisplaySuspendBlocker=true\n"
    ),
}
