"""Test fixtures with servers on the loopback: HTTP, with DAV collections, and IMAP.

They implement what a read-only client needs. The evaluators were also tested with other servers:
Radicale 3.9 and pymap 0.36.
"""

from __future__ import annotations

import contextlib
import http.server
import re
import socketserver
import threading
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from defusedxml import ElementTree

from evaluators.testing.desktop import DesktopFixture

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from evaluators.testing.case import StateMutation
    from provisioning.protocols import Json

USER, PASSWORD = "ann", "p@ss"
_LOGIN = "Basic YW5uOnBAc3M="
_NAMESPACES = {
    "calendar": ("urn:ietf:params:xml:ns:caldav", "calendar-data"),
    "people": ("urn:ietf:params:xml:ns:carddav", "address-data"),
}

_RETURN = {"\r": "&#13;"}
_QUERIES = {
    "{urn:ietf:params:xml:ns:caldav}calendar-query": (
        "urn:ietf:params:xml:ns:caldav",
        ["calendar-data", "filter", "comp-filter VCALENDAR", "comp-filter VEVENT"],
    ),
    "{urn:ietf:params:xml:ns:carddav}addressbook-query": (
        "urn:ietf:params:xml:ns:carddav",
        ["address-data", "filter"],
    ),
}

Page = tuple[int, bytes]


class _Server(socketserver.ThreadingTCPServer):
    """Server that handles connections in separate threads."""

    allow_reuse_address = True
    daemon_threads = True
    fixture: Any


class ServerFixture(DesktopFixture):
    """A desktop with a server; its port replaces ``{port}`` in arguments.

    Args:
        folder: an empty scratch folder.
        handler: handles one connection.
    """

    def __init__(self, folder: Path, handler: type[socketserver.BaseRequestHandler]) -> None:
        super().__init__(folder)
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.fixture = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Fill in the port."""
        port = str(self._server.server_address[1])
        return {
            name: value.replace("{port}", port) if isinstance(value, str) else value
            for name, value in args.items()
        }

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class WebFixture(ServerFixture):
    """A desktop with a web server.

    Attributes:
        pages: status and body by method and path.
        raw: sent instead of any reply, when not empty.
        headers: sent with each page, besides its length.
    """

    def __init__(self, folder: Path) -> None:
        self.pages: dict[str, Page] = {}
        self.raw = b""
        self.headers: dict[str, str] = {}
        super().__init__(folder, _WebHandler)

    def page(self, path: str, body: str | bytes, status: int = 200, method: str = "GET") -> None:
        """Serve a page."""
        self.pages[f"{method} {path}"] = (status, body.encode() if isinstance(body, str) else body)

    def collection(self, path: str, kind: str, *texts: str) -> None:
        """Serve a ``calendar`` or ``people`` collection, for the user and password of the fixture."""
        space, tag = _NAMESPACES[kind]
        rows = "".join(
            f"<D:response><D:href>{path}{number}</D:href><D:propstat><D:prop>"
            f"<X:{tag}>{escape(text, _RETURN)}</X:{tag}></D:prop><D:status>HTTP/1.1 200 OK</D:status>"
            f"</D:propstat></D:response>"
            for number, text in enumerate(texts)
        )
        body = f'<D:multistatus xmlns:D="DAV:" xmlns:X="{space}">{rows}</D:multistatus>'
        self.page(path, body, 207, "REPORT")

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of each page."""
        return [
            mutation
            for where, page in self.pages.items()
            for mutation in self._mutations_of(where, page)
        ]

    def _mutations_of(self, where: str, page: Page) -> list[StateMutation]:
        def put(status: int, body: bytes) -> Callable[[], object]:
            return lambda: self.pages.update({where: (status, body)})

        return [
            ("server: gone", lambda: self.pages.pop(where)),
            ("server: error", put(500, page[1])),
            ("server: empty", put(page[0], b"")),
            ("server: cut", put(page[0], page[1][: len(page[1]) // 2])),
            ("server: other", put(page[0], page[1].swapcase())),
        ]


class _WebHandler(http.server.BaseHTTPRequestHandler):
    """Replies with the fixture's pages."""

    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Reply to a GET."""
        self._answer()

    def do_REPORT(self) -> None:
        """Reply to a REPORT of the right user with a valid query."""
        query = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.headers.get("Authorization") != _LOGIN:
            self._answer((401, b"who?"))
        elif not self._is_query(query):
            self._answer((400, b"what?"))
        else:
            self._answer()

    def _is_query(self, query: bytes) -> bool:
        """Return whether a query asks for all events, or all cards (RFC 4791, RFC 6352)."""
        is_xml = self.headers.get("Content-Type") == 'application/xml; charset="utf-8"'
        if not is_xml or self.headers.get("Depth") != "1":
            return False
        try:
            root = ElementTree.fromstring(query)
        except ElementTree.ParseError:
            return False
        space, wanted = _QUERIES.get(root.tag, ("", []))
        parts = [f"{element.tag} {element.get('name', '')}".strip() for element in root.iter()]
        return parts[1:] == ["{DAV:}prop", *(f"{{{space}}}{name}" for name in wanted)]

    def _answer(self, page: Page | None = None) -> None:
        fixture: WebFixture = self.server.fixture  # type: ignore[attr-defined]
        if fixture.raw:
            self.wfile.write(fixture.raw)
            return
        status, body = page or fixture.pages.get(f"{self.command} {self.path}", (404, b"not there"))
        with contextlib.suppress(OSError):
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **fixture.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


class MailFixture(ServerFixture):
    """A desktop with a mail server.

    Attributes:
        folders: flags and bytes of each message, by folder.
        flags_last: whether the server sends flags after the content.
    """

    flags_last = False

    def __init__(self, folder: Path) -> None:
        self.folders: dict[str, list[tuple[str, bytes]]] = {"INBOX": []}
        super().__init__(folder, _MailHandler)

    def mail(
        self,
        subject: str,
        text: str = "",
        *,
        folder: str = "INBOX",
        flags: str = "",
        head: Sequence[str] = ("From: Bob <bob@mail.test>", "To: ann@mail.test"),
        kind: str = "text/plain",
    ) -> None:
        """Put a message into a folder."""
        lines = [*head, f"Subject: {subject}", f"Content-Type: {kind}; charset=utf-8", "", text]
        raw = "\r\n".join(lines).encode()
        self.folders.setdefault(folder, []).append((flags, raw))

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of each message and folder."""
        mutations: list[StateMutation] = []
        for folder, messages in self.folders.items():
            for number in range(len(messages)):
                mutations += self._mutations_of(folder, number)
        return mutations

    def _mutations_of(self, folder: str, number: int) -> list[StateMutation]:
        messages = self.folders[folder]
        flags, raw = messages[number]

        def put(flags: str, raw: bytes) -> Callable[[], object]:
            return lambda: messages.__setitem__(number, (flags, raw))

        where = f"{folder} {number}"
        return [
            (f"{where}: delete", lambda: messages.pop(number)),
            (f"{where}: move", lambda: self.folders.update({folder: [], "Else": messages})),
            (f"{where}: no flags", put("", raw)),
            (f"{where}: empty", put(flags, b"")),
            (f"{where}: other", put(flags, raw.swapcase())),
        ]


class _MailHandler(socketserver.StreamRequestHandler):
    """Speaks IMAP4rev1: CAPABILITY, LOGIN, SELECT and EXAMINE, FETCH of all, LOGOUT.

    Source: RFC 3501.
    """

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Reply until the client disconnects."""
        self._messages: list[tuple[str, bytes]] = []
        self._is_known = False
        self._say(b"* OK ready")
        with contextlib.suppress(OSError):
            for line in self.rfile:
                tag, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
                verb, _, arguments = rest.partition(" ")
                self._say(f"{tag} {self._do(verb.upper(), arguments)}".encode())
                if verb.upper() == "LOGOUT":
                    return

    def _do(self, verb: str, arguments: str) -> str:
        if verb == "CAPABILITY":
            self._say(b"* CAPABILITY IMAP4rev1")
        elif verb == "LOGIN":
            self._is_known = arguments == f'{USER} "{PASSWORD}"'
            return "OK hello" if self._is_known else "NO who are you"
        elif verb == "LOGOUT":
            self._say(b"* BYE")
        elif not self._is_known:
            return "BAD log in first"
        elif verb == "EXAMINE":
            return self._open(arguments)
        elif verb == "FETCH":
            return self._fetch(arguments)
        else:
            return "BAD what"
        return "OK done"

    def _open(self, arguments: str) -> str:
        fixture: MailFixture = self.server.fixture  # type: ignore[attr-defined]
        quoted = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', arguments)
        if quoted is None:
            return "BAD what"
        folder = re.sub(r"\\(.)", r"\1", quoted[1])
        if folder not in fixture.folders:
            return "NO there is no such folder"
        self._messages = fixture.folders[folder]
        self._say(b"* %d EXISTS" % len(self._messages))
        return "OK [READ-ONLY] open"

    def _fetch(self, arguments: str) -> str:
        asked = re.fullmatch(r"(\d+):(\d+) \(FLAGS BODY\.PEEK\[(|HEADER)\]<0\.(\d+)>\)", arguments)
        if asked is None:
            return "BAD what"
        for number in range(int(asked[1]), int(asked[2]) + 1):
            flags, raw = self._messages[number - 1]
            content = raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if asked[3] else raw
            self.wfile.write(self._row(number, flags, content[: int(asked[4])]))
        return "OK done"

    def _row(self, number: int, flags: str, part: bytes) -> bytes:
        items = [f"FLAGS ({flags})".encode(), b"BODY[]<0> {%d}\r\n%s" % (len(part), part)]
        fixture: MailFixture = self.server.fixture  # type: ignore[attr-defined]
        content = b" ".join(reversed(items) if fixture.flags_last else items)
        return b"* %d FETCH (%s)\r\n" % (number, content)

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")
