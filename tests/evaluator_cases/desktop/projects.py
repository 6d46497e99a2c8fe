"""Cases of the evaluators for project tasks: commits, pages, scripts, wallpapers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.desktop import git, programs, settings, web
from evaluators.testing.case import (
    CaseKind,
    CaseTable,
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
from tests.evaluator_cases.desktop import services, system
from tests.evaluator_cases.desktop import settings as settings_cases
from tests.evaluator_cases.desktop_ways import web as web_ways
from tests.evaluator_cases.desktop_ways.git import layout_cases
from tests.evaluator_cases.processes import WITHOUT_FIRST_THREAD, ProgramsFixture
from tests.evaluator_cases.repository import RepositoryFixture, in_latin_1
from tests.evaluator_cases.servers import WebFixture

if TYPE_CHECKING:
    from evaluators.testing.case import State

R, URL, P = system.R, services.URL, "~/p q.png"
page, commits, wallpaper = services._page, system._commits, settings_cases._wallpaper
IMPOSTOR, ELSEWHERE = system._impostor("old"), system._elsewhere
_SLEEPING = "import time; time.sleep(60)"
_DEBUGGER = """
import ctypes, os, pathlib, sys, time
pid = os.fork() or os.execv(sys.argv[1], sys.argv[1:])
while not os.path.exists("runs"):
    time.sleep(0.01)
for request in 0x4206, 0x4207:  # PTRACE_SEIZE, PTRACE_INTERRUPT
    if ctypes.CDLL(None).ptrace(request, pid, None, None):
        sys.exit("refused")
os.waitpid(pid, 0)
pathlib.Path("pid").write_text(str(pid))
os.rename("pid", "held")
time.sleep(60)
"""
TITLED = "<html><head><title>My  garden\n</title></head><body>Hello</body></html>"


def _script(*argv: str, name: str = "serve.sh", content: str = "sleep 60\n") -> State:
    """Write a script and run a command line in which ``{s}`` is its path."""

    def state(fixture: ProgramsFixture) -> None:
        path = fixture.write(f"~/{name}", content)
        fixture.run([arg.replace("{s}", str(path)) for arg in argv], cwd=fixture.home)

    return state


def _shell(*argv: str) -> State:
    """Run a script in a shell with a command line like that of `_script`, and wait until it runs."""
    run = _script(*argv, content=": >runs\nsleep 60\n")

    def state(fixture: ProgramsFixture) -> None:
        run(fixture)
        assert wait_until((fixture.home / "runs").exists, timeout_s=20)

    return state


def _kept_from_its_script(*argv: str, variable: str = "BASH_ENV") -> State:
    """Run a shell that reads a different file first, which opens the script and never ends."""

    def state(fixture: ProgramsFixture) -> None:
        path = fixture.write("~/serve.sh", ": >runs\nsleep 60\n")
        first = fixture.write("~/first", f"exec 9<{path}\n: >runs\nsleep 60\n")
        shell_argv = [*argv, str(path)]
        fixture.run(["/usr/bin/env", f"{variable}={first}", *shell_argv], cwd=fixture.home)
        assert wait_until((fixture.home / "runs").exists, timeout_s=20)
        last = (fixture.processes or [])[-1]
        fixture.processes = [last._replace(argv=tuple(shell_argv))]

    return state


def _says_so(fixture: ProgramsFixture) -> None:
    """Run different code in a shell whose command line names the script."""
    path = fixture.write("~/serve.sh", "sleep 60\n")
    fixture.run(["/bin/bash", "-c", ": >runs; sleep 60; :"], cwd=fixture.home)
    assert wait_until((fixture.home / "runs").exists, timeout_s=20)
    last = (fixture.processes or [])[-1]
    fixture.processes = [last._replace(argv=("/bin/bash", str(path)))]


def _login_by_name(fixture: ProgramsFixture) -> None:
    """Run the script in a shell whose name is that of a login shell."""
    _shell("/bin/bash", "{s}")(fixture)
    last = (fixture.processes or [])[-1]
    fixture.processes = [last._replace(argv=("-bash", *last.argv[1:]))]


def _stopped(fixture: ProgramsFixture) -> None:
    """Run the script in a shell, and stop the shell."""
    _shell("/bin/bash", "{s}")(fixture)
    pid = (fixture.processes or [])[-1].pid
    os.kill(pid, signal.SIGSTOP)
    assert wait_until(lambda: ") T " in Path(f"/proc/{pid}/stat").read_text(), timeout_s=20)


def _traced(fixture: ProgramsFixture) -> None:
    """Run the script in a shell that a debugger stops."""
    path = fixture.write("~/serve.sh", ": >runs\nsleep 60\n")
    fixture.run(["/usr/bin/python3", "-c", _DEBUGGER, "/bin/bash", str(path)], cwd=fixture.home)
    assert wait_until((fixture.home / "held").exists, timeout_s=20)
    last = (fixture.processes or [])[-1]
    pid = int((fixture.home / "held").read_text())
    assert ") t " in Path(f"/proc/{pid}/stat").read_text()
    fixture.processes = [last._replace(pid=pid, argv=("/bin/bash", str(path)))]


def _beyond_first_thread(fixture: ProgramsFixture) -> None:
    path = fixture.write("~/s.py", WITHOUT_FIRST_THREAD)
    fixture.run_beyond_first_thread(["/usr/bin/python3", str(path)])


def _before(fixture: ProgramsFixture) -> None:
    """Run a shell with different code before the script, which does not end."""
    code = fixture.write("~/code", ": >runs\nsleep 60\n")
    path = fixture.write("~/serve.sh", "sleep 60\n")
    fixture.run(["/usr/bin/env", f"BASH_ENV={code}", "/bin/bash", str(path)], cwd=fixture.home)
    assert wait_until((fixture.home / "runs").exists, timeout_s=20)
    last = (fixture.processes or [])[-1]
    fixture.processes = [last._replace(argv=("/bin/bash", str(path)))]


def _deleted_script(fixture: ProgramsFixture) -> None:
    """Run a different script, and delete it once it runs."""
    fixture.write("~/serve.sh", "sleep 60\n")
    path = fixture.write(
        "~/other.sh", f"rm {fixture.home}/other.sh; : >{fixture.home}/runs; sleep 60\n"
    )
    fixture.run(["/bin/sh", str(path)], cwd=fixture.home)
    assert wait_until((fixture.home / "runs").exists, timeout_s=20)


def _copied_interpreter(fixture: ProgramsFixture) -> None:
    """Run the script with a copy of the shell that the agent owns."""
    path = fixture.write("~/serve.sh", "sleep 60\n")
    shell = fixture.at("~/sh")
    shell.write_bytes(_dash())
    shell.chmod(0o755)
    fixture.run([str(shell), str(path)], cwd=fixture.home)


def _dash() -> bytes:
    return Path("/bin/sh").read_bytes()


TABLES = (
    CaseTable(
        git.git_commit_message_contains,
        RepositoryFixture,
        (
            positive("in the middle", commits("one", "Fix #42 now"), path=R, text="#42"),
            positive("spans two lines", commits("Fix\n\nthe typo"), path=R, text="Fix the"),
            negative("different message", commits("two"), path=R, text="one"),
            near_miss("different letter case", commits("fix"), path=R, text="Fix"),
            near_miss("in the previous commit", commits("Fix", "two"), path=R, text="Fix"),
            corrupt("broken objects", system._broken, path=R, text="one"),
            missing("no repository", nothing, path=R, text="one"),
            empty("empty expected text", commits("one"), path=R, text=" "),
            empty("no commits", system._empty, path=R, text="one"),
            hostile("replaced commit", system._redo, path=R, text="Fix"),
            hostile("link to outside", system._outside, path=R, text="one"),
            another_way("objects from elsewhere", ELSEWHERE, path=R, text="one"),
            *layout_cases(text="one"),
            forged("commit object replaced by a different one", IMPOSTOR, path=R, text="one"),
            another_way("packed", system._gathered, path=R, text="on"),
            another_way("with git plumbing commands", system._plumbed, path=R, text="one"),
            another_way("in Latin-1, as declared", in_latin_1(), path=R, text="café"),
            another_way("in Latin-1, undeclared", in_latin_1(says=False), path=R, text="café"),
        ),
        equivalent={"*: args.text: cut": "a part of the text is also contained"},
    ),
    CaseTable(
        web.http_text_contains,
        WebFixture,
        (
            positive("text within the page", page("<p>Zürich HB</p>"), url=URL, text="Zürich"),
            negative("different text", page("Bern"), url=URL, text="Zürich"),
            near_miss("different letter case", page("zürich"), url=URL, text="Zürich"),
            near_miss("in an error page", page("Zürich", 404), url=URL, text="Zürich"),
            corrupt("not UTF-8", page("Zürich".encode("latin-1")), url=URL, text="Zürich"),
            missing("missing page", nothing, url=URL, text="x"),
            empty("empty expected text", page("x"), url=URL, text=""),
            empty("an empty page", page(""), url=URL, text="x"),
            hostile("page over the size limit", page(b"x" * ((1 << 22) + 1)), url=URL, text="x"),
            forged("with character entities", page("Z&uuml;rich"), url=URL, text="Zürich"),
            forged("in a redirect", page("Zürich", 302), url=URL, text="Zürich"),
            another_way("with CRLF", page("a\r\nb"), url=URL, text="a\nb"),
            another_way("expected text has CRLF", page("a\nb"), url=URL, text="a\r\nb"),
            another_way("with a byte order mark", page("\ufeffZürich"), url=URL, text="Zürich"),
        ),
        equivalent={"*: args.text: cut": "a part of the text is also contained"},
    ),
    CaseTable(
        web.http_title_is,
        WebFixture,
        (
            positive("page with the title", page(TITLED), url=URL, title="My garden"),
            negative("different title", page("<title>Shop</title>"), url=URL, title="My garden"),
            near_miss(
                "additional text in the title",
                page("<title>My garden!</title>"),
                url=URL,
                title="My garden",
            ),
            near_miss(
                "heading instead of a title", page("<h1>My garden</h1>"), url=URL, title="My garden"
            ),
            near_miss("in an error page", page(TITLED, 500), url=URL, title="My garden"),
            corrupt("unclosed title", page("<title>My garden"), url=URL, title="My garden"),
            missing("missing page", nothing, url=URL, title="My garden"),
            empty("an empty title", page("<title></title>"), url=URL, title="My garden"),
            hostile(
                "second title",
                page("<title>Shop</title><title>My garden</title>"),
                url=URL,
                title="My garden",
            ),
            forged(
                "in a comment",
                page("<!-- <title>My garden</title> -->"),
                url=URL,
                title="My garden",
            ),
            forged(
                "in an SVG image",
                page("<svg><title>My garden</title></svg><title>Shop</title>"),
                url=URL,
                title="My garden",
            ),
            *(
                forged(
                    f"within element {tag}",
                    page(f"<{tag}><title>My garden</title></{tag}><title>Shop</title>"),
                    url=URL,
                    title="My garden",
                )
                for tag in (
                    *("template", "textarea", "math", "noscript", "iframe"),
                    *("noembed", "noframes", "xmp", "select"),
                )
            ),
            forged(
                "in an SVG image with a nested image",
                page("<svg><svg></svg><title>My garden</title></svg><title>Shop</title>"),
                url=URL,
                title="My garden",
            ),
            another_way(
                "after SVG images",
                page("<svg><svg></svg><title>x</title></svg><title>My garden</title>"),
                url=URL,
                title="My garden",
            ),
            forged(
                "in a script",
                page("<script>'<title>My garden</title>'</script>"),
                url=URL,
                title="My garden",
            ),
            another_way(
                "element name in upper case",
                page("<TITLE>My garden</TITLE>"),
                url=URL,
                title="My garden",
            ),
            another_way(
                "with character entities", page("<title>A &amp; B</title>"), url=URL, title="A & B"
            ),
            *web_ways.title_cases(),
        ),
    ),
    CaseTable(
        settings.wallpaper_laid_out,
        DesktopFixture,
        (
            positive("zoom", wallpaper(settings_cases.URI), path=P, options="zoom"),
            *(
                positive(
                    options, wallpaper(settings_cases.URI, options=options), path=P, options=options
                )
                for options in ("wallpaper", "centered", "scaled", "stretched", "spanned")
            ),
            negative("different picture", wallpaper("file:///x.png"), path=P, options="zoom"),
            near_miss("different layout", wallpaper(settings_cases.URI), path=P, options="scaled"),
            forged(
                "background off",
                wallpaper(settings_cases.URI, drawn=("true", "false")),
                path=P,
                options="zoom",
            ),
            near_miss(
                "no picture displayed",
                wallpaper(settings_cases.URI, options="none"),
                path=P,
                options="zoom",
            ),
            corrupt(
                "invalid layout", wallpaper(settings_cases.URI), path=P, options="none"
            ).expect_error(),
            missing(
                "file deleted",
                wallpaper(settings_cases.URI, file=""),
                path=P,
                options="zoom",
            ),
            empty("empty address", wallpaper(""), path=P, options="zoom"),
            hostile(
                "link in place of the file",
                lambda b: (
                    wallpaper(settings_cases.URI, file="")(b),
                    b.write("/srv/p", "x"),
                    b.link(P, "/srv/p"),
                ),
                path=P,
                options="zoom",
            ),
            forged(
                "for the inactive style",
                wallpaper("file:///x.png", dark=settings_cases.URI),
                path=P,
                options="zoom",
            ),
            forged(
                "copy in a folder that no program uses",
                lambda b: (
                    wallpaper("file:///home/user/x.png")(b),
                    b.write("~/x.png", settings_cases.PICTURE),
                ),
                path=P,
                options="zoom",
            ),
            another_way(
                "set through the portal",
                lambda b: (
                    wallpaper(settings_cases.PORTAL)(b),
                    b.write("~/.config/background", settings_cases.PICTURE),
                ),
                path=P,
                options="zoom",
            ),
            another_way(
                "in the dark style",
                wallpaper("file:///x.png", dark=settings_cases.URI, style="prefer-dark"),
                path=P,
                options="zoom",
            ),
        ),
        equivalent={
            "*: * cut": "the content of the file is ignored, except for its beginning",
            "*: * flip a byte": "the content of the file is ignored, except for its beginning",
            "*: gsettings: prints *": "one of the settings; its value is ignored or read as light",
        },
    ),
    CaseTable(
        programs.script_running,
        ProgramsFixture,
        (
            positive("by its path", _shell("/bin/sh", "{s}"), script="~/serve.sh"),
            positive(
                "with an option and an argument",
                _shell("/bin/sh", "-u", "{s}", "8000"),
                script="~/serve.sh",
            ),
            negative(
                "different script", _script("/bin/sh", "{s}", name="other.sh"), script="~/serve.sh"
            ),
            near_miss(
                "different script, deleted while it runs", _deleted_script, script="~/serve.sh"
            ),
            near_miss(
                "argument of a different program",
                _script("/bin/sleep", "60", "{s}"),
                script="~/serve.sh",
            ),
            near_miss(
                "inline code with the script as its argument",
                _script("/bin/sh", "-c", "sleep 60; :", "{s}"),
                script="~/serve.sh",
            ),
            missing("missing script", nothing, script="~/serve.sh"),
            missing(
                "script not running",
                lambda b: b.write("~/serve.sh", "sleep 60\n"),
                script="~/serve.sh",
            ),
            empty("no processes", lambda b: b.write("~/serve.sh", ""), script="~/serve.sh"),
            hostile(
                "copy of the interpreter that the agent owns",
                _copied_interpreter,
                script="~/serve.sh",
            ),
            forged(
                "program with a forged command line",
                _script("/bin/bash", "-c", "exec -a sh sleep 60 # {s}"),
                script="~/serve.sh",
            ),
            forged(
                "displayed by a different program",
                _script("/usr/bin/tail", "-f", "{s}"),
                script="~/serve.sh",
            ),
            forged("named like a login shell", _login_by_name, script="~/serve.sh"),
            forged("shell with a forged command line", _says_so, script="~/serve.sh"),
            *(
                forged(f"{name} first", _kept_from_its_script(*argv, **more), script="~/serve.sh")
                for name, argv, more in (
                    ("bash reads a different file", ("/bin/bash",), {}),
                    ("interactive shell reads its file", ("/bin/sh", "-i"), {"variable": "ENV"}),
                    ("shell reads its own file", ("/bin/sh",), {"variable": "ENV"}),
                    ("login shell reads its file", ("/bin/bash", "-l"), {"variable": "X"}),
                    *(
                        (
                            f"{variable} may contain code that runs",
                            ("/bin/bash",),
                            {"variable": variable},
                        )
                        for variable in (
                            "PS4",
                            "BASH_FUNC_sleep%%",
                            "LOCPATH",
                            "BASHOPTS",
                            "SHELLOPTS",
                            "ZDOTDIR",
                        )
                    ),
                )
            ),
            another_way(
                "with an unrelated variable",
                _kept_from_its_script("/bin/bash", variable="MY_ENV"),
                script="~/serve.sh",
            ),
            forged(
                "as the value of an option",
                _script("/usr/bin/python3", "-X", "{s}", "-c", "import time; time.sleep(60)"),
                script="~/serve.sh",
            ),
            forged(
                "file of that name in a different folder",
                _script("/bin/sh", "{s}", name="d/serve.sh"),
                script="~/serve.sh",
            ),
            forged(
                "inline code in combined options, with the script as its argument",
                _script("/bin/sh", "-ec", "sleep 60; :", "{s}"),
                script="~/serve.sh",
            ),
            forged(
                "inline code with the same text as the script's name",
                _script("/bin/sh", "-ec", "sleep 60;:", name="sleep 60;:"),
                script="~/sleep 60;:",
            ),
            forged("stopped", _stopped, script="~/serve.sh"),
            forged("stopped by a debugger", _traced, script="~/serve.sh"),
            forged("different code runs first", _before, script="~/serve.sh"),
            forged(
                "long syntax check of the script",
                _script("/bin/bash", "-n", "{s}", content=":\n" * 4_000_000),
                script="~/serve.sh",
            ),
            another_way("first thread has ended", _beyond_first_thread, script="~/s.py"),
            another_way("with a relative path", _shell("/bin/sh", "serve.sh"), script="~/serve.sh"),
            another_way(
                "with shell options for strict mode",
                _shell("/bin/bash", "-euo", "pipefail", "{s}"),
                script="~/serve.sh",
            ),
            another_way(
                "with a lone dash before the script",
                _shell("/bin/sh", "-", "{s}"),
                script="~/serve.sh",
            ),
            another_way(
                "with isolated Python",
                _script(
                    "/usr/bin/python3", "-I", "-X", "dev", "{s}", name="s.py", content=_SLEEPING
                ),
                script="~/s.py",
            ),
            another_way(
                "with Perl",
                _script("/usr/bin/perl", "-w", "-Ilib", "{s}", name="s.pl", content="sleep 60"),
                script="~/s.pl",
            ),
            another_way(
                "with Python",
                _script(
                    "/usr/bin/python3",
                    "{s}",
                    name="s.py",
                    content=_SLEEPING,
                ),
                script="~/s.py",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: "there is no data that could be corrupt"},
        equivalent={
            "*: home/user/*": "the interpreter has read the file, and its path still exists"
        },
    ),
)
