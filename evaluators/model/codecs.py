"""Convert files to models and back; report every error with file and line.

Files of suites, tasks and subtasks carry a ``schema_version``. Version 2 added subtasks. Files
without the key are of version 1, which predates the key, and mean the same in version 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from evaluators.model.parameter import PARAMETER_PATTERN
from foundation import yaml_models
from foundation.yaml_models import NAME_FORMS
from foundation.yaml_source import Source, dump_yaml, read_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.errors import SpecError

M = TypeVar("M", bound=BaseModel)

SCHEMA_VERSION = 2
"""What `encode` writes."""
VERSION_KEY = "schema_version"
_READABLE = (1, 2)
_FORMS = {
    **NAME_FORMS,
    PARAMETER_PATTERN: "lower-case letters, digits and `_`, a letter first: `room_number`",
}
"""Description of each pattern of names, for messages."""
_SINCE = {"subtasks": 2, "parts": 2, "applications": 2}
"""Version that added a key; older files with it are refused."""


def open_document(path: Path) -> Source:
    """Read a file of a suite, task or subtask, and check and remove its schema version.

    Raises:
        SpecError: the file cannot be read, or its version is unknown or too old for one of its
            keys.
    """
    source = read_yaml(path)
    if not isinstance(source.data, dict):
        return source
    version = source.data.get(VERSION_KEY, 1)
    known = " and ".join(map(str, _READABLE))
    if type(version) is not int or version not in _READABLE:
        raise source.error(
            (VERSION_KEY,),
            f"schema_version {version!r} is unknown; this release reads {known}.",
            resolution="Use a release of Mesocosm that supports this version.",
        )
    for key, since in _SINCE.items():
        if key in source.data and version < since:
            raise source.error(
                (key,),
                f"the key {key!r} needs schema_version {since}; the file has {version}.",
                resolution=f"Write `{VERSION_KEY}: {since}` at the top of the file.",
            )
    return source.with_data({k: v for k, v in source.data.items() if k != VERSION_KEY})


def encode(model: BaseModel) -> str:
    """Return a task, composed task or subtask as the text of a file; defaults are omitted."""
    content = model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return dump_yaml({VERSION_KEY: SCHEMA_VERSION, **content})


def decode(path: Path, model: type[M]) -> M:
    """Read the file of a task, composed task or subtask, without checking the names in it.

    Raises:
        SpecError: see `open_document` and `parse`.
    """
    return parse(open_document(path), model)


def parse(source: Source, model: type[M]) -> M:
    """Validate the content of a file as a model; see `foundation.yaml_models.parse`.

    Raises:
        SpecError: the content is invalid; the brief has the first error, the details have all.
    """
    return yaml_models.parse(source, model, _FORMS)


def validate(source: Source, model: type[M]) -> tuple[M | None, list[SpecError]]:
    """Return the content of a file as a model, and all errors; see `foundation.yaml_models.validate`."""
    return yaml_models.validate(source, model, _FORMS)
