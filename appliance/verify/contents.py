"""List the contents of a machine: programs, fonts, commands, packages, a phone's initial content."""

from __future__ import annotations

import re
import textwrap
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from controller.actions.phone_shell import PACKAGES
from foundation.errors import ActionError
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from provisioning.protocols import Commands, Json, Machine

_TIMEOUT_S = 60.0
_COLUMNS = 120
_FOLDERS = "/usr/local/share/applications /usr/share/applications"
_LIST_PROGRAMS = (
    f"for file in $(ls {_FOLDERS} 2>/dev/null | grep '[.]desktop$' | sort -u); do"
    f" for folder in {_FOLDERS}; do"
    ' if [ -f "$folder/$file" ] && ! grep -q "^NoDisplay=true" "$folder/$file"; then'
    ' printf "%s\\t%s\\n" "${file%.desktop}" "$(sed -n "s/^Name=//p" "$folder/$file" | head -n 1)";'
    " fi; done; done"
)
# Lines of "package: path"; files without a package go to standard error, and the exit code is 1.
_LIST_OWNERS = (
    f"dpkg-query -S $(ls -d {_FOLDERS} 2>/dev/null | sed 's:$:/*.desktop:') 2>/dev/null; true"
)
_LIST_COMMANDS = "ls /usr/local/bin /usr/bin /bin /usr/games 2>/dev/null | grep -v : | sort -u"
_LIST_FONTS = "fc-list : family | sed 's/,.*//' | sort -u"
_LIST_PACKAGES = "dpkg-query -W -f '${Package}\\t${Version}\\n'"
_ROW = re.compile(r"^Row: \d+ ?", re.MULTILINE)

PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "content://com.android.contacts/contacts": ("display_name",),
    "content://com.google.android.apps.tasks/tasks": ("title", "completed"),
    "content://sms": ("address", "type", "body"),
    "content://call_log/calls": ("number", "type", "duration"),
    "content://com.android.calendar/events": ("title", "dtstart", "eventLocation"),
    "content://com.google.android.keep/notes": ("title", "body"),
    "content://com.google.android.deskclock/alarms": ("hour", "minutes", "enabled", "label"),
    "content://com.google.android.gm/messages": ("folder", "sender", "subject"),
    "content://com.google.android.apps.docs/documents": ("name", "kind"),
    "content://media/external/file": ("_data",),
}
"""Content providers of phones, and their columns to show."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a machine before any task changes it.

    Attributes:
        machine: the name of its image.
        programs: names in menus by desktop id; on phones, labels for `open_app` by package, empty
            for packages without one.
        owners: packages of a desktop's programs by desktop id; programs without one are missing.
        packages: versions of distribution packages by name.
        fonts: font families.
        commands: names of commands in the path.
        records: rows of a phone's content providers by address.
        digest: digest of the image, which differs between hosts: the appliance's key is part of it.
    """

    machine: str
    programs: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    fonts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    records: dict[str, tuple[str, ...]] = field(default_factory=dict)
    digest: str = ""

    def to_dict(self) -> dict[str, Json]:
        """Return the contents as JSON."""
        return {**asdict(self), "fonts": list(self.fonts), "commands": list(self.commands)}

    def page(self) -> str:
        """Return the contents as a Markdown page, without what differs between hosts."""
        parts = [f"# What is on {self.machine}\n"]
        if self.programs:
            parts += ["## Programs\n", *self._program_rows(), ""]
        for uri, records in self.records.items():
            parts += [f"## `{uri}`\n", *(f"- {row}" for row in records or ("empty",)), ""]
        if self.fonts:
            parts += ["## Fonts\n", *_wrapped(self.fonts), ""]
        if self.commands:
            parts += ["## Commands\n", *_wrapped([f"`{name}`" for name in self.commands]), ""]
        if self.packages:
            listed = [f"{name} {version}" for name, version in self.packages.items()]
            parts += ["## Packages\n", "```text", *listed, "```", ""]
        return "\n".join(parts)

    def _program_rows(self) -> list[str]:
        if not self.owners:
            rows = [f"| `{key}` | {name} |" for key, name in self.programs.items()]
            return ["| id | name |", "|---|---|", *rows]
        packages = {key: f"{name} {self.packages.get(name)}" for key, name in self.owners.items()}
        rows = [
            f"| `{key}` | {name} | {packages.get(key, '-')} |"
            for key, name in self.programs.items()
        ]
        return ["| id | name | package |", "|---|---|---|", *rows]


def read_contents(machine: Machine) -> Contents:
    """Read the contents of a machine.

    Args:
        machine: a leased desktop or phone.

    Raises:
        ActionError: a command failed on it.
        LinkError: it does not answer.
    """
    name, digest = machine.info.image, machine.info.image_digest
    if machine.info.kind == PHONE:
        packages = _output(machine, "pm", "list", "packages").split()
        labels = {package: label for label, package in PACKAGES.items()}
        names = sorted(package.removeprefix("package:") for package in packages)
        programs = {name: labels.get(name, "") for name in names}
        return Contents(name, programs, records=_records(machine), digest=digest)
    programs = _pairs(_shell(machine, _LIST_PROGRAMS))
    owners = _owners(_shell(machine, _LIST_OWNERS))
    return Contents(
        name,
        programs,
        {key: owners[key] for key in programs if key in owners},
        _pairs(_shell(machine, _LIST_PACKAGES)),
        tuple(_shell(machine, _LIST_FONTS).splitlines()),
        tuple(_shell(machine, _LIST_COMMANDS).split()),
        digest=digest,
    )


def _records(phone: Commands) -> dict[str, tuple[str, ...]]:
    records = {}
    for uri, columns in PROVIDERS.items():
        projection = ":".join(columns)
        argv = ["content", "query", "--uri", uri, "--projection", projection]
        result = phone.run(argv, timeout_s=_TIMEOUT_S)
        if result.exit_code == 0:
            rows = _ROW.split(result.text)[1:]
            records[uri] = tuple(" ".join(row.split()) for row in rows)
    return records


def _pairs(text: str) -> dict[str, str]:
    rows = [line.partition("\t") for line in text.splitlines() if line]
    return {key: value for key, _, value in rows}


def _owners(text: str) -> dict[str, str]:
    """Return the package of each desktop id, from lines such as ``gedit: /usr/…/gedit.desktop``."""
    rows = [line.rpartition(": ") for line in text.splitlines()]
    return {PurePosixPath(path).stem: packages.split(",")[0] for packages, _, path in rows}


def _wrapped(names: Iterable[str]) -> list[str]:
    """Return names as lines of a paragraph, without breaking names."""
    return textwrap.wrap(", ".join(names), _COLUMNS, break_long_words=False, break_on_hyphens=False)


def _shell(machine: Commands, line: str) -> str:
    return _output(machine, "/bin/sh", "-c", line)


def _output(machine: Commands, *argv: str) -> str:
    result = machine.run(argv, timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        message = result.stderr.decode(errors="replace").strip()
        raise ActionError(f"{argv[0]} failed on the machine.", details=message[-1000:])
    return result.text
