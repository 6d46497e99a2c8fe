"""The Browser application, which shows the text of web pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.widgets import EDGE_PX, ICON_PX

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.store.database import Row
    from images.phone.device.ui.view import View

_URL = "url_bar"
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
        visited = list(self.state.get("visited", []))
        if not visited:
            return False
        self.state["visited"] = visited[:-1]
        self.state.pop("scroll", None)
        self.put_field(_URL, self.url)
        return True

    def submit(self, name: str) -> None:
        """Open the typed URL."""
        url = full_url(self.field_text(name))
        if url is None:
            self.toast("Type the address of a page")
        else:
            self._go(url)

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
            rows = [title, *(self._block(block) for block in page.blocks)]
        listed = self.widgets.list_of("page", rows, self.offset("page"), bottom_px=dp(24))
        listed.kind = "android.webkit.WebView"
        return listed

    def _block(self, block: Block) -> View:
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

    def _go(self, url: str) -> None:
        visited = [page for page in self.state.get("visited", []) if isinstance(page, str)]
        if visited[-1:] != [url]:
            visited.append(url)
        self.state["visited"] = visited
        self.state.pop("scroll", None)
        self._load()

    def _load(self) -> None:
        self.focus("")
        url = self.url
        self.put_field(_URL, url)
        self.state["loading"] = True
        state, names = self.state, self.host.names

        def work() -> Callable[[], None]:
            page = fetch_page(url, names)
            return lambda: self._arrived(state, url, page)

        self.host.in_background(work)

    def _arrived(self, state: dict[str, object], url: str, page: Page) -> None:
        """Show a loaded page, unless the user has moved on meanwhile."""
        keep_page(self.store, page, int(self.host.now_s() * 1000))
        visited = state.get("visited")
        if isinstance(visited, list) and visited[-1:] == [url]:
            visited[-1] = page.url
            state["loading"] = False
            self.put_field(_URL, page.url)
