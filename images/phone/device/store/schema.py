"""What the state's database holds, and what is in it on a new phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

VERSION = 1
TABLES = ("setting", "property", "task", "contact", "contact_data", "interface")

_TABLES = """
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
    """Make the tables of a new database; refuse one of another version.

    Raises:
        ValueError: the database is of another version.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    if version != 0:
        raise ValueError(f"the state is of version {version}, this phone knows {VERSION}")
    connection.executescript(f"BEGIN;{_TABLES}PRAGMA user_version = {VERSION};COMMIT;")
    connection.executemany(
        "INSERT INTO setting VALUES (?, ?, ?)", [(*key, value) for key, value in SETTINGS.items()]
    )
    connection.executemany("INSERT INTO property VALUES (?, ?)", PROPERTIES.items())
