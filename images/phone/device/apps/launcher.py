"""The launcher: home screen, drawer of all applications, recent applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS, LAUNCHER
from images.phone.device.apps.screen import Screen
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Align, Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX, RECYCLER, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.apps.directory import App

_WHITE = (255, 255, 255)
_DOCKED, _SHOWN = 4, 12
_SWIPE_PX = dp(60)
_DISC_PX = dp(60)
HOME, DRAWER, RECENTS = "home", "drawer", "recents"


class LauncherScreen(Screen):
    """Home."""

    activity = "com.google.android.apps.nexuslauncher.NexusLauncherActivity"
    has_wallpaper = True

    @property
    def mode(self) -> str:
        """The selected view out of three."""
        return str(self.state.get("mode", HOME))

    def content(self) -> View:
        """Show the selected view."""
        if self.mode == DRAWER:
            return self._drawer()
        if self.mode == RECENTS:
            return self._recents()
        return self._home()

    def back(self) -> bool:
        """Return to the home screen; the launcher itself is never closed."""
        self.show(HOME)
        return True

    def submit(self, name: str) -> None:
        """Start the first application in the search results."""
        apps = self._found()
        if name == "input" and apps:
            self._start(apps[0])

    def swipe(self, dx: int, dy: int) -> None:
        """Open the drawer on a swipe up, close it on a swipe down."""
        del dx
        if self.mode == HOME and dy < -_SWIPE_PX:
            self.show(DRAWER)
        elif self.mode != HOME and dy > _SWIPE_PX:
            self.show(HOME)

    def show(self, mode: str) -> None:
        """Switch to one of the views in its initial state."""
        self.state.clear()
        self.state["mode"] = mode

    def _start(self, app: App) -> None:
        self.show(HOME)
        self.host.launch(app.package)

    @property
    def _columns(self) -> int:
        return 8 if self.host.display.is_wide else 4

    @property
    def _cell_px(self) -> int:
        return (self.host.display.width_px - 2 * EDGE_PX) // self._columns

    def _home(self) -> View:
        now = self.host.now()
        date = self.widgets.text(
            f"{now:%A}, {now.day} {now:%B}", "date", size_px=dp(24), ink=_WHITE
        )
        date.padding_px = (dp(8), dp(24), dp(8), 0)
        hint = self.widgets.text("Swipe up for all apps", size_px=SMALL_PX, ink=_WHITE)
        hint.look.is_centered = True
        hint.is_silent = True
        listed = [app for app in APPS.values() if app.is_listed]
        hotseat = View(
            "android.view.ViewGroup",
            "hotseat",
            children=self._grid(listed[:_DOCKED], ink=_WHITE),
            padding_px=(EDGE_PX, dp(8), EDGE_PX, dp(8)),
        )
        rest = View(weight=1, is_silent=True)
        workspace = View(
            "android.view.ViewGroup",
            "workspace",
            children=[date, rest, *self._grid(listed[_DOCKED:_SHOWN], ink=_WHITE)],
            weight=1,
            padding_px=(EDGE_PX, 0, EDGE_PX, dp(8)),
        )
        return View("FrameLayout", "launcher", children=[workspace, hint, hotseat])

    def _grid(self, apps: list[App], *, ink: tuple[int, int, int] | None = None) -> list[View]:
        return [
            View(
                "LinearLayout",
                children=[self._icon(app, ink=ink) for app in apps[start : start + self._columns]],
                flow=Flow.ACROSS,
            )
            for start in range(0, len(apps), self._columns)
        ]

    def _icon(self, app: App, *, ink: tuple[int, int, int] | None = None) -> View:
        """Show an application as a coloured circle with its name."""
        width_px = self._cell_px
        disc = View(
            width_px=_DISC_PX,
            height_px=_DISC_PX,
            look=Look(
                fill=app.color, radius_px=_DISC_PX // 2, ink=_WHITE, size_px=dp(30), icon=app.icon
            ),
            is_silent=True,
        )
        name = self.widgets.text(app.label, size_px=SMALL_PX, ink=ink, centered=True)
        name.is_silent = True
        name.width_px = width_px
        return View(
            "TextView",
            "icon",
            text=app.label,
            label=app.label,
            children=[disc, name],
            align=Align.CENTER,
            gap_px=dp(8),
            width_px=width_px,
            padding_px=(0, dp(8), 0, dp(8)),
            on_tap=self.act(self._start, app),
        )

    def _found(self) -> list[App]:
        wanted = self.field_text("input").strip().casefold()
        listed = sorted((app for app in APPS.values() if app.is_listed), key=lambda app: app.label)
        return [app for app in listed if wanted in app.label.casefold()]

    def _drawer(self) -> View:
        search = self.field("input", hint="Search apps")
        search.look.fill = self.host.theme.surface
        search.look.radius_px = dp(28)
        apps = self._found()
        rows = self._grid(apps)
        if not rows:
            rows = [self.widgets.text("No apps found", "empty_text", centered=True)]
        grid = View(
            RECYCLER,
            "apps_list_view",
            children=rows,
            weight=1,
            scroll="apps_list_view",
            offset_px=self.offset("apps_list_view"),
            padding_px=(0, dp(16), 0, 0),
        )
        return View(
            "RelativeLayout",
            "apps_view",
            children=[search, grid],
            padding_px=(EDGE_PX, dp(16), EDGE_PX, 0),
            look=Look(fill=self.host.theme.background),
        )

    def _recents(self) -> View:
        tasks = [task for task in reversed(self.host.stack.tasks) if task.package != LAUNCHER]
        cards = [self._card(APPS[task.package]) for task in tasks]
        if not cards:
            cards = [self.widgets.text("No recent items", "empty_text", centered=True, ink=_WHITE)]
        return View(
            "FrameLayout",
            "overview_panel",
            children=[
                View(
                    "android.view.ViewGroup",
                    "recents",
                    children=cards,
                    weight=1,
                    gap_px=dp(16),
                    scroll="recents",
                    offset_px=self.offset("recents"),
                ),
            ],
            padding_px=(EDGE_PX, dp(120), EDGE_PX, dp(40)),
        )

    def _card(self, app: App) -> View:
        disc = self._icon(app).children[0]
        row = self.widgets.item(
            app.label,
            summary="Tap to return",
            names=("title", "summary"),
            on_tap=self.act(self._start, app),
            trailing=self.widgets.icon_button(
                "close", f"Dismiss {app.label}", self.act(self.host.stack.remove, app.package)
            ),
        )
        row.children.insert(0, disc)
        row.label = app.label
        row.look = Look(fill=self.host.theme.surface, radius_px=dp(24))
        return row.at_least(dp(120))
