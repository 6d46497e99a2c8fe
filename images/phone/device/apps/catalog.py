"""Which class shows which activity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.contacts import ContactScreen, EditorScreen, PeopleScreen
from images.phone.device.apps.directory import CONTACTS, LAUNCHER, SETTINGS, TASKS
from images.phone.device.apps.launcher import LauncherScreen
from images.phone.device.apps.settings import (
    AboutScreen,
    DateScreen,
    DevicesScreen,
    DisplayScreen,
    NetworkScreen,
    SettingsScreen,
)
from images.phone.device.apps.tasks import TaskListScreen, TaskScreen

if TYPE_CHECKING:
    from images.phone.device.apps.screen import Screen

_SCREENS: dict[str, tuple[type[Screen], ...]] = {
    LAUNCHER: (LauncherScreen,),
    TASKS: (TaskListScreen, TaskScreen),
    CONTACTS: (PeopleScreen, ContactScreen, EditorScreen),
    SETTINGS: (
        SettingsScreen,
        NetworkScreen,
        DevicesScreen,
        DisplayScreen,
        DateScreen,
        AboutScreen,
    ),
}

SCREENS = {
    package: {screen.activity: screen for screen in screens}
    for package, screens in _SCREENS.items()
}
"""Classes by package and activity."""

# Actions that lead straight to a page, as Android's Settings has them.
ACTIONS = {
    "android.settings.SETTINGS": (SETTINGS, SettingsScreen.activity),
    "android.settings.WIFI_SETTINGS": (SETTINGS, NetworkScreen.activity),
    "android.settings.WIRELESS_SETTINGS": (SETTINGS, NetworkScreen.activity),
    "android.settings.BLUETOOTH_SETTINGS": (SETTINGS, DevicesScreen.activity),
    "android.settings.DISPLAY_SETTINGS": (SETTINGS, DisplayScreen.activity),
    "android.settings.DATE_SETTINGS": (SETTINGS, DateScreen.activity),
    "android.settings.DEVICE_INFO_SETTINGS": (SETTINGS, AboutScreen.activity),
}
# Activities that are of no use without arguments: not to be started from outside.
NEED_ARGUMENTS = frozenset({TaskScreen.activity, ContactScreen.activity})
