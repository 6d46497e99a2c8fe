"""The installed applications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.ui.theme import Color

LAUNCHER = "com.google.android.apps.nexuslauncher"
BROWSER = "com.android.chrome"
CALENDAR = "com.google.android.calendar"
CAMERA = "com.android.camera2"
CLOCK = "com.google.android.deskclock"
CONTACTS = "com.google.android.contacts"
DIALER = "com.android.dialer"
DOCS = "com.google.android.apps.docs.editors.docs"
DRIVE = "com.google.android.apps.docs"
FILES = "com.google.android.documentsui"
MAIL = "com.google.android.gm"
MAPS = "com.google.android.apps.maps"
MESSAGES = "com.google.android.apps.messaging"
NOTES = "com.google.android.keep"
PHOTOS = "com.google.android.apps.photos"
SETTINGS = "com.android.settings"
TASKS = "com.google.android.apps.tasks"


@dataclass(frozen=True)
class App:
    """One application.

    Attributes:
        package: package name.
        label: displayed name.
        main: class name of the activity that the launcher starts.
        icon: name of the icon.
        color: background colour of the icon.
        is_listed: whether it is in the launcher's drawer.
        version: version name.
    """

    package: str
    label: str
    main: str
    icon: str
    color: Color
    is_listed: bool = True
    version: str = "1.0"


APPS = {
    app.package: app
    for app in (
        App(DIALER, "Phone", "com.android.dialer.main.impl.MainActivity", "call", (26, 115, 232)),
        App(
            MESSAGES,
            "Messages",
            "com.google.android.apps.messaging.ui.ConversationListActivity",
            "message",
            (11, 87, 208),
        ),
        App(BROWSER, "Browser", "com.google.android.apps.chrome.Main", "public", (0, 121, 107)),
        App(CAMERA, "Camera", "com.android.camera.CameraLauncher", "camera", (60, 64, 67)),
        App(
            MAIL,
            "Mail",
            "com.google.android.gm.ConversationListActivityGmail",
            "mail",
            (197, 34, 31),
        ),
        App(CALENDAR, "Calendar", "com.android.calendar.AllInOneActivity", "event", (26, 115, 232)),
        App(CLOCK, "Clock", "com.android.deskclock.DeskClock", "clock", (63, 81, 181)),
        App(
            NOTES,
            "Notes",
            "com.google.android.keep.activities.BrowseActivity",
            "bulb",
            (191, 120, 0),
        ),
        App(
            TASKS,
            "Tasks",
            "com.google.android.apps.tasks.ui.TaskListsActivity",
            "tasks",
            (11, 87, 208),
        ),
        App(
            CONTACTS,
            "Contacts",
            "com.android.contacts.activities.PeopleActivity",
            "contacts",
            (46, 125, 50),
        ),
        App(MAPS, "Maps", "com.google.android.maps.MapsActivity", "map", (30, 142, 62)),
        App(SETTINGS, "Settings", "com.android.settings.Settings", "settings", (84, 99, 122)),
        App(
            FILES, "Files", "com.android.documentsui.files.FilesActivity", "folder", (66, 103, 178)
        ),
        App(
            PHOTOS,
            "Photos",
            "com.google.android.apps.photos.home.HomeActivity",
            "photos",
            (171, 71, 188),
        ),
        App(
            DRIVE,
            "Drive",
            "com.google.android.apps.docs.drive.app.navigation.NavigationActivity",
            "cloud",
            (24, 128, 56),
        ),
        App(
            DOCS,
            "Docs",
            "com.google.android.apps.docs.editors.homescreen.HomescreenActivity",
            "document",
            (66, 133, 244),
        ),
        App(
            LAUNCHER,
            "Launcher",
            "com.google.android.apps.nexuslauncher.NexusLauncherActivity",
            "apps",
            (11, 87, 208),
            is_listed=False,
        ),
    )
}
"""Applications by package; the first four are at the bottom of the home screen, eight above."""


def short_activity(package: str, activity: str) -> str:
    """Return an activity's class name in the form of component names, without the package."""
    return activity[len(package) :] if activity.startswith(f"{package}.") else activity


def full_activity(package: str, activity: str) -> str:
    """Return the full class name of an activity in a component name."""
    return f"{package}{activity}" if activity.startswith(".") else activity
