"""A vendor of models whose API shares nothing with OpenAI's: XML, counts as attributes, its own key.

::

    POST <address>/ask  <ask model="m" seed="7"><tool name="…"><about>…</about><schema>…</schema></tool>
                            <line by="person"><say>…</say><picture>base64</picture></line></ask>
    200                 <told in="30" out="5" cached="20" mark="…"><say>…</say>
                            <do tool="…" id="1"><arg name="x">9</arg></do></told>
"""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from controller.models.client import Capabilities, Route
from controller.models.failures import Failure, RefusedRequestError, unusable_reply
from controller.models.messages import Image, Message, Reply, Role, Stop, ToolCall
from controller.models.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from controller.models.client import GatewayRules
    from controller.models.messages import Request
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

KEY_HEADER = "X-Toy-Key"
_TYPE = "text/xml"
_BY = {Role.SYSTEM: "rules", Role.USER: "person", Role.MODEL: "model", Role.TOOL: "outcome"}


class ToyClient:
    """Sends requests as XML."""

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    def request(self, request: Request, log: Callable[[str], object]) -> Reply:
        """Send a request once."""
        settings = self._settings
        key = {KEY_HEADER: settings.api_key.get_secret_value()}
        onward = urllib.request.Request(  # noqa: S310 - a loopback address
            f"{settings.base_url}/ask",
            _asked(request, settings.name),
            {"Content-Type": _TYPE, **key},
        )
        try:
            with urllib.request.urlopen(onward, timeout=settings.timeout_s) as response:  # noqa: S310
                text = response.read().decode()
        except urllib.error.HTTPError as exc:
            body = exc.read().decode()
            headers = {name.lower(): value for name, value in exc.headers.items()}
            failure = Failure("toy trouble", body, body, exc.code, headers)
            raise failure.error(settings.endpoint, self._clock.now_s()) from None
        except OSError as exc:
            failure = Failure(type(exc).__name__, str(exc), str(exc), is_listening=False)
            raise failure.error(settings.endpoint, self._clock.now_s()) from None
        log(text)
        try:
            return _reply(ET.fromstring(text))  # noqa: S314 - a loopback address
        except ET.ParseError as exc:
            raise unusable_reply("the toy's XML", str(exc), str(exc), "Ask the toy.") from None


def _asked(request: Request, model: str) -> bytes:
    root = ET.Element("ask", model=model)
    if request.seed is not None:
        root.set("seed", str(request.seed))
    for tool in request.tools:
        row = ET.SubElement(root, "tool", name=tool.name)
        ET.SubElement(row, "about").text = tool.description
        ET.SubElement(row, "schema").text = json.dumps(dict(tool.parameters))
    for message in request.messages:
        _add_line(root, message)
    return ET.tostring(root)


def _add_line(root: ET.Element, message: Message) -> None:
    row = ET.SubElement(root, "line", by=_BY[message.role])
    if message.call_id:
        row.set("of", message.call_id)
    row.attrib.update({name: str(value) for name, value in message.opaque.items()})
    for part in message.parts:
        if isinstance(part, Image):
            ET.SubElement(row, "picture").text = base64.b64encode(part.png).decode()
        else:
            ET.SubElement(row, "say").text = part
    for call in message.calls:
        done = ET.SubElement(row, "do", tool=call.name, id=call.id)
        for name, value in json.loads(call.arguments).items():
            ET.SubElement(done, "arg", name=name).text = json.dumps(value)


def _reply(root: ET.Element) -> Reply:
    calls = tuple(
        ToolCall(
            row.get("id", ""),
            row.get("tool", ""),
            json.dumps({arg.get("name"): json.loads(arg.text or "null") for arg in row}),
        )
        for row in root.iter("do")
    )
    said = tuple(row.text or "" for row in root.iter("say"))
    mark = {"mark": root.get("mark")} if root.get("mark") else {}
    refused = root.tag == "cannot"
    return Reply(
        Message(Role.MODEL, (root.text or "",) if refused else said, calls, opaque=mark),
        Stop.REFUSED if refused else Stop.END,
        _usage(root),
        root.tag,
    )


def _usage(root: ET.Element) -> Usage:
    sent, received, cached = (root.get(name) for name in ("in", "out", "cached"))
    counts = [None if count is None else int(count) for count in (sent, received, cached)]
    return Usage(counts[0], counts[1], cached_tokens=counts[2])


class ToyUsage:
    """Reads the usage of a reply once it is complete."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._held += chunk

    def usage(self) -> Usage:
        """Return the counts of the root element."""
        try:
            return _usage(ET.fromstring(self._held))  # noqa: S314 - a loopback address
        except ET.ParseError:
            return Usage()


class ToyGateway:
    """Rules of the gateway: the model is named in the path of a request, too."""

    prefix = "/toy"

    def routes(self, model: str) -> Mapping[str, Route]:
        """Return the requests that are forwarded."""
        return {"/toy/ask": Route("POST"), f"/toy/about/{model}": Route("GET", is_call=False)}

    def check(self, body: bytes, model: str) -> tuple[bytes, str]:
        """Parse and write the XML again."""
        try:
            root = ET.fromstring(body)  # noqa: S314 - written by the test
        except ET.ParseError:
            raise RefusedRequestError(400, "no XML") from None
        if root.get("model") != model:
            raise RefusedRequestError(403, f"only {model} is available")
        return ET.tostring(root), _TYPE

    def headers(self, settings: ModelSettings) -> Mapping[str, str]:
        """Return the key."""
        return {KEY_HEADER: settings.api_key.get_secret_value()}

    def error(self, message: str) -> tuple[bytes, str]:
        """Return an error as XML."""
        root = ET.Element("trouble")
        root.text = message
        return ET.tostring(root), _TYPE

    def read_usage(self, content_type: str) -> ToyUsage:
        """Return a reader."""
        assert content_type == _TYPE
        return ToyUsage()

    def environment(self, base_url: str) -> Mapping[str, str]:
        """Return the variable of the toy's SDK."""
        return {"TOY_ADDRESS": base_url}


class ToyAdapter:
    """The adapter that a test adds to the table."""

    default_url = ""
    own_fields: frozenset[str] = frozenset({"line"})
    texts: tuple[str, ...] = ()
    gateway: GatewayRules = ToyGateway()

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.capabilities = capabilities or Capabilities()

    def require(self) -> None:
        """Require nothing."""

    def load(self) -> None:
        """Import nothing."""

    def connect(self, settings: ModelSettings, clock: Clock) -> ToyClient:
        """Return a client."""
        return ToyClient(settings, clock)


@dataclass
class ToyServer:
    """Answers from a list; the last answer is repeated.

    Attributes:
        answers: status and body.
        requests: bodies received.
        keys: keys received.
    """

    answers: list[tuple[int, str]]
    requests: list[ET.Element] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    base_url: str = ""


def told(*calls: tuple[str, Mapping[str, object]], tokens: tuple[int, int] = (100, 10)) -> str:
    """Return a reply that calls tools; 60 of its tokens were cached."""
    sent, received = map(str, tokens)
    root = ET.Element("told", {"in": sent, "out": received, "cached": "60", "mark": "signed"})
    ET.SubElement(root, "say").text = "I do it."
    for number, (name, arguments) in enumerate(calls):
        row = ET.SubElement(root, "do", tool=name, id=str(number))
        for key, value in arguments.items():
            ET.SubElement(row, "arg", name=key).text = json.dumps(value)
    return ET.tostring(root, encoding="unicode")


@contextlib.contextmanager
def toy_server(*answers: tuple[int, str]) -> Iterator[ToyServer]:
    """Serve answers for the duration of a block."""
    state = ToyServer(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/ask"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.requests.append(ET.fromstring(body))  # noqa: S314 - written by the test
            state.keys.append(self.headers[KEY_HEADER])
            status, text = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            self.answer(status, text)

        def do_GET(self) -> None:
            self.answer(200, f"<about>{self.path}</about>")

        def answer(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", _TYPE)
            self.send_header("Retry-After-Ms", "1")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
