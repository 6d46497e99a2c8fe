"""Hand settings and keys to the appliance's containers: a file that none but its user can read.

An environment that compose hands over can be seen by whoever may ask Docker, and lies in its configuration.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from appliance.base.environment import PREFIX, TEST_PREFIX
from appliance.base.errors import SettingsError
from appliance.base.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from pathlib import Path

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
# What the compose file sets, each container its own; and what a client of the service holds.
_OWN = frozenset(
    {f"{PREFIX}{name}" for name in ("STATE_DIR", "PLACE", "CODE", "ACCELERATOR", "TOKEN")}
)
# Of the project's own tests, and of Alertmanager, which has a file of its own.
_NOT_THEIRS = (TEST_PREFIX, f"{PREFIX}ALERT_")
_STAY = (f"{PREFIX}MODEL_", f"{PREFIX}MAIL_")


def hand_over(path: Path, environ: Mapping[str, str] | None = None) -> None:
    """Write the settings, keys and proxies of an environment into a file for containers.

    Of models and mail, what an earlier one set and this one does not stays, so that who brings the appliance up
    again need not hold the keys; an empty value removes it. The file is as it was where nothing changed.

    Args:
        path: of the file.
        environ: this process' own by default.

    Raises:
        SettingsError: the file is damaged.
        OSError: it cannot be written.
    """
    given = os.environ if environ is None else environ
    before = _read(path)
    kept = {name: value for name, value in before.items() if name.startswith(_STAY)}
    values = kept | {name: value for name, value in given.items() if _is_handed(name)}
    values = {name: value for name, value in sorted(values.items()) if value}
    if values != before or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, json.dumps(values, indent=1) + "\n", mode=0o600)


def take_over(path: Path, environ: MutableMapping[str, str] | None = None) -> None:
    """Set what was handed over and is not set already.

    Raises:
        SettingsError: the file is damaged.
    """
    target = os.environ if environ is None else environ
    for name, value in _read(path).items():
        target.setdefault(name, value)


def _is_handed(name: str) -> bool:
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
