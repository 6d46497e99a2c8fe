"""The schema of the state database, and its content on a new phone.

The database's ``user_version`` counts the applied migrations; a database or snapshot of an older
phone is migrated when it is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

TABLES = (
    "setting", "property", "task", "contact", "contact_data", "interface", "sms", "call", "event",
    "note", "mail", "alarm", "timer", "city", "document", "page", "bookmark", "notification", "synced",
    "cookie",
)  # fmt: skip

_FIRST = """
CREATE TABLE setting (
    namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE property (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE task (
    _id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    notes TEXT NOT NULL DEFAULT '',
    completed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE contact (
    _id INTEGER PRIMARY KEY AUTOINCREMENT,
    display_name TEXT NOT NULL,
    starred INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE contact_data (
    _id INTEGER PRIMARY KEY AUTOINCREMENT,
    contact_id INTEGER NOT NULL REFERENCES contact (_id) ON DELETE CASCADE,
    mimetype TEXT NOT NULL,
    data1 TEXT NOT NULL
);
CREATE TABLE interface (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL);
"""

# Source of the names: Telephony.Sms, CallLog.Calls, CalendarContract.Events, AlarmClock. Times are
# ms since the epoch, durations of calls are s.
_APPLICATIONS = """
CREATE TABLE sms (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id INTEGER NOT NULL, address TEXT NOT NULL,
    date INTEGER NOT NULL, read INTEGER NOT NULL DEFAULT 0, type INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE call (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, number TEXT NOT NULL, date INTEGER NOT NULL,
    duration INTEGER NOT NULL DEFAULT 0, type INTEGER NOT NULL, name TEXT NOT NULL DEFAULT ''
);
CREATE TABLE event (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, calendar_id INTEGER NOT NULL DEFAULT 1,
    title TEXT NOT NULL, description TEXT NOT NULL DEFAULT '',
    eventLocation TEXT NOT NULL DEFAULT '', dtstart INTEGER NOT NULL, dtend INTEGER NOT NULL,
    allDay INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE note (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0, modified INTEGER NOT NULL
);
CREATE TABLE mail (
    _id INTEGER PRIMARY KEY AUTOINCREMENT,
    folder TEXT NOT NULL CHECK (folder IN ('inbox', 'sent', 'drafts', 'trash')),
    sender TEXT NOT NULL, recipients TEXT NOT NULL, subject TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '', date INTEGER NOT NULL, read INTEGER NOT NULL DEFAULT 0,
    starred INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE alarm (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, hour INTEGER NOT NULL CHECK (hour BETWEEN 0 AND 23),
    minutes INTEGER NOT NULL CHECK (minutes BETWEEN 0 AND 59),
    enabled INTEGER NOT NULL DEFAULT 1, daysofweek INTEGER NOT NULL DEFAULT 0,
    label TEXT NOT NULL DEFAULT ''
);
CREATE TABLE timer (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, length INTEGER NOT NULL, ends INTEGER,
    left INTEGER NOT NULL, label TEXT NOT NULL DEFAULT ''
);
CREATE TABLE city (_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, zone TEXT NOT NULL);
CREATE TABLE document (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER REFERENCES document (_id)
        ON DELETE CASCADE,
    name TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('folder', 'document')),
    body TEXT NOT NULL DEFAULT '', modified INTEGER NOT NULL
);
CREATE TABLE page (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    blocks TEXT NOT NULL, visited INTEGER NOT NULL
);
CREATE TABLE bookmark (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL
);
CREATE TABLE notification (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, package TEXT NOT NULL, tag TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL, text TEXT NOT NULL DEFAULT '', posted INTEGER NOT NULL,
    activity TEXT NOT NULL DEFAULT '', arguments TEXT NOT NULL DEFAULT '{}'
);
"""

# When a snoozed alarm rings again, ms since the epoch.
_SNOOZE = "ALTER TABLE alarm ADD COLUMN snoozed INTEGER;"

# What is the same on the servers of the account that the phone is signed in to.
_SYNCED = """
CREATE TABLE synced (
    kind TEXT NOT NULL CHECK (kind IN ('mail', 'event', 'contact')), remote TEXT NOT NULL,
    local INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (kind, remote)
) WITHOUT ROWID;
"""

# Files are synchronised, too; the Browser is signed in.
_WEB = """
CREATE TABLE synced_anew (
    kind TEXT NOT NULL CHECK (kind IN ('mail', 'event', 'contact', 'file')), remote TEXT NOT NULL,
    local INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (kind, remote)
) WITHOUT ROWID;
INSERT INTO synced_anew SELECT * FROM synced;
DROP TABLE synced;
ALTER TABLE synced_anew RENAME TO synced;
CREATE TABLE cookie (
    host TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (host, name)
) WITHOUT ROWID;
"""

MIGRATIONS = (_FIRST, _APPLICATIONS, _SNOOZE, _SYNCED, _WEB)
VERSION = len(MIGRATIONS)

SETTINGS = {
    ("global", "airplane_mode_on"): "0",
    ("global", "auto_time"): "1",
    ("global", "bluetooth_on"): "1",
    ("global", "device_name"): "Reference phone",
    ("global", "wifi_on"): "1",
    ("secure", "bluetooth_name"): "Reference phone",
    ("secure", "ui_night_mode"): "1",
    ("system", "accelerometer_rotation"): "0",
    ("system", "screen_brightness"): "128",
    ("system", "screen_brightness_mode"): "0",
    ("system", "screen_off_timeout"): "60000",
    ("system", "time_12_24"): "24",
    ("system", "user_rotation"): "0",
}

PROPERTIES = {
    "ro.build.characteristics": "default",
    "ro.build.fingerprint": "mesocosm/reference_phone/phone:13/MESO.1/1:user/release-keys",
    "ro.build.type": "user",
    "ro.build.version.release": "13",
    "ro.build.version.sdk": "33",
    "ro.product.brand": "mesocosm",
    "ro.product.cpu.abi": "x86_64",
    "ro.product.device": "reference_phone",
    "ro.product.locale": "en-US",
    "ro.product.manufacturer": "Mesocosm",
    "ro.product.model": "Reference phone",
    "ro.product.name": "reference_phone",
    "ro.serialno": "MESOCOSM0001",
    "ro.sf.lcd_density": "420",
    "persist.sys.locale": "en-US",
    "persist.sys.timezone": "UTC",
    "sys.boot_completed": "1",
    "init.svc.adbd": "running",
}


def prepare(connection: sqlite3.Connection) -> None:
    """Create the tables of a new database, or migrate an older one.

    Raises:
        ValueError: the database is of a newer phone.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise ValueError(f"the state is of version {version}, this phone knows {VERSION}")
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(f"BEGIN;{script}PRAGMA user_version = {number};COMMIT;")
    if version == 0:
        connection.executemany(
            "INSERT INTO setting VALUES (?, ?, ?)",
            [(*key, value) for key, value in SETTINGS.items()],
        )
        connection.executemany("INSERT INTO property VALUES (?, ?)", PROPERTIES.items())
