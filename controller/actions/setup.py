"""Prepare machines for a task; these operations are never offered to agents."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from appliance.base.errors import ActionError, SpecError
from controller.actions.phone_shell import launch, run_on_phone
from evaluators.decorators import setup

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_CHUNK_BYTES = 512 * 1024
_TIMEOUT_S = 30.0
_TASKS = "content://com.google.android.apps.tasks/tasks"
_RAW_CONTACTS = "content://com.android.contacts/raw_contacts"
_CONTACT_DATA = "content://com.android.contacts/data"

Path = Annotated[str, Field(min_length=1, max_length=1000)]
"""An absolute path of the guest, or one that starts with ``~/``."""


@setup(on="desktop")
def put_file(machine: Machine, path: Path, content: str = "", mode: int = 0o644) -> None:
    """Write a text file that belongs to the desktop's user.

    Args:
        machine: the desktop.
        path: absolute, or starting with ~/.
        content: the text.
        mode: permission bits.
    """
    full = _absolute(machine, path)
    data = content.encode()
    for offset in range(0, len(data) or 1, _CHUNK_BYTES):
        chunk = data[offset : offset + _CHUNK_BYTES]
        machine.link.call(
            "put",
            {
                "path": full,
                "data_b64": base64.b64encode(chunk).decode(),
                "offset": offset,
                "total": len(data),
                "mode": mode,
                "user": machine.info.user,
            },
            timeout_s=_TIMEOUT_S,
        )


@setup(on="desktop")
def make_dir(machine: Machine, path: Path) -> None:
    """Make a folder, and those around it, that belong to the desktop's user.

    Args:
        machine: the desktop.
        path: absolute, or starting with ~/.
    """
    _run_as_user(machine, "mkdir", "-p", _absolute(machine, path))


@setup(on="desktop")
def set_gsetting(machine: Machine, schema: str, key: str, value: str) -> None:
    """Set a setting of the desktop's session.

    Args:
        machine: the desktop.
        schema: for example org.gnome.desktop.interface.
        key: for example color-scheme.
        value: as `gsettings set` takes it.
    """
    _run_as_user(machine, "gsettings", "set", schema, key, value)


@setup(on="desktop")
def start_app(machine: Machine, name: str) -> None:
    """Start an application by the name it has in the menu.

    Args:
        machine: the desktop.
        name: for example "Terminal".
    """
    machine.link.call("open_app", {"name": name}, timeout_s=_TIMEOUT_S)


@setup(on="phone")
def add_task(machine: Machine, title: str, done: bool = False) -> None:  # noqa: FBT001, FBT002
    """Add a to-do to the Tasks application.

    Args:
        machine: the phone.
        title: what is to be done.
        done: whether it is ticked off.
    """
    _insert(machine, _TASKS, title=title, completed=int(done))


@setup(on="phone")
def add_contact(machine: Machine, name: str, phone: str = "", email: str = "") -> None:
    """Add a person to the Contacts application.

    Args:
        machine: the phone.
        name: as it is shown.
        phone: number; none when empty.
        email: address; none when empty.
    """
    _insert(machine, _RAW_CONTACTS, account_type="", account_name="")
    output = run_on_phone(
        machine, "content", "query", "--uri", _RAW_CONTACTS, "--projection", "_id"
    )
    contact = max(int(row) for row in re.findall(r"_id=(\d+)", output))
    for kind, value in (("name", name), ("phone_v2", phone), ("email_v2", email)):
        if value:
            mimetype = f"vnd.android.cursor.item/{kind}"
            _insert(machine, _CONTACT_DATA, raw_contact_id=contact, mimetype=mimetype, data1=value)


@setup(on="phone")
def put_setting(
    machine: Machine, namespace: Literal["system", "secure", "global"], key: str, value: str
) -> None:
    """Set a system setting of the phone.

    Args:
        machine: the phone.
        namespace: system, secure or global.
        key: for example screen_brightness.
        value: as text.
    """
    run_on_phone(machine, "settings", "put", namespace, key, value)


@setup(on="phone")
def open_app(machine: Machine, name: str) -> None:
    """Bring an application of the phone to the front.

    Args:
        machine: the phone.
        name: its label or package.
    """
    launch(machine, name)


def _insert(machine: Machine, uri: str, **values: str | int) -> None:
    """Add a row to a content provider.

    Source: Android's ``content`` command; ``--bind NAME:TYPE:VALUE`` with s for text, i for int.
    """
    argv = ["content", "insert", "--uri", uri]
    for name, value in values.items():
        argv += ["--bind", f"{name}:{'s' if isinstance(value, str) else 'i'}:{value}"]
    run_on_phone(machine, *argv)


def _absolute(machine: Machine, path: str) -> str:
    full = f"{machine.info.home}/{path[2:]}" if path.startswith("~/") else path
    if not full.startswith("/"):
        raise SpecError(f"{path} is not a path of the guest: start it with / or ~/.")
    return full


def _run_as_user(machine: Machine, *argv: str) -> None:
    result = machine.run(argv, timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        message = result.stderr.decode(errors="replace").strip()
        raise ActionError(
            f"{argv[0]} failed on {machine.info.machine_id}.",
            details=f"$ {' '.join(argv)}\n{message}",
        )
