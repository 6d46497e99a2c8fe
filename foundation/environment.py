"""Read settings from the environment, and report unknown and invalid ones."""

from __future__ import annotations

import difflib
import os
import re
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from foundation.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

PREFIX = "MESOCOSM_"
TEST_PREFIX = "MESOCOSM_TEST_"
"""Prefix of the variables of the project's tests, which commands accept."""
_CREDENTIALS = re.compile(r"//[^/@\s]+@")


class EnvironmentSettings(BaseSettings):
    """Base of all settings: each field is set by the variable ``<env_prefix><FIELD>``.

    Raises:
        SettingsError: a variable has a value that its field does not accept.
    """

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)  # type: ignore[arg-type] # fields and pydantic's own options
        except ValidationError as exc:
            raise _bad_values(type(self), exc) from exc


def variable(settings: type[BaseSettings], field: str) -> str:
    """Return the name of the variable that sets a field."""
    return f"{settings.model_config.get('env_prefix', '')}{field}".upper()


def variables(settings: type[BaseSettings]) -> list[str]:
    """Return the variable names of all fields, in the order of the class."""
    return [variable(settings, field) for field in settings.model_fields]


def require_known(known: Collection[str], environ: Mapping[str, str] | None = None) -> None:
    """Check that the environment has no unknown MESOCOSM_* variables.

    Args:
        known: names of all variables, in capitals.
        environ: environment to check; that of this process by default.

    Raises:
        SettingsError: a variable is unknown; suggests the nearest name for each.
    """
    names = os.environ if environ is None else environ
    unknown = [
        name
        for name in sorted(names)
        if name.upper().startswith(PREFIX)
        and not name.upper().startswith(TEST_PREFIX)
        and name.upper() not in known
    ]
    if unknown:
        raise _unknown(unknown, known)


def _unknown(names: list[str], known: Collection[str]) -> SettingsError:
    rests = sorted(name.removeprefix(PREFIX) for name in known)
    lines = []
    for name in names:
        # Without the common prefix, which would make all names similar.
        rest = name.upper().removeprefix(PREFIX)
        near = difflib.get_close_matches(rest, rests, n=1, cutoff=0.6)
        hint = f"did you mean {PREFIX}{near[0]}?" if near else "no setting has a similar name."
        lines.append(f"{name}: {hint}")
    is_single = len(names) == 1
    return SettingsError(
        f"{names[0]} is not a setting."
        if is_single
        else f"{len(names)} variables are not settings.",
        details="\n".join(lines),
        resolution="Correct or unset it; docs/settings.md lists all settings."
        if is_single
        else "Correct or unset them; docs/settings.md lists all settings.",
    )


def _bad_values(settings: type[BaseSettings], error: ValidationError) -> SettingsError:
    rows = error.errors(include_url=False)
    names = list(dict.fromkeys(variable(settings, str(row["loc"][0])) for row in rows))
    return SettingsError(
        f"{names[0]} has an invalid value."
        if len(names) == 1
        else f"{len(names)} settings have invalid values.",
        details="\n".join(
            _describe(settings, str(row["loc"][0]), row["input"], row["msg"]) for row in rows
        ),
        resolution="Correct or unset it; docs/settings.md lists the values of each setting.",
    )


def _describe(settings: type[BaseSettings], field: str, value: object, message: str) -> str:
    is_secret = "Secret" in str(settings.model_fields[field].annotation)
    text = "" if is_secret else f"={shown(value)}"
    return f"{variable(settings, field)}{text}: {message[:1].lower()}{message[1:]}."


def shown(value: object) -> str:
    """Return a setting's value for printing, without passwords in addresses."""
    return _CREDENTIALS.sub("//***@", "" if value is None else str(value))


def known_variables(
    settings: Iterable[type[BaseSettings]], others: Iterable[str] = ()
) -> frozenset[str]:
    """Return the names of all variables of settings classes, and of `others`."""
    return frozenset(name for setting in settings for name in variables(setting)) | frozenset(
        others
    )
