"""Format alarms and timers like ``dumpsys alarm``, and set them by intent.

Source: AOSP ``AlarmManagerService.java``, ``android.provider.AlarmClock``.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import CLOCK
from images.phone.device.store.clock import add_alarm, add_timer, list_rings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from images.phone.device.phone import Phone

_SET_ALARM = "android.intent.action.SET_ALARM"
_SET_TIMER = "android.intent.action.SET_TIMER"
_EXTRA = "android.intent.extra.alarm."
_MAX_TIMER_S = 24 * 60 * 60
_ACTIONS = {
    "alarm": "com.android.deskclock.ALARM_ALERT",
    "timer": "com.android.deskclock.TIMER_EXPIRED",
}


def describe_alarms(phone: Phone) -> str:
    """Return the output of ``dumpsys alarm``: pending alarms and the next alarm clock."""
    now = phone.now()
    rings = list_rings(phone.store, now)
    lines = [
        "Current Alarm Manager state:",
        f"  nowRTC={int(now.timestamp() * 1000)}={now:%Y-%m-%d %H:%M:%S}",
        f"  {len(rings)} pending alarms:",
    ]
    for number, ring in enumerate(rings):
        when = _local(ring.at_ms, now)
        lines += [
            f"    RTC_WAKEUP #{number}: Alarm{{{ring.row_id:x} type 0 origWhen {ring.at_ms} {CLOCK}}}",
            f"      tag=*walarm*:{_ACTIONS[ring.kind]}",
            f"      type=RTC_WAKEUP origWhen={when:%Y-%m-%d %H:%M:%S}.000 window=0 repeatInterval=0",
        ]
    clocks = [ring for ring in rings if ring.kind == "alarm"]
    lines.append("  Next alarm clock information:")
    if clocks:
        at_ms = clocks[0].at_ms
        when, minutes = _local(at_ms, now), int(at_ms / 1000 - now.timestamp()) // 60
        lines.append(
            f"    user:0 pendingSend:false time:{at_ms} = {when:%Y-%m-%d %H:%M:%S} = "
            f"+{minutes // 60}h{minutes % 60}m"
        )
    return "\n".join(lines) + "\n"


def set_by_intent(phone: Phone, action: str, extras: Mapping[str, str]) -> bool:
    """Set the alarm or timer of an intent; return whether its screen may stay hidden.

    Raises:
        ValueError: an extra is not a number, or out of range.
    """
    label = extras.get(f"{_EXTRA}MESSAGE", "")
    with phone.event():
        if action == _SET_ALARM and f"{_EXTRA}HOUR" in extras:
            hour, minutes = int(extras[f"{_EXTRA}HOUR"]), int(extras.get(f"{_EXTRA}MINUTES", "0"))
            add_alarm(phone.store, hour, minutes, label)
        elif action == _SET_TIMER and f"{_EXTRA}LENGTH" in extras:
            length_s = int(extras[f"{_EXTRA}LENGTH"])
            if not 0 < length_s <= _MAX_TIMER_S:
                raise ValueError("a timer's length is 1 to 86400 s")
            add_timer(phone.store, length_s, int(phone.now_s() * 1000), label)
        else:
            return False
    return extras.get(f"{_EXTRA}SKIP_UI", "") == "true"


def _local(at_ms: int, now: datetime) -> datetime:
    """Return a time in the phone's own zone."""
    return datetime.fromtimestamp(at_ms / 1000, tz=now.tzinfo)
