"""The command ``content``: rows of providers.

Source: AOSP ``Content.java``: a row reads ``Row: 0 _id=1, title=Milk``; nothing is quoted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError
from images.phone.device.commands.providers import find_provider
from images.phone.device.commands.selection import select

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation
    from images.phone.device.commands.provider import Provider, Value
    from images.phone.device.store.database import Row

_OPTIONS = frozenset(("--uri", "--user", "--projection", "--bind", "--where", "--sort"))
_USAGE = "usage: adb shell content query|insert|update|delete --uri <URI> ..."


@dataclass
class _Request:
    uri: str = ""
    projection: list[str] = field(default_factory=list)
    bindings: dict[str, Value] = field(default_factory=dict)
    where: str = ""
    sort: str = ""


def run_content(call: Invocation) -> str:
    """Run ``content``."""
    verb, *args = call.args or [""]
    request = _read(args)
    match = find_provider(request.uri)
    if match is None:
        raise CommandError(f"[ERROR] Unknown URI: {request.uri}\n{_USAGE}")
    provider, row_id = match
    phone = call.phone
    with phone.event():
        if verb == "insert":
            provider.insert(phone, request.bindings)
            return ""
        rows = [row for row in provider.rows(phone) if row_id in {None, row["_id"]}]
        rows = select(rows, provider.columns, request.where, request.sort)
        if verb == "query":
            return _print(rows, provider, request.projection)
        ids = [int(row["_id"]) for row in rows]
        if verb == "delete":
            for number in ids:
                provider.delete(phone, number)
            return ""
        if verb == "update":
            for number in ids:
                provider.update(phone, number, request.bindings)
            return ""
    raise CommandError(f"[ERROR] Unsupported operation: {verb}\n{_USAGE}")


def _read(args: list[str]) -> _Request:
    request, rest = _Request(), list(args)
    while rest:
        option = rest.pop(0)
        if option not in _OPTIONS:
            raise CommandError(f"[ERROR] Unsupported argument: {option}\n{_USAGE}")
        if not rest:
            raise CommandError(f"[ERROR] Option {option} needs a value\n{_USAGE}")
        value = rest.pop(0)
        if option == "--uri":
            request.uri = value
        elif option == "--projection":
            request.projection = value.split(":")
        elif option == "--bind":
            name, bound = _read_binding(value)
            request.bindings[name] = bound
        elif option == "--where":
            request.where = value
        elif option == "--sort":
            request.sort = value
    return request


def _read_binding(text: str) -> tuple[str, Value]:
    """Parse ``NAME:TYPE:VALUE``; the value may contain colons."""
    name, _, rest = text.partition(":")
    kind, _, value = rest.partition(":")
    if not name or kind not in {"b", "s", "i", "l", "f", "d", "n"}:
        raise CommandError(f"[ERROR] Binding not well formed: {text}\n{_USAGE}")
    if kind == "b":
        return name, int(value.lower() in {"true", "1"})
    if kind in {"i", "l"}:
        return name, int(value)
    if kind in {"f", "d"}:
        return name, float(value)
    return name, None if kind == "n" else value


def _print(rows: list[Row], provider: Provider, projection: list[str]) -> str:
    names = projection or list(provider.columns)
    for name in names:
        if name not in provider.columns:
            raise CommandError(f"[ERROR] Invalid column {name}")
    if not rows:
        return "No result found.\n"
    lines = []
    for index, row in enumerate(rows):
        cells = (f"{name}={'NULL' if row[name] is None else row[name]}" for name in names)
        lines.append(f"Row: {index} {', '.join(cells)}\n")
    return "".join(lines)
