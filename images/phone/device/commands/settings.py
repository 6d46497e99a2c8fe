"""The commands ``settings``, ``getprop`` and ``setprop``.

Source: AOSP ``SettingsService.java``; toolbox ``getprop``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_NAMESPACES = ("system", "secure", "global")
_MAX_CHARS = 4096


def run_settings(call: Invocation) -> str:
    """Run ``settings``."""
    args = list(call.args)
    while "--user" in args:
        place = args.index("--user")
        del args[place : place + 2]
    verb, namespace, *rest = [*args, "", ""][: max(2, len(args))]
    if namespace not in _NAMESPACES:
        raise CommandError(
            f"Invalid namespace '{namespace}'\nusage: settings get|put|list ...", 255
        )
    store = call.phone.store
    with call.phone.event():
        if verb == "get" and len(rest) == 1:
            known = store.has_setting(namespace, rest[0])
            return f"{store.setting(namespace, rest[0]) if known else 'null'}\n"
        if verb == "put" and len(rest) in {2, 3}:
            if max(len(rest[0]), len(rest[1])) > _MAX_CHARS:
                raise CommandError("Error: too long", 255)
            store.put_setting(namespace, rest[0], rest[1])
            return ""
        if verb == "delete" and len(rest) == 1:
            return f"Deleted {store.delete_setting(namespace, rest[0])} rows\n"
        if verb == "list" and not rest:
            rows = store.rows(
                "SELECT key, value FROM setting WHERE namespace=? ORDER BY key", (namespace,)
            )
            return "".join(f"{row['key']}={row['value']}\n" for row in rows)
    raise CommandError(f"Invalid command: {verb}\nusage: settings get|put|list ...", 255)


def run_getprop(call: Invocation) -> str:
    """Return one property, or all."""
    with call.phone.lock:
        known = call.phone.store.properties()
    if call.args:
        default = call.args[1] if len(call.args) > 1 else ""
        return f"{known.get(call.args[0], default)}\n"
    return "".join(f"[{key}]: [{value}]\n" for key, value in sorted(known.items()))


def run_setprop(call: Invocation) -> str:
    """Set one property, unless its name begins with ``ro.``."""
    if len(call.args) != 2:  # noqa: PLR2004
        raise CommandError("usage: setprop NAME VALUE")
    key, value = call.args
    if key.startswith("ro."):
        raise CommandError(f"Failed to set property '{key}' to '{value}'.")
    with call.phone.event():
        call.phone.store.put_property(key, value[:_MAX_CHARS])
    return ""
