"""The command ``pm``: packages and their permissions.

Source: AOSP ``PackageManagerShellCommand.java``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS, CONTACTS, TASKS, full_activity
from images.phone.device.commands.base import CommandError, option_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.commands.base import Invocation

PERMISSION = "permission"
"""Namespace of the settings for granted permissions; not accessible to the ``settings`` command."""

# Tables with an application's own data; missing tables are ignored.
_TABLES = {
    TASKS: ("task",),
    CONTACTS: ("contact_data", "contact"),
    "com.google.android.apps.messaging": ("sms",),
    "com.google.android.calendar": ("event",),
    "com.google.android.deskclock": ("alarm", "timer", "city"),
    "com.google.android.dialer": ("call",),
    "com.android.dialer": ("call",),
    "com.google.android.gm": ("mail",),
    "com.google.android.keep": ("note",),
    "com.google.android.apps.docs": ("document",),
}
_FEATURES = (
    "android.hardware.camera",
    "android.hardware.location",
    "android.hardware.telephony",
    "android.hardware.touchscreen",
    "android.hardware.wifi",
    "android.software.app_widgets",
)
_PERMISSION_NAME = re.compile(r"[A-Za-z_][\w.]{0,199}")
_NO_APKS = "Failure [INSTALL_FAILED_NO_MATCHING_ABIS: the reference phone runs no APKs]"


def run_pm(call: Invocation) -> str:
    """Run ``pm``."""
    name, *args = call.args or [""]
    known: dict[str, Callable[[Invocation, list[str]], str]] = {
        "clear": _clear,
        "dump": lambda call, args: describe(call, _named(args)),
        "enable": lambda _, args: _switch(args, "enabled"),
        "get-install-location": lambda *_: "0[auto]\n",
        "grant": lambda call, args: _grant(call, args, is_granted=True),
        "has-feature": _has_feature,
        "install": _refuse_install,
        "install-create": _refuse_install,
        "install-write": _refuse_install,
        "is-user-a-monkey": lambda *_: "false\n",
        "list": _list,
        "path": _path,
        "resolve-activity": _resolve_activity,
        "revoke": lambda call, args: _grant(call, args, is_granted=False),
        "uninstall": _refuse_uninstall,
    }
    if name not in known:
        raise CommandError(f"Unknown command: {name}", 255)
    return known[name](call, args)


def describe(call: Invocation, name: str) -> str:
    """Return the output of ``dumpsys package`` for one package, or for all if `name` is empty."""
    if not name:
        return "Packages:\n" + "".join(_describe_one(call, package) for package in sorted(APPS))
    if name not in APPS:
        raise CommandError(f"Unable to find package: {name}", 0)
    return f"Packages:\n{_describe_one(call, name)}"


def user_id(name: str) -> int:
    """Return the user ID of a package."""
    return 10001 + sorted(APPS).index(name)


def _describe_one(call: Invocation, name: str) -> str:
    app = APPS[name]
    rows = call.phone.store.rows(
        "SELECT key, value FROM setting WHERE namespace=? ORDER BY key", (PERMISSION,)
    )
    granted = "".join(
        f"        {row['key'].partition('/')[2]}: granted={row['value']}, flags=[ USER_SET ]\n"
        for row in rows
        if row["key"].startswith(f"{name}/")
    )
    return (
        f"  Package [{name}] ({user_id(name):x}):\n"
        f"    userId={user_id(name)}\n    codePath=/system/app/{app.label}\n"
        f"    versionCode=1 minSdk=33 targetSdk=33\n    versionName={app.version}\n"
        "    pkgFlags=[ SYSTEM HAS_CODE ALLOW_CLEAR_USER_DATA ]\n"
        "    firstInstallTime=2024-01-01 00:00:00\n    lastUpdateTime=2024-01-01 00:00:00\n"
        "    signatures=PackageSignatures{5f1e57e version:3, signatures:[5f1e57e0], "
        "past signatures:[]}\n"
        "    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false\n"
        f"      runtime permissions:\n{granted}"
    )


def _named(args: list[str]) -> str:
    """Return the first argument that is neither an option nor an option's user."""
    rest = [word for word in args if word != option_value(args, "--user", "\0")]
    names = [word for word in rest if not word.startswith("-")]
    return names[0] if names else ""


def _list(call: Invocation, args: list[str]) -> str:
    what, *rest = args or [""]
    if what in {"packages", "package"}:
        return _list_packages(rest)
    if what == "features":
        return "".join(f"feature:{name}\n" for name in _FEATURES)
    if what == "users":
        return "Users:\n\tUserInfo{0:Owner:c13} running\n"
    if what == "permissions":
        rows = call.phone.store.rows(
            "SELECT DISTINCT key FROM setting WHERE namespace=? ORDER BY key", (PERMISSION,)
        )
        names = sorted({row["key"].partition("/")[2] for row in rows})
        return "All Permissions:\n\n" + "".join(f"permission:{name}\n" for name in names)
    if what in {"libraries", "instrumentation", "permission-groups"}:
        return ""
    raise CommandError(f"Error: unknown list type '{what}'", 255)


def _list_packages(args: list[str]) -> str:
    user = option_value(args, "--user")
    wanted = [word for word in args if not word.startswith("-") and word != user]
    if "-3" in args or "-d" in args:
        return ""
    names = sorted(name for name in APPS if all(word in name for word in wanted))
    lines = []
    for name in names:
        place = f"/system/app/{APPS[name].label}.apk=" if "-f" in args else ""
        uid = f" uid:{user_id(name)}" if "-U" in args else ""
        version = " versionCode:1" if "--show-versioncode" in args else ""
        lines.append(f"package:{place}{name}{version}{uid}\n")
    return "".join(lines)


def _path(_: Invocation, args: list[str]) -> str:
    name = _named(args)
    if name not in APPS:
        raise CommandError("")
    return f"package:/system/app/{APPS[name].label}.apk\n"


def _clear(call: Invocation, args: list[str]) -> str:
    name = _named(args)
    if name not in APPS:
        raise CommandError("Failed")
    store = call.phone.store
    with call.phone.event():
        call.phone.stop(name)
        tables = {row["name"] for row in store.rows("SELECT name FROM sqlite_master")}
        for table in _TABLES.get(name, ()):
            if table in tables:
                store.change(f"DELETE FROM {table}")  # noqa: S608 - from the table above
        for row in store.rows("SELECT key FROM setting WHERE namespace=?", (PERMISSION,)):
            if row["key"].startswith(f"{name}/"):
                store.delete_setting(PERMISSION, row["key"])
    return "Success\n"


def _grant(call: Invocation, args: list[str], *, is_granted: bool) -> str:
    names = [word for word in args if word != option_value(args, "--user", "\0")]
    names = [word for word in names if not word.startswith("-")]
    if len(names) != 2:  # noqa: PLR2004
        raise CommandError("Error: no package or permission specified", 255)
    package, permission = names
    if package not in APPS:
        raise CommandError(
            f"Exception occurred while executing 'grant':\n"
            f"java.lang.IllegalArgumentException: Unknown package: {package}",
            255,
        )
    if not _PERMISSION_NAME.fullmatch(permission) or "." not in permission:
        raise CommandError(
            f"Exception occurred while executing 'grant':\n"
            f"java.lang.IllegalArgumentException: Unknown permission: {permission}",
            255,
        )
    with call.phone.event():
        value = str(is_granted).lower()
        call.phone.store.put_setting(PERMISSION, f"{package}/{permission}", value)
    return ""


def _has_feature(_: Invocation, args: list[str]) -> str:
    if _named(args) in _FEATURES:
        return "true\n"
    raise CommandError("false")


def _resolve_activity(_: Invocation, args: list[str]) -> str:
    name = args[-1] if args else ""
    if name not in APPS:
        return "No activity found\n"
    main = full_activity(name, APPS[name].main)
    head = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n"
    return f"{head if '--brief' in args else ''}{name}/{main}\n"


def _switch(args: list[str], state: str) -> str:
    name = _named(args)
    if name not in APPS:
        raise CommandError(f"Error: java.lang.IllegalArgumentException: Unknown package: {name}", 1)
    return f"Package {name} new state: {state}\n"


def _refuse_install(call: Invocation, args: list[str]) -> str:
    size = option_value(args, "-S")
    if size.isascii() and size.isdigit():
        call.skip_input(int(size))
    raise CommandError(_NO_APKS)


def _refuse_uninstall(_: Invocation, args: list[str]) -> str:
    del args
    raise CommandError("Failure [DELETE_FAILED_INTERNAL_ERROR]")
