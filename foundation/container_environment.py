"""Pass settings and keys to the appliance's containers, in a file that only its user can read.

An environment passed by compose would be visible to everyone who may query Docker, and would be
stored in Docker's configuration.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from foundation.environment import PREFIX, TEST_PREFIX
from foundation.errors import SettingsError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from pathlib import Path

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
# Set per container by the compose file; and the token of a client of the service.
_OWN = frozenset(
    {f"{PREFIX}{name}" for name in ("STATE_DIR", "PLACE", "CODE", "ACCELERATOR", "TOKEN")}
)
# Of the project's tests, and of Alertmanager, which has its own file.
_NOT_THEIRS = (TEST_PREFIX, f"{PREFIX}ALERT_")
_STAY = (f"{PREFIX}MODEL_", f"{PREFIX}MAIL_")


def write_environment(path: Path, environ: Mapping[str, str] | None = None) -> None:
    """Write the settings, keys and proxies of an environment to a file for containers.

    Variables for models and mail that an earlier environment set are kept if this one lacks them,
    so that a later `mesocosm up` does not need the keys; an empty value removes one. The file is
    not touched if nothing changed.

    Args:
        path: of the file.
        environ: the environment; that of this process by default.

    Raises:
        SettingsError: the file is damaged.
        OSError: it cannot be written.
    """
    given = os.environ if environ is None else environ
    before = _read(path)
    kept = {name: value for name, value in before.items() if name.startswith(_STAY)}
    values = kept | {name: value for name, value in given.items() if _is_exported(name)}
    values = {name: value for name, value in sorted(values.items()) if value}
    if values != before or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, json.dumps(values, indent=1) + "\n", mode=0o600)


def load_environment(path: Path, environ: MutableMapping[str, str] | None = None) -> None:
    """Set the variables of the file that are not already set.

    Raises:
        SettingsError: the file is damaged.
    """
    target = os.environ if environ is None else environ
    for name, value in _read(path).items():
        target.setdefault(name, value)


def _is_exported(name: str) -> bool:
    if name.upper() in _PROXIES:
        return True
    return name.startswith(PREFIX) and not name.startswith(_NOT_THEIRS) and name not in _OWN


def _read(path: Path) -> dict[str, str]:
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as exc:
        raise SettingsError(
            f"{path} is damaged.", resolution="Remove it, and run `mesocosm up` again."
        ) from exc
    return {str(name): str(value) for name, value in values.items()}
