"""Web pages parsed into headings, paragraphs, links and forms; history and bookmarks as rows."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple

from images.phone.device.store.web import Web

if TYPE_CHECKING:
    from collections.abc import Mapping

    from images.phone.device.store.database import Row, Store

_TIMEOUT_S = 8.0
_MAX_BYTES = 2_000_000
_MAX_BLOCKS = 600
_KEPT_PAGES = 50
_SKIPPED = frozenset(("script", "style", "noscript", "template", "svg", "head", "iframe"))
_BREAKS = frozenset(
    ("p", "div", "section", "article", "li", "ul", "ol", "table", "tr", "br", "header", "footer",
     "nav", "main", "form", "blockquote", "dt", "dd", "figure", "h1", "h2", "h3", "h4", "h5", "h6",
     "pre", "td", "th", "hr", "body"),
)  # fmt: skip
_CONTROLS = frozenset(("input", "textarea", "select", "button"))
_KINDS = {"textarea": "lines", "select": "choice", "button": "submit"}
_INPUTS = {"hidden": "hidden", "checkbox": "hidden", "radio": "hidden", "submit": "submit"}
"""By type of an input: its kind; one that is ticked keeps its value."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


class Block(NamedTuple):
    """One part of a page.

    Attributes:
        kind: ``p``, ``h1`` to ``h6``, ``li``, or ``a``; of forms, ``text``, ``lines``,
            ``hidden``, ``choice`` or ``submit``.
        text: one line or more; the label of a part of a form.
        url: target of a link or form; empty for other kinds.
        form: number of the form in the page; -1 outside forms.
        name: name of a part of a form.
        value: its value at first.
        choices: values to choose from, with their labels.
        is_sent: whether the form is sent by POST.
    """

    kind: str
    text: str
    url: str = ""
    form: int = -1
    name: str = ""
    value: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    is_sent: bool = False


class Page(NamedTuple):
    """A parsed page."""

    url: str
    title: str
    blocks: tuple[Block, ...]


class _Reader(HTMLParser):
    """Parser that extracts the text and forms of HTML."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.blocks: list[Block] = []
        self._url = url
        self._skipped = 0
        self._in_title = False
        self._kind, self._href = "p", ""
        self._text: list[str] = []
        self._forms = 0
        self._action, self._is_sent, self._in_form = "", False, False
        self._control: Block | None = None
        self._option: tuple[str | None, bool] | None = None
        self._in_label = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle a start tag."""
        about = {name: value or "" for name, value in attrs}
        if tag == "title":
            self._in_title = True
        elif tag in _SKIPPED:
            self._skipped += tag != "head"
        elif tag == "a":
            self.flush()
            self._href = urllib.parse.urljoin(self._url, about.get("href", ""))
        elif tag in _CONTROLS and self._in_form:
            self._begin_control(tag, about)
        elif tag == "option" and self._control is not None:
            self._end_option()
            self._option = (about.get("value"), "selected" in about)
        elif tag == "label":
            self.flush()
            self._in_label = True
        elif tag in _BREAKS and not self._in_label:
            self.flush()
            self._kind = tag if tag in HEADINGS or tag == "li" else "p"
        elif tag == "img":
            self._text.append(about.get("alt", ""))
        if tag == "form":
            self._forms += 1
            self._in_form = True
            self._action = urllib.parse.urljoin(self._url, about.get("action") or self._url)
            self._is_sent = about.get("method", "").lower() == "post"

    def handle_endtag(self, tag: str) -> None:
        """Handle an end tag."""
        if tag == "title":
            self._in_title = False
        elif tag in _SKIPPED:
            self._skipped = max(0, self._skipped - (tag != "head"))
        elif tag == "a":
            self.flush()
            self._href = ""
        elif tag in _CONTROLS:
            self._end_control()
        elif tag == "label" or (tag in _BREAKS and not self._in_label):
            self.flush()
            self._kind, self._in_label = "p", False
        if tag == "form":
            self._in_form = False

    def handle_data(self, data: str) -> None:
        """Handle text."""
        if self._in_title:
            self.title += data
        elif not self._skipped:
            self._text.append(data)

    def flush(self) -> None:
        """End the current block."""
        text = " ".join("".join(self._text).split())
        self._text = []
        if not text or len(self.blocks) >= _MAX_BLOCKS:
            return
        is_link = self._href.startswith(("http://", "https://"))
        kind = "a" if is_link and self._kind not in HEADINGS else self._kind
        self.blocks.append(Block(kind, text, self._href if is_link else ""))

    def _begin_control(self, tag: str, about: dict[str, str]) -> None:
        """Begin a part of a form."""
        label = about.get("aria-label") or about.get("placeholder", "")
        if self._in_label:
            label = " ".join("".join(self._text).split()) or label
            self._text = []
        self.flush()
        how = about.get("type", "text").lower()
        if tag == "input" and how in {"checkbox", "radio"} and "checked" not in about:
            return
        kind = _KINDS.get(tag) or _INPUTS.get(how, "text")
        if kind == "submit":
            label = about.get("value", "Submit")
        name, value = about.get("name", ""), about.get("value", "")
        self._control = Block(
            kind, label, self._action, self._forms - 1, name, value, is_sent=self._is_sent
        )
        if tag == "input":
            self._end_control()

    def _end_option(self) -> None:
        """Add an option to the choices; it is chosen if it says so, or is the first."""
        option, self._option = self._option, None
        if option is None or self._control is None:
            return
        text = " ".join("".join(self._text).split())
        self._text = []
        value = text if option[0] is None else option[0]
        is_chosen = option[1] or not self._control.choices
        self._control = self._control._replace(
            choices=(*self._control.choices, (value, text)),
            value=value if is_chosen else self._control.value,
        )

    def _end_control(self) -> None:
        self._end_option()
        inner = "".join(self._text)
        control, self._control = self._control, None
        if control is None or len(self.blocks) >= _MAX_BLOCKS:
            return
        self._text = []
        if control.kind == "lines":
            control = control._replace(value=inner.removeprefix("\n"))
        elif control.kind == "submit" and inner.strip():
            control = control._replace(text=" ".join(inner.split()))
        self.blocks.append(control)


def read_html(url: str, text: str) -> Page:
    """Return the readable part of HTML."""
    reader = _Reader(url)
    reader.feed(text)
    reader.close()
    reader.flush()
    title = " ".join(reader.title.split()) or urllib.parse.urlsplit(url).netloc or url
    return Page(url, title, tuple(reader.blocks))


def full_url(text: str) -> str | None:
    """Return the full URL of typed text; None if it is not a URL.

    A single word is a URL only if it says so, such as ``http://mail``.
    """
    text = text.strip()
    if not text or any(char.isspace() for char in text):
        return None
    if text.lower().startswith(("http://", "https://")):
        return text if urllib.parse.urlsplit(text).hostname else None
    text = f"http://{text}"
    host = urllib.parse.urlsplit(text).hostname or ""
    return text if "." in host or host == "localhost" or ":" in text[7:] else None


def fetch_page(url: str, web: Web | None = None, form: Mapping[str, str] | None = None) -> Page:
    """Fetch a page over http or https; on failure, return a page with the reason.

    Args:
        url: address of the page.
        web: names, certificates and cookies; its cookies change.
        form: sent by POST.
    """
    if not url.lower().startswith(("http://", "https://")):
        return _problem(url, "This address cannot be opened")
    data = None if form is None else urllib.parse.urlencode(form).encode()
    request = urllib.request.Request(url, data, headers={"User-Agent": "MesocosmPhone/1.0"})  # noqa: S310 - checked above
    try:
        with (web or Web()).opener().open(request, timeout=_TIMEOUT_S) as answer:
            raw = answer.read(_MAX_BYTES)
            kind = answer.headers.get_content_type()
            charset = answer.headers.get_content_charset() or "utf-8"
            final = answer.geturl()
    except urllib.error.HTTPError as exc:
        with exc:
            is_page = exc.headers.get_content_type() == "text/html"
            text = exc.read(_MAX_BYTES).decode(errors="replace") if is_page else ""
        if text:
            return read_html(exc.geturl() or url, text)
        return _problem(url, f"The server answered: {exc.code} {exc.reason}")
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "reason", exc)
        return _problem(url, f"This site can\u2019t be reached ({reason})")
    try:
        text = raw.decode(charset, errors="replace")
    except LookupError:
        text = raw.decode("utf-8", errors="replace")
    if kind in {"text/html", "application/xhtml+xml"}:
        return read_html(final, text)
    if kind.startswith("text/") or kind == "application/json":
        lines = tuple(Block("p", line) for line in text.splitlines() if line.strip())
        return Page(final, final, lines[:_MAX_BLOCKS])
    return _problem(url, f"Files of the kind {kind} cannot be shown")


def _problem(url: str, message: str) -> Page:
    return Page(url, "Page not available", (Block("h2", "Page not available"), Block("p", message)))


def keep_page(store: Store, page: Page, now_ms: int) -> None:
    """Save a page, and delete the least recently visited ones."""
    store.change("DELETE FROM page WHERE url=?", (page.url,))
    blocks = json.dumps([list(block) for block in page.blocks])
    store.insert(
        "INSERT INTO page (url, title, blocks, visited) VALUES (?, ?, ?, ?)",
        (page.url, page.title, blocks, now_ms),
    )
    store.change(
        "DELETE FROM page WHERE _id NOT IN (SELECT _id FROM page ORDER BY visited DESC, _id DESC"
        " LIMIT ?)",
        (_KEPT_PAGES,),
    )


def load_page(store: Store, url: str) -> Page | None:
    """Return a saved page, or None."""
    rows = store.rows("SELECT * FROM page WHERE url=?", (url,))
    if not rows:
        return None
    blocks = tuple(map(_read_block, json.loads(rows[0]["blocks"])))
    return Page(url, rows[0]["title"], blocks)


def _read_block(row: list[Any]) -> Block:
    """Return a block from JSON, which knows no tuples."""
    block = Block(*row)
    return block._replace(choices=tuple((value, label) for value, label in block.choices))


def list_history(store: Store) -> list[Row]:
    """Return the saved pages, most recently visited first."""
    return store.rows("SELECT _id, url, title FROM page ORDER BY visited DESC, _id DESC")


def list_bookmarks(store: Store) -> list[Row]:
    """Return all bookmarks, by title."""
    return store.rows("SELECT * FROM bookmark ORDER BY title COLLATE NOCASE, _id")


def has_bookmark(store: Store, url: str) -> bool:
    """Return whether a URL is bookmarked."""
    return bool(store.rows("SELECT 1 FROM bookmark WHERE url=?", (url,)))


def flip_bookmark(store: Store, url: str, title: str) -> bool:
    """Toggle a bookmark; return whether it now exists."""
    if store.change("DELETE FROM bookmark WHERE url=?", (url,)):
        return False
    store.insert("INSERT INTO bookmark (url, title) VALUES (?, ?)", (url, title))
    return True
