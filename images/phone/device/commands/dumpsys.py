"""The command ``dumpsys``: the parts that tools read, in the formats of several Android versions.

Source: AOSP ``ActivityTaskManagerService.java``, ``WindowManagerService.java``,
``BatteryService.java``, ``WifiServiceImpl.java``, ``DisplayManagerService.java``;
``mResumedActivity`` up to Android 9, ``topResumedActivity`` later.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import short_activity
from images.phone.device.apps.settings import DARK, LIGHT
from images.phone.device.commands.alarms import describe_alarms
from images.phone.device.commands.base import CommandError
from images.phone.device.commands.battery import DEVICE, describe_battery, run_battery
from images.phone.device.commands.keyboards import METHOD
from images.phone.device.commands.notices import describe_notifications
from images.phone.device.commands.package import describe
from images.phone.device.telephony import IDLE, OFFHOOK, RINGING
from images.phone.device.ui.metrics import DENSITY_DPI, HEIGHT_PX, WIDTH_PX

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.apps.stack import AppTask, Entry
    from images.phone.device.commands.base import Invocation

_CALL_STATES = (IDLE, RINGING, OFFHOOK)  # TelephonyManager.CALL_STATE_*


def run_dumpsys(call: Invocation) -> str:
    """Run ``dumpsys``."""
    args = list(call.args)
    if args[:1] == ["-t"]:
        del args[:2]
    args = [word for word in args if word in {"-l", "--display-id"} or not word.startswith("-")]
    if not args or args[0] == "-l":
        return "Currently running services:\n" + "".join(f"  {name}\n" for name in SERVICES)
    name, *rest = args
    if name not in _SERVICES:
        raise CommandError(f"Can't find service: {name}")
    with call.phone.lock:
        return _SERVICES[name](call, rest)


def _record(task: AppTask, entry: Entry) -> str:
    """Return the description of an activity; its number is constant while it is open."""
    place = task.entries.index(entry)
    number = zlib.crc32(f"{task.task_id}/{place}/{entry.activity}".encode()) & 0xFFFFFFF
    name = f"{task.package}/{short_activity(task.package, entry.activity)}"
    return f"ActivityRecord{{{number:x} u0 {name} t{task.task_id}}}"


def _activity(call: Invocation, rest: list[str]) -> str:
    what = rest[0] if rest else "activities"
    stack = call.phone.stack
    top = _record(stack.front, stack.top)
    if what == "top":
        name = f"{stack.front.package}/{short_activity(stack.front.package, stack.top.activity)}"
        return f"TASK {stack.front.package} id={stack.front.task_id}\n  ACTIVITY {name} 0 pid=1\n"
    if what in {"services", "s"}:
        return "ACTIVITY MANAGER SERVICES (dumpsys activity services)\n  (nothing)\n"
    if what not in {"activities", "a", "recents", "r"}:
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


def _window(call: Invocation, _: list[str]) -> str:
    stack, display = call.phone.stack, call.phone.display
    package, activity = stack.front.package, stack.top.activity
    number = zlib.crc32(f"{stack.front.task_id}/{activity}".encode()) & 0xFFFFFFF
    size = "x".join(str(side) for side in display.seen_px)
    is_forced = display.upright_px != (WIDTH_PX, HEIGHT_PX) or display.density_dpi != DENSITY_DPI
    upright = "x".join(str(side) for side in display.upright_px)
    base = f" base={upright} {display.density_dpi}dpi" if is_forced else ""
    focus = "NotificationShade" if stack.is_shade_open else f"{package}/{activity}"
    return (
        "WINDOW MANAGER WINDOWS (dumpsys window windows)\n"
        "  Display: mDisplayId=0\n"
        f"    init={WIDTH_PX}x{HEIGHT_PX} {DENSITY_DPI}dpi{base} cur={size} app={size}\n"
        f"  mCurrentFocus=Window{{{number:x} u0 {focus}}}\n"
        f"  mFocusedApp={_record(stack.front, stack.top)}\n"
        f"  mDisplayRotation=ROTATION_{display.rotation * 90}\n"
        f"  mRotation={display.rotation}\n"
        "  isKeyguardShowing=false\n  mDreamingLockscreen=false\n"
    )


def _battery(call: Invocation, rest: list[str]) -> str:
    return run_battery(replace(call, args=rest)) if rest else describe_battery(call)


def _display(call: Invocation, _: list[str]) -> str:
    return (
        "DISPLAY MANAGER (dumpsys display)\n"
        "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, "
        f"uniqueId='local:0', physicalPort=0, orientation={call.phone.display.rotation}, "
        f"deviceWidth={WIDTH_PX}, deviceHeight={HEIGHT_PX}}}]\n"
        "  mScreenState=ON\n"
    )


def _surface(_: Invocation, rest: list[str]) -> str:
    if rest[:1] == ["--display-id"]:
        return 'Display 0 (HWC display 0): port=0 pnpId=MSC displayName="reference"\n'
    return f"Display 0: {WIDTH_PX}x{HEIGHT_PX}\n"


def _wifi(call: Invocation, _: list[str]) -> str:
    is_on = call.phone.store.setting("global", "wifi_on") == "1"
    is_off = call.phone.store.setting("global", "airplane_mode_on") == "1"
    state = "enabled" if is_on and not is_off else "disabled"
    return f"Wi-Fi is {state}\nmNetworkInfo [type: WIFI[], state: {_joined(state)}]\n"


def _joined(state: str) -> str:
    return "CONNECTED/CONNECTED" if state == "enabled" else "DISCONNECTED/DISCONNECTED"


def _bluetooth(call: Invocation, _: list[str]) -> str:
    store = call.phone.store
    is_on = store.setting("global", "bluetooth_on") == "1"
    return (
        f"Bluetooth Status\n  enabled: {str(is_on).lower()}\n  state: {'ON' if is_on else 'OFF'}\n"
        f"  address: 02:00:00:00:00:01\n  name: {store.setting('secure', 'bluetooth_name')}\n"
    )


def _uimode(call: Invocation, _: list[str]) -> str:
    mode = call.phone.store.setting("secure", "ui_night_mode", LIGHT)
    word = {DARK: "yes", LIGHT: "no"}.get(mode, "auto")
    is_dark = str(mode == DARK).lower()
    return (
        "Current UI Mode Service state:\n"
        f"  mNightMode={mode} ({word})\n  mComputedNightMode={is_dark}\n"
    )


def _input(call: Invocation, _: list[str]) -> str:
    display = call.phone.display
    return (
        "INPUT MANAGER (dumpsys input)\n  Viewport INTERNAL: displayId=0, "
        f"orientation={display.rotation}, logicalFrame=[0, 0, {display.seen_px[0]}, "
        f"{display.seen_px[1]}]\n  SurfaceOrientation: {display.rotation}\n"
    )


def _input_method(call: Invocation, _: list[str]) -> str:
    shown = str(call.phone.compositor.keyboard_shown).lower()
    return f"Current Input Method Manager state:\n  mInputShown={shown}\n  mCurMethodId={METHOD}\n"


def _location(call: Invocation, _: list[str]) -> str:
    latitude, longitude, altitude = (
        call.phone.store.setting(DEVICE, f"geo.{name}")
        for name in ("latitude", "longitude", "altitude")
    )
    last = f"Location[gps {latitude},{longitude} alt={altitude or 0} hAcc=1]"
    return f"Location Manager State:\n  gps provider:\n    last location={last if latitude else 'null'}\n"


def _telephony(call: Invocation, _: list[str]) -> str:
    return (
        "last known state:\n"
        f"  mCallState={_CALL_STATES.index(call.phone.telephony.state)}\n"
        f"  mCallIncomingNumber={call.phone.telephony.number}\n"
        "  mServiceState=0\n"
    )


def _reference(call: Invocation, rest: list[str]) -> str:
    """Print data that Android lacks: digests of the state, the last toast, the picture's number.

    The number is followed by the number of background tasks that will still change the picture.
    """
    if rest == ["frame"]:
        return f"frame={call.phone.compositor.frame()}\npending={call.phone.pending}\n"
    if rest == ["toast"]:
        text = call.phone.stack.last_toast
        return f"package={call.phone.stack.front.package}\ntext={text}\n" if text else ""
    return "".join(f"{key}={value}\n" for key, value in call.phone.digest().items())


def _power(_: Invocation, __: list[str]) -> str:
    return (
        "POWER MANAGER (dumpsys power)\n  mWakefulness=Awake\n"
        "  mHoldingDisplaySuspendBlocker=true\nDisplay Power: state=ON\n"
    )


_SERVICES: dict[str, Callable[[Invocation, list[str]], str]] = {
    "SurfaceFlinger": _surface,
    "activity": _activity,
    "alarm": lambda call, _: describe_alarms(call.phone),
    "battery": _battery,
    "bluetooth_manager": _bluetooth,
    "display": _display,
    "input": _input,
    "input_method": _input_method,
    "location": _location,
    "notification": lambda call, _: describe_notifications(call.phone),
    "package": lambda call, rest: describe(call, rest[0] if rest else ""),
    "power": _power,
    "reference_phone": _reference,
    "telephony.registry": _telephony,
    "uimode": _uimode,
    "wifi": _wifi,
    "window": _window,
}
SERVICES = tuple(sorted(_SERVICES))
"""Names of the services with output."""
