"""Cases of evaluators of settings and programs."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from appliance.base.clock import wait_until
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
from provisioning.probe.system.proc import Process
from tests.evaluator_cases.desktop_ways import settings as settings_ways
from tests.evaluator_cases.processes import WITHOUT_FIRST_THREAD, ProgramsFixture

BACKGROUND = "org.gnome.desktop.background"
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
) -> State:
    def make(b: DesktopFixture) -> None:
        _gsetting(INTERFACE, "color-scheme", f"'{style}'")(b)
        _gsetting(BACKGROUND, "picture-uri", f"'{uri}'")(b)
        _gsetting(BACKGROUND, "picture-uri-dark", f"'{dark}'")(b)
        _gsetting(BACKGROUND, "picture-options", f"'{options}'")(b)
        if file:
            b.write(file, PICTURE)

    return make


def _owned(mode: int, *, is_group: bool) -> State:
    """Let the picture be another user's, where these tests may do that, and of the user's group or not."""

    def make(b: DesktopFixture) -> None:
        _wallpaper(URI)(b)
        picture = b.at("~/p q.png")
        picture.chmod(mode)
        if os.geteuid() == 0:
            os.chown(picture, 12345, b.home.stat().st_gid if is_group else 12345)

    return make


def _with_mode(mode: int) -> State:
    """Have an entry whose file has these permissions."""

    def state(b: DesktopFixture) -> None:
        _entry(ENTRY)(b)
        b.at("~/.config/autostart/calc.desktop").chmod(mode)

    return state


def _entry(content: str, name: str = "calc.desktop") -> State:
    return lambda b: b.write(f"~/.config/autostart/{name}", content)


def _calculator(b: DesktopFixture) -> None:
    """Install the calculator with the desktop file that its package has."""
    b.write("/usr/bin/calc", "calc", 0o755)
    b.write("/usr/share/applications/calc.desktop", ENTRY.replace("/usr/bin/calc", "calc"))


def _installed(content: str, *, desktop: str = "", name: str = "calc.desktop") -> State:
    """Have the calculator and an autostart entry."""

    def make(b: DesktopFixture) -> None:
        _calculator(b)
        _entry(content, name)(b)
        if desktop:
            b.prints(["/usr/bin/printenv", "XDG_CURRENT_DESKTOP"], f"{desktop}\n")

    return make


def _linked(target: str) -> State:
    """Have a link to the calculator's entry among those of autostart."""

    def make(b: DesktopFixture) -> None:
        _calculator(b)
        b.link("~/.config/autostart/calc.desktop", target)

    return make


def _default(own: str, *, app: str = "calc.desktop", place: str = "", system: bool = True) -> State:
    """Let an application be the default, with a desktop file of the user's own."""

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
    """Let this process, or another, own a running application's name on the bus.

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
    """Let the application be a script in Python, and its name that of a process which runs it, or another."""

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
    """Return the case of an entry that names a program of a folder without the folder."""
    return another_way(
        f"by its name, from {folder}",
        lambda b: (
            b.write(f"{folder}/calc", "calc", 0o755),
            _entry(ENTRY.replace("/usr/bin/calc", "calc"))(b),
        ),
        program=f"{folder}/calc",
    )


def _multi_call(name: str) -> Case:
    """Return the case of another program of a file that is many programs."""
    return forged(
        f"another program of {name}",
        lambda b: (
            b.write(f"/usr/bin/{name}", name, 0o755),
            b.link("/usr/bin/calc", f"/usr/bin/{name}"),
            b.link("/usr/bin/other", f"/usr/bin/{name}"),
            _entry(ENTRY.replace("/usr/bin/calc", "other"))(b),
        ),
        program="/usr/bin/calc",
    )


def _replaced(folder: str) -> Case:
    """Return the case of an entry of a folder that the user's replaces."""
    return forged(
        f"another program instead of that of {folder}",
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
    """Let this very process be the agent's, or another one by its id."""

    def make(b: DesktopFixture) -> None:
        own = pid or os.getpid()
        b.processes = [Process(own, 1, os.getuid() + uid_off, "x", ("x",))]

    return make


def _after_others(b: DesktopFixture) -> None:
    """Let this process come after one that is gone and one of another user."""
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
                "a text",
                _gsetting(INTERFACE, "color-scheme", "'prefer-dark'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ),
            positive(
                "a bool",
                _gsetting(INTERFACE, "clock-show-seconds", "true"),
                schema=INTERFACE,
                key="clock-show-seconds",
                value="true",
            ),
            negative(
                "another value",
                _gsetting(INTERFACE, "color-scheme", "'default'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ),
            near_miss(
                "part of it",
                _gsetting(INTERFACE, "color-scheme", "'prefer-darker'"),
                schema=INTERFACE,
                key="color-scheme",
                value="prefer-dark",
            ),
            near_miss(
                "in another schema",
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
                "no such key", nothing, schema=INTERFACE, key="colour", value="x"
            ).expect_error(),
            empty(
                "an empty text",
                _gsetting(INTERFACE, "gtk-theme", "''"),
                schema=INTERFACE,
                key="gtk-theme",
                value="dark",
            ),
            hostile(
                "the value in quotes",
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
            positive("a text", _dconf("'dark'\n"), key="/a/b", value="'dark'"),
            negative("another", _dconf("'light'\n"), key="/a/b", value="'dark'"),
            near_miss("without its quotes", _dconf("'dark'\n"), key="/a/b", value="dark"),
            corrupt(
                "dconf fails", _dconf("'dark'\n", 1), key="/a/b", value="'dark'"
            ).expect_error(),
            missing("no dconf", nothing, key="/a/b", value="'dark'").expect_error(),
            empty("not set", _dconf("\n"), key="/a/b", value="'dark'"),
            empty("not set, nothing wanted", _dconf(""), key="/a/b", value=""),
            hostile(
                "no UTF-8",
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
            positive("light", _wallpaper(URI, dark="file:///x.png"), path="~/p q.png"),
            positive(
                "dark", _wallpaper("file:///x.png", dark=URI, style="prefer-dark"), path="~/p q.png"
            ),
            negative("another picture", _wallpaper("file:///usr/share/x.png"), path="~/p q.png"),
            near_miss(
                "for the style not in use", _wallpaper("file:///x.png", dark=URI), path="~/p q.png"
            ),
            near_miss("no pictures shown", _wallpaper(URI, options="none"), path="~/p q.png"),
            near_miss(
                "of that name elsewhere", _wallpaper("file:///srv/p%20q.png"), path="~/p q.png"
            ),
            near_miss("on the web", _wallpaper("http:///home/user/p%20q.png"), path="~/p q.png"),
            corrupt(
                "gsettings fails",
                lambda b: (_wallpaper(URI)(b), _gsetting(BACKGROUND, "picture-uri", "", 1)(b)),
                path="~/p q.png",
            ).expect_error(),
            missing("the file is gone", _wallpaper(URI, file=""), path="~/p q.png"),
            missing("no gsettings", nothing, path="~/p q.png").expect_error(),
            empty("no address", _wallpaper(""), path="~/p q.png"),
            hostile(
                "a link for the file",
                lambda b: (
                    _wallpaper(URI, file="")(b),
                    b.write("/srv/p", "x"),
                    b.link("~/p q.png", "/srv/p"),
                ),
                path="~/p q.png",
            ),
            forged(
                "a picture that the user cannot read",
                lambda b: (_wallpaper(URI)(b), b.at("~/p q.png").chmod(0)),
                path="~/p q.png",
            ),
            forged(
                "a picture that only another's group can read",
                _owned(0o040, is_group=False),
                path="~/p q.png",
            ),
            another_way(
                "a picture of another's that the user's group can read",
                _owned(0o440, is_group=True),
                path="~/p q.png",
            ),
            another_way(
                "a picture of another's that everybody else can read",
                _owned(0o404, is_group=False),
                path="~/p q.png",
            ),
            forged(
                "in a folder that the user cannot enter",
                lambda b: (
                    _wallpaper("file:///srv/p.png")(b),
                    b.write("/srv/p.png", PICTURE),
                    b.at("/srv").chmod(0o600),
                ),
                path="/srv/p.png",
            ),
            forged(
                "no picture",
                lambda b: (_wallpaper(URI)(b), b.write("~/p q.png", "picture")),
                path="~/p q.png",
            ),
            *(
                another_way(
                    f"a picture that begins with {head!r}",
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
                "the portal's copy is of another picture",
                lambda b: (_wallpaper(PORTAL)(b), b.write("~/.config/background", PICTURE[:-1])),
                path="~/p q.png",
            ),
            forged(
                "the portal's copy is there, another picture is shown",
                lambda b: (
                    _wallpaper("file:///x.png")(b),
                    b.write("~/.config/background", PICTURE),
                ),
                path="~/p q.png",
            ),
            forged(
                "a copy that no program of the desktop makes",
                lambda b: (
                    _wallpaper("file:///home/user/x.png")(b),
                    b.write("~/x.png", PICTURE),
                ),
                path="~/p q.png",
            ),
            another_way(
                "by the portal",
                lambda b: (_wallpaper(PORTAL)(b), b.write("~/.config/background", PICTURE)),
                path="~/p q.png",
            ),
            another_way(
                "added in Settings",
                lambda b: (
                    _wallpaper(f"{COPIES}/2026-p%20q.png")(b),
                    b.write("~/.local/share/backgrounds/2026-p q.png", PICTURE),
                ),
                path="~/p q.png",
            ),
        ),
        equivalent={
            "*: * cut": "what the file holds does not count, but its beginning",
            "*: * flip a byte": "what the file holds does not count, but its beginning",
            "*: gsettings: prints *": "one of the four settings, whose value does not count or is read as light",
        },
    ),
    CaseTable(
        settings.default_app_is,
        ProgramsFixture,
        (
            positive(
                "gedit",
                _gio(
                    "Default application for “text/plain”: org.gnome.gedit.desktop\nRegistered applications:\n\tvim.desktop\n"
                ),
                mime="text/plain",
                app="org.gnome.gedit.desktop",
            ),
            negative(
                "another",
                _gio("Default application for “text/plain”: vim.desktop\n"),
                mime="text/plain",
                app="org.gnome.gedit.desktop",
            ),
            near_miss(
                "only registered",
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
            missing("no gio", nothing, mime="text/plain", app="vim.desktop").expect_error(),
            empty(
                "none",
                _gio("No default applications for “text/plain”\n"),
                mime="text/plain",
                app="vim.desktop",
            ),
            hostile(
                "in the list's words",
                _gio(
                    "No default applications\nDefault application for “text/plain”: vim.desktop\n"
                ),
                mime="text/plain",
                app="vim.desktop",
            ),
            forged(
                "its entry replaced by one that does nothing",
                _default(ENTRY.replace("/usr/bin/calc", "/bin/true")),
                mime="text/plain",
                app="calc.desktop",
            ),
            forged(
                "replaced in a folder",
                _default(
                    ENTRY.replace("/usr/bin/calc", "/bin/true"),
                    app="my-calc.desktop",
                    place="my/calc.desktop",
                ),
                mime="text/plain",
                app="my-calc.desktop",
            ),
            forged(
                "replaced by another program of that name",
                lambda b: (
                    _default(ENTRY.replace("/usr/bin/calc", "/home/user/calc"))(b),
                    b.write("~/calc", "x", 0o755),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            forged(
                "replaced by no entry at all",
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
                    ("--version", ENTRY.replace("--mini", "--version")),
                    ("no files to open", ENTRY.replace(" %u", " %%u")),
                    ("a folder that is missing", f"{ENTRY}Path=/nonexistent\n"),
                    ("a program that is missing", f"{ENTRY}TryExec=/nonexistent\n"),
                    ("an unknown code", ENTRY.replace("%u", "%u %q")),
                    ("a service that is missing", f"{ENTRY}DBusActivatable=true\n"),
                )
            ),
            *(
                forged(
                    f"another service in {folder}",
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
                    f"beside a service that {what}",
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
                        "is written in two parts",
                        "[D-BUS Service]\nName=other\n[D-BUS Service]\nName=calc\n",
                    ),
                    ("is no UTF-8", b"[D-BUS Service]\nX=\xff\nName=calc\n"),
                    ("is escaped", "[D-BUS Service]\nName=\\scalc\n"),
                )
            ),
            *(
                forged(
                    f"beside a service behind a link, {place}",
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
                "for the user only, in a folder that is missing",
                _default(f"{ENTRY}Path=/nonexistent\n", system=False),
                mime="text/plain",
                app="calc.desktop",
            ),
            *(
                forged(
                    f"replaced in a folder beside a copy, {name}",
                    lambda b, system=system, own=own: (  # type: ignore[misc]
                        _default(ENTRY, app="my-calc.desktop", system=system)(b),
                        b.write("~/.local/share/applications/my/calc.desktop", own),
                    ),
                    mime="text/plain",
                    app="my-calc.desktop",
                )
                for name, system, own in (
                    ("of the system's", True, ENTRY.replace("/usr/bin/calc", "/bin/true")),
                    ("of none", False, f"{ENTRY}Path=/nonexistent\n"),
                )
            ),
            another_way(
                "a copy in a folder, with another code",
                lambda b: (
                    _default(f"{ENTRY.replace('%u', '%F')}Path=/srv\n")(b),
                    b.folder_at("/srv"),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way(
                "a copy, both started as a service",
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
                "beside another service",
                lambda b: (
                    _default("")(b),
                    b.write("~/.local/share/dbus-1/services/x", "[D-BUS Service]\nName=other\n"),
                ),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way("the system's entry", _default(""), mime="text/plain", app="calc.desktop"),
            another_way(
                "a copy with another option",
                _default(ENTRY.replace("--mini", "--maxi")),
                mime="text/plain",
                app="calc.desktop",
            ),
            another_way(
                "installed for the user only",
                _default(ENTRY, system=False),
                mime="text/plain",
                app="calc.desktop",
            ),
            *(_replaced(folder) for folder in APPLICATION_FOLDERS),
            *(
                forged(
                    f"its name is another program's, {what}",
                    state,
                    mime="text/plain",
                    app="org.test.Calc.desktop",
                )
                for what, state in (
                    ("without a service", _owned_name("/bin/cat")),
                    ("with a service", _owned_name("/bin/cat", service="/bin/cat")),
                    ("that has ended", _owned_name(PYTHON, owner=1 << 29)),
                    ("beside its own, a script", _owned_by_script(is_other=True)),
                    ("and its own is missing", _owned_name("/nonexistent")),
                )
            ),
            *(
                another_way(what, state, mime="text/plain", app="org.test.Calc.desktop")
                for what, state in (
                    ("it runs", _owned_name(PYTHON)),
                    ("it runs, a script", _owned_by_script()),
                    ("it runs as a service", _owned_name("/bin/cat", service=PYTHON)),
                    ("its name is nobody's", _owned_name("/bin/cat", owner=-1)),
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
                    ("that its user may not read", _with_mode(0o300)),
                    ("hidden behind blanks", _entry(f"{ENTRY} \tHidden=true\n")),
                    (
                        "for a bus that does not know it",
                        _entry(f"{ENTRY}DBusActivatable=true\n", "x.y.calc.desktop"),
                    ),
                    (
                        "the user's own of that name",
                        lambda b: (
                            b.write("~/.local/bin/calc", "x", 0o755),
                            b.write("/usr/bin/calc", "calc", 0o755),
                            _entry(ENTRY.replace("/usr/bin/calc", "calc"))(b),
                        ),
                    ),
                )
            ),
            another_way("that its user alone may read", _with_mode(0o400), program="/usr/bin/calc"),
            another_way(
                "behind blanks", _entry(ENTRY.replace("Exec", "  Exec")), program="/usr/bin/calc"
            ),
            another_way(
                "for a bus that knows it",
                lambda b: (
                    b.write("/usr/share/applications/calc.desktop", ENTRY),
                    _entry(f"{ENTRY}DBusActivatable=true\n")(b),
                ),
                program="/usr/bin/calc",
            ),
            positive("an entry", _entry(ENTRY), program="/usr/bin/calc"),
            positive(
                "beside broken ones",
                lambda b: (_entry("x", "a.desktop")(b), _entry(ENTRY)(b)),
                program="/usr/bin/calc",
            ),
            negative("another program", _entry(ENTRY), program="/usr/bin/gedit"),
            near_miss("hidden", _entry(ENTRY + "Hidden=true\n"), program="/usr/bin/calc"),
            near_miss(
                "switched off",
                _entry(ENTRY + "X-GNOME-Autostart-enabled=false\n"),
                program="/usr/bin/calc",
            ),
            near_miss("another name of file", _entry(ENTRY, "calc.txt"), program="/usr/bin/calc"),
            near_miss(
                "as an argument",
                _entry(ENTRY.replace("Exec=", "Exec=/bin/echo ")),
                program="/usr/bin/calc",
            ),
            near_miss(
                "no application",
                _entry(ENTRY.replace("Application", "Link")),
                program="/usr/bin/calc",
            ),
            near_miss(
                "in another section",
                _entry(ENTRY.replace("Desktop Entry", "Desktop Action x")),
                program="/usr/bin/calc",
            ),
            corrupt("no entry", _entry("Exec=/usr/bin/calc"), program="/usr/bin/calc"),
            corrupt(
                "a quote left open", _entry(ENTRY.replace("--mini", '"')), program="/usr/bin/calc"
            ),
            missing("no folder", nothing, program="/usr/bin/calc"),
            empty("an empty entry", _entry(""), program="/usr/bin/calc"),
            hostile(
                "a link out",
                lambda b: (
                    b.write("/srv/c", ENTRY),
                    b.link("~/.config/autostart/c.desktop", "/srv/c"),
                ),
                program="/usr/bin/calc",
            ),
            hostile(
                "two lines of Exec",
                _entry(ENTRY + "Exec=/usr/bin/other\n"),
                program="/usr/bin/calc",
            ),
            hostile(
                "huge", lambda b: b.huge("~/.config/autostart/c.desktop"), program="/usr/bin/calc"
            ),
            forged(
                "with a program that is missing",
                _installed(ENTRY + "TryExec=/usr/bin/missing\n"),
                program="/usr/bin/calc",
            ),
            forged(
                "with a program that cannot be executed",
                lambda b: (
                    _installed(ENTRY + "TryExec=other\n")(b),
                    b.write("/usr/bin/other", "x"),
                ),
                program="/usr/bin/calc",
            ),
            forged(
                "on another desktop",
                _installed(ENTRY + "OnlyShowIn=KDE;XFCE;\n", desktop="ubuntu:GNOME"),
                program="/usr/bin/calc",
            ),
            forged(
                "not on this desktop",
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
                "behind another section",
                _installed(f"[Other]\nx=1\n{ENTRY}"),
                program="/usr/bin/calc",
            ),
            *(
                another_way(
                    f"by {command}",
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
                "with a condition that holds",
                lambda b: (
                    _installed(f"{ENTRY}AutostartCondition=GSettings a.b c\n")(b),
                    _gsetting("a.b", "c", "true")(b),
                ),
                program="/usr/bin/calc",
            ),
            forged("hidden by a number", _installed(ENTRY + "Hidden=1\n"), program="/usr/bin/calc"),
            forged(
                "skipped by systemd",
                _installed(ENTRY + "X-systemd-skip=true\n"),
                program="/usr/bin/calc",
            ),
            forged(
                "a program of that name elsewhere",
                lambda b: (
                    _installed(ENTRY.replace("/usr/bin/calc", "/home/user/calc"))(b),
                    b.write("~/calc", "x", 0o755),
                ),
                program="/usr/bin/calc",
            ),
            forged(
                "another snap",
                lambda b: (
                    b.write("/usr/bin/snap", "snap", 0o755),
                    b.link("/snap/bin/calc", "/usr/bin/snap"),
                    b.link("/snap/bin/other", "/usr/bin/snap"),
                    _entry(ENTRY.replace("/usr/bin/calc", "other"))(b),
                ),
                program="/snap/bin/calc",
            ),
            another_way(
                "a copy of the system's entry",
                _installed(ENTRY.replace("/usr/bin/calc", "calc")),
                program="/usr/bin/calc",
            ),
            another_way(
                "a link to the system's entry",
                _linked("/usr/share/applications/calc.desktop"),
                program="/usr/bin/calc",
            ),
            another_way(
                "for this desktop, with its program",
                _installed(ENTRY + "OnlyShowIn=GNOME;\nTryExec=calc\n", desktop="ubuntu:GNOME"),
                program="/usr/bin/calc",
            ),
            another_way(
                "with an environment",
                _installed(ENTRY.replace("Exec=", "Exec=env LANG=C ")),
                program="/usr/bin/calc",
            ),
            forged(
                "hidden under systemd",
                _installed(ENTRY + "X-GNOME-HiddenUnderSystemd=true\n"),
                program="/usr/bin/calc",
            ),
            another_way(
                "with an environment as it is",
                _installed(ENTRY.replace("Exec=", "Exec=env ")),
                program="/usr/bin/calc",
            ),
            forged(
                "a relative link that leads nowhere",
                _linked("usr/share/applications/calc.desktop"),
                program="/usr/bin/calc",
            ),
            another_way("asked for by its name", _installed(ENTRY), program="calc"),
            another_way(
                "a relative link to the system's entry",
                _linked("../../../../usr/share/applications/calc.desktop"),
                program="/usr/bin/calc",
            ),
            *(_named(folder) for folder in PROGRAM_FOLDERS),
            *(_multi_call(name) for name in ("busybox", "coreutils", "toybox")),
        ),
        equivalent={
            "*: * rename": "the entry's own name does not count",
            "*: * flip a byte": "nothing",
            "beside broken ones: home/user/.config/autostart/a.desktop: *": "another entry does not count",
        },
    ),
)

# The dynamic linker of this host, by the name that every Linux has for it.
LINKER = next(str(path) for path in sorted(Path("/").glob("lib*/ld-linux-*.so.*")))


def _copy_by_the_linker(b: ProgramsFixture) -> None:
    """Let the linker run a copy, deleted since where root may ask the kernel for mapped files."""
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
    """Let the linker run another program, in whose place a copy is that does not run."""
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
            positive("it runs", _run(), program=PYTHON),
            negative("another", _run(), program="/usr/bin/gedit"),
            near_miss("its name only", _run(), program=Path(PYTHON).name),
            near_miss("another user's", _run(uid_off=1), program=PYTHON),
            corrupt("gone meanwhile", _run(pid=1 << 22), program=PYTHON),
            missing("nothing runs", lambda b: setattr(b, "processes", []), program=PYTHON),
            empty("no name", _run(pid=1 << 22), program="/"),
            hostile(
                "the name it gives itself",
                lambda b: setattr(
                    b,
                    "processes",
                    [Process(os.getpid(), 1, os.getuid(), "gedit", ("/usr/bin/gedit",))],
                ),
                program="/usr/bin/gedit",
            ),
            another_way("its first thread has ended", _beyond_first_thread, program=_PYTHON3),
            another_way("after others", _after_others, program=PYTHON),
            forged(
                "in a user namespace of its own",
                lambda b: (b.program("/usr/bin/gedit", b"gedit"), b.start_apart("/usr/bin/gedit")),
                program=GEDIT,
            ),
            forged(
                "another mounted over it",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/other"),
                    b.start_mounted("~/other", "/usr/bin/gedit"),
                ),
                program=GEDIT,
            ),
            forged(
                "a copy of another under its name",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/gedit"),
                    b.start("~/gedit", named="/usr/bin/gedit"),
                ),
                program=GEDIT,
            ),
            another_way(
                "by a link",
                lambda b: (
                    b.program("/usr/bin/gedit"),
                    b.link("~/editor", "/usr/bin/gedit"),
                    b.start("~/editor"),
                ),
                program=GEDIT,
            ),
            another_way(
                "asked for by a link",
                lambda b: (
                    b.program("/usr/bin/gedit-47"),
                    b.link("/usr/bin/gedit", "/usr/bin/gedit-47"),
                    b.start("/usr/bin/gedit-47"),
                ),
                program=GEDIT,
            ),
            another_way(
                "started again after another ended",
                lambda b: (
                    b.program("/usr/bin/gedit"),
                    b.end(b.start("/usr/bin/gedit")),
                    b.start("/usr/bin/gedit"),
                ),
                program=GEDIT,
            ),
        ),
        equivalent={"it runs: no state": "this process runs anyway"},
    ),
    CaseTable(
        programs.process_absent,
        ProgramsFixture,
        (
            positive("another runs", _run(), program="/usr/bin/env"),
            negative("it runs", _run(), program=PYTHON),
            near_miss(
                "under another name",
                lambda b: setattr(
                    b, "processes", [Process(os.getpid(), 1, os.getuid(), "other", ("other",))]
                ),
                program=PYTHON,
            ),
            corrupt("misspelt", _run(), program="/usr/bin/envv").expect_error(),
            missing(
                "nothing runs", lambda b: setattr(b, "processes", []), program=PYTHON
            ).expect_met(),
            empty("no name", _run(), program="").expect_error(),
            hostile("another user's does not count", _run(uid_off=1), program=PYTHON).expect_met(),
            forged(
                "it runs in a user namespace of its own",
                lambda b: (b.program("/usr/bin/gedit", b"gedit"), b.start_apart("/usr/bin/gedit")),
                program=GEDIT,
            ),
            forged("its first thread has ended", _beyond_first_thread, program=_PYTHON3),
            forged(
                "a renamed copy runs",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/notes", b"gedit"),
                    b.start("~/notes"),
                ),
                program=GEDIT,
            ),
            forged(
                "it runs behind another of that size",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.start("/usr/bin/gedit", named="other"),
                    b.start("/usr/bin/other"),
                ),
                program=GEDIT,
            ),
            forged(
                "a renamed copy, deleted since",
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
                "a renamed copy started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/notes", b"gedit"),
                    b.start("~/notes", by=LINKER),
                ),
                program=GEDIT,
            ),
            forged(
                "a copy started by the dynamic linker, deleted since",
                _copy_by_the_linker,
                program=GEDIT,
            ),
            forged(
                "started by the dynamic linker behind another",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.start("/usr/bin/other", by=LINKER),
                    b.start("/usr/bin/gedit", by=LINKER),
                ),
                program=GEDIT,
            ),
            forged(
                "a copy with a blank, and no UTF-8, in its name started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("~/no tes\udcff", b"gedit"),
                    b.start("~/no tes\udcff", by=LINKER),
                ),
                program=GEDIT,
            ),
            another_way(
                "another whose place a copy takes, started by the dynamic linker",
                _renamed_to_a_copy,
                program=GEDIT,
            ),
            another_way(
                "another started by the dynamic linker",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.start("/usr/bin/other", by=LINKER),
                ),
                program=GEDIT,
            ),
            another_way(
                "killed, and not yet waited for",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.end(b.start("/usr/bin/gedit"), reap=False),
                ),
                program=GEDIT,
            ),
            another_way(
                "ended, while another of that size runs",
                lambda b: (
                    b.program("/usr/bin/gedit", b"gedit"),
                    b.program("/usr/bin/other", b"other"),
                    b.end(b.start("/usr/bin/gedit")),
                    b.start("/usr/bin/other"),
                ),
                program=GEDIT,
            ),
        ),
        equivalent={"another runs: no state": "env does not run anyway"},
    ),
)

TABLES = (*SETTINGS, *PROGRAMS)
