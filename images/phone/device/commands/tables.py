"""Providers for tables of the phone's state: messages, calls, events, pictures and others.

Source: ``Telephony.Sms``, ``CallLog.Calls``, ``CalendarContract``, ``MediaStore`` for URIs, columns
    and numbers.
"""

from __future__ import annotations

import mimetypes
import os
import zlib
from functools import partial
from typing import TYPE_CHECKING

from PIL import Image, UnidentifiedImageError

from images.phone.device.commands.base import CommandError
from images.phone.device.commands.provider import Provider, Value
from images.phone.device.store.messages import DRAFT, RECEIVED, SENT, add_message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Row

_SMS = ("_id", "thread_id", "address", "date", "read", "type", "body")
_CALLS = ("_id", "number", "date", "duration", "type", "name")
_EVENTS = (
    *("_id", "calendar_id", "title", "description", "eventLocation"),
    *("dtstart", "dtend", "allDay"),
)
_CALENDARS = ("_id", "name", "calendar_displayName", "account_name", "account_type", "visible")
_CALENDAR: Row = {
    "_id": 1,
    "name": "Personal",
    "calendar_displayName": "Personal",
    "account_name": "local",
    "account_type": "LOCAL",
    "visible": 1,
}
_MEDIA = (
    *("_id", "_data", "_display_name", "mime_type", "_size", "date_modified"),
    *("width", "height", "relative_path"),
)
_SETTINGS = ("_id", "name", "value")
_CARD = "/storage/emulated/0"
_MAX_MEDIA = 5000


def table(
    name: str, columns: tuple[str, ...], defaults: Mapping[str, Value], only: str = ""
) -> Provider:
    """Return the provider of a table.

    Args:
        name: name of the table.
        columns: columns of a query; all except ``_id`` can be set.
        defaults: default values of an inserted row; other missing values are empty.
        only: a condition for its rows; a constant of this module.
    """
    return Provider(
        columns,
        partial(_rows, name, columns, only),
        partial(_insert, name, columns, defaults),
        partial(_update, name, columns),
        partial(_delete, name),
    )


def _rows(name: str, columns: tuple[str, ...], only: str, phone: Phone) -> list[Row]:
    where = f" WHERE {only}" if only else ""
    return phone.store.rows(f"SELECT {', '.join(columns)} FROM {name}{where} ORDER BY _id")  # noqa: S608


def _check(columns: tuple[str, ...], values: Mapping[str, Value]) -> None:
    for name in values:
        if name not in columns:
            raise CommandError(f"[ERROR] no such column: {name}")


def _insert(
    name: str,
    columns: tuple[str, ...],
    defaults: Mapping[str, Value],
    phone: Phone,
    values: Mapping[str, Value],
) -> None:
    _check(columns, values)
    row = {**defaults, **values}
    if "date" in columns:
        row.setdefault("date", int(phone.now_s() * 1000))
    marks = ", ".join("?" * len(row))
    phone.store.insert(
        f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks})",  # noqa: S608 - checked names
        list(row.values()),
    )


def _update(
    name: str, columns: tuple[str, ...], phone: Phone, row_id: int, values: Mapping[str, Value]
) -> None:
    _check(columns, values)
    for column, value in values.items():
        phone.store.change(f"UPDATE {name} SET {column}=? WHERE _id=?", (value, row_id))  # noqa: S608


def _delete(name: str, phone: Phone, row_id: int) -> None:
    phone.store.change(f"DELETE FROM {name} WHERE _id=?", (row_id,))  # noqa: S608


def _sms(kind: int = 0) -> Provider:
    plain = table("sms", _SMS, {}, f"type={kind}" if kind else "")
    return Provider(
        _SMS, plain.rows, partial(_insert_sms, kind or RECEIVED), plain.update, plain.delete
    )


def _insert_sms(kind: int, phone: Phone, values: Mapping[str, Value]) -> None:
    _check(_SMS, values)
    address = str(values.get("address") or "")
    if not address:
        raise CommandError("[ERROR] a message needs an address")
    moment = values.get("date")
    number = add_message(
        phone.store,
        address,
        str(values.get("body") or ""),
        int(values.get("type") or kind),
        int(moment) if moment else int(phone.now_s() * 1000),
    )
    if "read" in values:
        phone.store.change("UPDATE sms SET read=? WHERE _id=?", (values["read"], number))


def _refuse(*_: object) -> None:
    raise CommandError("[ERROR] java.lang.UnsupportedOperationException: not supported here")


def _media(kind: str) -> Provider:
    return Provider(_MEDIA, partial(_files, kind), _insert_media, _rename_media, _delete_media)


def _files(kind: str, phone: Phone) -> list[Row]:
    """Return the files below /sdcard of one kind, such as ``image``, or all if `kind` is empty."""
    rows: list[Row] = []
    if phone.shared_dir is None:
        return rows
    for folder, folders, names in os.walk(phone.shared_dir):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118 - many files
            mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
            if kind and not mime_type.startswith(f"{kind}/"):
                continue
            try:
                info = os.stat(path, follow_symlinks=False)  # noqa: PTH116
            except OSError:
                continue
            inner = os.path.relpath(path, phone.shared_dir)
            width, height = _size_px(path) if mime_type.startswith("image/") else (None, None)
            rows.append(
                {
                    "_id": zlib.crc32(os.fsencode(inner)) & 0x7FFFFFFF,
                    "_data": f"{_CARD}/{inner}",
                    "_display_name": name,
                    "mime_type": mime_type,
                    "_size": info.st_size,
                    "date_modified": int(info.st_mtime),
                    "width": width,
                    "height": height,
                    "relative_path": f"{os.path.dirname(inner)}/",  # noqa: PTH120
                }
            )
            if len(rows) >= _MAX_MEDIA:
                return rows
    return rows


def _size_px(path: str) -> tuple[int | None, int | None]:
    try:
        with Image.open(path) as image:
            return image.size
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError):
        return None, None


def _path_of(phone: Phone, path: str) -> Path:
    """Return the real path of a shared file."""
    for prefix in (_CARD, "/sdcard"):
        inner = os.path.normpath(path.removeprefix(f"{prefix}/"))
        if phone.shared_dir is not None and path.startswith(f"{prefix}/") and inner[:2] != "..":
            return phone.shared_dir / inner
    raise CommandError(f"[ERROR] java.lang.IllegalArgumentException: {path} is not in {_CARD}")


def _insert_media(phone: Phone, values: Mapping[str, Value]) -> None:
    """Register a file, after creating it empty if it does not exist, as on Android."""
    path = str(values.get("_data") or "")
    if not path:
        folder = str(values.get("relative_path") or "Pictures").strip("/")
        path = f"{_CARD}/{folder}/{values.get('_display_name') or ''}"
    real = _path_of(phone, path)
    if "_data" in values and not real.is_file():
        raise CommandError(f"[ERROR] java.io.FileNotFoundException: {path}")
    real.parent.mkdir(parents=True, exist_ok=True)
    real.touch()


def _rename_media(phone: Phone, row_id: int, values: Mapping[str, Value]) -> None:
    name = str(values.get("_display_name") or "")
    if set(values) != {"_display_name"} or not name or "/" in name:
        raise CommandError("[ERROR] only _display_name can be changed")
    for row in _files("", phone):
        if row["_id"] == row_id:
            path = _path_of(phone, row["_data"])
            path.rename(path.with_name(name))


def _setting_provider(namespace: str) -> Provider:
    """Return the provider of a settings namespace; a row's ID is derived from its name."""

    def rows(phone: Phone) -> list[Row]:
        settings = phone.store.rows(
            "SELECT key AS name, value FROM setting WHERE namespace=? ORDER BY key", (namespace,)
        )
        return [{"_id": zlib.crc32(row["name"].encode()) & 0x7FFFFFFF, **row} for row in settings]

    def name_of(phone: Phone, row_id: int) -> str:
        return next(str(row["name"]) for row in rows(phone) if row["_id"] == row_id)

    def insert(phone: Phone, values: Mapping[str, Value]) -> None:
        _check(_SETTINGS, values)
        if not values.get("name"):
            raise CommandError("[ERROR] a setting needs a name")
        phone.store.put_setting(namespace, str(values["name"]), str(values.get("value") or ""))

    def update(phone: Phone, row_id: int, values: Mapping[str, Value]) -> None:
        insert(phone, {"name": name_of(phone, row_id), **values})

    def delete(phone: Phone, row_id: int) -> None:
        phone.store.delete_setting(namespace, name_of(phone, row_id))

    return Provider(_SETTINGS, rows, insert, update, delete)


def _delete_media(phone: Phone, row_id: int) -> None:
    for row in _files("", phone):
        if row["_id"] == row_id and phone.shared_dir is not None:
            _path_of(phone, row["_data"]).unlink(missing_ok=True)


_CALENDAR_PROVIDER = Provider(_CALENDARS, lambda _: [dict(_CALENDAR)], _refuse, _refuse, _refuse)
TABLES = {
    "sms": _sms(),
    "sms/inbox": _sms(RECEIVED),
    "sms/sent": _sms(SENT),
    "sms/draft": _sms(DRAFT),
    "call_log/calls": table("call", _CALLS, {"type": 1}),
    "com.android.calendar/calendars": _CALENDAR_PROVIDER,
    "com.android.calendar/events": table("event", _EVENTS, {"title": ""}),
    "media/external/images/media": _media("image"),
    "media/external/video/media": _media("video"),
    "media/external/audio/media": _media("audio"),
    "media/external/file": _media(""),
    **{f"settings/{name}": _setting_provider(name) for name in ("global", "secure", "system")},
    "com.google.android.keep/notes": table(
        "note", ("_id", "title", "body", "pinned", "archived", "modified"), {"modified": 0}
    ),
    "com.google.android.deskclock/alarms": table(
        "alarm", ("_id", "hour", "minutes", "enabled", "daysofweek", "label"), {}
    ),
    "com.google.android.gm/messages": table(
        "mail",
        ("_id", "folder", "sender", "recipients", "subject", "body", "date", "read", "starred"),
        {"folder": "inbox", "sender": "", "recipients": ""},
    ),
    "com.google.android.apps.docs/documents": table(
        "document", ("_id", "parent", "name", "kind", "body", "modified"), {"modified": 0}
    ),
}
"""Providers by the part after ``content://``. Notes, alarms, mail and documents have no public
provider on Android; these URIs are the reference phone's own."""
