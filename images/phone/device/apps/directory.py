"""What is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.ui.theme import Color

LAUNCHER = "com.google.android.apps.nexuslauncher"
TASKS = "com.google.android.apps.tasks"
CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"


@dataclass(frozen=True)
class App:
    """One application.

    Attributes:
        package: its name.
        label: what a user reads.
        main: class name of the activity that the launcher starts.
        icon: name of its icon.
        color: ground of its icon.
        is_listed: it is in the launcher's drawer.
        version: its version name.
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
        App(SETTINGS, "Settings", "com.android.settings.Settings", "settings", (84, 99, 122)),
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


def short_activity(package: str, activity: str) -> str:
    """Give an activity's class name as component names have it: without the package."""
    return activity[len(package) :] if activity.startswith(f"{package}.") else activity


def full_activity(package: str, activity: str) -> str:
    """Give the whole class name of an activity of a component name."""
    return f"{package}{activity}" if activity.startswith(".") else activity
