"""The classes of activities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.browser import BrowserScreen
from images.phone.device.apps.calendar import CalendarScreen, EventScreen
from images.phone.device.apps.camera import CameraScreen
from images.phone.device.apps.clock import ClockScreen
from images.phone.device.apps.contacts import ContactScreen, EditorScreen, PeopleScreen
from images.phone.device.apps.dialer import CallScreen, DialerScreen
from images.phone.device.apps.directory import (
    BROWSER,
    CALENDAR,
    CAMERA,
    CLOCK,
    CONTACTS,
    DIALER,
    DOCS,
    DRIVE,
    FILES,
    LAUNCHER,
    MAIL,
    MAPS,
    MESSAGES,
    NOTES,
    PHOTOS,
    SETTINGS,
    TASKS,
)
from images.phone.device.apps.docs import DocsScreen, DocumentScreen
from images.phone.device.apps.drive import DriveScreen
from images.phone.device.apps.files import FilesScreen
from images.phone.device.apps.launcher import LauncherScreen
from images.phone.device.apps.mail import ComposeScreen, MailListScreen, MailScreen
from images.phone.device.apps.maps import MapsScreen
from images.phone.device.apps.messages import ConversationScreen, ThreadListScreen
from images.phone.device.apps.notes import NoteScreen, NotesScreen
from images.phone.device.apps.photos import PhotoScreen, PhotosScreen, UploadScreen
from images.phone.device.apps.ringing import AlarmScreen, TimerScreen
from images.phone.device.apps.settings import (
    AboutScreen,
    DateScreen,
    DevicesScreen,
    DisplayScreen,
    LanguageScreen,
    NetworkScreen,
    SettingsScreen,
)
from images.phone.device.apps.tasks import TaskListScreen, TaskScreen

if TYPE_CHECKING:
    from images.phone.device.apps.screen import Screen

_SCREENS: dict[str, tuple[type[Screen], ...]] = {
    LAUNCHER: (LauncherScreen,),
    BROWSER: (BrowserScreen,),
    CALENDAR: (CalendarScreen, EventScreen),
    CAMERA: (CameraScreen,),
    CLOCK: (ClockScreen, AlarmScreen, TimerScreen),
    CONTACTS: (PeopleScreen, ContactScreen, EditorScreen),
    DIALER: (DialerScreen, CallScreen),
    DOCS: (DocsScreen, DocumentScreen),
    DRIVE: (DriveScreen,),
    FILES: (FilesScreen,),
    MAIL: (MailListScreen, MailScreen, ComposeScreen),
    MAPS: (MapsScreen,),
    MESSAGES: (ThreadListScreen, ConversationScreen),
    NOTES: (NotesScreen, NoteScreen),
    PHOTOS: (PhotosScreen, PhotoScreen, UploadScreen),
    SETTINGS: (
        SettingsScreen,
        NetworkScreen,
        DevicesScreen,
        DisplayScreen,
        LanguageScreen,
        DateScreen,
        AboutScreen,
    ),
    TASKS: (TaskListScreen, TaskScreen),
}

SCREENS = {
    package: {screen.activity: screen for screen in screens}
    for package, screens in _SCREENS.items()
}
"""Classes by package and activity."""

# Actions that open a page directly, as in Android's Settings.
ACTIONS = {
    "android.settings.SETTINGS": (SETTINGS, SettingsScreen.activity),
    "android.settings.WIFI_SETTINGS": (SETTINGS, NetworkScreen.activity),
    "android.settings.WIRELESS_SETTINGS": (SETTINGS, NetworkScreen.activity),
    "android.settings.BLUETOOTH_SETTINGS": (SETTINGS, DevicesScreen.activity),
    "android.settings.DISPLAY_SETTINGS": (SETTINGS, DisplayScreen.activity),
    "android.settings.LOCALE_SETTINGS": (SETTINGS, LanguageScreen.activity),
    "android.settings.DATE_SETTINGS": (SETTINGS, DateScreen.activity),
    "android.settings.DEVICE_INFO_SETTINGS": (SETTINGS, AboutScreen.activity),
}
# Activities that require arguments and cannot be started from outside.
NEED_ARGUMENTS = frozenset(
    screen.activity
    for screen in (
        AlarmScreen,
        CallScreen,
        ContactScreen,
        ConversationScreen,
        DocumentScreen,
        MailScreen,
        PhotoScreen,
        TaskScreen,
        TimerScreen,
        UploadScreen,
    )
)
