"""Read YAML with the line of every key and value, for error messages; write YAML.

Scalars follow YAML 1.2's core schema, not PyYAML's YAML 1.1: ``on`` is text and not true, and
numbers with a leading zero (phone numbers), times and dates are text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from foundation.errors import SpecError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Where = tuple[str | int, ...]

_PLACE = re.compile(r"(.+?):(\d+): ")
_MAX_BYTES = 1 << 20
_MAX_NODES = 20_000


class _CoreLoader(yaml.SafeLoader):
    """SafeLoader with the null, bool, int and float of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (PyYAML's own way)


for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
):
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


class _CoreDumper(yaml.SafeDumper):
    """SafeDumper that quotes text that the core schema would read as another type."""

    yaml_implicit_resolvers = _CoreLoader.yaml_implicit_resolvers

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002
        """Repeat equal values instead of writing aliases."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Quote texts that other styles do not preserve: line breaks of any kind, control characters."""
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_CoreDumper.add_representer(str, _represent_text)


class Source:
    """A YAML file that was read.

    Attributes:
        path: path of the file, for errors.
        data: the content as plain Python: dicts, lists, str, int, float, bool, None.
        lines: line of each value, by its keys and indices from the root.
    """

    def __init__(self, path: Path, data: Any, lines: dict[Where, int]) -> None:  # noqa: ANN401
        self.path = path
        self.data = data
        self.lines = lines

    def with_data(self, data: Any) -> Source:  # noqa: ANN401
        """Return the same file with other data; the lines do not change."""
        return Source(self.path, data, self.lines)

    def line_of(self, where: Sequence[str | int]) -> int:
        """Return the line, from 1, of the value at `where`, or of the innermost value that encloses it.

        Args:
            where: keys and indices from the root; missing ones are skipped.
        """
        path: Where = ()
        for part in where:
            if (*path, part) in self.lines:
                path = (*path, part)
        return self.lines[path]

    def error(
        self, where: Sequence[str | int], brief: str, details: str = "", resolution: str = ""
    ) -> SpecError:
        """Return an error that names the file and the line of `where`."""
        place = f"{self.path}:{self.line_of(where)}"
        return SpecError(f"{place}: {brief}", details=details, resolution=resolution)


def read_yaml(path: Path) -> Source:
    """Read one YAML document.

    Raises:
        SpecError: the file is missing, too large, not UTF-8, not YAML, or has a duplicate key.
    """
    text = _read_text(path)
    lines: dict[Where, int] = {(): 1}
    try:
        loader = _CoreLoader(text)
        root = loader.get_single_node()
        if root is None:
            return Source(path, None, lines)
        _note_lines(path, root, (), lines, ())
        data = loader.construct_document(root)
    except yaml.YAMLError as exc:
        raise _syntax_error(path, exc) from exc
    except RecursionError as exc:
        raise SpecError(f"{path}: values are nested too deeply.") from exc
    return Source(path, data, lines)


def join_errors(errors: Sequence[SpecError]) -> SpecError:
    """Return one error that contains several errors in files, each once.

    Args:
        errors: at least one error; each brief begins with file and line.

    Returns:
        The error itself if there is only one. Otherwise an error whose brief has their number and
        whose details have one line for each: file, line, problem and resolution.
    """
    single = [part for error in errors for part in (error.parts or (error,))]
    ordered = sorted({error.brief: error for error in single}.values(), key=_place_of)
    if len(ordered) == 1:
        return ordered[0]
    lines = [
        " ".join(f"{error.brief} {error.resolution} {error.details}".split()) for error in ordered
    ]
    files = {_place_of(error)[0] for error in ordered}
    where = f"{len(files)} files" if len(files) > 1 else files.pop()
    joined = SpecError(f"{len(ordered)} errors in {where}.", details="\n".join(lines))
    joined.parts = tuple(ordered)
    return joined


def _place_of(error: SpecError) -> tuple[str, int]:
    match = _PLACE.match(error.brief)
    return (match[1], int(match[2])) if match else (error.brief, 0)


def parse_yaml(text: str) -> Any:  # noqa: ANN401
    """Parse YAML with the rules of task files: ``on`` is text.

    Raises:
        yaml.YAMLError: the text is not valid YAML.
    """
    return yaml.load(text, _CoreLoader)  # noqa: S506  (a SafeLoader)


def dump_yaml(data: Any) -> str:  # noqa: ANN401
    """Return plain Python as YAML that `read_yaml` reads as the same values."""
    return yaml.dump(data, Dumper=_CoreDumper, sort_keys=False, allow_unicode=True, width=100)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as exc:
        raise SpecError(
            f"{path} cannot be read.", details=str(exc), resolution=_resolution(path, exc)
        ) from exc
    if len(raw) > _MAX_BYTES:
        raise SpecError(f"{path} has {len(raw)} bytes; the limit is {_MAX_BYTES}.")
    try:
        return raw.decode()
    except UnicodeDecodeError as exc:
        line = raw[: exc.start].count(b"\n") + 1
        raise SpecError(f"{path}:{line}: this is not UTF-8 text.", details=str(exc)) from exc


def _resolution(path: Path, exc: OSError) -> str:
    """Return what helps against a file that cannot be read."""
    if not isinstance(exc, FileNotFoundError):
        return "Check that the path is that of a file, and who may read it."
    names = [other.name for other in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
    if near := nearest(path.name, names):
        return f"Did you mean {path.parent / near[0]}?"
    return "Check the path; a relative one begins in the current folder."


def _syntax_error(path: Path, exc: yaml.YAMLError) -> SpecError:
    line = 1
    message = str(exc)
    if isinstance(exc, yaml.MarkedYAMLError):
        mark = exc.problem_mark or exc.context_mark
        line = mark.line + 1 if mark else line
        message = ": ".join(part for part in (exc.context, exc.problem) if part)
    return SpecError(
        f"{path}:{line}: this is not valid YAML.",
        details=message,
        resolution="Check indentation, brackets and quotes on this line and the one above; quote text that contains "
        "`: `, ` #`, a bracket or a question mark.",
    )


def _note_lines(
    path: Path, node: yaml.Node, at: Where, lines: dict[Where, int], above: tuple[int, ...]
) -> None:
    line = node.start_mark.line + 1
    lines.setdefault(at, line)
    if id(node) in above:
        raise SpecError(f"{path}:{line}: an alias is inside its own anchor.")
    if len(lines) > _MAX_NODES:
        raise SpecError(f"{path}:{line}: more than {_MAX_NODES} values; aliases count each time.")
    above = (*above, id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(path, item, (*at, index), lines, above)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*at, _plain_key(path, key))
            if here in lines:
                raise SpecError(
                    f"{path}:{key.start_mark.line + 1}: the key {key.value!r} is duplicated.",
                    details=f"First on line {lines[here]}.",
                )
            lines[here] = key.start_mark.line + 1
            _note_lines(path, value, here, lines, above)


def _plain_key(path: Path, key: yaml.Node) -> str:
    if isinstance(key, yaml.ScalarNode) and key.tag == "tag:yaml.org,2002:str":
        return str(key.value)
    raise SpecError(
        f"{path}:{key.start_mark.line + 1}: a key must be text.",
        details=f"It is {key.tag.rsplit(':', 1)[-1]}.",
        resolution="Put it in quotes.",
    )
