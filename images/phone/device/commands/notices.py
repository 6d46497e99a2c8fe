"""Notifications and toasts in the format of ``dumpsys``.

Source: AOSP ``NotificationManagerService.java``, ``NotificationRecord.java``.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS
from images.phone.device.commands.package import user_id
from images.phone.device.store.notifications import list_notifications

if TYPE_CHECKING:
    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Row

SHELL = "com.android.shell"
"""The package of notifications from ``cmd notification post``."""

_SHELL_UID = 2000


def notification_keys(phone: Phone) -> list[str]:
    """Return the key of each notification, newest first."""
    return [_key(row) for row in list_notifications(phone.store)]


def describe_notifications(phone: Phone) -> str:
    """Return the output of ``dumpsys notification``, including the current toast."""
    rows = list_notifications(phone.store)
    listed = "".join(_describe(row) for row in rows)
    text = phone.stack.toast
    toast = ""
    if text:
        package = phone.stack.front.package
        toast = (
            f"    TextToastRecord{{{zlib.crc32(text.encode()):x} 1:{package}/{_uid(package)} "
            f"isSystemToast=false token=android.os.Binder@1 text={text} duration=0}}\n"
        )
    return (
        "Current Notification Manager state:\n"
        f"  Toast Queue:\n{toast}\n  Notification List:\n{listed}\n"
    )


def _uid(package: str) -> int:
    return user_id(package) if package in APPS else _SHELL_UID


def _key(row: Row) -> str:
    return f"0|{row['package']}|{row['_id']}|{row['tag'] or 'null'}|{_uid(row['package'])}"


def _describe(row: Row) -> str:
    number = zlib.crc32(f"{row['package']}/{row['_id']}".encode())
    return (
        f"    NotificationRecord(0x{number:08x}: pkg={row['package']} user=UserHandle{{0}} "
        f"id={row['_id']} tag={row['tag'] or 'null'} importance=3 key={_key(row)}: "
        "Notification(channel=default shortcut=null contentView=null vibrate=null sound=null "
        "defaults=0x0 flags=0x10 color=0x00000000 vis=PRIVATE))\n"
        f"      uid={_uid(row['package'])} userId=0\n"
        "      extras={\n"
        f"        android.title=String ({row['title']})\n"
        f"        android.text=String ({row['text']})\n"
        "      }\n"
        f"      mCreationTimeMs={row['posted']}\n"
    )
