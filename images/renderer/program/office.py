"""LibreOffice as a child process without a window, driven through UNO."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import uno

from images.renderer.program.errors import DocumentError

_SOFFICE = "/usr/lib/libreoffice/program/soffice.bin"
_PROFILE = Path("/opt/renderer/profile")
_FONTS = Path("user/temp/embeddedfonts/fromdocs")
_PIPE = "renderer"
_HOMES = Path("/home")
_START_TIMEOUT_S = 60.0
_POLL_S = 0.02
_NEVER_EXECUTE = 0
"""Source: com.sun.star.document.MacroExecMode."""
_NO_UPDATE = 0
"""Source: com.sun.star.document.UpdateDocMode."""
_NoConnection = uno.getClass("com.sun.star.connection.NoConnectException")
_PDF = "_pdf_Export"
_WARM = {
    "scalc": "calc_pdf_Export",
    "swriter": "writer_pdf_Export",
    "simpress": "impress_pdf_Export",
}


class Office:
    """A running LibreOffice with a fresh profile.

    Args:
        folder: an empty folder for its profile and files.

    Raises:
        DocumentError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        profile = folder / "profile"
        shutil.copytree(_PROFILE, profile)
        argv = [
            _SOFFICE,
            "--headless",
            "--invisible",
            "--norestore",
            "--nologo",
            "--nodefault",
            "--nofirststartwizard",
            f"-env:UserInstallation={profile.as_uri()}",
            f"--accept=pipe,name={_PIPE};urp;StarOffice.ComponentContext",
        ]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        self._context = self._connect()
        self._desktop = self._context.ServiceManager.createInstanceWithContext(
            "com.sun.star.frame.Desktop", self._context
        )

    def _connect(self) -> Any:  # noqa: ANN401 - UNO has no types
        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext(
            "com.sun.star.bridge.UnoUrlResolver", local
        )
        deadline_s = time.monotonic() + _START_TIMEOUT_S
        while True:
            try:
                return resolver.resolve(f"uno:pipe,name={_PIPE};urp;StarOffice.ComponentContext")
            except _NoConnection:
                if self._process.poll() is not None or time.monotonic() > deadline_s:
                    raise DocumentError("LibreOffice did not start.") from None
                time.sleep(_POLL_S)

    def warm_up(self) -> None:
        """Open, print and close an empty document of each kind, which loads the libraries for it."""
        for name, filter_name in _WARM.items():
            document = self._load(f"private:factory/{name}")
            if document is not None:
                self.export(document, filter_name)
                document.close(True)

    def open(self, data: bytes, suffix: str, place: str = "") -> Any:  # noqa: ANN401
        """Open a document, with macros and links off.

        Args:
            data: the file.
            suffix: its suffix, such as ``ods``; only letters and digits.
            place: absolute path of the file on the machine, if the document asks for it.

        Raises:
            DocumentError: LibreOffice cannot open it, or there can be no file in its place.
        """
        path = _make_place(place) if place else self._folder / f"document.{suffix}"
        path.write_bytes(data)
        document = self._load(path.as_uri())
        if document is None:
            raise DocumentError("LibreOffice cannot open the file.")
        return document

    def has_brought_fonts(self) -> bool:
        """Return whether the opened document brought fonts of its own, which LibreOffice has put into its profile."""
        folder = self._folder / "profile" / _FONTS
        return any(path.is_file() for path in folder.rglob("*"))

    def write(self, name: str, data: bytes) -> Path:
        """Write a file into the folder and return its path."""
        path = self._folder / name
        path.write_bytes(data)
        return path

    def export(self, document: Any, filter_name: str, **data: object) -> Path:  # noqa: ANN401
        """Write a document with an export filter and return the file's path.

        Args:
            document: the open document.
            filter_name: such as ``calc_pdf_Export``.
            data: properties of the export; `FilterData` may be a dictionary.
        """
        path = self._folder / "export"
        path.unlink(missing_ok=True)
        if filter_name.endswith(_PDF):
            # Fields are drawn as the screen shows them, whatever a PDF's viewer makes of them.
            filters = data.get("FilterData")
            data["FilterData"] = {
                "ExportFormFields": False,
                **(filters if isinstance(filters, dict) else {}),
            }
        document.storeToURL(path.as_uri(), properties(FilterName=filter_name, **data))
        return path

    def dispatch(self, document: Any, command: str) -> None:  # noqa: ANN401 - UNO has no types
        """Execute a command such as ``.uno:AcceptAllTrackedChanges`` on an open document."""
        dispatcher = self._context.ServiceManager.createInstanceWithContext(
            "com.sun.star.frame.DispatchHelper", self._context
        )
        dispatcher.executeDispatch(document.CurrentController.Frame, command, "", 0, ())

    def _load(self, url: str) -> Any:  # noqa: ANN401 - UNO has no types
        return self._desktop.loadComponentFromURL(
            url,
            "_blank",
            0,
            properties(Hidden=True, MacroExecutionMode=_NEVER_EXECUTE, UpdateDocMode=_NO_UPDATE),
        )


def _make_place(place: str) -> Path:
    path = Path(place)
    if _HOMES not in path.parents or ".." in path.parts:
        raise DocumentError(f"It asks where it is, and is not in a folder of {_HOMES}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise DocumentError(f"It asks where it is, and there can be no such place: {exc}.") from exc
    return path


def properties(**values: object) -> tuple[Any, ...]:
    """Return property values for UNO; a dictionary becomes nested property values."""
    return tuple(_property(name, value) for name, value in values.items())


def _property(name: str, value: object) -> Any:  # noqa: ANN401 - UNO has no types
    made = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
    made.Name = name
    if isinstance(value, dict):
        made.Value = uno.Any("[]com.sun.star.beans.PropertyValue", properties(**value))
    else:
        made.Value = value
    return made
