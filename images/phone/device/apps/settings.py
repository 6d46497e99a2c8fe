"""The Settings application."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import long_date
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, Look, Traits, View
from images.phone.device.ui.widgets import EDGE_PX

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.store.database import Store

_PACKAGE = "com.android.settings"
DARK, LIGHT = "2", "1"
MAX_BRIGHTNESS = 255
TIMEOUTS_S = {15: "15 seconds", 30: "30 seconds", 60: "1 minute", 300: "5 minutes"}
_BOTTOM_PX = dp(24)
LANGUAGES = {
    "en-US": "English (United States)",
    "en-GB": "English (United Kingdom)",
    "de-CH": "Deutsch (Schweiz)",
    "es-ES": "Espa\u00f1ol (Espa\u00f1a)",
    "fr-FR": "Fran\u00e7ais (France)",
    "it-IT": "Italiano (Italia)",
    "ja-JP": "\u65e5\u672c\u8a9e (\u65e5\u672c)",
    "pt-BR": "Portugu\u00eas (Brasil)",
    "zh-CN": "\u4e2d\u6587 (\u4e2d\u56fd)",
}
ZONES = (
    "UTC", "America/Los_Angeles", "America/New_York", "America/Sao_Paulo", "Europe/London",
    "Europe/Zurich", "Europe/Athens", "Africa/Cairo", "Asia/Riyadh", "Asia/Kolkata",
    "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney",
)  # fmt: skip


def is_on(store: Store, namespace: str, key: str, on: str = "1") -> bool:
    """Return whether a setting is switched on."""
    return store.setting(namespace, key) == on


class _Page(Screen):
    """A page of settings."""

    title: ClassVar[str] = ""

    def rows(self) -> list[View]:
        """Return the rows of the page."""
        raise NotImplementedError

    def content(self) -> View:
        """Show the title and the rows."""
        back = None if self.activity == f"{_PACKAGE}.Settings" else self.act(self.finish)
        rows = self.widgets.list_of(
            "recycler_view", self.rows(), self.offset("recycler_view"), bottom_px=_BOTTOM_PX
        )
        return self.widgets.column(self.widgets.bar(self.title, on_back=back), rows)

    def switch(self, title: str, key: tuple[str, str], *, icon: str, summary: str = "") -> View:
        """Return a row that switches a setting between 0 and 1."""
        return self.toggle(title, key, ("0", "1"), icon=icon, summary=summary)

    def toggle(
        self,
        title: str,
        key: tuple[str, str],
        values: tuple[str, str],
        *,
        icon: str,
        summary: str = "",
    ) -> View:
        """Return a row that switches a setting between two values, off and on."""
        checked = is_on(self.store, *key, on=values[1])
        view = self.widgets.item(
            title,
            summary=summary,
            icon=icon,
            on_tap=self.act(self.store.put_setting, *key, values[0 if checked else 1]),
            trailing=self.widgets.switch(checked=checked),
        )
        view.label = ""
        return view

    def choice(self, caption: str, on_tap: Callable[[], None], *, is_on: bool) -> View:
        """Return a row of a single-choice list."""
        mark = View(
            "RadioButton",
            "android:id/checkbox",
            width_px=dp(24),
            height_px=dp(24),
            look=Look(
                icon="radio_on" if is_on else "circle",
                size_px=dp(24),
                ink=self.host.theme.primary if is_on else self.host.theme.ink_soft,
            ),
            traits=Traits(checkable=True, checked=is_on),
        )
        view = self.widgets.item(caption, on_tap=on_tap)
        view.children.insert(0, mark)
        return view

    def link(self, title: str, activity: str, *, icon: str, summary: str = "") -> View:
        """Return a row that opens another page."""
        opener = self.act(self.open, f"{_PACKAGE}.{activity}")
        return self.widgets.item(title, summary=summary, icon=icon, on_tap=opener)


class SettingsScreen(_Page):
    """The list of all pages."""

    activity = "com.android.settings.Settings"
    title = "Settings"

    def rows(self) -> list[View]:
        """Show the pages."""
        dark = is_on(self.store, "secure", "ui_night_mode", DARK)
        return [
            self.link(
                "Network & internet",
                "Settings$NetworkDashboardActivity",
                icon="wifi",
                summary="Wi\u2011Fi, airplane mode",
            ),
            self.link(
                "Connected devices",
                "Settings$ConnectedDeviceDashboardActivity",
                icon="devices",
                summary="Bluetooth, device name",
            ),
            self.link(
                "Display",
                "Settings$DisplaySettingsActivity",
                icon="brightness",
                summary=f"{'Dark' if dark else 'Light'} theme, brightness, screen timeout",
            ),
            self.link(
                "Language",
                "Settings$LocalePickerActivity",
                icon="language",
                summary=LANGUAGES.get(self.store.properties().get("persist.sys.locale", ""), ""),
            ),
            self.link(
                "Date & time",
                "Settings$DateTimeSettingsActivity",
                icon="clock",
                summary="24\u2011hour format",
            ),
            self.link(
                "About phone",
                "Settings$MyDeviceInfoActivity",
                icon="phone",
                summary=self.store.setting("global", "device_name"),
            ),
        ]


class NetworkScreen(_Page):
    """Network & internet."""

    activity = "com.android.settings.Settings$NetworkDashboardActivity"
    title = "Network & internet"

    def rows(self) -> list[View]:
        """Show the switches."""
        return [
            self.switch("Wi\u2011Fi", ("global", "wifi_on"), icon="wifi"),
            self.switch("Airplane mode", ("global", "airplane_mode_on"), icon="airplane"),
        ]


class _Rename(_Page):
    """A page with a row that opens a rename dialog."""

    dialog_title: ClassVar[str] = ""
    key: ClassVar[tuple[str, str]] = ("", "")

    def name_row(self, title: str, icon: str) -> View:
        """Return the row."""
        value = self.store.setting(*self.key)
        return self.widgets.item(title, summary=value, icon=icon, on_tap=self._begin)

    def dialog(self) -> View | None:
        """Show the dialog."""
        if not self.state.get("renaming"):
            return None
        title = self.widgets.text(
            self.dialog_title, "android:id/alertTitle", size_px=dp(22), lines=2
        )
        field = self.field("android:id/edit", hint="Device name")
        buttons = self.widgets.row(
            View(weight=1, is_silent=True),
            self.widgets.button("Cancel", self.act(self.back), name="android:id/button2"),
            self.widgets.button("Rename", self._rename, name="android:id/button1"),
            height_px=dp(56),
        )
        spaces = [self.widgets.space(dp(16)) for _ in range(2)]
        return self.widgets.dialog(
            title, spaces[0], field, spaces[1], buttons, on_outside=self.act(self.back)
        )

    def back(self) -> bool:
        """Close the dialog."""
        self.drop_field("android:id/edit")
        return bool(self.state.pop("renaming", False))

    def submit(self, name: str) -> None:
        """Accept the name."""
        del name
        self._rename()

    def _begin(self) -> None:
        self.state["renaming"] = True
        self.put_field("android:id/edit", self.store.setting(*self.key))
        self.focus("android:id/edit")

    def _rename(self) -> None:
        name = self.field_text("android:id/edit").strip()
        if name:
            self.store.put_setting(*self.key, name)
        self.back()


class DevicesScreen(_Rename):
    """Connected devices."""

    activity = "com.android.settings.Settings$ConnectedDeviceDashboardActivity"
    title = "Connected devices"
    dialog_title = "Rename this device"
    key = ("secure", "bluetooth_name")

    def rows(self) -> list[View]:
        """Show the device name and the Bluetooth switch."""
        return [
            self.name_row("Device name", "phone"),
            self.switch("Use Bluetooth", ("global", "bluetooth_on"), icon="bluetooth"),
        ]


class DisplayScreen(_Page):
    """Display."""

    activity = "com.android.settings.Settings$DisplaySettingsActivity"
    title = "Display"

    def rows(self) -> list[View]:
        """Show brightness, theme, rotation and timeout."""
        rotation = ("system", "accelerometer_rotation")
        return [
            self.widgets.section("Brightness"),
            self._brightness(),
            self.switch(
                "Adaptive brightness", ("system", "screen_brightness_mode"), icon="brightness"
            ),
            self.widgets.section("Appearance"),
            self.toggle("Dark theme", ("secure", "ui_night_mode"), (LIGHT, DARK), icon="moon"),
            self.switch("Auto\u2011rotate screen", rotation, icon="rotate"),
            self.widgets.section("Screen timeout"),
            *(self._timeout(seconds, caption) for seconds, caption in TIMEOUTS_S.items()),
        ]

    def _brightness(self) -> View:
        theme = self.host.theme
        value = self.store.setting("system", "screen_brightness", "128")
        level = int(value) if value.isdigit() else MAX_BRIGHTNESS // 2
        share = min(1.0, level / MAX_BRIGHTNESS)
        done = View(
            weight=max(0.02, share),
            look=Look(fill=theme.primary, radius_px=dp(12)),
            height_px=dp(24),
            is_silent=True,
        )
        rest = View(weight=max(0.02, 1 - share), is_silent=True)
        bar = View(
            "SeekBar",
            "slider",
            text=f"{level * 100 / MAX_BRIGHTNESS:.0f}%",
            label="Brightness level",
            children=[done, rest],
            flow=Flow.ACROSS,
            height_px=dp(24),
            look=Look(fill=theme.surface, radius_px=dp(12)),
            on_slide=self._set_brightness,
        )
        return self.widgets.column(bar, padding_px=(EDGE_PX, dp(8), EDGE_PX, dp(16)))

    def _set_brightness(self, share: float) -> None:
        self.store.put_setting("system", "screen_brightness", str(round(share * MAX_BRIGHTNESS)))

    def _timeout(self, seconds: int, caption: str) -> View:
        value = str(seconds * 1000)
        checked = self.store.setting("system", "screen_off_timeout") == value
        act = self.act(self.store.put_setting, "system", "screen_off_timeout", value)
        return self.choice(caption, act, is_on=checked)


class LanguageScreen(_Page):
    """Language: the locale that the phone reports; its own texts stay English."""

    activity = "com.android.settings.Settings$LocalePickerActivity"
    title = "Language"

    def rows(self) -> list[View]:
        """Show the languages."""
        chosen = self.store.properties().get("persist.sys.locale", "")
        return [
            self.choice(caption, self.act(self._choose, tag), is_on=tag == chosen)
            for tag, caption in LANGUAGES.items()
        ]

    def _choose(self, tag: str) -> None:
        self.store.put_property("persist.sys.locale", tag)
        self.store.put_setting("system", "system_locales", tag)


class DateScreen(_Page):
    """Date & time."""

    activity = "com.android.settings.Settings$DateTimeSettingsActivity"
    title = "Date & time"

    def rows(self) -> list[View]:
        """Show the date, the time zones, and the switches."""
        if self.state.get("choosing"):
            chosen = self._zone
            rows = [
                self.choice(
                    zone.replace("_", " "), self.act(self._choose, zone), is_on=zone == chosen
                )
                for zone in ZONES
            ]
            return [self.widgets.section("Time zone"), *rows]
        now = self.host.now()
        return [
            self.widgets.item("Date", summary=f"{now:%A}, {long_date(now)}", icon="event"),
            self.widgets.item(
                "Time zone",
                summary=f"{self._zone.replace('_', ' ')} (GMT{now:%z})",
                icon="language",
                on_tap=self.set(choosing=True),
            ),
            self.switch("Set time automatically", ("global", "auto_time"), icon="clock"),
            self.toggle(
                "Use 24\u2011hour format", ("system", "time_12_24"), ("12", "24"), icon="timer"
            ),
        ]

    def back(self) -> bool:
        """Close the list of time zones."""
        return bool(self.state.pop("choosing", False))

    @property
    def _zone(self) -> str:
        return self.store.properties().get("persist.sys.timezone", "UTC")

    def _choose(self, zone: str) -> None:
        self.store.put_property("persist.sys.timezone", zone)
        self.back()


class AboutScreen(_Rename):
    """About phone."""

    activity = "com.android.settings.Settings$MyDeviceInfoActivity"
    title = "About phone"
    dialog_title = "Device name"
    key = ("global", "device_name")

    def rows(self) -> list[View]:
        """Show information about the phone."""
        known = self.store.properties()
        return [
            self.name_row("Device name", "phone"),
            self.widgets.item("Model", summary=known.get("ro.product.model", ""), icon="info"),
            self.widgets.item(
                "Android version", summary=known.get("ro.build.version.release", ""), icon="info"
            ),
            self.widgets.item("Serial number", summary=known.get("ro.serialno", ""), icon="info"),
            self.widgets.item("Build number", summary="Mesocosm reference phone", icon="info"),
        ]
