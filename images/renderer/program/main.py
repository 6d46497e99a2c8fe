"""Read one document and a request from standard input, write its view to standard output, and end.

LibreOffice starts before the request arrives; a message ``{"ready": true}`` says that it runs.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pypdfium2
import uno

from images.renderer.program import framing
from images.renderer.program.errors import DocumentError
from images.renderer.program.memory import peak_mib
from images.renderer.program.office import Office
from images.renderer.program.patience import LIMIT_S, Watcher
from images.renderer.program.pdf import view_pdf
from images.renderer.program.picture import view_picture
from images.renderer.program.sheets import view_sheets
from images.renderer.program.slides import view_slides
from images.renderer.program.text import view_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.renderer.program.pages import Reply

_SHEETS = ("ods", "xlsx", "xls", "csv", "fods", "xlsm", "ots", "xltx")
_TEXTS = ("odt", "docx", "doc", "rtf", "fodt", "ott", "dotx", "txt")
_SLIDES = ("odp", "pptx", "ppt", "fodp", "otp", "potx")
_PICTURES = ("png", "jpg", "jpeg", "bmp", "gif", "tif", "tiff", "webp")
_UnoException = uno.getClass("com.sun.star.uno.Exception")
VIEWERS: dict[str, Callable[[Office, bytes, dict[str, Any]], Reply]] = {
    **dict.fromkeys(_SHEETS, view_sheets),
    **dict.fromkeys(_TEXTS, view_text),
    **dict.fromkeys(_SLIDES, view_slides),
    "pdf": view_pdf,
    **dict.fromkeys(_PICTURES, view_picture),
}
"""The function that views a document, by the suffix of its file."""
LIFETIME_S = 240
"""Time after a request in which this process ends, even if its host is gone or a library hangs."""


_TOO_SLOW = f"It takes more than {LIMIT_S:g} s."


def main() -> None:
    """Serve one request."""
    output = os.fdopen(os.dup(1), "wb")
    # Libraries print to standard output; a message must not be mixed with it.
    os.dup2(2, 1)
    watcher = Watcher(output.fileno(), framing.encode({"error": _TOO_SLOW}))
    office = Office(Path(tempfile.mkdtemp()))
    office.warm_up()
    output.write(framing.encode({"ready": True}))
    output.flush()
    header, parts = framing.read_message(partial(os.read, 0))
    signal.alarm(LIFETIME_S)
    threading.Thread(target=_end_with_host, daemon=True).start()
    watcher.start()
    answer = _answer(office, header, parts)
    watcher.stop()
    output.write(answer)
    output.flush()
    os._exit(0)  # without waiting for LibreOffice, which ends with the container


def _end_with_host() -> None:
    """End this process when its input ends, because nobody waits for the view any more."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _viewer_of(suffix: str) -> Callable[[Office, bytes, dict[str, Any]], Reply]:
    if suffix not in VIEWERS:
        raise DocumentError(f"There are no views of files *.{suffix}.")
    return VIEWERS[suffix]


def _answer(office: Office, header: dict[str, Any], parts: list[bytes]) -> bytes:
    try:
        return _encode(_viewer_of(header["suffix"])(office, parts[0], header))
    except DocumentError as exc:
        return framing.encode({"error": str(exc)})
    except pypdfium2.PdfiumError as exc:
        return framing.encode({"error": f"pdfium: {exc}"})
    except (RecursionError, SystemError):
        # UNO raises SystemError if the limit is reached while it makes an exception.
        return framing.encode({"error": "It is nested too deeply."})
    except _UnoException as exc:
        return framing.encode({"error": f"LibreOffice: {exc.Message or type(exc).__name__}"})


def _encode(reply: Reply) -> bytes:
    text = json.dumps({"version": framing.VERSION, **reply.view}, ensure_ascii=False)
    # Half a surrogate pair, which documents may hold, is not Unicode.
    parts = [text.encode(errors="replace"), *reply.pages]
    if sum(map(len, parts)) > framing.MAX_PARTS_BYTES:
        raise DocumentError("Its view is too large.")
    return framing.encode({"error": "", "memory_peak_mib": peak_mib()}, parts)


if __name__ == "__main__":
    main()
