"""The process in which one document is read: standard input to JSON on standard output.

Run by `evaluators.readers.reading`; its parsers meet files that an agent made. It gives up its
environment before it looks at the file, has little memory and time, and is nobody where root runs
it and the interpreter can be read by everybody.
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
"""Exit code for a reader that is not installed whole; says nothing about the file."""
_READABLE = 0o005
_NOBODY = 65534


def main(kind: str) -> int:
    """Read a document of a kind and print it; give the exit code."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from evaluators.readers import formats  # noqa: PLC0415 - the path is known only now

    load_parsers(kind)
    confine()
    data = sys.stdin.buffer.read()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = formats.read_document(kind, data)
        said = json.dumps(asdict(found)).encode()
    except (ImportError, PermissionError) as exc:
        sys.stderr.write(f"{type(exc).__name__}: {exc}"[:500])
        return UNABLE
    except (Exception, RecursionError) as exc:  # noqa: BLE001 - parsers raise what they like
        sys.stderr.write(f"{type(exc).__name__}: {exc}"[:500])
        return UNREADABLE
    if len(said) > MAX_JSON_BYTES:
        sys.stderr.write("it holds too much")
        return UNREADABLE
    sys.stdout.buffer.write(said)
    return 0


def load_parsers(kind: str) -> None:
    """Import what a kind needs while the files of the interpreter can still be read."""
    names = {
        "text": ("docx", "odf.opendocument", "odf.teletype"),
        "workbook": ("openpyxl", "openpyxl.chart.reader", "odf.opendocument", "odf.teletype"),
        "deck": ("pptx", "odf.opendocument", "odf.teletype"),
        "pdf": ("pypdf",),
    }
    for name in names[kind]:
        __import__(name)


def confine() -> None:
    """Bound memory, time and files, drop root's rights, and forget the environment."""
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
    """Tell whether everybody may read what stands beside a file: parsers import late."""
    return all(
        folder.stat().st_mode & _READABLE == _READABLE for folder in Path(path).resolve().parents
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
