"""The notification shade: switches and notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS
from images.phone.device.apps.stack import Entry
from images.phone.device.store.notifications import arguments_of, list_notifications
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.toolkit import Toolkit
from images.phone.device.ui.view import Align, Flow, Look, Traits, View
from images.phone.device.ui.widgets import EDGE_PX, ICON_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.apps.screen import Host
    from images.phone.device.store.database import Row

_SWITCHES = (
    ("Internet", "wifi", ("global", "wifi_on"), ("0", "1")),
    ("Bluetooth", "bluetooth", ("global", "bluetooth_on"), ("0", "1")),
    ("Airplane mode", "airplane", ("global", "airplane_mode_on"), ("0", "1")),
    ("Dark theme", "moon", ("secure", "ui_night_mode"), ("1", "2")),
)


class Shade:
    """The panel that opens from the top of the screen.

    Args:
        host: the phone.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._widgets = Toolkit(host.theme)

    def content(self) -> View:
        """Show the switches and the notifications."""
        tiles = [self._tile(*switch) for switch in _SWITCHES]
        rows = [self._widgets.row(*tiles[start : start + 2], gap_px=dp(8)) for start in (0, 2)]
        for row in rows:
            row.height_px = dp(64)
        notifications = list_notifications(self._host.store)
        news = [self._notification(row) for row in notifications]
        if not news:
            note = self._widgets.text("No notifications", "no_notifications", centered=True)
            note.padding_px = (0, dp(24), 0, dp(24))
            news = [note]
        else:
            clear = self._widgets.button("Clear all", self._clear, name="dismiss_text")
            news.append(self._widgets.buttons(clear))
        switches = self._widgets.column(*rows)
        switches.gap_px = dp(8)
        panel = View(
            "FrameLayout",
            "notification_panel",
            children=[switches, *news],
            look=Look(fill=self._host.theme.background, radius_px=dp(28)),
            padding_px=(EDGE_PX, EDGE_PX, EDGE_PX, dp(12)),
            gap_px=dp(8),
            on_tap=lambda: None,
        )
        rest = View(weight=1, is_silent=True)
        return View("FrameLayout", children=[panel, rest], on_tap=self._close)

    def _close(self) -> None:
        self._host.stack.is_shade_open = False

    def _clear(self) -> None:
        self._host.cancel_notifications()
        self._close()

    def _tile(self, caption: str, icon: str, key: tuple[str, str], values: tuple[str, str]) -> View:
        theme, store = self._host.theme, self._host.store
        is_on = store.setting(*key) == values[1]
        ink = theme.on_tint if is_on else theme.ink
        text = self._widgets.text(caption, "tile_label", size_px=SMALL_PX, ink=ink)
        return View(
            "Switch",
            label=caption,
            children=[self._widgets.icon(icon, ink=ink).sized(ICON_PX), text],
            flow=Flow.ACROSS,
            align=Align.CENTER,
            gap_px=dp(12),
            weight=1,
            height_px=dp(60),
            padding_px=(EDGE_PX, 0, dp(8), 0),
            look=Look(fill=theme.tint if is_on else theme.surface, radius_px=dp(24)),
            traits=Traits(checkable=True, checked=is_on),
            on_tap=lambda: store.put_setting(*key, values[0 if is_on else 1]),
        )

    def _notification(self, row: Row) -> View:
        app = APPS.get(row["package"])
        disc = View(
            width_px=dp(32),
            height_px=dp(32),
            look=Look(
                fill=app.color if app else self._host.theme.primary,
                radius_px=dp(16),
                ink=(255, 255, 255),
                size_px=dp(18),
                icon=app.icon if app else "notifications",
            ),
            is_silent=True,
        )
        view = self._widgets.item(
            row["title"],
            summary=row["text"],
            names=("android:id/title", "android:id/text"),
            on_tap=lambda: self._open(row),
            trailing=self._widgets.icon_button(
                "close", f"Dismiss {row['title']}", lambda: self._dismiss(row)
            ),
        )
        view.name = "expandableNotificationRow"
        view.children.insert(0, disc)
        view.look = Look(fill=self._host.theme.surface, radius_px=dp(20))
        return view

    def _dismiss(self, row: Row) -> None:
        self._host.store.change("DELETE FROM notification WHERE _id=?", (row["_id"],))

    def _open(self, row: Row) -> None:
        self._dismiss(row)
        self._close()
        if row["activity"]:
            entry = Entry(row["activity"], arguments_of(row))
            if self._host.stack.find(row["package"]) is None and row["package"] in APPS:
                self._host.stack.push(row["package"], Entry(APPS[row["package"]].main))
            self._host.stack.push(row["package"], entry)
        elif row["package"] in APPS:
            self._host.launch(row["package"])
