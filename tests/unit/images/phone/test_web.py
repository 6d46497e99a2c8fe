"""Forms, cookies and certificates of the phone's Browser."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest

from foundation.clock import wait_until
from foundation.settings import Settings
from images.phone.device.store.pages import Block, fetch_page, read_html
from images.phone.device.store.web import Web, keep_cookies, load_web, trust
from provisioning.world.authority import open_authority
from tests.standins.phone_user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FORM = """<form action="/sign-in" method="post">
<input type="hidden" name="after" value="/mine"><label>Address<br><input name="email"></label>
<label>Kind <select name="kind"><option value="a">First</option><option selected>second</option></select></label>
<textarea name="text" aria-label="Text">one
two</textarea><input type="checkbox" name="off"><input type="checkbox" name="on" value="1" checked>
<button name="action" value="go">Sign <b>in</b></button></form>
<form action="/search?old=1"><input type="search" name="q" placeholder="Search"> <button>Search</button></form>"""


@contextmanager
def site() -> Iterator[tuple[int, list[str]]]:
    """Serve the form; what is sent is listed, and whoever sends something is known by a cookie."""
    sent: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = "seen=yes" in self.headers.get("Cookie", "")
            self.answer(200, f"<title>Mine</title><p>{'known' if known else 'unknown'}</p>{FORM}")
            sent.append(self.path)

        def do_POST(self) -> None:
            sent.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(303, "", ("Location", "/mine"), ("Set-Cookie", "seen=yes; Path=/"))

        def answer(self, status: int, page: str, *headers: tuple[str, str]) -> None:
            self.send_response(status)
            length = ("Content-Length", str(len(page.encode())))
            for header in (*headers, ("Content-Type", "text/html"), length):
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port, sent
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    made = User(tmp_path)
    yield made
    made.close()


def test_the_parts_of_forms_are_read() -> None:
    page = read_html("http://a.example/x/", FORM)
    parts = [block for block in page.blocks if block.form == 0]
    to = "http://a.example/sign-in"
    assert parts == [
        Block("hidden", "", to, 0, "after", "/mine", is_sent=True),
        Block("text", "Address", to, 0, "email", "", is_sent=True),
        Block(
            *("choice", "Kind", to, 0, "kind", "second"),
            choices=(("a", "First"), ("second", "second")),
            is_sent=True,
        ),
        Block("lines", "Text", to, 0, "text", "one\ntwo", is_sent=True),
        Block("hidden", "", to, 0, "on", "1", is_sent=True),
        Block("submit", "Sign in", to, 0, "action", "go", is_sent=True),
    ]
    assert [block[:6] for block in page.blocks if block.form == 1] == [
        ("text", "Search", "http://a.example/search?old=1", 1, "q", ""),
        ("submit", "Search", "http://a.example/search?old=1", 1, "", ""),
    ]


def test_a_form_is_filled_and_sent(user: User) -> None:
    def shows(text: str) -> bool:
        return wait_until(lambda: user.sees(text), timeout_s=10, every_s=0.02) is not None

    with site() as (port, sent):
        user.run(
            "am", "start", "-a", "android.intent.action.VIEW", "-d", f"http://127.0.0.1:{port}/"
        )
        if user.sees("Open page"):
            user.tap("Open page")
        assert shows("unknown")
        user.tap("Address")
        user.run("input", "text", "me@a.example")
        user.run("input", "keyevent", "BACK")
        user.tap("Kind")
        user.tap("First")
        user.check_screen()
        user.tap("Sign in")
        assert shows("known")
        form = parse_qs(sent[1])
        assert form == {
            "after": ["/mine"],
            "email": ["me@a.example"],
            "kind": ["a"],
            "text": ["one\ntwo"],
            "on": ["1"],
            "action": ["go"],
        }
        user.tap("Text")
        user.run("input", "keyevent", "ENTER")
        assert shows("known")
        assert sent[2:] == ["/mine"]
        user.run("input", "keyevent", "BACK")
        user.run("input", "swipe", "500", "1500", "500", "300")
        user.tap("Search")
        user.run("input", "text", "two%swords")
        user.run("input", "keyevent", "ENTER")
        assert wait_until(lambda: len(sent) == 4, timeout_s=10, every_s=0.02)
        assert sent[3] == "/search?q=two+words"
    assert [row["value"] for row in user.phone.store.rows("SELECT * FROM cookie")] == ["yes"]


def test_cookies_are_those_of_their_site(user: User) -> None:
    with site() as (port, _):
        web = load_web(user.phone.store, {"one.example", "two.example"})
        fetch_page(f"http://one.example:{port}/sign-in", web, {"email": "me"})
        keep_cookies(user.phone.store, web)
        again = load_web(user.phone.store, {"one.example", "two.example"})
        shown = [
            fetch_page(f"http://{name}.example:{port}/", again).blocks[0].text
            for name in ("one", "two")
        ]
    assert shown == ["known", "unknown"]


def test_only_certificates_are_trusted(user: User, tmp_path: Path) -> None:
    store = user.phone.store
    with pytest.raises(ValueError, match="not a certificate"):
        trust(store, "no certificate")
    assert load_web(store, ()).authority == ""
    certificate = open_authority(Settings(state_dir=tmp_path)).certificate
    trust(store, certificate)
    assert load_web(store, ()).authority == certificate
    Web((), certificate).opener()
