"""Cases of evaluators that tasks about projects need: commits, pages, scripts, wallpapers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
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
from tests.evaluator_cases.desktop import services, system
from tests.evaluator_cases.desktop import settings as settings_cases
from tests.evaluator_cases.desktop_ways import web as web_ways
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
    """Write a script and run a command line, in which {s} is its path."""

    def state(fixture: ProgramsFixture) -> None:
        path = fixture.write(f"~/{name}", content)
        fixture.run([arg.replace("{s}", str(path)) for arg in argv], cwd=fixture.home)

    return state


def _shell(*argv: str) -> State:
    """Let a shell run a script, by a command line as that of `_script`, and wait until it does."""
    run = _script(*argv, content=": >runs\nsleep 60\n")

    def state(fixture: ProgramsFixture) -> None:
        run(fixture)
        assert wait_until((fixture.home / "runs").exists, timeout_s=20)

    return state


def _kept_from_its_script(*argv: str, variable: str = "BASH_ENV") -> State:
    """Let a shell run another file first, or only seem to, which opens the script and never ends."""

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
    """Let a shell run other code, and its command line name the script."""
    path = fixture.write("~/serve.sh", "sleep 60\n")
    fixture.run(["/bin/bash", "-c", ": >runs; sleep 60; :"], cwd=fixture.home)
    assert wait_until((fixture.home / "runs").exists, timeout_s=20)
    last = (fixture.processes or [])[-1]
    fixture.processes = [last._replace(argv=("/bin/bash", str(path)))]


def _login_by_name(fixture: ProgramsFixture) -> None:
    """Let a shell run the script that is named as those of logins are."""
    _shell("/bin/bash", "{s}")(fixture)
    last = (fixture.processes or [])[-1]
    fixture.processes = [last._replace(argv=("-bash", *last.argv[1:]))]


def _stopped(fixture: ProgramsFixture) -> None:
    """Let a shell run the script, and stop it."""
    _shell("/bin/bash", "{s}")(fixture)
    pid = (fixture.processes or [])[-1].pid
    os.kill(pid, signal.SIGSTOP)
    assert wait_until(lambda: ") T " in Path(f"/proc/{pid}/stat").read_text(), timeout_s=20)


def _traced(fixture: ProgramsFixture) -> None:
    """Let a shell run the script, and a debugger hold it."""
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
    """Let a shell run other code, which does not end, before the script."""
    code = fixture.write("~/code", ": >runs\nsleep 60\n")
    path = fixture.write("~/serve.sh", "sleep 60\n")
    fixture.run(["/usr/bin/env", f"BASH_ENV={code}", "/bin/bash", str(path)], cwd=fixture.home)
    assert wait_until((fixture.home / "runs").exists, timeout_s=20)
    last = (fixture.processes or [])[-1]
    fixture.processes = [last._replace(argv=("/bin/bash", str(path)))]


def _deleted_script(fixture: ProgramsFixture) -> None:
    """Run another script, and delete it once it runs."""
    fixture.write("~/serve.sh", "sleep 60\n")
    path = fixture.write(
        "~/other.sh", f"rm {fixture.home}/other.sh; : >{fixture.home}/runs; sleep 60\n"
    )
    fixture.run(["/bin/sh", str(path)], cwd=fixture.home)
    assert wait_until((fixture.home / "runs").exists, timeout_s=20)


def _copied_interpreter(fixture: ProgramsFixture) -> None:
    """Run the script by a copy of the shell that is the agent's own."""
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
            positive("over two lines", commits("Fix\n\nthe typo"), path=R, text="Fix the"),
            negative("another", commits("two"), path=R, text="one"),
            near_miss("letter case", commits("fix"), path=R, text="Fix"),
            near_miss("the one before", commits("Fix", "two"), path=R, text="Fix"),
            corrupt("broken objects", system._broken, path=R, text="one"),
            missing("no repository", nothing, path=R, text="one"),
            empty("no text asked for", commits("one"), path=R, text=" "),
            empty("no commit yet", system._empty, path=R, text="one"),
            hostile("replaced", system._redo, path=R, text="Fix"),
            hostile("a link out", system._outside, path=R, text="one"),
            forged("objects of another place", ELSEWHERE, path=R, text="one"),
            forged("a commit in the place of another", IMPOSTOR, path=R, text="one"),
            another_way("packed", system._gathered, path=R, text="on"),
            another_way("by plumbing", system._plumbed, path=R, text="one"),
            another_way("in Latin-1, as it says", in_latin_1(), path=R, text="café"),
            another_way("given in Latin-1", in_latin_1(says=False), path=R, text="café"),
        ),
        equivalent={"*: args.text: cut": "a part of the text is contained, too"},
    ),
    CaseTable(
        web.http_text_contains,
        WebFixture,
        (
            positive("within", page("<p>Zürich HB</p>"), url=URL, text="Zürich"),
            negative("another", page("Bern"), url=URL, text="Zürich"),
            near_miss("letter case", page("zürich"), url=URL, text="Zürich"),
            near_miss("in an error", page("Zürich", 404), url=URL, text="Zürich"),
            corrupt("no UTF-8", page("Zürich".encode("latin-1")), url=URL, text="Zürich"),
            missing("no such page", nothing, url=URL, text="x"),
            empty("no text asked for", page("x"), url=URL, text=""),
            empty("an empty page", page(""), url=URL, text="x"),
            hostile("huge", page(b"x" * ((1 << 22) + 1)), url=URL, text="x"),
            forged("as entities", page("Z&uuml;rich"), url=URL, text="Zürich"),
            forged("in a redirect", page("Zürich", 302), url=URL, text="Zürich"),
            another_way("with CRLF", page("a\r\nb"), url=URL, text="a\nb"),
            another_way("CRLF asked for", page("a\nb"), url=URL, text="a\r\nb"),
            another_way("with a byte order mark", page("\ufeffZürich"), url=URL, text="Zürich"),
        ),
        equivalent={"*: args.text: cut": "a part of the text is contained, too"},
    ),
    CaseTable(
        web.http_title_is,
        WebFixture,
        (
            positive("a page", page(TITLED), url=URL, title="My garden"),
            negative("another", page("<title>Shop</title>"), url=URL, title="My garden"),
            near_miss("more", page("<title>My garden!</title>"), url=URL, title="My garden"),
            near_miss("a heading", page("<h1>My garden</h1>"), url=URL, title="My garden"),
            near_miss("in an error", page(TITLED, 500), url=URL, title="My garden"),
            corrupt("not closed", page("<title>My garden"), url=URL, title="My garden"),
            missing("no such page", nothing, url=URL, title="My garden"),
            empty("an empty title", page("<title></title>"), url=URL, title="My garden"),
            hostile(
                "the second title",
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
                "in a picture",
                page("<svg><title>My garden</title></svg><title>Shop</title>"),
                url=URL,
                title="My garden",
            ),
            *(
                forged(
                    f"within {tag}",
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
                "in a picture in a picture",
                page("<svg><svg></svg><title>My garden</title></svg><title>Shop</title>"),
                url=URL,
                title="My garden",
            ),
            another_way(
                "after pictures",
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
                "in capitals", page("<TITLE>My garden</TITLE>"), url=URL, title="My garden"
            ),
            another_way("as entities", page("<title>A &amp; B</title>"), url=URL, title="A & B"),
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
            negative("another picture", wallpaper("file:///x.png"), path=P, options="zoom"),
            near_miss(
                "laid out otherwise", wallpaper(settings_cases.URI), path=P, options="scaled"
            ),
            near_miss(
                "no picture is shown",
                wallpaper(settings_cases.URI, options="none"),
                path=P,
                options="zoom",
            ),
            corrupt(
                "no such way", wallpaper(settings_cases.URI), path=P, options="none"
            ).expect_error(),
            missing(
                "the file is gone",
                wallpaper(settings_cases.URI, file=""),
                path=P,
                options="zoom",
            ),
            empty("no address", wallpaper(""), path=P, options="zoom"),
            hostile(
                "a link for the file",
                lambda b: (
                    wallpaper(settings_cases.URI, file="")(b),
                    b.write("/srv/p", "x"),
                    b.link(P, "/srv/p"),
                ),
                path=P,
                options="zoom",
            ),
            forged(
                "for the style not in use",
                wallpaper("file:///x.png", dark=settings_cases.URI),
                path=P,
                options="zoom",
            ),
            forged(
                "a copy that no program makes",
                lambda b: (
                    wallpaper("file:///home/user/x.png")(b),
                    b.write("~/x.png", settings_cases.PICTURE),
                ),
                path=P,
                options="zoom",
            ),
            another_way(
                "by the portal",
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
            "*: * cut": "what the file holds does not count, but its beginning",
            "*: * flip a byte": "what the file holds does not count, but its beginning",
            "*: gsettings: prints *": "one of the settings, whose value does not count or is read as light",
        },
    ),
    CaseTable(
        programs.script_running,
        ProgramsFixture,
        (
            positive("by its path", _shell("/bin/sh", "{s}"), script="~/serve.sh"),
            positive(
                "with options and words",
                _shell("/bin/sh", "-u", "{s}", "8000"),
                script="~/serve.sh",
            ),
            negative(
                "another script", _script("/bin/sh", "{s}", name="other.sh"), script="~/serve.sh"
            ),
            near_miss("another script, which is gone", _deleted_script, script="~/serve.sh"),
            near_miss(
                "as an argument of another",
                _script("/bin/sleep", "60", "{s}"),
                script="~/serve.sh",
            ),
            near_miss(
                "code with the script as its argument",
                _script("/bin/sh", "-c", "sleep 60; :", "{s}"),
                script="~/serve.sh",
            ),
            missing("no such script", nothing, script="~/serve.sh"),
            missing(
                "it does not run",
                lambda b: b.write("~/serve.sh", "sleep 60\n"),
                script="~/serve.sh",
            ),
            empty("no processes", lambda b: b.write("~/serve.sh", ""), script="~/serve.sh"),
            hostile("an interpreter of the agent's own", _copied_interpreter, script="~/serve.sh"),
            forged(
                "a program that calls itself so",
                _script("/bin/bash", "-c", "exec -a sh sleep 60 # {s}"),
                script="~/serve.sh",
            ),
            forged(
                "shown by another program",
                _script("/usr/bin/tail", "-f", "{s}"),
                script="~/serve.sh",
            ),
            forged("a login shell by its name", _login_by_name, script="~/serve.sh"),
            forged("a shell that only says so", _says_so, script="~/serve.sh"),
            *(
                forged(f"{name} first", _kept_from_its_script(*argv, **more), script="~/serve.sh")
                for name, argv, more in (
                    ("bash runs another file", ("/bin/bash",), {}),
                    ("an interactive shell", ("/bin/sh", "-i"), {"variable": "ENV"}),
                    ("a shell of its own files", ("/bin/sh",), {"variable": "ENV"}),
                    ("a login shell", ("/bin/bash", "-l"), {"variable": "X"}),
                    *(
                        (f"{variable} brings code, perhaps", ("/bin/bash",), {"variable": variable})
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
                "with another variable",
                _kept_from_its_script("/bin/bash", variable="MY_ENV"),
                script="~/serve.sh",
            ),
            forged(
                "as the value of an option",
                _script("/usr/bin/python3", "-X", "{s}", "-c", "import time; time.sleep(60)"),
                script="~/serve.sh",
            ),
            forged(
                "a file of that name elsewhere",
                _script("/bin/sh", "{s}", name="d/serve.sh"),
                script="~/serve.sh",
            ),
            forged(
                "code in a word with other options, the script its argument",
                _script("/bin/sh", "-ec", "sleep 60; :", "{s}"),
                script="~/serve.sh",
            ),
            forged(
                "code that is named like the script",
                _script("/bin/sh", "-ec", "sleep 60;:", name="sleep 60;:"),
                script="~/sleep 60;:",
            ),
            forged("stopped", _stopped, script="~/serve.sh"),
            forged("held by a debugger", _traced, script="~/serve.sh"),
            forged("other code before it", _before, script="~/serve.sh"),
            forged(
                "a check of its syntax, which takes long",
                _script("/bin/bash", "-n", "{s}", content=":\n" * 4_000_000),
                script="~/serve.sh",
            ),
            another_way("its first thread has ended", _beyond_first_thread, script="~/s.py"),
            another_way("by a relative path", _shell("/bin/sh", "serve.sh"), script="~/serve.sh"),
            another_way(
                "by a shell that stops at errors",
                _shell("/bin/bash", "-euo", "pipefail", "{s}"),
                script="~/serve.sh",
            ),
            another_way(
                "as a first line with a dash has it",
                _shell("/bin/sh", "-", "{s}"),
                script="~/serve.sh",
            ),
            another_way(
                "by an isolated Python",
                _script(
                    "/usr/bin/python3", "-I", "-X", "dev", "{s}", name="s.py", content=_SLEEPING
                ),
                script="~/s.py",
            ),
            another_way(
                "by Perl",
                _script("/usr/bin/perl", "-w", "-Ilib", "{s}", name="s.pl", content="sleep 60"),
                script="~/s.pl",
            ),
            another_way(
                "by Python",
                _script(
                    "/usr/bin/python3",
                    "{s}",
                    name="s.py",
                    content=_SLEEPING,
                ),
                script="~/s.py",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: "there is no data that could be broken"},
        equivalent={
            "*: home/user/*": "the interpreter has read the file, and its name still leads to what is there"
        },
    ),
)
