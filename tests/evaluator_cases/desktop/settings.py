"""Cases of the evaluators of settings and programs."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from evaluators.desktop import programs, settings
from evaluators.testing.case import (
    Case,
    CaseTable,
    State,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.desktop import DesktopFixture
from foundation.clock import wait_until
from provisioning.probe.system.proc import Process
from tests.evaluator_cases.desktop_ways import settings as settings_ways
from tests.evaluator_cases.desktop_ways.login import login_cases
from tests.evaluator_cases.processes import WITHOUT_FIRST_THREAD, ProgramsFixture

BACKGROUND = "org.gnome.desktop.background"
DRAWS = (
    ("org.gnome.gnome-flashback", "desktop"),
    ("org.gnome.gnome-flashback.desktop", "draw-background"),
)
INTERFACE = "org.gnome.desktop.interface"
PYTHON = str(Path(sys.executable).resolve())
WHOSE_NAME = (
    *("/usr/bin/gdbus", "call", "--session", "--dest=org.freedesktop.DBus"),
    "--object-path=/org/freedesktop/DBus",
    "--method=org.freedesktop.DBus.GetConnectionUnixProcessID",
)


def _gsetting(schema: str, key: str, value: str, code: int = 0) -> State:
    return lambda b: b.prints(["/usr/bin/gsettings", "get", schema, key], f"{value}\n", code)


def _dconf(out: str, code: int = 0) -> State:
    return lambda b: b.prints(["/usr/bin/dconf", "read", "/a/b"], out, code, "error: not a path")


def _gio(out: str, code: int = 0) -> State:
    return lambda b: b.prints(["/usr/bin/gio", "mime", "text/plain"], out, code)


def _wallpaper(
    uri: str,
    *,
    dark: str = "",
    style: str = "default",
    options: str = "zoom",
    file: str = "~/p q.png",
    drawn: tuple[str, str] = ("true", "true"),
) -> State:
    def make(b: DesktopFixture) -> None:
        _gsetting(INTERFACE, "color-scheme", f"'{style}'")(b)
        _gsetting(BACKGROUND, "picture-uri", f"'{uri}'")(b)
        _gsetting(BACKGROUND, "picture-uri-dark", f"'{dark}'")(b)
        _gsetting(BACKGROUND, "picture-options", f"'{options}'")(b)
        for (schema, key), value in zip(DRAWS, drawn, strict=True):
            b.prints(["/usr/bin/gsettings", "get", schema, key], f"{value}\n")
        if file:
            b.write(file, PICTURE)

    return make


def _on_another_desktop(b: DesktopFixture) -> None:
    """Show the picture on a desktop without GNOME Flashback's settings."""
    _wallpaper(URI)(b)
    for schema, key in DRAWS:
        b.prints(["/usr/bin/gsettings", "get", schema, key], "", 1, f"No such schema {schema}\n")


def _owned(mode: int, *, is_group: bool) -> State:
    """Give the picture to a different user, if these tests run as root, and optionally to the user's group."""

    def make(b: DesktopFixture) -> None:
        _wallpaper(URI)(b)
        picture = b.at("~/p q.png")
        picture.chmod(mode)
        if os.geteuid() == 0:
            os.chown(picture, 12345, b.home.stat().st_gid if is_group else 12345)

    return make


def _with_mode(mode: int) -> State:
    """Create an entry whose file has these permissions."""

    def state(b: DesktopFixture) -> None:
        _entry(ENTRY)(b)
        b.at("~/.config/autostart/calc.desktop").chmod(mode)

    return state


def _entry(content: str, name: str = "calc.desktop") -> State:
    return lambda b: b.write(f"~/.config/autostart/{name}", content)


def _calculator(b: DesktopFixture) -> None:
    """Install the calculator with the desktop file of its package."""
    b.write("/usr/bin/calc", "calc", 0o755)
    b.write("/usr/share/applications/calc.desktop", ENTRY.replace("/usr/bin/calc", "calc"))


def _installed(content: str, *, desktop: str = "", name: str = "calc.desktop") -> State:
    """Install the calculator and an autostart entry."""

    def make(b: DesktopFixture) -> None:
        _calculator(b)
        _entry(content, name)(b)
        if desktop:
            b.prints(["/usr/bin/printenv", "XDG_CURRENT_DESKTOP"], f"{desktop}\n")

    return make


def _launched(
    command: str,
    *,
    has_launcher: bool = True,
    system: str | None = "",
    own: str | None = None,
) -> State:
    """Create an autostart entry that launches the calculator by its id.

    Args:
        command: command of the autostart entry.
        has_launcher: whether the launcher is installed.
        system: content of the system's entry; by default `ENTRY`; None omits it.
        own: content of the user's entry; None omits it.
    """

    def make(b: DesktopFixture) -> None:
        b.write("/usr/bin/calc", "calc", 0o755)
        b.write("/usr/bin/other", "other", 0o755)
        for name in ("gtk-launch", "gio") if has_launcher else ():
            b.write(f"/usr/bin/{name}", name, 0o755)
        if system is not None:
            b.write("/usr/share/applications/calc.desktop", system or ENTRY)
        if own is not None:
            b.write("~/.local/share/applications/calc.desktop", own)
        _entry(ENTRY.replace("/usr/bin/calc --mini %u", command), "own.desktop")(b)

    return make


def _linked(target: str) -> State:
    """Create a link to the calculator's entry in the autostart folder."""

    def make(b: DesktopFixture) -> None:
        _calculator(b)
        b.link("~/.config/autostart/calc.desktop", target)

    return make


def _default(own: str, *, app: str = "calc.desktop", place: str = "", system: bool = True) -> State:
    """Make an application the default, with a user-created desktop file."""

    def make(b: DesktopFixture) -> None:
        _gio(f"Default application for “text/plain”: {app}\n")(b)
        b.write("/usr/bin/calc", "calc", 0o755)
        b.write("/bin/true", "true", 0o755)
        if system:
            b.write(f"/usr/share/applications/{app}", ENTRY.replace("/usr/bin/calc", "calc"))
        if own:
            b.write(f"~/.local/share/applications/{place or app}", own)

    return make


def _owned_name(program: str, *, owner: int = 0, service: str = "") -> State:
    """Make a process own the bus name of a running application.

    Args:
        program: program that the application's entry starts, a link to a file of this host.
        owner: process that owns the name; 0 for this one, -1 for none.
        service: program that the system's D-Bus service of that name starts; empty for no service.
    """

    def make(b: DesktopFixture) -> None:
        _default("", app="org.test.Calc.desktop")(b)
        b.at("/usr/bin/calc").unlink()
        b.at("/usr/bin/calc").symlink_to(program)
        b.processes = [Process(os.getpid(), 1, os.getuid(), "x", ("x",))]
        reply = f"(uint32 {owner or os.getpid()},)\n" if owner >= 0 else ""
        b.prints([*WHOSE_NAME, "org.test.Calc"], reply, 0 if reply else 1)
        if service:
            b.at("/usr/libexec").mkdir(parents=True)
            b.at("/usr/libexec/calc-service").symlink_to(service)
            b.write(
                "/usr/share/dbus-1/services/org.test.Calc.service",
                "[D-BUS Service]\nName=org.test.Calc\nExec=/usr/libexec/calc-service --x\n",
            )

    return make


def _owned_by_script(*, is_other: bool = False) -> State:
    """Make the application a Python script whose bus name belongs to a process that runs it, or a different one."""

    def make(b: ProgramsFixture) -> None:
        _owned_name(PYTHON)(b)
        b.at("/usr/bin/calc").unlink()
        script = b.write("/usr/bin/calc", "import time; time.sleep(60)\n", 0o755)
        other = b.write("~/other.py", "import time; time.sleep(60)\n")
        b.processes = []
        for path in (script, other):
            b.run([_PYTHON3, str(path)], cwd=b.home)
        pids = [process.pid for process in b.processes or ()]
        assert wait_until(lambda: all(_runs(pid, _PYTHON3) for pid in pids), timeout_s=20)
        b.prints([*WHOSE_NAME, "org.test.Calc"], f"(uint32 {pids[is_other]},)\n")

    return make


def _runs(pid: int, path: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/exe").samefile(path)
    return False


def _named(folder: str) -> Case:
    """Return a case in which an entry names a program without its folder."""
    return another_way(
        f"by name, from {folder}",
        lambda b: (
            b.write(f"{folder}/calc", "calc", 0o755),
            _entry(ENTRY.replace("/usr/bin/calc", "calc"))(b),
        ),
        program=f"{folder}/calc",
    )


def _multi_call(name: str) -> Case:
    """Return a case with a different program of a multi-call binary."""
    return forged(
        f"different program of {name}",
        lambda b: (
            b.write(f"/usr/bin/{name}", name, 0o755),
            b.link("/usr/bin/calc", f"/usr/bin/{name}"),
            b.link("/usr/bin/other", f"/usr/bin/{name}"),
            _entry(ENTRY.replace("/usr/bin/calc", "other"))(b),
        ),
        program="/usr/bin/calc",
    )


def _replaced(folder: str) -> Case:
    """Return a case in which the user's entry replaces that of a folder."""
    return forged(
        f"different program instead of that in {folder}",
        lambda b: (
            _default(ENTRY.replace("/usr/bin/calc", "/bin/true"), system=False)(b),
            b.write(f"{folder}/calc.desktop", ENTRY),
        ),
        mime="text/plain",
        app="calc.desktop",
    )


_PYTHON3 = "/usr/bin/python3"


def _beyond_first_thread(fixture: ProgramsFixture) -> None:
    fixture.run_beyond_first_thread([_PYTHON3, "-c", WITHOUT_FIRST_THREAD])


def _run(pid: int = 0, uid_off: int = 0) -> State:
    """Register this process, or the one with the given id, as the agent's."""

    def make(b: DesktopFixture) -> None:
        own = pid or os.getpid()
        b.processes = [Process(own, 1, os.getuid() + uid_off, "x", ("x",))]

    return make


def _after_others(b: DesktopFixture) -> None:
    """Register this process after one that has ended and one of a different user."""
    rows: list[Process] = []
    for make in (_run(pid=1 << 22), _run(uid_off=1), _run()):
        make(b)
        rows += b.processes or ()
    b.processes = rows


PICTURE = b"\x89PNG\r\n\x1a\n, and more of a picture"
URI = "file:///home/user/p%20q.png"
PROGRAM_FOLDERS = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/sbin",
    "/bin",
    "/usr/games",
    "/snap/bin",
)
APPLICATION_FOLDERS = (
    "/usr/local/share/applications",
    "/var/lib/snapd/desktop/applications",
    "/var/lib/flatpak/exports/share/applications",
)
GEDIT = "{root}/usr/bin/gedit"
PORTAL = "file:///home/user/.config/background"
COPIES = "file:///home/user/.local/share/backgrounds"
ENTRY = "[Desktop Entry]\nType=Application\nName=C\nExec=/usr/bin/calc --mini %u\n"

SETTINGS = (
    CaseTable(
        settings.gsetting_equals,
        DesktopFixture,
        (
            positive(
                "text",
                _gsetting(INTERFACE, "color-scheme", "'prefer-dark'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ),
            positive(
                "Boolean",
                _gsetting(INTERFACE, "clock-show-seconds", "true"),
                schema=INTERFACE,
                key="clock-show-seconds",
                value="true",
            ),
            negative(
                "different value",
                _gsetting(INTERFACE, "color-scheme", "'default'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ),
            near_miss(
                "value only as a prefix",
                _gsetting(INTERFACE, "color-scheme", "'prefer-darker'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ),
            near_miss(
                "in a different schema",
                _gsetting(BACKGROUND, "color-scheme", "'prefer-dark'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ).expect_error(),
            corrupt(
                "gsettings fails",
                _gsetting(INTERFACE, "color-scheme", "'prefer-dark'", 1),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ).expect_error(),
            missing(
                "missing key", nothing, schema=INTERFACE, key="colour", value="x"
            ).expect_error(),
            empty(
                "empty text",
                _gsetting(INTERFACE, "gtk-theme", "''"),
                schema=INTERFACE,
                key="gtk-theme",
                value="dark",
            ),
            hostile(
                "value in additional quotes",
                _gsetting(INTERFACE, "gtk-theme", "\"'dark'\""),
                schema=INTERFACE,
                key="gtk-theme",
                value="dark",
            ),
            *settings_ways.gsetting_equals(),
        ),
    ),
    CaseTable(
        settings.dconf_equals,
        DesktopFixture,
        (
            positive("text", _dconf("'dark'\n"), key="/a/b", value="'dark'"),
            negative("different value", _dconf("'light'\n"), key="/a/b", value="'dark'"),
            near_miss(
                "expected value without quotes", _dconf("'dark'\n"), key="/a/b", value="dark"
            ),
            corrupt(
                "dconf fails", _dconf("'dark'\n", 1), key="/a/b", value="'dark'"
            ).expect_error(),
            missing("dconf missing", nothing, key="/a/b", value="'dark'").expect_error(),
            empty("not set", _dconf("\n"), key="/a/b", value="'dark'"),
            empty("not set, and empty expected value", _dconf(""), key="/a/b", value=""),
            hostile(
                "not UTF-8",
                lambda b: b.prints(["/usr/bin/dconf", "read", "/a/b"], b"'dark\xff'"),
                key="/a/b",
                value="'dark'",
            ),
            *settings_ways.dconf_equals(),
        ),
    ),
    CaseTable(
        settings.wallpaper_is,
        DesktopFixture,
        (
            positive("light style", _wallpaper(URI, dark="file:///x.png"), path="~/p q.png"),
            positive(
                "dark style",
                _wallpaper("file:///x.png", dark=URI, style="prefer-dark"),
                path="~/p q.png",
            ),
            negative("different picture", _wallpaper("file:///usr/share/x.png"), path="~/p q.png"),
            near_miss(
                "for the inactive style", _wallpaper("file:///x.png", dark=URI), path="~/p q.png"
            ),
            near_miss("no picture displayed", _wallpaper(URI, options="none"), path="~/p q.png"),
            near_miss(
                "same name in a different folder",
                _wallpaper("file:///srv/p%20q.png"),
                path="~/p q.png",
            ),
            near_miss(
                "on a web server", _wallpaper("http:///home/user/p%20q.png"), path="~/p q.png"
            ),
            corrupt(
                "gsettings fails",
                lambda b: (_wallpaper(URI)(b), _gsetting(BACKGROUND, "picture-uri", "", 1)(b)),
                path="~/p q.png",
            ).expect_error(),
            missing("file deleted", _wallpaper(URI, file=""), path="~/p q.png"),
            missing("gsettings missing", nothing, path="~/p q.png").expect_error(),
            empty("empty address", _wallpaper(""), path="~/p q.png"),
            hostile(
                "link in place of the file",
                lambda b: (
                    _wallpaper(URI, file="")(b),
                    b.write("/srv/p", "x"),
                    b.link("~/p q.png", "/srv/p"),
                ),
                path="~/p q.png",
            ),
            forged(
                "picture not readable by the user",
                lambda b: (_wallpaper(URI)(b), b.at("~/p q.png").chmod(0)),
                path="~/p q.png",
            ),
            forged("background off", _wallpaper(URI, drawn=("true", "false")), path="~/p q.png"),
            forged("desktop off", _wallpaper(URI, drawn=("false", "true")), path="~/p q.png"),
            forged(
                "background off, with the portal's copy",
                lambda b: (
                    _wallpaper(PORTAL, drawn=("true", "false"))(b),
                    b.write("~/.config/background", PICTURE),
                ),
                path="~/p q.png",
            ),
            another_way("on another desktop", _on_another_desktop, path="~/p q.png"),
            forged(
                "picture readable only by a different group",
                _owned(0o040, is_group=False),
                path="~/p q.png",
            ),
            another_way(
                "picture of a different user, readable by the user's group",
                _owned(0o440, is_group=True),
                path="~/p q.png",
            ),
            another_way(
                "picture of a different user, readable by all others",
                _owned(0o404, is_group=False),
                path="~/p q.png",
            ),
            forged(
                "in a folder not accessible to the user",
                lambda b: (
                    _wallpaper("file:///srv/p.png")(b),
                    b.write("/srv/p.png", PICTURE),
                    b.at("/srv").chmod(0o600),
                ),
                path="/srv/p.png",
            ),
            forged(
                "not a picture",
                lambda b: (_wallpaper(URI)(b), b.write("~/p q.png", "picture")),
                path="~/p q.png",
            ),
            *(
                another_way(
                    f"picture that starts with {head!r}",
                    lambda b, head=head: (_wallpaper(URI)(b), b.write("~/p q.png", head)),  # type: ignore[misc]
                    path="~/p q.png",
                )
                for head in (
                    b"\xff\xd8\xff\xe0",
                    b"RIFF\1\0\0\0WEBP",
                    b"<?xml version='1.0'?><svg/>",
                )
            ),
            forged(
                "portal's copy of a different picture",
                lambda b: (_wallpaper(PORTAL)(b), b.write("~/.config/background", PICTURE[:-1])),
                path="~/p q.png",
            ),
            forged(
                "portal's copy present, different picture displayed",
                lambda b: (
                    _wallpaper("file:///x.png")(b),
                    b.write("~/.config/background", PICTURE),
                ),
                path="~/p q.png",
            ),
            forged(
                "copy in a folder that no program uses",
                lambda b: (
                    _wallpaper("file:///home/user/x.png")(b),
                    b.write("~/x.png", PICTURE),
                ),
                path="~/p q.png",
            ),
            another_way(
                "set through the portal",
                lambda b: (_wallpaper(PORTAL)(b), b.write("~/.config/background", PICTURE)),
                path="~/p q.png",
            ),
            another_way(
                "added in the Settings application",
                lambda b: (
                    _wallpaper(f"{COPIES}/2026-p%20q.png")(b),
                    b.write("~/.local/share/backgrounds/2026-p q.png", PICTURE),
                ),
                path="~/p q.png",
            ),
        ),
        equivalent={
            "*: * cut": "the content of the file is ignored, except for its beginning",
            "*: * flip a byte": "the content of the file is ignored, except for its beginning",
            "*: gsettings: prints *": "one of the six settings; its value is ignored or read as light",
        },
    ),
    CaseTable(
        settings.default_app_is,
        ProgramsFixture,
        (
            positive(
                "matching default",
                _gio(
                    "Default application for “text/plain”: org.gnome.gedit.desktop\nRegistered applications:\n\tvim.desktop\n"
                ),
                mime="text/plain",
                app="org.gnome.gedit.desktop",
            ),
            negative(
                "different default",
                _gio("Default application for “text/plain”: vim.desktop\n"),
                mime="text/plain",
                app="org.gnome.gedit.desktop",
            ),
            near_miss(
                "registered, but not the default",
                _gio(
                    "Default application for “text/plain”: vim.desktop\nRegistered applications:\n\torg.gnome.gedit.desktop\n"
                ),
                mime="text/plain",
                app="org.gnome.gedit.desktop",
            ),
            corrupt(
                "gio fails",
                _gio("Default application for “text/plain”: vim.desktop\n", 1),
                mime="text/plain",
                app="vim.desktop",
            ).expect_error(),
            missing("gio missing", nothing, mime="text/plain", app="vim.desktop").expect_error(),
            empty(
                "no default",
                _gio("No default applications for “text/plain”\n"),
                mime="text/plain",
                app="vim.desktop",
            ),
            hostile(
                "list entry that looks like the output for the default",
                _gio(
                    "No default applications\nDefault application for “text/plain”: vim.desktop\n"
                ),
                mime="text/plain",
                app="vim.desktop",
            ),
            forged(
                "entry replaced by one that does nothing",
                _default(ENTRY.replace("/usr/bin/calc", "/bin/true")),
                mime="text/plain",
                app="calc.desktop",
            ),
            forged(
                "entry in a subfolder replaced",
                _default(
                    ENTRY.replace("/usr/bin/calc", "/bin/true"),
                    app="my-calc.desktop",
                    place="my/calc.desktop",
                ),
                mime="text/plain",
                app="my-calc.desktop",
            ),
            forged(
                "replaced by a different program of the same name",
                lambda b: (
                    _default(ENTRY.replace("/usr/bin/calc", "/home/user/calc"))(b),
                    b.write("~/calc", "x", 0o755),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            forged(
                "replaced by an invalid entry",
                _default("x"),
                mime="text/plain",
                app="calc.desktop",
            ),
            *(
                forged(
                    f"replaced by one with {name}",
                    _default(own),
                    mime="text/plain",
                    app="calc.desktop",
                )
                for name, own in (
                    ("the option --version", ENTRY.replace("--mini", "--version")),
                    ("no file argument", ENTRY.replace(" %u", " %%u")),
                    ("a missing folder", f"{ENTRY}Path=/nonexistent\n"),
                    ("a missing program", f"{ENTRY}TryExec=/nonexistent\n"),
                    ("an unknown field code", ENTRY.replace("%u", "%u %q")),
                    ("a missing service", f"{ENTRY}DBusActivatable=true\n"),
                )
            ),
            *(
                forged(
                    f"different service in {folder}",
                    lambda b, folder=folder: (  # type: ignore[misc]
                        _default("")(b),
                        b.write(
                            f"{folder.format(uid=os.getuid())}/x.service",
                            "[D-BUS Service]\nName=calc\nExec=/bin/true\n",
                        ),
                    ),
                    mime="text/plain",
                    app="calc.desktop",
                )
                for folder in (
                    "~/.local/share/dbus-1/services",
                    "/run/user/{uid}/dbus-1/services",
                )
            ),
            *(
                forged(
                    f"next to a service that {what}",
                    lambda b, content=content: (  # type: ignore[misc]
                        _default("")(b),
                        b.write("~/.local/share/dbus-1/services/x.service", content),
                    ),
                    mime="text/plain",
                    app="calc.desktop",
                )
                for what, content in (
                    ("has two names", "[D-BUS Service]\nName=other\nName=calc\n"),
                    (
                        "has two sections",
                        "[D-BUS Service]\nName=other\n[D-BUS Service]\nName=calc\n",
                    ),
                    ("is not UTF-8", b"[D-BUS Service]\nX=\xff\nName=calc\n"),
                    ("has an escaped name", "[D-BUS Service]\nName=\\scalc\n"),
                )
            ),
            *(
                forged(
                    f"next to a service behind a link, {place}",
                    lambda b, place=place, target=target: (  # type: ignore[misc]
                        _default("")(b),
                        b.write(
                            "~/own/services/x.service",
                            "[D-BUS Service]\nName=calc\nExec=/bin/true\n",
                        ),
                        b.link(place, target),
                    ),
                    mime="text/plain",
                    app="calc.desktop",
                )
                for place, target in (
                    ("~/.local/share/dbus-1", "~/own"),
                    ("~/.local/share/dbus-1/services", "~/own/services"),
                    ("~/.local/share/dbus-1/services/y.service", "~/own/services/x.service"),
                )
            ),
            forged(
                "for the user only, with a missing folder",
                _default(f"{ENTRY}Path=/nonexistent\n", system=False),
                mime="text/plain",
                app="calc.desktop",
            ),
            *(
                forged(
                    f"replaced in a subfolder next to a copy, {name}",
                    lambda b, system=system, own=own: (  # type: ignore[misc]
                        _default(ENTRY, app="my-calc.desktop", system=system)(b),
                        b.write("~/.local/share/applications/my/calc.desktop", own),
                    ),
                    mime="text/plain",
                    app="my-calc.desktop",
                )
                for name, system, own in (
                    ("of a system entry", True, ENTRY.replace("/usr/bin/calc", "/bin/true")),
                    ("without a system entry", False, f"{ENTRY}Path=/nonexistent\n"),
                )
            ),
            another_way(
                "copy with a folder and a different field code",
                lambda b: (
                    _default(f"{ENTRY.replace('%u', '%F')}Path=/srv\n")(b),
                    b.folder_at("/srv"),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way(
                "copy, both started as a service",
                lambda b: (
                    _default(f"{ENTRY}DBusActivatable=true\n")(b),
                    b.write(
                        "/usr/share/applications/calc.desktop", f"{ENTRY}DBusActivatable=true\n"
                    ),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way(
                "next to a different service",
                lambda b: (
                    _default("")(b),
                    b.write("~/.local/share/dbus-1/services/x", "[D-BUS Service]\nName=other\n"),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way("system entry", _default(""), mime="text/plain", app="calc.desktop"),
            another_way(
                "copy with a different option",
                _default(ENTRY.replace("--mini", "--maxi")),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way(
                "installed only for the user",
                _default(ENTRY, system=False),
                mime="text/plain",
                app="calc.desktop",
            ),
            *(_replaced(folder) for folder in APPLICATION_FOLDERS),
            *(
                forged(
                    f"bus name of a different program, {what}",
                    state,
                    mime="text/plain",
                    app="org.test.Calc.desktop",
                )
                for what, state in (
                    ("without a service", _owned_name("/bin/cat")),
                    ("with a service", _owned_name("/bin/cat", service="/bin/cat")),
                    ("which has ended", _owned_name(PYTHON, owner=1 << 29)),
                    ("next to its own script", _owned_by_script(is_other=True)),
                    ("and its own program is missing", _owned_name("/nonexistent")),
                )
            ),
            *(
                another_way(what, state, mime="text/plain", app="org.test.Calc.desktop")
                for what, state in (
                    ("running", _owned_name(PYTHON)),
                    ("running as a script", _owned_by_script()),
                    ("running as a service", _owned_name("/bin/cat", service=PYTHON)),
                    ("bus name without an owner", _owned_name("/bin/cat", owner=-1)),
                )
            ),
        ),
    ),
    CaseTable(
        settings.autostart_runs,
        DesktopFixture,
        (
            *(
                another_way(
                    f"started by {starter}",
                    _entry(ENTRY.replace("Exec=", f"Exec={starter} ")),
                    program="/usr/bin/calc",
                )
                for starter in (
                    *("nice", "/usr/bin/nice -n 5", "nice -5", "nice -n5", "nice --adjustment=-5"),
                    *("nohup", "/bin/nohup", "setsid", "setsid -f", "setsid --wait", "setsid -c"),
                    *("ionice -c 3", "ionice -c2 -n 7", "ionice --class idle -t"),
                )
            ),
            *(
                forged(
                    f"not started by {starter}",
                    _entry(ENTRY.replace("Exec=", f"Exec={starter} ")),
                    program="/usr/bin/calc",
                )
                for starter in (
                    *("/home/user/nice", "nice -n", "nice --help", "nohup --version", "setsid --x"),
                    *("timeout 10", "ionice -c 3 -p 1", "/opt/nohup"),
                )
            ),
            *(
                forged(name, state, program="/usr/bin/calc")
                for name, state in (
                    ("entry not readable by the user", _with_mode(0o300)),
                    ("hidden with leading white space", _entry(f"{ENTRY} \tHidden=true\n")),
                    (
                        "D-Bus activatable without a service",
                        _entry(f"{ENTRY}DBusActivatable=true\n", "x.y.calc.desktop"),
                    ),
                    (
                        "user's program of the same name",
                        lambda b: (
                            b.write("~/.local/bin/calc", "x", 0o755),
                            b.write("/usr/bin/calc", "calc", 0o755),
                            _entry(ENTRY.replace("/usr/bin/calc", "calc"))(b),
                        ),
                    ),
                )
            ),
            another_way(
                "entry readable only by the user", _with_mode(0o400), program="/usr/bin/calc"
            ),
            another_way(
                "with leading white space",
                _entry(ENTRY.replace("Exec", "  Exec")),
                program="/usr/bin/calc",
            ),
            another_way(
                "D-Bus activatable with a system entry",
                lambda b: (
                    b.write("/usr/share/applications/calc.desktop", ENTRY),
                    _entry(f"{ENTRY}DBusActivatable=true\n")(b),
                ),
                program="/usr/bin/calc",
            ),
            *login_cases(_entry(ENTRY), program="/usr/bin/calc"),
            positive("matching entry", _entry(ENTRY), program="/usr/bin/calc"),
            positive(
                "next to a broken entry",
                lambda b: (_entry("x", "a.desktop")(b), _entry(ENTRY)(b)),
                program="/usr/bin/calc",
            ),
            negative("different program", _entry(ENTRY), program="/usr/bin/gedit"),
            near_miss("hidden entry", _entry(ENTRY + "Hidden=true\n"), program="/usr/bin/calc"),
            near_miss(
                "disabled entry",
                _entry(ENTRY + "X-GNOME-Autostart-enabled=false\n"),
                program="/usr/bin/calc",
            ),
            near_miss(
                "different file extension", _entry(ENTRY, "calc.txt"), program="/usr/bin/calc"
            ),
            near_miss(
                "program as an argument",
                _entry(ENTRY.replace("Exec=", "Exec=/bin/echo ")),
                program="/usr/bin/calc",
            ),
            near_miss(
                "entry is not an application",
                _entry(ENTRY.replace("Application", "Link")),
                program="/usr/bin/calc",
            ),
            near_miss(
                "in a different section",
                _entry(ENTRY.replace("Desktop Entry", "Desktop Action x")),
                program="/usr/bin/calc",
            ),
            corrupt("no section header", _entry("Exec=/usr/bin/calc"), program="/usr/bin/calc"),
            corrupt(
                "unclosed quote", _entry(ENTRY.replace("--mini", '"')), program="/usr/bin/calc"
            ),
            missing("no autostart folder", nothing, program="/usr/bin/calc"),
            empty("empty entry", _entry(""), program="/usr/bin/calc"),
            hostile(
                "link to outside",
                lambda b: (
                    b.write("/srv/c", ENTRY),
                    b.link("~/.config/autostart/c.desktop", "/srv/c"),
                ),
                program="/usr/bin/calc",
            ),
            hostile(
                "two Exec lines",
                _entry(ENTRY + "Exec=/usr/bin/other\n"),
                program="/usr/bin/calc",
            ),
            hostile(
                "huge entry",
                lambda b: b.huge("~/.config/autostart/c.desktop"),
                program="/usr/bin/calc",
            ),
            forged(
                "with a missing program in TryExec",
                _installed(ENTRY + "TryExec=/usr/bin/missing\n"),
                program="/usr/bin/calc",
            ),
            forged(
                "with a non-executable program in TryExec",
                lambda b: (
                    _installed(ENTRY + "TryExec=other\n")(b),
                    b.write("/usr/bin/other", "x"),
                ),
                program="/usr/bin/calc",
            ),
            forged(
                "only for a different desktop",
                _installed(ENTRY + "OnlyShowIn=KDE;XFCE;\n", desktop="ubuntu:GNOME"),
                program="/usr/bin/calc",
            ),
            forged(
                "not for this desktop",
                _installed(ENTRY + "NotShowIn=KDE;GNOME;\n", desktop="ubuntu:GNOME"),
                program="/usr/bin/calc",
            ),
            *(
                forged(f"with {more}", _installed(f"{ENTRY}{more}\n"), program="/usr/bin/calc")
                for more in (
                    "Path=/nonexistent",
                    "Path=~",
                    "AutostartCondition=if-exists nosuchfile",
                    "AutostartCondition=unless-exists autostart",
                    "AutostartCondition=unless-exists  autostart",
                    "AutostartCondition=if-exists",
                    "AutostartCondition=GSettings org.gnome.desktop.interface nosuch",
                    "AutostartCondition=GSettings x",
                    "AutostartCondition=if-session x",
                    "X-GNOME-Autostart-Delay=99999999",
                    "X-GNOME-Autostart-Delay=x",
                )
            ),
            *(
                forged(
                    f"with the command {command}",
                    _installed(ENTRY.replace("/usr/bin/calc --mini %u", command)),
                    program="/usr/bin/calc",
                )
                for command in (
                    "calc --version",
                    "calc --help",
                    "calc %q",
                    'sh -c "sleep 9999; exec calc"',
                    "usr/bin/calc",
                    "calc --help-all",
                    "calc -h",
                    'sh -c "false && calc"',
                    'sh -c "sleep 5; false && calc"',
                    'sh -c "echo calc"',
                    'sh -c "sleep 5; calc >/dev/full"',
                    'sh -x "calc"',
                )
            ),
            *(
                forged(
                    f"with {assigned}",
                    _installed(ENTRY.replace("Exec=/usr/bin/calc", f"Exec=env {assigned} calc")),
                    program="/usr/bin/calc",
                )
                for assigned in (
                    "PATH=/home/user/bin",
                    "LANG=C PATH=/home/user/bin",
                    "LD_PRELOAD=/home/user/x.so",
                    "DISPLAY=:9",
                )
            ),
            forged(
                "after a different section",
                _installed(f"[Other]\nx=1\n{ENTRY}"),
                program="/usr/bin/calc",
            ),
            *(
                another_way(
                    f"with the command {command}",
                    _installed(ENTRY.replace("/usr/bin/calc --mini %u", command)),
                    program="/usr/bin/calc",
                )
                for command in (
                    'sh -c "sleep 5; exec /usr/bin/calc"',
                    "bash -c 'sleep 2 && calc --mini &'",
                    "dash -c 'calc& '",
                    'env LANG=C /bin/sh -c "env LC_TIME=C TZ=UTC calc"',
                    "calc 5%%",
                )
            ),
            *(
                another_way(f"with {more}", _installed(f"{ENTRY}{more}\n"), program="/usr/bin/calc")
                for more in (
                    "Path=/usr/bin",
                    "[Desktop Action new]\nName=New\nExec=/usr/bin/other",
                    "X-GNOME-Autostart-Delay=5",
                    "AutostartCondition=if-exists autostart",
                    "AutostartCondition=unless-exists nosuchfile",
                )
            ),
            another_way(
                "with a satisfied condition",
                lambda b: (
                    _installed(f"{ENTRY}AutostartCondition=GSettings a.b c\n")(b),
                    _gsetting("a.b", "c", "true")(b),
                ),
                program="/usr/bin/calc",
            ),
            forged(
                "hidden with a number", _installed(ENTRY + "Hidden=1\n"), program="/usr/bin/calc"
            ),
            forged(
                "skipped by systemd",
                _installed(ENTRY + "X-systemd-skip=true\n"),
                program="/usr/bin/calc",
            ),
            forged(
                "program of the same name in a different folder",
                lambda b: (
                    _installed(ENTRY.replace("/usr/bin/calc", "/home/user/calc"))(b),
                    b.write("~/calc", "x", 0o755),
                ),
                program="/usr/bin/calc",
            ),
            forged(
                "different snap",
                lambda b: (
                    b.write("/usr/bin/snap", "snap", 0o755),
                    b.link("/snap/bin/calc", "/usr/bin/snap"),
                    b.link("/snap/bin/other", "/usr/bin/snap"),
                    _entry(ENTRY.replace("/usr/bin/calc", "other"))(b),
                ),
                program="/snap/bin/calc",
            ),
            another_way(
                "copy of the system entry",
                _installed(ENTRY.replace("/usr/bin/calc", "calc")),
                program="/usr/bin/calc",
            ),
            another_way(
                "link to the system entry",
                _linked("/usr/share/applications/calc.desktop"),
                program="/usr/bin/calc",
            ),
            another_way(
                "for this desktop, with an installed program in TryExec",
                _installed(ENTRY + "OnlyShowIn=GNOME;\nTryExec=calc\n", desktop="ubuntu:GNOME"),
                program="/usr/bin/calc",
            ),
            another_way(
                "with an environment variable",
                _installed(ENTRY.replace("Exec=", "Exec=env LANG=C ")),
                program="/usr/bin/calc",
            ),
            forged(
                "hidden under systemd",
                _installed(ENTRY + "X-GNOME-HiddenUnderSystemd=true\n"),
                program="/usr/bin/calc",
            ),
            another_way(
                "with env and no variables",
                _installed(ENTRY.replace("Exec=", "Exec=env ")),
                program="/usr/bin/calc",
            ),
            forged(
                "dangling relative link",
                _linked("usr/share/applications/calc.desktop"),
                program="/usr/bin/calc",
            ),
            another_way("expected program by its name", _installed(ENTRY), program="calc"),
            another_way(
                "relative link to the system entry",
                _linked("../../../../usr/share/applications/calc.desktop"),
                program="/usr/bin/calc",
            ),
            *(
                another_way(name, state, program="/usr/bin/calc")
                for name, state in {
                    "launched by id": _launched("gtk-launch calc"),
                    "launched by file name": _launched("/usr/bin/gtk-launch calc.desktop"),
                    "launched with a file": _launched("gtk-launch calc /srv/a.txt"),
                    "launched from a shell": _launched('sh -c "sleep 5; gtk-launch calc"'),
                    "launched by gio": _launched("gio launch /usr/share/applications/calc.desktop"),
                    "launched, with the user's entry": _launched("gtk-launch calc", own=ENTRY),
                    "launched, only the user's entry": _launched(
                        "gtk-launch calc", system=None, own=ENTRY
                    ),
                }.items()
            ),
            *(
                forged(name, state, program="/usr/bin/calc")
                for name, state in {
                    "launcher that is missing": _launched("gtk-launch calc", has_launcher=False),
                    "launched by a different program": _launched("/home/user/gtk-launch calc"),
                    "launched without an id": _launched("gtk-launch"),
                    "launcher that prints help": _launched("gtk-launch --help calc"),
                    "launched id that is missing": _launched("gtk-launch other calc"),
                    "launched without any entry": _launched("gtk-launch calc", system=None),
                    "launched, the user's entry starts something else": _launched(
                        "gtk-launch calc", own=ENTRY.replace("/usr/bin/calc", "/usr/bin/other")
                    ),
                    "launched, the user's entry is hidden": _launched(
                        "gtk-launch calc", own=f"{ENTRY}Hidden=true\n"
                    ),
                    "launched, the entry's program is missing": _launched(
                        "gtk-launch calc", system=f"{ENTRY}TryExec=/usr/bin/missing\n"
                    ),
                    "launched by gio, by id": _launched("gio launch calc.desktop"),
                    "launched by path": _launched(
                        "gtk-launch /usr/share/applications/calc.desktop"
                    ),
                    "launched by gio with another action": _launched(
                        "gio open /usr/share/applications/calc.desktop"
                    ),
                    "launched entry that launches itself": _launched(
                        "gtk-launch calc",
                        system=ENTRY.replace("/usr/bin/calc --mini %u", "gtk-launch calc"),
                    ),
                    "launched entry of the user, over the bus": _launched(
                        "gtk-launch calc", system=None, own=f"{ENTRY}DBusActivatable=true\n"
                    ),
                }.items()
            ),
            *(_named(folder) for folder in PROGRAM_FOLDERS),
            *(_multi_call(name) for name in ("busybox", "coreutils", "toybox")),
        ),
        equivalent={
            "*: * rename": "the name of the entry is ignored",
            "*: * flip a byte": "no effect",
            "next to a broken entry: home/user/.config/autostart/a.desktop: *": "other entries are ignored",
        },
    ),
)

# The dynamic linker of this host, by its standard name on Linux.
LINKER = next(str(path) for path in sorted(Path("/").glob("lib*/ld-linux-*.so.*")))


def _copy_by_the_linker(b: ProgramsFixture) -> None:
    """Run a copy with the linker; as root, which can inspect mapped files, delete the copy afterwards."""
    b.program("/usr/bin/gedit", b"gedit")
    b.program("~/notes", b"gedit")
    b.start("~/notes", by=LINKER)
    first = Path("/proc/self/maps").read_text(encoding="utf-8").split(maxsplit=1)[0]
    with contextlib.suppress(OSError):
        Path(
            "/proc/self/map_files", "-".join(bound.lstrip("0") for bound in first.split("-"))
        ).stat()
        b.at("~/notes").unlink()


def _renamed_to_a_copy(b: ProgramsFixture) -> None:
    """Run a different program with the linker, then replace its file by a copy that does not run."""
    b.program("/usr/bin/gedit", b"gedit")
    b.program("~/notes", b"other")
    b.start("~/notes", by=LINKER)
    b.at("~/notes").unlink()
    b.program("~/notes", b"gedit")


PROGRAMS = (
    CaseTable(
        programs.process_running,
        ProgramsFixture,
        (
            positive("program running", _run(), program=PYTHON),
            negative("different program", _run(), program="/usr/bin/gedit"),
            near_miss("expected name without its folder", _run(), program=Path(PYTHON).name),
            near_miss("process of a different user", _run(uid_off=1), program=PYTHON),
            corrupt("process has ended", _run(pid=1 << 22), program=PYTHON),
            missing("no processes", lambda b: setattr(b, "processes", []), program=PYTHON),
            empty("expected path without a name", _run(pid=1 << 22), program="/"),
            hostile(
                "forged process name",
                lambda b: setattr(
                    b,
                    "processes",
                    [Process(os.getpid(), 1, os.getuid(), "gedit", ("/usr/bin/gedit",))],
                ),
                program="/usr/bin/gedit",
            ),
            another_way("first thread has ended", _beyond_first_thread, program=_PYTHON3),
            another_way("after other processes", _after_others, program=PYTHON),
            forged(
                "in its own user namespace",
                lambda b: (b.program("/usr/bin/gedit", b"gedit"), b.start_apart("/usr/bin/gedit")),
                program=GEDIT,
            ),
            forged(
                "different program mounted over it",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/other"),
                    b.start_mounted("~/other", "/usr/bin/gedit"),
                ),
                program=GEDIT,
            ),
            forged(
                "copy of a different program under its name",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/gedit"),
                    b.start("~/gedit", named="/usr/bin/gedit"),
                ),
                program=GEDIT,
            ),
            another_way(
                "started through a link",
                lambda b: (
                    b.program("/usr/bin/gedit"),
                    b.link("~/editor", "/usr/bin/gedit"),
                    b.start("~/editor"),
                ),
                program=GEDIT,
            ),
            another_way(
                "expected program is a link",
                lambda b: (
                    b.program("/usr/bin/gedit-47"),
                    b.link("/usr/bin/gedit", "/usr/bin/gedit-47"),
                    b.start("/usr/bin/gedit-47"),
                ),
                program=GEDIT,
            ),
            another_way(
                "restarted after a previous process ended",
                lambda b: (
                    b.program("/usr/bin/gedit"),
                    b.end(b.start("/usr/bin/gedit")),
                    b.start("/usr/bin/gedit"),
                ),
                program=GEDIT,
            ),
        ),
        equivalent={"program running: no state": "this process is always running"},
    ),
    CaseTable(
        programs.process_absent,
        ProgramsFixture,
        (
            positive("different program running", _run(), program="/usr/bin/env"),
            negative("program running", _run(), program=PYTHON),
            near_miss(
                "under a different name",
                lambda b: setattr(
                    b, "processes", [Process(os.getpid(), 1, os.getuid(), "other", ("other",))]
                ),
                program=PYTHON,
            ),
            corrupt("misspelled program", _run(), program="/usr/bin/envv").expect_error(),
            missing(
                "no processes", lambda b: setattr(b, "processes", []), program=PYTHON
            ).expect_met(),
            empty("empty expected program", _run(), program="").expect_error(),
            hostile("process of a different user", _run(uid_off=1), program=PYTHON).expect_met(),
            forged(
                "running in its own user namespace",
                lambda b: (b.program("/usr/bin/gedit", b"gedit"), b.start_apart("/usr/bin/gedit")),
                program=GEDIT,
            ),
            forged("first thread has ended", _beyond_first_thread, program=_PYTHON3),
            forged(
                "renamed copy running",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/notes", b"gedit"),
                    b.start("~/notes"),
                ),
                program=GEDIT,
            ),
            forged(
                "running after a different program of the same size",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.start("/usr/bin/gedit", named="other"),
                    b.start("/usr/bin/other"),
                ),
                program=GEDIT,
            ),
            forged(
                "renamed copy, deleted while running",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/notes", b"gedit"),
                    b.start("~/notes"),
                    b.at("~/notes").unlink(),
                ),
                program=GEDIT,
            ),
            forged(
                "started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.start("/usr/bin/gedit", by=LINKER),
                ),
                program=GEDIT,
            ),
            forged(
                "renamed copy started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/notes", b"gedit"),
                    b.start("~/notes", by=LINKER),
                ),
                program=GEDIT,
            ),
            forged(
                "copy started by the dynamic linker, deleted while running",
                _copy_by_the_linker,
                program=GEDIT,
            ),
            forged(
                "started by the dynamic linker after a different program",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.start("/usr/bin/other", by=LINKER),
                    b.start("/usr/bin/gedit", by=LINKER),
                ),
                program=GEDIT,
            ),
            forged(
                "copy with a space and invalid UTF-8 in its name, started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/no tes\udcff", b"gedit"),
                    b.start("~/no tes\udcff", by=LINKER),
                ),
                program=GEDIT,
            ),
            another_way(
                "different program replaced by a copy, started by the dynamic linker",
                _renamed_to_a_copy,
                program=GEDIT,
            ),
            another_way(
                "different program started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.start("/usr/bin/other", by=LINKER),
                ),
                program=GEDIT,
            ),
            another_way(
                "killed, but still a zombie",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.end(b.start("/usr/bin/gedit"), reap=False),
                ),
                program=GEDIT,
            ),
            another_way(
                "ended while a different program of the same size runs",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.end(b.start("/usr/bin/gedit")),
                    b.start("/usr/bin/other"),
                ),
                program=GEDIT,
            ),
        ),
        equivalent={"different program running: no state": "env is never running"},
    ),
)

TABLES = (*SETTINGS, *PROGRAMS)
