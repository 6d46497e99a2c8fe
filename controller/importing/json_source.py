"""Read JSON files of other benchmarks, with the line of every value for errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from foundation.errors import SpecError
from foundation.yaml_source import Source, read_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MAX_BYTES = 1 << 20


class JsonSource(Source):
    """A JSON file that was read; its lines are looked up when an error needs one."""

    def __init__(self, path: Path, data: Any) -> None:  # noqa: ANN401
        super().__init__(path, data, {(): 1})
        self._has_lines = False

    def with_data(self, data: Any) -> JsonSource:  # noqa: ANN401
        """Return the same file with other data."""
        return JsonSource(self.path, data)

    def line_of(self, where: Sequence[str | int]) -> int:
        """Return the line of a value, or 1 if the file cannot be read as YAML, of which JSON is a part."""
        if not self._has_lines:
            self._has_lines = True
            try:
                self.lines = read_yaml(self.path).lines
            except SpecError:
                self.lines = {(): 1}
        return super().line_of(where)


def read_json(path: Path) -> JsonSource:
    """Read a JSON file.

    Raises:
        SpecError: it cannot be read, is too large, is not JSON, or has a key twice; the error names
            file and line.
    """
    try:
        raw = path.read_bytes()
    except OSError as exc:
        raise SpecError(f"{path} cannot be read.", details=str(exc)) from exc
    if len(raw) > _MAX_BYTES:
        raise SpecError(f"{path} has {len(raw)} bytes; the limit is {_MAX_BYTES}.")
    try:
        data = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as exc:
        raise SpecError(
            f"{path}:{exc.lineno}: this is not valid JSON.",
            details=exc.msg,
            resolution="Check commas, quotes and brackets on this line and the one above.",
        ) from exc
    except UnicodeDecodeError as exc:
        line = raw[: exc.start].count(b"\n") + 1
        raise SpecError(f"{path}:{line}: this is not UTF-8 text.", details=str(exc)) from exc
    except RecursionError as exc:
        raise SpecError(f"{path}: values are nested too deeply.") from exc
    except _TwiceError as exc:
        raise SpecError(
            f"{path}:{_second_line(raw, exc.key)}: the key {exc.key!r} is duplicated.",
            resolution="Keep one of them.",
        ) from exc
    return JsonSource(path, data)


class _TwiceError(SpecError):
    code = "key_twice"

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} is duplicated")
        self.key = key


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(key)
        found[key] = value
    return found


def _second_line(raw: bytes, key: str) -> int:
    """Return the line of the last occurrence of a key, which is likely to be the repeated one."""
    at = raw.rfind(json.dumps(key, ensure_ascii=False).encode())
    return raw[:at].count(b"\n") + 1 if at >= 0 else 1
