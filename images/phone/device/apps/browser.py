"""The Browser application, which shows the text and forms of web pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from images.phone.device.apps.screen import Screen
from images.phone.device.store.pages import (
    HEADINGS,
    Block,
    Page,
    fetch_page,
    flip_bookmark,
    full_url,
    has_bookmark,
    keep_page,
    list_bookmarks,
    list_history,
    load_page,
)
from images.phone.device.store.web import keep_cookies, load_web
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.widgets import EDGE_PX, ICON_PX

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.store.database import Row
    from images.phone.device.store.web import Web
    from images.phone.device.ui.view import View

_URL = "url_bar"
_LINES = 6
_SIZES_PX = {"h1": dp(28), "h2": dp(24), "h3": dp(20)}


class BrowserScreen(Screen):
    """An address bar and a page; bookmarks and history if no page is open."""

    activity = "com.google.android.apps.chrome.Main"

    @property
    def url(self) -> str:
        """The URL of the open page; empty if none is open."""
        if "visited" in self.state:
            visited = self.state["visited"]
            return str(visited[-1]) if visited else ""
        return str(self.entry.arguments.get("url", ""))

    def content(self) -> View:
        """Show the address bar, and the page below it."""
        return self.widgets.column(self._bar(), self.widgets.line(), self._page())

    def back(self) -> bool:
        """Go back to the previous page."""
        if self.state.get("focus"):
            self.focus("")
            self.put_field(_URL, self.url)
            return True
        if self.state.pop("choosing", None):
            return True
        visited = list(self.state.get("visited", []))
        if not visited:
            return False
        self.state["visited"] = visited[:-1]
        self._leave()
        self.put_field(_URL, self.url)
        return True

    def dialog(self) -> View | None:
        """Show what can be chosen in a form."""
        shown = self._parts().get(str(self.state.get("choosing", "")))
        if shown is None:
            return None
        name = _part_name(shown)
        entries = [(label, self.act(self._choose, name, value)) for value, label in shown.choices]
        return self.widgets.menu(shown.text, entries, self.set(choosing=""))

    def submit(self, name: str) -> None:
        """Open the typed URL, or send the form of a field."""
        if part := self._parts().get(name):
            self._send(part)
            return
        url = full_url(self.field_text(name))
        if url is None:
            self.toast("Type the address of a page")
        else:
            self._go(url)

    def is_multiline(self, name: str) -> bool:
        """Return whether a field of a form has several lines."""
        part = self._parts().get(name)
        return part is not None and part.kind == "lines"

    def _bar(self) -> View:
        if _URL not in self.state.get("fields", {}) and self.url:
            self.put_field(_URL, self.url)
        field = self.field(_URL, hint="Type web address")
        field.look.fill, field.look.outline = self.host.theme.surface, None
        field.look.radius_px, field.weight = dp(24), 1
        parts = [
            self.widgets.icon_button("home", "Home", self.act(self._home), name="home_button"),
            field,
        ]
        if self.url:
            marked = has_bookmark(self.store, self.url)
            parts += [
                self.widgets.icon_button(
                    "star" if marked else "star_empty",
                    "Remove bookmark" if marked else "Bookmark",
                    self.act(self._mark),
                    name="bookmark_button",
                ),
                self.widgets.icon_button(
                    "refresh", "Refresh", self.act(self._load), name="refresh_button"
                ),
            ]
        row = self.widgets.row(*parts)
        row.padding_px = (dp(4), dp(6), dp(8), dp(6))
        return row

    def _page(self) -> View:
        page = load_page(self.store, self.url) if self.url else None
        if not self.url:
            rows = self._start_page()
        elif self.state.get("loading") or (page is None and "visited" in self.state):
            rows = [self.widgets.empty("public", "Loading\u2026")]
        elif page is None:
            go = self.widgets.button("Open page", self.act(self._go, self.url), filled=True)
            rows = [self.widgets.empty("public", self.url), self.widgets.buttons(go)]
        else:
            title = self.widgets.text(page.title, "page_title", size_px=dp(22), bold=True, lines=3)
            title.padding_px = (EDGE_PX, dp(12), EDGE_PX, dp(8))
            shown = (block for block in page.blocks if block.kind != "hidden")
            rows = [title, *map(self._block, shown)]
        listed = self.widgets.list_of("page", rows, self.offset("page"), bottom_px=dp(24))
        listed.kind = "android.webkit.WebView"
        return listed

    def _block(self, block: Block) -> View:
        if block.form >= 0:
            return self._part(block)
        theme = self.host.theme
        is_head = block.kind in HEADINGS
        caption = f"\u2022 {block.text}" if block.kind == "li" else block.text
        view = self.widgets.text(
            caption,
            lines=100,
            bold=is_head,
            size_px=_SIZES_PX.get(block.kind, dp(16)),
            ink=theme.primary if block.url else theme.ink,
        )
        view.kind = "android.view.View" if block.url else "TextView"
        if block.url:
            view.on_tap = self.act(self._go, block.url)
            view.label = block.text
        view.padding_px = (EDGE_PX, dp(8 if is_head else 5), EDGE_PX, dp(5))
        return view

    def _part(self, block: Block) -> View:
        """Return a part of a form."""
        name = _part_name(block)
        if block.kind == "submit":
            send = self.act(self._send, block)
            return self.widgets.padded(
                self.widgets.buttons(self.widgets.button(block.text, send, filled=True))
            )
        if block.kind == "choice":
            chosen = self._value(block)
            shown = next((label for value, label in block.choices if value == chosen), chosen)
            return self.widgets.item(
                block.text or block.name, summary=shown, on_tap=self.set(choosing=name)
            )
        if name not in self.state.get("fields", {}):
            self.put_field(name, block.value)
        lines = _LINES if block.kind == "lines" else 1
        field = self.field(name, hint=block.text or block.name, label=block.text, lines=lines)
        if block.text and not self.field_text(name):
            return self.widgets.padded(field)
        caption = self.widgets.text(block.text, size_px=dp(12), ink=self.host.theme.ink_soft)
        return self.widgets.padded(*([caption] if block.text else []), field)

    def _parts(self) -> dict[str, Block]:
        """Return the parts of the page's forms by name of their field."""
        page = load_page(self.store, self.url) if self.url else None
        blocks = page.blocks if page else ()
        return {_part_name(block): block for block in blocks if block.form >= 0}

    def _value(self, block: Block) -> str:
        """Return the present value of a part of a form."""
        if block.kind == "choice":
            return str(self.state.get("choices", {}).get(_part_name(block), block.value))
        fields = self.state.get("fields", {})
        return self.field_text(_part_name(block)) if _part_name(block) in fields else block.value

    def _choose(self, name: str, value: str) -> None:
        self.state.setdefault("choices", {})[name] = value
        self.state["choosing"] = ""

    def _send(self, by: Block) -> None:
        """Send a form, by one of its buttons or by ENTER in one of its fields."""
        parts = [part for part in self._parts().values() if part.form == by.form]
        values = {
            part.name: self._value(part)
            for part in parts
            if part.name and (part.kind != "submit" or part == by)
        }
        if by.is_sent:
            self._go(by.url, values)
        else:
            self._go(f"{urlsplit(by.url)._replace(query='').geturl()}?{urlencode(values)}")

    def _leave(self) -> None:
        """Forget where the page was scrolled, and what was typed into its forms."""
        for key in ("scroll", "choices", "choosing"):
            self.state.pop(key, None)
        for name in [name for name in self.state.get("fields", {}) if name != _URL]:
            self.drop_field(name)

    def _start_page(self) -> list[View]:
        marks, visits = list_bookmarks(self.store), list_history(self.store)
        rows: list[View] = []
        for caption, icon, pages in (
            ("Bookmarks", "star", marks),
            ("History", "history", visits),
        ):
            if pages:
                rows.append(self.widgets.section(caption))
                rows += [self._link(row, icon) for row in pages]
        return rows or [self.widgets.empty("public", "Type the address of a page above")]

    def _link(self, row: Row, icon: str) -> View:
        view = self.widgets.item(
            row["title"],
            summary=row["url"],
            names=("title", "description"),
            on_tap=self.act(self._go, row["url"]),
        )
        view.children.insert(0, self.widgets.icon(icon).sized(ICON_PX))
        return view

    def _home(self) -> None:
        self.state.update(visited=[], loading=False)
        self.drop_field(_URL)
        self.entry.arguments.pop("url", None)

    def _mark(self) -> None:
        page = load_page(self.store, self.url)
        title = page.title if page else self.url
        added = flip_bookmark(self.store, self.url, title)
        self.toast("Bookmark added" if added else "Bookmark removed")

    def _go(self, url: str, form: dict[str, str] | None = None) -> None:
        visited = [page for page in self.state.get("visited", []) if isinstance(page, str)]
        if visited[-1:] != [url]:
            visited.append(url)
        self.state["visited"] = visited
        self._load(form)

    def _load(self, form: dict[str, str] | None = None) -> None:
        """Load the open page.

        Args:
            form: sent by POST.
        """
        self.focus("")
        url = self.url
        self.put_field(_URL, url)
        self.state["loading"] = True
        state, web = self.state, load_web(self.store, self.host.names)

        def work() -> Callable[[], None]:
            page = fetch_page(url, web, form)
            return partial(self._arrived, state, url, page, web)

        self.host.in_background(work)

    def _arrived(self, state: dict[str, object], url: str, page: Page, web: Web) -> None:
        """Show a loaded page, unless the user has moved on meanwhile."""
        keep_page(self.store, page, int(self.host.now_s() * 1000))
        keep_cookies(self.store, web)
        visited = state.get("visited")
        if isinstance(visited, list) and visited[-1:] == [url]:
            visited[-1] = page.url
            state["loading"] = False
            self._leave()
            self.put_field(_URL, page.url)


def _part_name(block: Block) -> str:
    """Return the name of the field of a part of a form."""
    return f"form{block.form}_{block.name or block.kind}" + (
        f"_{block.value}" if block.kind == "submit" else ""
    )
