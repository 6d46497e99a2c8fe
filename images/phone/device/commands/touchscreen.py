"""The commands ``getevent`` and ``sendevent``: the touchscreen's device file.

Source: AOSP ``getevent.c``, ``sendevent.c``; Linux Documentation/input/multi-touch-protocol.rst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

PATH = "/dev/input/event1"
_MOST = 32767
_FINGERS = 10
_EV_SYN, _EV_ABS = 0, 3
_SLOT, _X, _Y, _ID = 0x2F, 0x35, 0x36, 0x39
_LIFTED = (-1, 0xFFFFFFFF)
_DESCRIBED = f"""add device 1: {PATH}
  name:     "mesocosm_multi_touch_1"
  events:
    KEY (0001): 014a
    ABS (0003): 002f  : value 0, min 0, max {_FINGERS - 1}, fuzz 0, flat 0, resolution 0
                0035  : value 0, min 0, max {_MOST}, fuzz 0, flat 0, resolution 0
                0036  : value 0, min 0, max {_MOST}, fuzz 0, flat 0, resolution 0
                0039  : value 0, min 0, max 65535, fuzz 0, flat 0, resolution 0
  input props:
    INPUT_PROP_DIRECT
"""


def run_getevent(call: Invocation) -> str:
    """Run ``getevent``, which only describes the devices."""
    if [word for word in call.args if word not in {"-p", "-i", PATH}] or "-p" not in call.args:
        raise CommandError("Usage: getevent -p [-i] [device]", EXIT_USAGE)
    return _DESCRIBED


def run_sendevent(call: Invocation) -> str:
    """Run ``sendevent``: one event of the touchscreen's multi-touch protocol."""
    try:
        path, kind, code, value = call.args[0], *map(int, call.args[1:])
    except (ValueError, IndexError) as exc:
        raise CommandError("use: sendevent <device> <type> <code> <value>", EXIT_USAGE) from exc
    if path != PATH:
        raise CommandError(f"could not open {path}: No such file or directory", 1)
    touch = call.phone.touch
    if kind == _EV_SYN:
        if paths := touch.finish():
            call.phone.touched(paths)
    elif kind == _EV_ABS and code == _SLOT:
        touch.slot = value
    elif kind == _EV_ABS and code == _ID:
        touch.set_down(is_down=value not in _LIFTED)
    elif kind == _EV_ABS and code in {_X, _Y}:
        size_px = call.phone.display.seen_px
        axis = (_X, _Y).index(code)
        share = max(0, min(_MOST, value)) / _MOST
        touch.move(axis, round(share * (size_px[axis] - 1)))
    return ""
