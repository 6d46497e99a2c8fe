"""The screens of ringing alarms and timers.

Source of the names: AOSP DeskClock, ``AlarmActivity`` and ``ExpiredTimersActivity``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import clock_text, length_text
from images.phone.device.store.clock import (
    Ring,
    dismiss_alarm,
    extend_timer,
    find_row,
    reset_timer,
    snooze_alarm,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.theme import rgb
from images.phone.device.ui.view import Align, View
from images.phone.device.ui.widgets import EDGE_PX, LARGE_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

SNOOZE_MINUTES = 10
_NIGHT, _WHITE, _PALE = rgb("1B2A41"), (255, 255, 255), rgb("A8C7FA")


class RingScreen(Screen):
    """A ringing alarm or timer; leaving this screen does not stop it."""

    ground = _NIGHT
    kind = ""
    icon = ""

    @property
    def ring(self) -> Ring:
        """The ringing alarm or timer."""
        return Ring(self.kind, int(self.entry.arguments["id"]), int(self.entry.arguments["at_ms"]))

    def content(self) -> View:
        """Show the alarm or timer and the two buttons."""
        is_wide = self.host.display.is_wide
        row = find_row(self.store, self.ring)
        icon = self.widgets.icon(self.icon, size_px=dp(48 if is_wide else 96), ink=_PALE)
        texts = [
            self._light(self._head(), "digital_clock", dp(44 if is_wide else 64)),
            self._light(title_of(self.ring, row), "title", LARGE_PX),
        ]
        buttons = [self._button(*answer) for answer in self._answers()]
        space = dp(16 if is_wide else 72)
        return View(
            "FrameLayout",
            "alarm_content",
            children=[
                View(height_px=space, is_silent=True),
                *texts,
                View(weight=1, is_silent=True),
                icon,
                View(weight=1, is_silent=True),
                self.widgets.row(*buttons, gap_px=dp(24), height_px=dp(56)),
                View(height_px=space, is_silent=True),
            ],
            align=Align.CENTER,
            gap_px=dp(8),
        )

    def back(self) -> bool:
        """Do nothing: it continues to ring."""
        return True

    def end(self) -> None:
        """Close the screen and the notification, and return to the previous activity."""
        self.host.cancel_notifications(self.package, tag_of(self.ring))
        self.finish()
        self.host.stack.bring(str(self.entry.arguments.get("over", "")))

    def _head(self) -> str:
        return clock_text(self.host.now(), is_24=self.host.is_24_hours())

    def _answers(self) -> tuple[tuple[str, str], ...]:
        """Return the text and name of each button."""
        raise NotImplementedError

    def answer(self, name: str) -> None:
        """Handle a tap on a button."""
        raise NotImplementedError

    def _light(self, text: str, name: str, size_px: int) -> View:
        return self.widgets.text(
            text, name, size_px=size_px, ink=_WHITE, centered=True, lines=2
        ).sized(self.host.display.width_px - 2 * EDGE_PX)

    def _button(self, text: str, name: str) -> View:
        button = self.widgets.button(text, self.act(self.answer, name), name=name)
        button.look.fill, button.look.ink, button.look.radius_px = _PALE, _NIGHT, dp(28)
        return button.sized(dp(140), dp(56))


class AlarmScreen(RingScreen):
    """A ringing alarm."""

    activity = "com.android.deskclock.alarms.AlarmActivity"
    kind = "alarm"
    icon = "alarm"

    def _answers(self) -> tuple[tuple[str, str], ...]:
        return ("Snooze", "snooze"), ("Dismiss", "dismiss")

    def answer(self, name: str) -> None:
        """Snooze or dismiss the alarm."""
        if name == "snooze":
            until_ms = int(self.host.now_s() + SNOOZE_MINUTES * 60) * 1000
            snooze_alarm(self.store, self.ring.row_id, until_ms)
        else:
            dismiss_alarm(self.store, self.ring.row_id)
        self.end()
        if name == "snooze":
            self.toast(f"Snoozing for {SNOOZE_MINUTES} minutes.")


class TimerScreen(RingScreen):
    """An expired timer."""

    activity = "com.android.deskclock.timer.ExpiredTimersActivity"
    kind = "timer"
    icon = "hourglass"

    def _head(self) -> str:
        return "Time's up"

    def _answers(self) -> tuple[tuple[str, str], ...]:
        return ("+1 min", "reset_add"), ("Stop", "fab")

    def answer(self, name: str) -> None:
        """Extend the timer by a minute, or stop it."""
        if name == "reset_add":
            extend_timer(self.store, self.ring.row_id, int(self.host.now_s() * 1000))
        else:
            reset_timer(self.store, self.ring.row_id)
        self.end()


SCREENS_BY_KIND: dict[str, type[RingScreen]] = {
    screen.kind: screen for screen in (AlarmScreen, TimerScreen)
}


def tag_of(ring: Ring) -> str:
    """Return the tag of the notification."""
    return f"{ring.kind}-{ring.row_id}"


def title_of(ring: Ring, row: Row | None) -> str:
    """Return the displayed title."""
    label = str(row["label"]) if row else ""
    if label or ring.kind == AlarmScreen.kind:
        return label or "Alarm"
    return f"{length_text(row['length'])} timer" if row else "Timer"
