"""Cases of evaluators of files, folders and plain texts."""

from __future__ import annotations

import hashlib
import os
import socket

from evaluators.desktop import files, folders, texts
from evaluators.testing.case import (
    CaseKind,
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

NO_CONTENT = "the evaluator does not look at content, so there is none to be broken"
SHA_X = hashlib.sha256(b"x").hexdigest()
SHA_NONE = hashlib.sha256(b"").hexdigest()

WHATEVER_CONTENT = {
    "*: * empty": "the content does not count",
    "*: * cut": "the content does not count",
    "*: * flip a byte": "the content does not count",
}
WHITE_SPACE = {"*: args.line: cut": "a blank at the end does not count"}


def _file(content: str | bytes = "x", path: str = "~/a.txt") -> State:
    return lambda b: b.write(path, content)


def _many(count: int) -> State:
    """Make a folder with this many entries, names of one file, which costs little."""

    def make(box: DesktopFixture) -> None:
        first = box.write("~/d/0", "")
        for number in range(1, count):
            (first.parent / str(number)).hardlink_to(first)

    return make


def _files(*paths: str) -> State:
    return lambda b: [b.write(path, "x") for path in paths]


def _all(*states: State) -> State:
    return lambda b: [state(b) for state in states]


def _pipe(path: str) -> State:
    def make(b: DesktopFixture) -> None:
        os.mkfifo(b.at(path))

    return make


def _out(content: str = "x") -> State:
    """Let the right file stand outside, and a link to it where it should be."""
    return _all(_file(content, "/srv/o/a.txt"), lambda b: b.link("~/a.txt", "/srv/o/a.txt"))


def _way(content: str = "x") -> State:
    """Let the right file stand in a folder that is reached by a link only."""
    return _all(_file(content, "/srv/o/a.txt"), lambda b: b.link("~/d", "/srv/o"))


def _socket(path: str) -> State:
    """Have a socket, as services leave them."""

    def make(b: DesktopFixture) -> None:
        full = b.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(full))

    return make


def _way_of_another(b: DesktopFixture) -> None:
    """Have a link of another user's on the way, where these tests may do that; else none."""
    b.write("/srv/o/a", "x")
    if os.geteuid() == 0:
        b.link("/srv/l", "/srv/o")
        os.lchown(b.at("/srv/l"), 12345, 12345)


def _hard_link(path: str = "~/a.txt", content: str = "x") -> State:
    """Have a file under two names."""
    return lambda b: b.at(path).hardlink_to(b.write(f"{path}.old", content))


def _behind_link(b: DesktopFixture) -> None:
    """Have a folder elsewhere, and a link to it in its place."""
    b.write("~/real/a.txt", "x")
    b.folder_at("~/real/e")
    b.link("~/d", "real")


def _of_other_kinds(b: DesktopFixture) -> None:
    """Have two folders with a file, and a pipe in one where the other has a socket."""
    for top in ("~/s", "/srv/t"):
        b.write(f"{top}/a", "a")
    _pipe("~/s/p")(b)
    _socket("/srv/t/p")(b)


FILES = (
    CaseTable(
        files.file_exists,
        DesktopFixture,
        (
            positive(
                "by a link outside the home",
                lambda b: (b.write("/srv/o/a", "x"), b.link("/srv/l", "/srv/o")),
                path="/srv/l/a",
            ),
            positive("a file", _file(), path="~/a.txt"),
            positive("an absolute path", _file("x", "/srv/a.txt"), path="/srv/a.txt"),
            positive("in a folder below", _file("x", "~/c/d/a.txt"), path="~/c/d/a.txt"),
            positive("at the root", _file("x", "/a.txt"), path="/a.txt"),
            negative("another file", _file("x", "~/b.txt"), path="~/a.txt"),
            near_miss("other case", _file("x", "~/A.txt"), path="~/a.txt"),
            near_miss("deeper", _file("x", "~/d/a.txt"), path="~/a.txt"),
            near_miss("a folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt"),
            missing("nothing", nothing, path="~/a.txt"),
            missing("a file for a folder", _file(), path="~/a.txt/b"),
            missing("a folder at the root", nothing, path="/nowhere/a.txt"),
            empty("an empty file counts", _file(""), path="~/a.txt").expect_met(),
            hostile("a link out", _out(), path="~/a.txt"),
            hostile("a link on the way", _way(), path="~/d/a.txt"),
            hostile("a pipe", _pipe("~/a.txt"), path="~/a.txt"),
            hostile("a name too long", nothing, path="~/" + "a" * 300),
            hostile(
                "a huge file is not read", lambda b: b.huge("~/a.txt"), path="~/a.txt"
            ).expect_met(),
            hostile(
                "a link to itself outside the home",
                lambda b: b.link("/srv/l", "l"),
                path="/srv/l/a",
            ),
            hostile("another user's link outside the home", _way_of_another, path="/srv/l/a"),
            *(
                another_way(
                    f"by a link outside the home to {target}",
                    lambda b, target=target: (  # type: ignore[misc]
                        b.write("/srv/o/a", "x"),
                        b.folder_at("/srv/d"),
                        b.link("/srv/d/l", target),
                    ),
                    path="/srv/d/l/a",
                )
                for target in ("../o", ".././d/..//o", "/srv/o/")
            ),
            forged("a socket", _socket("~/a.txt"), path="~/a.txt"),
            forged("a name that looks the same", _file("x", "~/\u0430.txt"), path="~/a.txt"),
            another_way("a second name of a file", _hard_link(), path="~/a.txt"),
            another_way("nobody may read it", lambda b: b.write("~/a.txt", "x", 0), path="~/a.txt"),
        ),
        inapplicable={CaseKind.CORRUPT: NO_CONTENT},
        equivalent=WHATEVER_CONTENT,
    ),
    CaseTable(
        files.path_absent,
        DesktopFixture,
        (
            positive("gone", _file("x", "~/b.txt"), path="~/a.txt"),
            negative("there", _file(), path="~/a.txt"),
            near_miss("a folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt"),
            near_miss("an empty file", _file(""), path="~/a.txt"),
            corrupt("a file for a folder", _file("x", "~/d"), path="~/d/a.txt").expect_met(),
            missing("its folder is gone, too", nothing, path="~/d/a.txt").expect_met(),
            empty("nothing at all", nothing, path="~/a.txt").expect_met(),
            hostile("a dangling link", lambda b: b.link("~/a.txt", "/nowhere"), path="~/a.txt"),
            hostile("a pipe", _pipe("~/a.txt"), path="~/a.txt"),
            hostile("too deep", _file(), path="~/" + "d/" * 3000 + "a.txt").expect_met(),
            forged("a socket", _socket("~/a.txt"), path="~/a.txt"),
            another_way(
                "in a folder that a link of the system leads to",
                lambda b: (b.folder_at("/usr/bin"), b.link("/bin", "usr/bin")),
                path="/bin/a.txt",
            ),
            another_way("below a folder of the system that is not there", nothing, path="/opt/d/a"),
            forged("in a folder that a link leads to", _behind_link, path="~/d/a.txt"),
            forged("below a folder that a link leads to", _behind_link, path="~/d/e/f/a.txt"),
            forged(
                "a link to where it is now",
                lambda b: (b.write("~/.a.txt", "x"), b.link("~/a.txt", "~/.a.txt")),
                path="~/a.txt",
            ),
            another_way(
                "in the trash", _file("x", "~/.local/share/Trash/files/a.txt"), path="~/a.txt"
            ),
            another_way("renamed", _file("x", "~/a.old"), path="~/a.txt"),
        ),
        equivalent={
            "gone: no state": "nothing is absence",
            "gone: home/user/b.txt: *": "another file does not count",
            "gone: args.path: append": "that is not there either",
            "gone: args.path: cut": "that is not there either",
            "gone: args.path: swap case": "that is not there either",
        },
    ),
    CaseTable(
        files.file_moved,
        DesktopFixture,
        (
            positive(
                "moved", _file("x", "~/d/a.txt"), source="~/a.txt", target="~/d/a.txt", sha256=SHA_X
            ),
            positive(
                "digest in capitals",
                _file("x", "~/b"),
                source="~/a",
                target="~/b",
                sha256=SHA_X.upper(),
            ),
            negative("not moved", _file(), source="~/a.txt", target="~/d/a.txt", sha256=SHA_X),
            forged(
                "in a folder that a link leads to",
                _all(_behind_link, _file("x", "~/b")),
                source="~/d/a.txt",
                target="~/b",
                sha256=SHA_X,
            ),
            near_miss(
                "copied", _files("~/a.txt", "~/b"), source="~/a.txt", target="~/b", sha256=SHA_X
            ),
            near_miss(
                "moved elsewhere", _file("x", "~/c"), source="~/a", target="~/b", sha256=SHA_X
            ),
            corrupt(
                "changed on the way", _file("X", "~/b"), source="~/a", target="~/b", sha256=SHA_X
            ),
            missing("lost", nothing, source="~/a", target="~/b", sha256=SHA_X),
            empty("emptied", _file("", "~/b"), source="~/a", target="~/b", sha256=SHA_X),
            hostile(
                "a link at the source",
                _all(_file("x", "~/b"), lambda b: b.link("~/a", "/no")),
                source="~/a",
                target="~/b",
                sha256=SHA_X,
            ),
            hostile("a link at the target", _out(), source="~/b", target="~/a.txt", sha256=SHA_X),
            hostile("huge", lambda b: b.huge("~/b"), source="~/a", target="~/b", sha256=SHA_X),
            forged(
                "a link where it was",
                lambda b: (b.write("~/d/a.txt", "x"), b.link("~/a.txt", "~/d/a.txt")),
                source="~/a.txt",
                target="~/d/a.txt",
                sha256=SHA_X,
            ),
            forged(
                "a link where it should be",
                lambda b: (b.write("~/b.txt", "x"), b.link("~/d/a.txt", "~/b.txt")),
                source="~/a.txt",
                target="~/d/a.txt",
                sha256=SHA_X,
            ),
            another_way(
                "a second name of a file",
                _hard_link("~/d/a.txt"),
                source="~/a.txt",
                target="~/d/a.txt",
                sha256=SHA_X,
            ),
            another_way(
                "copied, then deleted",
                lambda b: (
                    b.write("~/d/a.txt", b.write("~/a.txt", "x").read_bytes()),
                    b.at("~/a.txt").unlink(),
                ),
                source="~/a.txt",
                target="~/d/a.txt",
                sha256=SHA_X,
            ),
        ),
        equivalent={
            "*: args.source: append": "nothing is there either",
            "*: args.source: cut": "nothing is there either",
            "*: args.source: swap case": "nothing is there either",
            "*: args.sha256: swap case": "letter case of digits does not count",
        },
    ),
    CaseTable(
        files.file_sha256_equals,
        DesktopFixture,
        (
            positive("digest in capitals", _file(), path="~/a.txt", sha256=SHA_X.upper()),
            positive("the content", _file(), path="~/a.txt", sha256=SHA_X),
            positive("an empty file's", _file(""), path="~/a.txt", sha256=SHA_NONE),
            positive(
                "of more than one piece",
                _file(b"ab" * (1 << 20)),
                path="~/a.txt",
                sha256=hashlib.sha256(b"ab" * (1 << 20)).hexdigest(),
            ),
            negative("other content", _file("y"), path="~/a.txt", sha256=SHA_X),
            near_miss("a newline more", _file("x\n"), path="~/a.txt", sha256=SHA_X),
            near_miss("the digest as content", _file(SHA_X), path="~/a.txt", sha256=SHA_X),
            corrupt(
                "cut",
                _file(b"ab" * 3),
                path="~/a.txt",
                sha256=hashlib.sha256(b"ab" * 4).hexdigest(),
            ),
            missing("nothing", nothing, path="~/a.txt", sha256=SHA_NONE),
            empty("empty", _file(""), path="~/a.txt", sha256=SHA_X),
            hostile("a link out", _out(), path="~/a.txt", sha256=SHA_X),
            hostile("huge", lambda b: b.huge("~/a.txt"), path="~/a.txt", sha256=SHA_X),
            hostile("a folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt", sha256=SHA_NONE),
            hostile("a pipe", _pipe("~/a.txt"), path="~/a.txt", sha256=SHA_NONE),
            forged(
                "a link to its second name",
                lambda b: (b.write("~/b.txt", "x"), b.link("~/a.txt", "b.txt")),
                path="~/a.txt",
                sha256=SHA_X,
            ),
            forged("with zeros behind it", _file("x\0\0"), path="~/a.txt", sha256=SHA_X),
            another_way("a second name of a file", _hard_link(), path="~/a.txt", sha256=SHA_X),
            another_way(
                "with a hole for zeros",
                lambda b: b.huge("~/a.txt", 4096),
                path="~/a.txt",
                sha256=hashlib.sha256(bytes(4096)).hexdigest(),
            ),
        ),
        equivalent={"*: args.sha256: swap case": "letter case of digits does not count"},
    ),
    CaseTable(
        files.file_size_between,
        DesktopFixture,
        (
            positive("within", _file("12345"), path="~/a.txt", least_bytes=3, most_bytes=9),
            positive("exactly", _file("12345"), path="~/a.txt", least_bytes=5, most_bytes=5),
            negative("far larger", _file("1" * 99), path="~/a.txt", least_bytes=3, most_bytes=9),
            near_miss("one less", _file("12"), path="~/a.txt", least_bytes=3, most_bytes=9),
            near_miss("one more", _file("1" * 10), path="~/a.txt", least_bytes=3, most_bytes=9),
            near_miss(
                "a folder",
                lambda b: b.folder_at("~/a.txt"),
                path="~/a.txt",
                least_bytes=0,
                most_bytes=1 << 20,
            ),
            corrupt("cut to nothing", _file(""), path="~/a.txt", least_bytes=1, most_bytes=9),
            missing("nothing", nothing, path="~/a.txt", least_bytes=0, most_bytes=9),
            empty("empty", _file(""), path="~/a.txt", least_bytes=1, most_bytes=9),
            hostile("a link", _out("12345"), path="~/a.txt", least_bytes=1, most_bytes=99),
            hostile("a pipe", _pipe("~/a.txt"), path="~/a.txt", least_bytes=0, most_bytes=9),
            forged(
                "a link whose own size is within",
                lambda b: b.link("~/a.txt", "12345"),
                path="~/a.txt",
                least_bytes=3,
                most_bytes=9,
            ),
            forged("a socket", _socket("~/a.txt"), path="~/a.txt", least_bytes=0, most_bytes=9),
            another_way(
                "a second name of a file",
                _hard_link(content="12345"),
                path="~/a.txt",
                least_bytes=3,
                most_bytes=9,
            ),
            another_way(
                "with a hole",
                lambda b: b.huge("~/a.txt", 5000),
                path="~/a.txt",
                least_bytes=4000,
                most_bytes=6000,
            ),
        ),
        equivalent={
            "within: args.*_bytes: *": "the size is within these bounds, too",
            "exactly: args.least_bytes: less": "the size is within these bounds, too",
            "exactly: args.most_bytes: more": "the size is within these bounds, too",
            "*: * flip a byte": "the content does not count",
            "*: * link": "see the case of a link",
        },
    ),
    CaseTable(
        files.file_mode_equals,
        DesktopFixture,
        (
            positive("a program", lambda b: b.write("~/run", "x", 0o755), path="~/run", mode="755"),
            positive(
                "four digits", lambda b: b.write("~/run", "x", 0o600), path="~/run", mode="0600"
            ),
            positive(
                "set user id", lambda b: b.write("~/run", "x", 0o4755), path="~/run", mode="4755"
            ),
            positive("a folder", lambda b: b.folder_at("~/d").chmod(0o700), path="~/d", mode="700"),
            negative(
                "not executable", lambda b: b.write("~/run", "x", 0o644), path="~/run", mode="755"
            ),
            near_miss(
                "for others, too", lambda b: b.write("~/run", "x", 0o757), path="~/run", mode="755"
            ),
            near_miss(
                "set user id, too",
                lambda b: b.write("~/run", "x", 0o4755),
                path="~/run",
                mode="755",
            ),
            corrupt("no mode", _file(), path="~/a.txt", mode="rwx").expect_error(),
            missing("nothing", nothing, path="~/run", mode="755"),
            empty(
                "an empty file has a mode",
                lambda b: b.write("~/run", "", 0o755),
                path="~/run",
                mode="755",
            ).expect_met(),
            hostile(
                "a link has none",
                lambda b: (b.write("/srv/r", "x", 0o777), b.link("~/run", "/srv/r")),
                path="~/run",
                mode="777",
            ),
            forged(
                "of the file that a link leads to",
                lambda b: (b.write("~/b", "x", 0o755), b.link("~/run", "~/b")),
                path="~/run",
                mode="755",
            ),
            forged(
                "with a sticky bit",
                lambda b: b.write("~/run", "x", 0o1755),
                path="~/run",
                mode="755",
            ),
            another_way(
                "a second name of a file",
                lambda b: b.at("~/run").hardlink_to(b.write("~/b", "x", 0o755)),
                path="~/run",
                mode="755",
            ),
            another_way(
                "by steps",
                lambda b: (b.write("~/run", "x", 0o600), b.at("~/run").chmod(0o755)),
                path="~/run",
                mode="0755",
            ),
        ),
        equivalent={**WHATEVER_CONTENT, "*: args.mode: empty": "raises"},
    ),
    CaseTable(
        files.symlink_leads_to,
        DesktopFixture,
        (
            positive("absolute", lambda b: b.link("~/l", "/srv/t"), path="~/l", target="/srv/t"),
            positive("relative", lambda b: b.link("~/d/l", "../t"), path="~/d/l", target="~/t"),
            positive(
                "into the home",
                lambda b: (b.write("~/t", "x"), b.link("~/l", "~/t")),
                path="~/l",
                target="~/t",
            ),
            negative("elsewhere", lambda b: b.link("~/l", "/srv/u"), path="~/l", target="/srv/t"),
            near_miss(
                "a folder above", lambda b: b.link("~/l", "/srv"), path="~/l", target="/srv/t"
            ),
            near_miss("a copy", _file("x", "~/l"), path="~/l", target="~/t"),
            corrupt("to itself", lambda b: b.link("~/l", "l"), path="~/l", target="~/t"),
            missing("nothing", nothing, path="~/l", target="~/t"),
            empty("an empty file", _file("", "~/l"), path="~/l", target="~/t"),
            hostile("the words as content", _file("/srv/t", "~/l"), path="~/l", target="/srv/t"),
            hostile(
                "by way of a link",
                lambda b: (b.link("/srv/d/l", "/srv/t"), b.link("~/d", "/srv/d")),
                path="~/d/l",
                target="/srv/t",
            ),
            forged(
                "a second name of the target",
                lambda b: b.at("~/l").hardlink_to(b.write("~/t", "x")),
                path="~/l",
                target="~/t",
            ),
            forged(
                "a link of the desktop",
                _file("[Desktop Entry]\nType=Link\nURL=file:///srv/t\n", "~/l"),
                path="~/l",
                target="/srv/t",
            ),
            forged(
                "up from a link, to elsewhere",
                lambda b: (b.folder_at("~/a/b"), b.link("~/x", "a/b"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/t",
            ),
            forged("up from nowhere", lambda b: b.link("~/l", "no/../t"), path="~/l", target="~/t"),
            forged(
                "up from a file",
                lambda b: (b.write("~/x", "x"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/t",
            ),
            another_way(
                "up from a folder",
                lambda b: (b.folder_at("~/x"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/t",
            ),
            another_way(
                "round about", lambda b: b.link("~/d/l", ".././d/../t"), path="~/d/l", target="~/t"
            ),
            another_way(
                "up from where it is",
                lambda b: b.link("~/d/l", "./../t"),
                path="~/d/l",
                target="~/t",
            ),
            another_way(
                "to a folder, with a slash",
                lambda b: (b.folder_at("~/t"), b.link("~/l", "t/")),
                path="~/l",
                target="~/t",
            ),
        ),
        equivalent={"into the home: home/user/t: *": "where a link leads may be missing"},
    ),
)

FOLDERS = (
    CaseTable(
        folders.directory_exists,
        DesktopFixture,
        (
            positive("a folder", _file("x", "~/d/a.txt"), path="~/d"),
            positive("the home itself", nothing, path="~"),
            negative("another", lambda b: b.folder_at("~/e"), path="~/d"),
            near_miss("a file", _file("x", "~/d"), path="~/d"),
            near_miss("other case", lambda b: b.folder_at("~/D"), path="~/d"),
            missing("nothing", nothing, path="~/d"),
            empty("an empty folder counts", lambda b: b.folder_at("~/d"), path="~/d").expect_met(),
            hostile(
                "a link to a folder",
                lambda b: (b.folder_at("/srv/d"), b.link("~/d", "/srv/d")),
                path="~/d",
            ),
            hostile("a pipe", _pipe("~/d"), path="~/d"),
            forged("a socket", _socket("~/d"), path="~/d"),
            forged("a dangling link", lambda b: b.link("~/d", "/nowhere"), path="~/d"),
            another_way(
                "for its owner only", lambda b: b.folder_at("~/d").chmod(0o700), path="~/d"
            ),
            another_way(
                "a folder renamed", lambda b: b.folder_at("~/e").rename(b.at("~/d")), path="~/d"
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_CONTENT},
        equivalent={
            "a folder: home/user/d/a.txt: *": "what is in it does not count",
            "the home itself: no state": "the home is always there",
            "the home itself: args.path: empty": "the empty path is the home",
            "the home itself: args.path: cut": "the empty path is the home",
        },
    ),
    CaseTable(
        folders.directory_lists,
        DesktopFixture,
        (
            positive("two files", _files("~/d/b", "~/d/a"), path="~/d", names=["a", "b"]),
            positive("any order", _files("~/d/b", "~/d/a"), path="~/d", names=["b", "a"]),
            positive("hidden ones beside", _files("~/d/a", "~/d/.x"), path="~/d", names=["a"]),
            negative("others", _files("~/d/c"), path="~/d", names=["a", "b"]),
            near_miss("one less", _files("~/d/a"), path="~/d", names=["a", "b"]),
            near_miss("one more", _files("~/d/a", "~/d/b", "~/d/c"), path="~/d", names=["a", "b"]),
            near_miss("other case", _files("~/d/a", "~/d/B"), path="~/d", names=["a", "b"]),
            corrupt("a file for a folder", _file("a\nb\n", "~/d"), path="~/d", names=["a", "b"]),
            missing("no folder, no names", nothing, path="~/d", names=[]),
            empty("an empty folder", lambda b: b.folder_at("~/d"), path="~/d", names=["a"]),
            empty("none wanted", lambda b: b.folder_at("~/d"), path="~/d", names=[]).expect_met(),
            hostile(
                "a link to the right folder",
                lambda b: (b.write("/srv/d/a", "x"), b.link("~/d", "/srv/d")),
                path="~/d",
                names=["a"],
            ),
            hostile("a newline in a name", _files("~/d/a\nb"), path="~/d", names=["a", "b"]),
            forged("a blank in a name", _files("~/d/a ", "~/d/b"), path="~/d", names=["a", "b"]),
            forged("a name that looks the same", _files("~/d/\u0430"), path="~/d", names=["a"]),
            another_way(
                "folders",
                lambda b: [b.folder_at(f"~/d/{n}") for n in "ab"],
                path="~/d",
                names=["a", "b"],
            ),
            another_way(
                "moved there",
                lambda b: (b.write("~/e/a", "x"), b.at("~/e").rename(b.at("~/d"))),
                path="~/d",
                names=["a"],
            ),
        ),
        equivalent={
            **WHATEVER_CONTENT,
            "*: * folder": "an entry may be a folder",
            "*: * link": "an entry may be a link",
            "*: home/user/d/.x: *": "hidden entries do not count",
        },
    ),
    CaseTable(
        folders.directory_counts,
        DesktopFixture,
        (
            positive("two", _files("~/d/a", "~/d/b"), path="~/d", count=2),
            positive(
                "of a kind", _files("~/d/a.png", "~/d/b.txt"), path="~/d", count=1, suffix=".png"
            ),
            negative("five", _files(*(f"~/d/{n}" for n in range(5))), path="~/d", count=2),
            near_miss("one more", _files("~/d/a", "~/d/b", "~/d/c"), path="~/d", count=2),
            near_miss("one is hidden", _files("~/d/a", "~/d/.b"), path="~/d", count=2),
            near_miss(
                "other kind", _files("~/d/a.PNG", "~/d/png"), path="~/d", count=2, suffix=".png"
            ),
            corrupt("a file for a folder", _file("x", "~/d"), path="~/d", count=0),
            missing("nothing", nothing, path="~/d", count=0),
            empty("none wanted", lambda b: b.folder_at("~/d"), path="~/d", count=0).expect_met(),
            empty("an empty folder", lambda b: b.folder_at("~/d"), path="~/d", count=1),
            hostile(
                "a link to a folder",
                lambda b: (b.write("/srv/d/a", "x"), b.link("~/d", "/srv/d")),
                path="~/d",
                count=1,
            ),
            hostile(
                "more than anybody counts",
                _many(10_001),
                path="~/d",
                count=10_001,
            ),
            hostile(
                "as many as are counted",
                _many(10_000),
                path="~/d",
                count=10_000,
            ).expect_met(),
            forged("in a folder below", _files("~/d/e/a", "~/d/e/b"), path="~/d", count=2),
            forged("a backup that is hidden", _files("~/d/a", "~/d/.a.swp"), path="~/d", count=2),
            another_way(
                "a link and a folder",
                lambda b: (b.folder_at("~/d/a"), b.link("~/d/b", "a")),
                path="~/d",
                count=2,
            ),
            another_way(
                "second names of one file",
                lambda b: b.at("~/d/b").hardlink_to(b.write("~/d/a", "x")),
                path="~/d",
                count=2,
            ),
        ),
        equivalent={
            **WHATEVER_CONTENT,
            "*: * folder": "an entry may be a folder",
            "*: * link": "an entry may be a link",
            "*: * rename": "names do not count, or only their end",
            "of a kind: home/user/d/b.txt: *": "other kinds do not count",
        },
    ),
    CaseTable(
        folders.directories_equal,
        DesktopFixture,
        (
            forged("a socket for a pipe", _of_other_kinds, source="~/s", target="/srv/t"),
            positive(
                "a copy",
                lambda b: [
                    b.write(f"{top}/{name}", name)
                    for top in ("~/s", "/srv/t")
                    for name in ("a", "d/b", ".h")
                ],
                source="~/s",
                target="/srv/t",
            ),
            positive(
                "links with the same words",
                lambda b: [b.link(f"~/{top}/l", "a") for top in "st"],
                source="~/s",
                target="~/t",
            ),
            positive(
                "links to a folder",
                lambda b: [
                    (b.write(f"~/{top}/d/a", "x"), b.link(f"~/{top}/l", "d")) for top in "st"
                ],
                source="~/s",
                target="~/t",
            ),
            positive(
                "large files",
                lambda b: [b.write(f"~/{top}/a", b"ab" * 700_000) for top in "st"],
                source="~/s",
                target="~/t",
            ),
            negative("another folder", _files("~/s/a", "~/t/b"), source="~/s", target="~/t"),
            near_miss("one less", _files("~/s/a", "~/s/b", "~/t/a"), source="~/s", target="~/t"),
            near_miss("one more", _files("~/s/a", "~/t/b", "~/t/a"), source="~/s", target="~/t"),
            near_miss(
                "without the subfolder", _files("~/s/d/a", "~/t/a"), source="~/s", target="~/t"
            ),
            near_miss(
                "a folder for a file",
                lambda b: (b.write("~/s/a", "x"), b.folder_at("~/t/a")),
                source="~/s",
                target="~/t",
            ),
            near_miss(
                "an empty folder less",
                lambda b: (_files("~/s/a", "~/t/a")(b), b.folder_at("~/s/d")),
                source="~/s",
                target="~/t",
            ),
            corrupt(
                "one byte off",
                lambda b: (b.write("~/s/a", "xy"), b.write("~/t/a", "xz")),
                source="~/s",
                target="~/t",
            ),
            missing("no target", _files("~/s/a"), source="~/s", target="~/t"),
            missing("neither", nothing, source="~/s", target="~/t"),
            empty(
                "two empty folders",
                lambda b: (b.folder_at("~/s"), b.folder_at("~/t")),
                source="~/s",
                target="~/t",
            ),
            empty(
                "an empty folder in each",
                lambda b: (b.folder_at("~/s/d/e"), b.folder_at("~/t/d/e")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "a link to the source",
                lambda b: (b.write("~/s/a", "x"), b.link("~/t", "~/s")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "links to the files",
                lambda b: (b.write("~/s/a", "x"), b.link("~/t/a", "~/s/a")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "links elsewhere",
                lambda b: (b.link("~/s/l", "a"), b.link("~/t/l", "b")),
                source="~/s",
                target="~/t",
            ),
            hostile("the source itself", _files("~/s/a"), source="~/s", target="~/s"),
            hostile("within the source", _files("~/s/a", "~/s/t/a"), source="~/s", target="~/s/t"),
            hostile(
                "a pipe for a file",
                _all(_files("~/s/a", "~/t/b"), _pipe("~/t/a")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "folders in folders, more than are followed",
                _files("~/s" + "/d" * 300 + "/a", "~/t" + "/d" * 300 + "/a"),
                source="~/s",
                target="~/t",
            ),
            another_way(
                "folders in folders",
                _files("~/s" + "/d" * 90 + "/a", "~/t" + "/d" * 90 + "/a"),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "huge", lambda b: (b.huge("~/s/a"), b.huge("~/t/a")), source="~/s", target="~/t"
            ),
            hostile(
                "huge together",
                lambda b: [b.huge(f"~/{top}/{n}", 90 << 20) for top in "st" for n in range(3)],
                source="~/s",
                target="~/t",
            ),
            forged(
                "of the same names and sizes",
                lambda b: (b.write("~/s/a", "one"), b.write("~/t/a", "two")),
                source="~/s",
                target="~/t",
            ),
            forged(
                "a link to a folder within",
                lambda b: (b.write("~/s/d/a", "x"), b.folder_at("~/t"), b.link("~/t/d", "~/s/d")),
                source="~/s",
                target="~/t",
            ),
            another_way(
                "second names of the files",
                lambda b: (b.folder_at("~/t"), b.at("~/t/a").hardlink_to(b.write("~/s/a", "x"))),
                source="~/s",
                target="~/t",
            ),
            another_way(
                "with other permissions",
                lambda b: (b.write("~/s/a", "x", 0o600), b.write("~/t/a", "x", 0o644)),
                source="~/s",
                target="~/t",
            ),
        ),
        equivalent={},
    ),
)

TEXTS = (
    CaseTable(
        texts.file_text_equals,
        DesktopFixture,
        (
            positive("the text", _file("one\ntwo"), path="~/a.txt", text="one\ntwo"),
            positive("a newline at the end", _file("one\n"), path="~/a.txt", text="one"),
            positive(
                "beyond ASCII", _file("Zürich ✓\n", "~/Ü.txt"), path="~/Ü.txt", text="Zürich ✓\n"
            ),
            negative("another text", _file("three"), path="~/a.txt", text="one"),
            near_miss("letter case", _file("One"), path="~/a.txt", text="one"),
            near_miss("two newlines", _file("one\n\n"), path="~/a.txt", text="one"),
            near_miss("more text", _file("one two"), path="~/a.txt", text="one"),
            near_miss("a blank", _file("one "), path="~/a.txt", text="one"),
            near_miss("in another file", _file("one", "~/b.txt"), path="~/a.txt", text="one"),
            near_miss("decomposed", _file("Zu\u0308rich"), path="~/a.txt", text="Zürich"),
            corrupt("no UTF-8", _file(b"one\xff"), path="~/a.txt", text="one"),
            corrupt("UTF-16", _file("one".encode("utf-16")), path="~/a.txt", text="one"),
            missing("nothing, and no text", nothing, path="~/a.txt", text=""),
            empty("empty", _file(""), path="~/a.txt", text="one"),
            empty("empty wanted", _file(""), path="~/a.txt", text="").expect_met(),
            hostile("a link out", _out("one"), path="~/a.txt", text="one"),
            hostile("a link on the way", _way("one"), path="~/d/a.txt", text="one"),
            hostile("huge", lambda b: b.huge("~/a.txt"), path="~/a.txt", text="one"),
            hostile(
                "as large as is read", _file("x" * (1 << 20)), path="~/a.txt", text="x" * (1 << 20)
            ).expect_met(),
            hostile(
                "larger than is read",
                _file("x" * ((1 << 20) + 1)),
                path="~/a.txt",
                text="x" * ((1 << 20) + 1),
            ),
            hostile("a pipe", _pipe("~/a.txt"), path="~/a.txt", text=""),
            hostile("control characters", _file("one\0"), path="~/a.txt", text="one"),
            forged("a letter of another script", _file("\u043ene"), path="~/a.txt", text="one"),
            forged("an invisible character", _file("o\u200bne"), path="~/a.txt", text="one"),
            forged(
                "a second byte order mark", _file("\ufeff\ufeffone"), path="~/a.txt", text="one"
            ),
            forged("a lone carriage return", _file("one\r"), path="~/a.txt", text="one"),
            another_way("with a byte order mark", _file("\ufeffone\n"), path="~/a.txt", text="one"),
            another_way("with CRLF", _file("one\r\ntwo\r\n"), path="~/a.txt", text="one\ntwo"),
            another_way(
                "asked for with CRLF", _file("one\ntwo"), path="~/a.txt", text="one\r\ntwo\r\n"
            ),
        ),
        equivalent={
            "a newline at the end: * cut": "nothing",
            "beyond ASCII: args.text: cut": "one newline at the end does not count",
        },
    ),
    CaseTable(
        texts.file_has_line,
        DesktopFixture,
        (
            positive(
                "beside others", _file("first\n  Ann: 7 \nlast"), path="~/a.txt", line="Ann: 7"
            ),
            positive("the last", _file("first\nlast"), path="~/a.txt", line=" last "),
            negative("others", _file("first\n"), path="~/a.txt", line="Ann: 7"),
            near_miss("part of a line", _file("Ann: 77\n"), path="~/a.txt", line="Ann: 7"),
            near_miss("letter case", _file("ann: 7\n"), path="~/a.txt", line="Ann: 7"),
            near_miss("over two lines", _file("Ann:\n7"), path="~/a.txt", line="Ann: 7"),
            corrupt("no UTF-8", _file(b"Ann: 7\n\xff"), path="~/a.txt", line="Ann: 7"),
            missing("nothing", nothing, path="~/a.txt", line="Ann: 7"),
            missing("nothing, and an empty line", nothing, path="~/a.txt", line=""),
            empty("empty", _file(""), path="~/a.txt", line="Ann: 7"),
            hostile("a link out", _out("Ann: 7"), path="~/a.txt", line="Ann: 7"),
            hostile("huge", lambda b: b.huge("~/a.txt"), path="~/a.txt", line="Ann: 7"),
            hostile(
                "a carriage return between", _file("x\rAnn: 7\ry"), path="~/a.txt", line="Ann: 7"
            ),
            forged(
                "between separators that end no line",
                _file("x\u2028Ann: 7\u2028y"),
                path="~/a.txt",
                line="Ann: 7",
            ),
            forged(
                "a letter of another script", _file("\u0410nn: 7"), path="~/a.txt", line="Ann: 7"
            ),
            another_way(
                "with a byte order mark", _file("\ufeffAnn: 7\n"), path="~/a.txt", line="Ann: 7"
            ),
            another_way("with CRLF", _file("x\r\nAnn: 7\r\ny"), path="~/a.txt", line="Ann: 7"),
        ),
        equivalent={
            "the last: args.line: cut": "a blank at the end does not count",
            "the last: args.line: empty": "raises",
            "beside others: * cut": "the line is in the first half",
        },
    ),
    CaseTable(
        texts.file_text_contains,
        DesktopFixture,
        (
            missing("nothing, and X", nothing, path="~/a.txt", text="X"),
            positive("in the middle", _file("Dear Ann, come"), path="~/a.txt", text="Ann, c"),
            negative("another text", _file("Hello"), path="~/a.txt", text="Ann"),
            near_miss("letter case", _file("ann"), path="~/a.txt", text="Ann"),
            near_miss("a newline between", _file("Dear\nAnn"), path="~/a.txt", text="Dear Ann"),
            near_miss("in another file", _file("Ann", "~/b.txt"), path="~/a.txt", text="Ann"),
            corrupt("no UTF-8", _file(b"Ann\xff"), path="~/a.txt", text="Ann"),
            missing("nothing", nothing, path="~/a.txt", text="Ann"),
            empty("empty", _file(""), path="~/a.txt", text="Ann"),
            empty("an empty text wanted", _file("x"), path="~/a.txt", text="").expect_error(),
            hostile("a link out", _out("Ann"), path="~/a.txt", text="Ann"),
            hostile("huge", lambda b: b.huge("~/a.txt"), path="~/a.txt", text="Ann"),
            forged(
                "a letter of another script", _file("Dear \u0410nn"), path="~/a.txt", text="Ann"
            ),
            forged("an invisible character", _file("Dear A\u00adnn"), path="~/a.txt", text="Ann"),
            another_way("over CRLF", _file("Dear\r\nAnn"), path="~/a.txt", text="Dear\nAnn"),
            another_way(
                "asked for with CRLF", _file("Dear\nAnn"), path="~/a.txt", text="Dear\r\nAnn"
            ),
        ),
        equivalent={"*: args.text: cut": "a part of it stands there, too"},
    ),
    CaseTable(
        texts.file_text_matches,
        DesktopFixture,
        (
            positive("a date", _file("2026-11-21\n"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"),
            negative("a word", _file("today"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"),
            near_miss(
                "more behind", _file("2026-11-21 x"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"
            ),
            near_miss(
                "more before", _file("x2026-11-21"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"
            ),
            near_miss(
                "a line more", _file("2026-11-21\n\n"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"
            ),
            corrupt("no UTF-8", _file(b"2026-11-21\xff"), path="~/a.txt", pattern=".*"),
            corrupt("no expression", _file("x"), path="~/a.txt", pattern="(").expect_error(),
            missing("nothing", nothing, path="~/a.txt", pattern=".*"),
            empty("empty", _file(""), path="~/a.txt", pattern=".+"),
            hostile("a link out", _out("7"), path="~/a.txt", pattern="7"),
            hostile("huge", lambda b: b.huge("~/a.txt"), path="~/a.txt", pattern="(?s).*"),
            forged(
                "on one line of two",
                _file("2026-11-21\nx"),
                path="~/a.txt",
                pattern=r"\d{4}-\d\d-21",
            ),
            forged(
                "an invisible character",
                _file("2026-11-\u200b21"),
                path="~/a.txt",
                pattern=r"\d{4}-\d\d-21",
            ),
            another_way(
                "with a byte order mark",
                _file("\ufeff2026-11-21"),
                path="~/a.txt",
                pattern=r"\d{4}-\d\d-21",
            ),
            another_way("with CRLF", _file("a\r\nb\r\n"), path="~/a.txt", pattern="a\nb"),
        ),
        equivalent={"a date: home/user/a.txt: flip a byte": "nothing"},
    ),
    CaseTable(
        texts.file_line_count,
        DesktopFixture,
        (
            positive("three", _file("a\n\nc\n"), path="~/a.txt", count=3),
            positive("without a newline at the end", _file("a\nb"), path="~/a.txt", count=2),
            negative("ten", _file("a\n" * 10), path="~/a.txt", count=3),
            near_miss("one more", _file("a\nb\nc\nd"), path="~/a.txt", count=3),
            near_miss("one less", _file("a\nb\n"), path="~/a.txt", count=3),
            corrupt("no UTF-8", _file(b"\xff\n\n\n"), path="~/a.txt", count=3),
            missing("nothing", nothing, path="~/a.txt", count=0),
            empty("empty", _file(""), path="~/a.txt", count=1),
            empty("none wanted", _file(""), path="~/a.txt", count=0).expect_met(),
            hostile("a link out", _out("a\nb\nc\n"), path="~/a.txt", count=3),
            hostile("huge", lambda b: b.huge("~/a.txt"), path="~/a.txt", count=1),
            hostile("other ends of line", _file("a\rb\u2028c\x0cd"), path="~/a.txt", count=4),
            forged("vertical tabs", _file("a\x0bb\x0bc"), path="~/a.txt", count=3),
            forged("separators that end no line", _file("a\x85b\u2029c"), path="~/a.txt", count=3),
            forged("nothing but a byte order mark", _file("\ufeff"), path="~/a.txt", count=1),
            another_way("with CRLF", _file("a\r\nb\r\nc\r\n"), path="~/a.txt", count=3),
            another_way(
                "a byte order mark, no last newline",
                _file("\ufeffa\nb\nc"),
                path="~/a.txt",
                count=3,
            ),
        ),
        equivalent={
            "three: * flip a byte": "nothing",
            "without*: * flip a byte": "a letter does not count",
        },
    ),
)


TABLES = (*FILES, *FOLDERS, *TEXTS)
