"""Child process that reads one document from standard input and writes JSON to standard output.

`evaluators.readers.reading` starts it; its parsers read files that an agent wrote. It clears its
environment before it reads the file, has limited memory and time, and runs as nobody if started by
root with an interpreter that all users can read.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from dataclasses import asdict
from pathlib import Path

MAX_JSON_BYTES = 48 << 20
MEMORY_BYTES = 1536 << 20
CPU_S = 20
UNREADABLE = 3
"""Exit code for a file that cannot be read."""
UNABLE = 4
"""Exit code for an incomplete installation of the reader, independent of the file."""
_READABLE = 0o005
_NOBODY = 65534


def main(kind: str) -> int:
    """Read a document, print it as JSON, and return the exit code."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from evaluators.readers import archive, formats  # noqa: PLC0415 - the path is known only now

    data = sys.stdin.buffer.read()
    load_parsers(kind, may_be_ooxml=archive.OOXML_MARK.encode() in data)
    confine()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            document = formats.read_document(kind, data)
        encoded = json.dumps(asdict(document)).encode()
    except (ImportError, PermissionError) as exc:
        sys.stderr.write(f"{type(exc).__name__}: {exc}"[:500])
        return UNABLE
    except (Exception, RecursionError) as exc:  # noqa: BLE001 - parsers raise what they like
        sys.stderr.write(f"{type(exc).__name__}: {exc}"[:500])
        return UNREADABLE
    if len(encoded) > MAX_JSON_BYTES:
        sys.stderr.write("the content is too large")
        return UNREADABLE
    sys.stdout.buffer.write(encoded)
    return 0


def load_parsers(kind: str, *, may_be_ooxml: bool) -> None:
    """Import the parsers that a file may need, while the interpreter's files are still readable.

    Args:
        kind: kind of the document.
        may_be_ooxml: whether the file contains a name that all Office Open XML files have; their
            parsers take longer to import than to read a file.
    """
    names = {
        "text": ("docx",),
        "workbook": ("openpyxl", "openpyxl.chart.reader"),
        "deck": ("pptx",),
        "pdf": ("pypdf",),
    }
    if kind == "pdf" or may_be_ooxml:
        for name in names[kind]:
            __import__(name)
    if kind != "pdf":
        __import__("odf.opendocument")
        __import__("odf.teletype")


def confine() -> None:
    """Limit memory, time and files, drop root's privileges, and clear the environment."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.getuid() == 0 and all(map(_is_public, (os.__file__, __file__, sys.executable))):
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    os.environ.clear()


def _is_public(path: str) -> bool:
    """Return whether all users may read a file's folders, because parsers import modules late."""
    return all(
        folder.stat().st_mode & _READABLE == _READABLE for folder in Path(path).resolve().parents
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
