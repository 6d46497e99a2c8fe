"""Cases of the evaluators of files, folders and plain text."""

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

NO_CONTENT = "the evaluator ignores the content, so it cannot be corrupt"
SHA_X = hashlib.sha256(b"x").hexdigest()
SHA_NONE = hashlib.sha256(b"").hexdigest()

WHATEVER_CONTENT = {
    "*: * empty": "the content is ignored",
    "*: * cut": "the content is ignored",
    "*: * flip a byte": "the content is ignored",
}
WHITE_SPACE = {"*: args.line: cut": "a trailing space is ignored"}


def _file(content: str | bytes = "x", path: str = "~/a.txt") -> State:
    return lambda b: b.write(path, content)


def _many(count: int) -> State:
    """Make a folder with many hard links to one file, which is cheap."""

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
    """Put the right file outside, and a link to it at the expected path."""
    return _all(_file(content, "/srv/o/a.txt"), lambda b: b.link("~/a.txt", "/srv/o/a.txt"))


def _way(content: str = "x") -> State:
    """Put the right file in a folder that is reached only through a link."""
    return _all(_file(content, "/srv/o/a.txt"), lambda b: b.link("~/d", "/srv/o"))


def _socket(path: str) -> State:
    """Create a socket, like those that services leave behind."""

    def make(b: DesktopFixture) -> None:
        full = b.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(full))

    return make


def _way_of_another(b: DesktopFixture) -> None:
    """Add a link of a different user within the path, if these tests run as root."""
    b.write("/srv/o/a", "x")
    if os.geteuid() == 0:
        b.link("/srv/l", "/srv/o")
        os.lchown(b.at("/srv/l"), 12345, 12345)


def _hard_link(path: str = "~/a.txt", content: str = "x") -> State:
    """Create a file and a hard link to it."""
    return lambda b: b.at(path).hardlink_to(b.write(f"{path}.old", content))


def _behind_link(b: DesktopFixture) -> None:
    """Create a folder elsewhere, and a link to it at the expected path."""
    b.write("~/real/a.txt", "x")
    b.folder_at("~/real/e")
    b.link("~/d", "real")


def _of_other_kinds(b: DesktopFixture) -> None:
    """Create two folders with a file; one also has a pipe, the other a socket of the same name."""
    for top in ("~/s", "/srv/t"):
        b.write(f"{top}/a", "a")
    _pipe("~/s/p")(b)
    _socket("/srv/t/p")(b)


FILES = (
    CaseTable(
        files.file_exists,
        DesktopFixture,
        (
            *(
                forged(f"next to {other!r}", _files("~/a.txt", other), path="~/a.txt")
                for other in ("~/a\u200b.txt", "~/\u3164a.txt", "~/a.txt\ufe0f")
            ),
            forged(
                "in one of two folders that look the same",
                _files("~/d/a.txt", "~/d\u2060/a.txt"),
                path="~/d/a.txt",
            ),
            forged(
                "next to one that looks the same, outside the home folder",
                lambda b: (_files("/srv/a", "/srv/a\u200b")(b), b.at("/srv").chmod(0o777)),
                path="/srv/a",
            ),
            another_way(
                "next to a different one with an invisible character",
                _files("~/a.txt", "~/b\u200b.txt"),
                path="~/a.txt",
            ),
            positive(
                "through a link outside the home folder",
                lambda b: (b.write("/srv/o/a", "x"), b.link("/srv/l", "/srv/o")),
                path="/srv/l/a",
            ),
            positive("file", _file(), path="~/a.txt"),
            positive("absolute path", _file("x", "/srv/a.txt"), path="/srv/a.txt"),
            positive("in a subfolder", _file("x", "~/c/d/a.txt"), path="~/c/d/a.txt"),
            positive("in the root folder", _file("x", "/a.txt"), path="/a.txt"),
            negative("different file", _file("x", "~/b.txt"), path="~/a.txt"),
            near_miss("different letter case", _file("x", "~/A.txt"), path="~/a.txt"),
            near_miss("in a subfolder instead", _file("x", "~/d/a.txt"), path="~/a.txt"),
            near_miss("folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt"),
            missing("no file", nothing, path="~/a.txt"),
            missing("file instead of a folder", _file(), path="~/a.txt/b"),
            missing("missing folder in the root folder", nothing, path="/nowhere/a.txt"),
            empty("empty file is sufficient", _file(""), path="~/a.txt").expect_met(),
            hostile("link to outside", _out(), path="~/a.txt"),
            hostile("link within the path", _way(), path="~/d/a.txt"),
            hostile("named pipe", _pipe("~/a.txt"), path="~/a.txt"),
            hostile("file name too long", nothing, path="~/" + "a" * 300),
            hostile(
                "huge file is not read", lambda b: b.huge("~/a.txt"), path="~/a.txt"
            ).expect_met(),
            hostile(
                "link to itself outside the home folder",
                lambda b: b.link("/srv/l", "l"),
                path="/srv/l/a",
            ),
            hostile(
                "link of a different user outside the home folder", _way_of_another, path="/srv/l/a"
            ),
            *(
                another_way(
                    f"through a link outside the home folder to {target}",
                    lambda b, target=target: (  # type: ignore[misc]
                        b.write("/srv/o/a", "x"),
                        b.folder_at("/srv/d"),
                        b.link("/srv/d/l", target),
                    ),
                    path="/srv/d/l/a",
                )
                for target in ("../o", ".././d/..//o", "/srv/o/")
            ),
            forged("socket", _socket("~/a.txt"), path="~/a.txt"),
            forged("name with a look-alike letter", _file("x", "~/\u0430.txt"), path="~/a.txt"),
            another_way("hard link", _hard_link(), path="~/a.txt"),
            another_way("no read permission", lambda b: b.write("~/a.txt", "x", 0), path="~/a.txt"),
        ),
        inapplicable={CaseKind.CORRUPT: NO_CONTENT},
        equivalent=WHATEVER_CONTENT,
    ),
    CaseTable(
        files.path_absent,
        DesktopFixture,
        (
            forged(
                "with an invisible character in its name",
                _file("x", "~/a\u200b.txt"),
                path="~/a.txt",
            ),
            forged(
                "in a folder with an invisible character in its name",
                _file("x", "~/d\u00ad/a.txt"),
                path="~/d/a.txt",
            ),
            forged(
                "in a folder with too many entries",
                lambda b: [b.write(f"~/d/{n}", "") for n in range(10_001)],
                path="~/d/a.txt",
            ),
            positive("removed", _file("x", "~/b.txt"), path="~/a.txt"),
            negative("present", _file(), path="~/a.txt"),
            near_miss("folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt"),
            near_miss("empty file instead of a link", _file(""), path="~/a.txt"),
            corrupt("file instead of a folder", _file("x", "~/d"), path="~/d/a.txt").expect_met(),
            missing("its folder is also removed", nothing, path="~/d/a.txt").expect_met(),
            empty("empty home folder", nothing, path="~/a.txt").expect_met(),
            hostile("dangling link", lambda b: b.link("~/a.txt", "/nowhere"), path="~/a.txt"),
            hostile("named pipe", _pipe("~/a.txt"), path="~/a.txt"),
            hostile("path too deep", _file(), path="~/" + "d/" * 3000 + "a.txt").expect_met(),
            forged("socket", _socket("~/a.txt"), path="~/a.txt"),
            another_way(
                "in a folder behind a link of the system",
                lambda b: (b.folder_at("/usr/bin"), b.link("/bin", "usr/bin")),
                path="/bin/a.txt",
            ),
            another_way("below a missing system folder", nothing, path="/opt/d/a"),
            forged("in a folder behind a link", _behind_link, path="~/d/a.txt"),
            forged("below a folder behind a link", _behind_link, path="~/d/e/f/a.txt"),
            forged(
                "link to its new location",
                lambda b: (b.write("~/.a.txt", "x"), b.link("~/a.txt", "~/.a.txt")),
                path="~/a.txt",
            ),
            another_way(
                "moved to the trash", _file("x", "~/.local/share/Trash/files/a.txt"), path="~/a.txt"
            ),
            another_way("renamed", _file("x", "~/a.old"), path="~/a.txt"),
        ),
        equivalent={
            "removed: no state": "an empty state is also absence",
            "removed: home/user/b.txt: *": "other files are ignored",
            "removed: args.path: append": "that path does not exist either",
            "removed: args.path: cut": "that path does not exist either",
            "removed: args.path: swap case": "that path does not exist either",
        },
    ),
    CaseTable(
        files.file_moved,
        DesktopFixture,
        (
            *(
                forged(
                    f"next to {other!r}",
                    lambda b, other=other: (_file("x", "~/b")(b), _file("x", other)(b)),  # type: ignore[misc]
                    source="~/a",
                    target="~/b",
                    sha256=SHA_X,
                )
                for other in ("~/a\u200b", "~/b\u200b")
            ),
            positive(
                "moved", _file("x", "~/d/a.txt"), source="~/a.txt", target="~/d/a.txt", sha256=SHA_X
            ),
            positive(
                "digest in upper case",
                _file("x", "~/b"),
                source="~/a",
                target="~/b",
                sha256=SHA_X.upper(),
            ),
            negative("not moved", _file(), source="~/a.txt", target="~/d/a.txt", sha256=SHA_X),
            forged(
                "in a folder behind a link",
                _all(_behind_link, _file("x", "~/b")),
                source="~/d/a.txt",
                target="~/b",
                sha256=SHA_X,
            ),
            near_miss(
                "copied", _files("~/a.txt", "~/b"), source="~/a.txt", target="~/b", sha256=SHA_X
            ),
            near_miss(
                "moved to a different path",
                _file("x", "~/c"),
                source="~/a",
                target="~/b",
                sha256=SHA_X,
            ),
            corrupt(
                "content changed during the move",
                _file("X", "~/b"),
                source="~/a",
                target="~/b",
                sha256=SHA_X,
            ),
            missing("file lost", nothing, source="~/a", target="~/b", sha256=SHA_X),
            empty("content lost", _file("", "~/b"), source="~/a", target="~/b", sha256=SHA_X),
            hostile(
                "link at the source path",
                _all(_file("x", "~/b"), lambda b: b.link("~/a", "/no")),
                source="~/a",
                target="~/b",
                sha256=SHA_X,
            ),
            hostile(
                "link at the target path", _out(), source="~/b", target="~/a.txt", sha256=SHA_X
            ),
            hostile("huge file", lambda b: b.huge("~/b"), source="~/a", target="~/b", sha256=SHA_X),
            forged(
                "link at the old path",
                lambda b: (b.write("~/d/a.txt", "x"), b.link("~/a.txt", "~/d/a.txt")),
                source="~/a.txt",
                target="~/d/a.txt",
                sha256=SHA_X,
            ),
            forged(
                "link at the new path",
                lambda b: (b.write("~/b.txt", "x"), b.link("~/d/a.txt", "~/b.txt")),
                source="~/a.txt",
                target="~/d/a.txt",
                sha256=SHA_X,
            ),
            another_way(
                "hard link",
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
            "*: args.source: append": "that path does not exist either",
            "*: args.source: cut": "that path does not exist either",
            "*: args.source: swap case": "that path does not exist either",
            "*: args.sha256: swap case": "the letter case of digits is ignored",
        },
    ),
    CaseTable(
        files.file_sha256_equals,
        DesktopFixture,
        (
            positive("digest in upper case", _file(), path="~/a.txt", sha256=SHA_X.upper()),
            positive("matching content", _file(), path="~/a.txt", sha256=SHA_X),
            positive("digest of an empty file", _file(""), path="~/a.txt", sha256=SHA_NONE),
            positive(
                "file larger than one read buffer",
                _file(b"ab" * (1 << 20)),
                path="~/a.txt",
                sha256=hashlib.sha256(b"ab" * (1 << 20)).hexdigest(),
            ),
            negative("different content", _file("y"), path="~/a.txt", sha256=SHA_X),
            near_miss("additional newline", _file("x\n"), path="~/a.txt", sha256=SHA_X),
            near_miss("the digest as content", _file(SHA_X), path="~/a.txt", sha256=SHA_X),
            corrupt(
                "truncated",
                _file(b"ab" * 3),
                path="~/a.txt",
                sha256=hashlib.sha256(b"ab" * 4).hexdigest(),
            ),
            missing("no file", nothing, path="~/a.txt", sha256=SHA_NONE),
            empty("empty file", _file(""), path="~/a.txt", sha256=SHA_X),
            hostile("link to outside", _out(), path="~/a.txt", sha256=SHA_X),
            hostile("huge file", lambda b: b.huge("~/a.txt"), path="~/a.txt", sha256=SHA_X),
            hostile("folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt", sha256=SHA_NONE),
            hostile("named pipe", _pipe("~/a.txt"), path="~/a.txt", sha256=SHA_NONE),
            forged(
                "symbolic link to the file",
                lambda b: (b.write("~/b.txt", "x"), b.link("~/a.txt", "b.txt")),
                path="~/a.txt",
                sha256=SHA_X,
            ),
            forged("with trailing zero bytes", _file("x\0\0"), path="~/a.txt", sha256=SHA_X),
            another_way("hard link", _hard_link(), path="~/a.txt", sha256=SHA_X),
            another_way(
                "sparse file",
                lambda b: b.huge("~/a.txt", 4096),
                path="~/a.txt",
                sha256=hashlib.sha256(bytes(4096)).hexdigest(),
            ),
        ),
        equivalent={"*: args.sha256: swap case": "the letter case of digits is ignored"},
    ),
    CaseTable(
        files.file_size_between,
        DesktopFixture,
        (
            positive(
                "within the bounds", _file("12345"), path="~/a.txt", least_bytes=3, most_bytes=9
            ),
            positive(
                "exactly at the bounds", _file("12345"), path="~/a.txt", least_bytes=5, most_bytes=5
            ),
            negative("much larger", _file("1" * 99), path="~/a.txt", least_bytes=3, most_bytes=9),
            near_miss(
                "one byte too small", _file("12"), path="~/a.txt", least_bytes=3, most_bytes=9
            ),
            near_miss(
                "one byte too large", _file("1" * 10), path="~/a.txt", least_bytes=3, most_bytes=9
            ),
            near_miss(
                "folder",
                lambda b: b.folder_at("~/a.txt"),
                path="~/a.txt",
                least_bytes=0,
                most_bytes=1 << 20,
            ),
            corrupt(
                "truncated to zero bytes", _file(""), path="~/a.txt", least_bytes=1, most_bytes=9
            ),
            missing("no file", nothing, path="~/a.txt", least_bytes=0, most_bytes=9),
            empty("empty file", _file(""), path="~/a.txt", least_bytes=1, most_bytes=9),
            hostile("symbolic link", _out("12345"), path="~/a.txt", least_bytes=1, most_bytes=99),
            hostile("named pipe", _pipe("~/a.txt"), path="~/a.txt", least_bytes=0, most_bytes=9),
            forged(
                "link whose own size is within the bounds",
                lambda b: b.link("~/a.txt", "12345"),
                path="~/a.txt",
                least_bytes=3,
                most_bytes=9,
            ),
            forged("socket", _socket("~/a.txt"), path="~/a.txt", least_bytes=0, most_bytes=9),
            another_way(
                "hard link",
                _hard_link(content="12345"),
                path="~/a.txt",
                least_bytes=3,
                most_bytes=9,
            ),
            another_way(
                "sparse file",
                lambda b: b.huge("~/a.txt", 5000),
                path="~/a.txt",
                least_bytes=4000,
                most_bytes=6000,
            ),
        ),
        equivalent={
            "within the bounds: args.*_bytes: *": "the size is also within these bounds",
            "exactly at the bounds: args.least_bytes: less": "the size is also within these bounds",
            "exactly at the bounds: args.most_bytes: more": "the size is also within these bounds",
            "*: * flip a byte": "the content is ignored",
            "*: * link": "see the case of a symbolic link",
        },
    ),
    CaseTable(
        files.file_mode_equals,
        DesktopFixture,
        (
            positive(
                "executable file", lambda b: b.write("~/run", "x", 0o755), path="~/run", mode="755"
            ),
            positive(
                "mode with four digits",
                lambda b: b.write("~/run", "x", 0o600),
                path="~/run",
                mode="0600",
            ),
            positive(
                "set-user-ID bit",
                lambda b: b.write("~/run", "x", 0o4755),
                path="~/run",
                mode="4755",
            ),
            positive("folder", lambda b: b.folder_at("~/d").chmod(0o700), path="~/d", mode="700"),
            negative(
                "file not executable",
                lambda b: b.write("~/run", "x", 0o644),
                path="~/run",
                mode="755",
            ),
            near_miss(
                "also writable by others",
                lambda b: b.write("~/run", "x", 0o757),
                path="~/run",
                mode="755",
            ),
            near_miss(
                "additional set-user-ID bit",
                lambda b: b.write("~/run", "x", 0o4755),
                path="~/run",
                mode="755",
            ),
            corrupt("invalid mode", _file(), path="~/a.txt", mode="rwx").expect_error(),
            missing("no file", nothing, path="~/run", mode="755"),
            empty(
                "empty file with the mode",
                lambda b: b.write("~/run", "", 0o755),
                path="~/run",
                mode="755",
            ).expect_met(),
            hostile(
                "mode of a link",
                lambda b: (b.write("/srv/r", "x", 0o777), b.link("~/run", "/srv/r")),
                path="~/run",
                mode="777",
            ),
            forged(
                "mode of the target of a link",
                lambda b: (b.write("~/b", "x", 0o755), b.link("~/run", "~/b")),
                path="~/run",
                mode="755",
            ),
            forged(
                "additional sticky bit",
                lambda b: b.write("~/run", "x", 0o1755),
                path="~/run",
                mode="755",
            ),
            another_way(
                "hard link",
                lambda b: b.at("~/run").hardlink_to(b.write("~/b", "x", 0o755)),
                path="~/run",
                mode="755",
            ),
            another_way(
                "set in two steps",
                lambda b: (b.write("~/run", "x", 0o600), b.at("~/run").chmod(0o755)),
                path="~/run",
                mode="0755",
            ),
        ),
        equivalent={**WHATEVER_CONTENT, "*: args.mode: empty": "the evaluator raises"},
    ),
    CaseTable(
        files.symlink_leads_to,
        DesktopFixture,
        (
            positive(
                "absolute target", lambda b: b.link("~/l", "/srv/t"), path="~/l", target="/srv/t"
            ),
            positive(
                "relative target", lambda b: b.link("~/d/l", "../t"), path="~/d/l", target="~/t"
            ),
            positive(
                "target in the home folder",
                lambda b: (b.write("~/t", "x"), b.link("~/l", "~/t")),
                path="~/l",
                target="~/t",
            ),
            negative(
                "different target", lambda b: b.link("~/l", "/srv/u"), path="~/l", target="/srv/t"
            ),
            near_miss(
                "target is the parent folder",
                lambda b: b.link("~/l", "/srv"),
                path="~/l",
                target="/srv/t",
            ),
            near_miss("copy instead of a link", _file("x", "~/l"), path="~/l", target="~/t"),
            corrupt("link to itself", lambda b: b.link("~/l", "l"), path="~/l", target="~/t"),
            missing("no link", nothing, path="~/l", target="~/t"),
            empty("empty file instead of a link", _file("", "~/l"), path="~/l", target="~/t"),
            hostile(
                "file that contains the target path",
                _file("/srv/t", "~/l"),
                path="~/l",
                target="/srv/t",
            ),
            hostile(
                "in a folder behind a link",
                lambda b: (b.link("/srv/d/l", "/srv/t"), b.link("~/d", "/srv/d")),
                path="~/d/l",
                target="/srv/t",
            ),
            forged(
                "hard link to the target",
                lambda b: b.at("~/l").hardlink_to(b.write("~/t", "x")),
                path="~/l",
                target="~/t",
            ),
            forged(
                "desktop file of type Link",
                _file("[Desktop Entry]\nType=Link\nURL=file:///srv/t\n", "~/l"),
                path="~/l",
                target="/srv/t",
            ),
            forged(
                "`..` after a link to a different folder",
                lambda b: (b.folder_at("~/a/b"), b.link("~/x", "a/b"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/t",
            ),
            forged(
                "`..` after a missing folder",
                lambda b: b.link("~/l", "no/../t"),
                path="~/l",
                target="~/t",
            ),
            forged(
                "`..` after a file",
                lambda b: (b.write("~/x", "x"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/t",
            ),
            another_way(
                "`..` after a folder",
                lambda b: (b.folder_at("~/x"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/t",
            ),
            another_way(
                "target with redundant `..`",
                lambda b: b.link("~/d/l", ".././d/../t"),
                path="~/d/l",
                target="~/t",
            ),
            another_way(
                "target that starts with `./..`",
                lambda b: b.link("~/d/l", "./../t"),
                path="~/d/l",
                target="~/t",
            ),
            another_way(
                "link to a link",
                lambda b: (b.link("~/l", "~/m"), b.link("~/m", "runs/7")),
                path="~/l",
                target="~/runs/7",
            ),
            another_way(
                "target is a link",
                lambda b: (b.link("~/l", "~/m"), b.link("~/m", "runs/7")),
                path="~/l",
                target="~/m",
            ),
            another_way(
                "three links, the last one outside the home folder",
                lambda b: (b.link("~/l", "m"), b.link("~/m", "/srv/n"), b.link("/srv/n", "./t")),
                path="~/l",
                target="/srv/t",
            ),
            another_way(
                "through a link to a folder",
                lambda b: (
                    b.write("~/runs/7/a", "x"),
                    b.link("~/l", "now/7"),
                    b.link("~/now", "runs"),
                ),
                path="~/l",
                target="~/runs/7",
            ),
            another_way(
                "`..` after a link to a folder",
                lambda b: (b.folder_at("~/a/b"), b.link("~/x", "a/b"), b.link("~/l", "x/../t")),
                path="~/l",
                target="~/a/t",
            ),
            forged(
                "two links to each other",
                lambda b: (b.link("~/l", "m"), b.link("~/m", "l")),
                path="~/l",
                target="~/runs/7",
            ),
            forged(
                "link to a link to a different folder",
                lambda b: (b.link("~/l", "m"), b.link("~/m", "runs/8")),
                path="~/l",
                target="~/runs/7",
            ),
            forged(
                "link to a file with the target's path",
                lambda b: (b.link("~/l", "m"), b.write("~/m", "runs/7")),
                path="~/l",
                target="~/runs/7",
            ),
            another_way(
                "target with a trailing slash",
                lambda b: (b.folder_at("~/t"), b.link("~/l", "t/")),
                path="~/l",
                target="~/t",
            ),
        ),
        equivalent={
            "target in the home folder: home/user/t: *": "the target of a link may be missing"
        },
    ),
)

FOLDERS = (
    CaseTable(
        folders.directory_exists,
        DesktopFixture,
        (
            forged("next to one that looks the same", _files("~/d/a", "~/d\u200b/a"), path="~/d"),
            positive("folder", _file("x", "~/d/a.txt"), path="~/d"),
            positive("the home folder", nothing, path="~"),
            negative("different folder", lambda b: b.folder_at("~/e"), path="~/d"),
            near_miss("file", _file("x", "~/d"), path="~/d"),
            near_miss("different letter case", lambda b: b.folder_at("~/D"), path="~/d"),
            missing("no folder", nothing, path="~/d"),
            empty(
                "empty folder is sufficient", lambda b: b.folder_at("~/d"), path="~/d"
            ).expect_met(),
            hostile(
                "link to a folder",
                lambda b: (b.folder_at("/srv/d"), b.link("~/d", "/srv/d")),
                path="~/d",
            ),
            hostile("named pipe", _pipe("~/d"), path="~/d"),
            forged("socket", _socket("~/d"), path="~/d"),
            forged("dangling link", lambda b: b.link("~/d", "/nowhere"), path="~/d"),
            another_way(
                "accessible only to its owner",
                lambda b: b.folder_at("~/d").chmod(0o700),
                path="~/d",
            ),
            another_way(
                "renamed folder", lambda b: b.folder_at("~/e").rename(b.at("~/d")), path="~/d"
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_CONTENT},
        equivalent={
            "folder: home/user/d/a.txt: *": "the content of the folder is ignored",
            "the home folder: no state": "the home folder always exists",
            "the home folder: args.path: empty": "the empty path is the home folder",
            "the home folder: args.path: cut": "the empty path is the home folder",
        },
    ),
    CaseTable(
        folders.directory_lists,
        DesktopFixture,
        (
            forged(
                "with two names that look the same",
                _files("~/d/a", "~/d/a\u200b"),
                path="~/d",
                names=["a", "a"],
            ),
            another_way(
                "with an invisible character",
                _files("~/d/a\u200b", "~/d/b"),
                path="~/d",
                names=["a", "b"],
            ),
            positive("two files", _files("~/d/b", "~/d/a"), path="~/d", names=["a", "b"]),
            positive(
                "names in a different order", _files("~/d/b", "~/d/a"), path="~/d", names=["b", "a"]
            ),
            positive("additional hidden file", _files("~/d/a", "~/d/.x"), path="~/d", names=["a"]),
            negative("different files", _files("~/d/c"), path="~/d", names=["a", "b"]),
            near_miss("one missing entry", _files("~/d/a"), path="~/d", names=["a", "b"]),
            near_miss(
                "one additional entry",
                _files("~/d/a", "~/d/b", "~/d/c"),
                path="~/d",
                names=["a", "b"],
            ),
            near_miss(
                "different letter case", _files("~/d/a", "~/d/B"), path="~/d", names=["a", "b"]
            ),
            corrupt(
                "file instead of a folder", _file("a\nb\n", "~/d"), path="~/d", names=["a", "b"]
            ),
            missing("no folder and no expected names", nothing, path="~/d", names=[]),
            empty("empty folder", lambda b: b.folder_at("~/d"), path="~/d", names=["a"]),
            empty(
                "empty, and empty expected", lambda b: b.folder_at("~/d"), path="~/d", names=[]
            ).expect_met(),
            hostile(
                "link to the right folder",
                lambda b: (b.write("/srv/d/a", "x"), b.link("~/d", "/srv/d")),
                path="~/d",
                names=["a"],
            ),
            hostile("newline in a file name", _files("~/d/a\nb"), path="~/d", names=["a", "b"]),
            forged(
                "trailing space in a file name",
                _files("~/d/a ", "~/d/b"),
                path="~/d",
                names=["a", "b"],
            ),
            forged("name with a look-alike letter", _files("~/d/\u0430"), path="~/d", names=["a"]),
            another_way(
                "folders instead of files",
                lambda b: [b.folder_at(f"~/d/{n}") for n in "ab"],
                path="~/d",
                names=["a", "b"],
            ),
            another_way(
                "folder moved to the path",
                lambda b: (b.write("~/e/a", "x"), b.at("~/e").rename(b.at("~/d"))),
                path="~/d",
                names=["a"],
            ),
        ),
        equivalent={
            **WHATEVER_CONTENT,
            "*: * folder": "an entry may be a folder",
            "*: * link": "an entry may be a link",
            "*: home/user/d/.x: *": "hidden entries are ignored",
        },
    ),
    CaseTable(
        folders.directory_counts,
        DesktopFixture,
        (
            forged(
                "with two names that look the same",
                _files("~/d/a", "~/d/a\u200b"),
                path="~/d",
                count=2,
            ),
            another_way(
                "with an invisible character in the suffix",
                _files("~/d/a.p\u200bng"),
                path="~/d",
                count=1,
                suffix=".png",
            ),
            positive("two files", _files("~/d/a", "~/d/b"), path="~/d", count=2),
            positive(
                "one file with the suffix",
                _files("~/d/a.png", "~/d/b.txt"),
                path="~/d",
                count=1,
                suffix=".png",
            ),
            negative("five files", _files(*(f"~/d/{n}" for n in range(5))), path="~/d", count=2),
            near_miss(
                "one additional entry", _files("~/d/a", "~/d/b", "~/d/c"), path="~/d", count=2
            ),
            near_miss("one of two files is hidden", _files("~/d/a", "~/d/.b"), path="~/d", count=2),
            near_miss(
                "suffix in upper case, or without its dot",
                _files("~/d/a.PNG", "~/d/png"),
                path="~/d",
                count=2,
                suffix=".png",
            ),
            corrupt("file instead of a folder", _file("x", "~/d"), path="~/d", count=0),
            missing("no folder", nothing, path="~/d", count=0),
            empty(
                "empty, and empty expected", lambda b: b.folder_at("~/d"), path="~/d", count=0
            ).expect_met(),
            empty("empty folder", lambda b: b.folder_at("~/d"), path="~/d", count=1),
            hostile(
                "link to a folder",
                lambda b: (b.write("/srv/d/a", "x"), b.link("~/d", "/srv/d")),
                path="~/d",
                count=1,
            ),
            hostile(
                "more entries than the limit",
                _many(10_001),
                path="~/d",
                count=10_001,
            ),
            hostile(
                "exactly the limit of entries",
                _many(10_000),
                path="~/d",
                count=10_000,
            ).expect_met(),
            forged("in a subfolder", _files("~/d/e/a", "~/d/e/b"), path="~/d", count=2),
            forged("hidden backup file", _files("~/d/a", "~/d/.a.swp"), path="~/d", count=2),
            another_way(
                "a link and a folder as entries",
                lambda b: (b.folder_at("~/d/a"), b.link("~/d/b", "a")),
                path="~/d",
                count=2,
            ),
            another_way(
                "two hard links to one file",
                lambda b: b.at("~/d/b").hardlink_to(b.write("~/d/a", "x")),
                path="~/d",
                count=2,
            ),
        ),
        equivalent={
            **WHATEVER_CONTENT,
            "*: * folder": "an entry may be a folder",
            "*: * link": "an entry may be a link",
            "*: * rename": "names are ignored, except for the suffix",
            "one file with the suffix: home/user/d/b.txt: *": "files without the suffix are ignored",
        },
    ),
    CaseTable(
        folders.directories_equal,
        DesktopFixture,
        (
            forged("socket instead of a pipe", _of_other_kinds, source="~/s", target="/srv/t"),
            positive(
                "complete copy",
                lambda b: [
                    b.write(f"{top}/{name}", name)
                    for top in ("~/s", "/srv/t")
                    for name in ("a", "d/b", ".h")
                ],
                source="~/s",
                target="/srv/t",
            ),
            positive(
                "links with the same target text",
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
            negative("different files", _files("~/s/a", "~/t/b"), source="~/s", target="~/t"),
            near_miss(
                "one missing file", _files("~/s/a", "~/s/b", "~/t/a"), source="~/s", target="~/t"
            ),
            near_miss(
                "one additional file", _files("~/s/a", "~/t/b", "~/t/a"), source="~/s", target="~/t"
            ),
            near_miss("missing subfolder", _files("~/s/d/a", "~/t/a"), source="~/s", target="~/t"),
            near_miss(
                "a folder for a file",
                lambda b: (b.write("~/s/a", "x"), b.folder_at("~/t/a")),
                source="~/s",
                target="~/t",
            ),
            near_miss(
                "missing empty folder",
                lambda b: (_files("~/s/a", "~/t/a")(b), b.folder_at("~/s/d")),
                source="~/s",
                target="~/t",
            ),
            corrupt(
                "one different byte",
                lambda b: (b.write("~/s/a", "xy"), b.write("~/t/a", "xz")),
                source="~/s",
                target="~/t",
            ),
            missing("no target folder", _files("~/s/a"), source="~/s", target="~/t"),
            missing("neither folder exists", nothing, source="~/s", target="~/t"),
            empty(
                "two empty folders",
                lambda b: (b.folder_at("~/s"), b.folder_at("~/t")),
                source="~/s",
                target="~/t",
            ),
            empty(
                "empty subfolder in each",
                lambda b: (b.folder_at("~/s/d/e"), b.folder_at("~/t/d/e")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "link to the source folder",
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
                "links with different targets",
                lambda b: (b.link("~/s/l", "a"), b.link("~/t/l", "b")),
                source="~/s",
                target="~/t",
            ),
            hostile("target is the source", _files("~/s/a"), source="~/s", target="~/s"),
            hostile(
                "target within the source", _files("~/s/a", "~/s/t/a"), source="~/s", target="~/s/t"
            ),
            hostile(
                "named pipe instead of a file",
                _all(_files("~/s/a", "~/t/b"), _pipe("~/t/a")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "nested deeper than the limit",
                _files("~/s" + "/d" * 300 + "/a", "~/t" + "/d" * 300 + "/a"),
                source="~/s",
                target="~/t",
            ),
            another_way(
                "deeply nested folders",
                _files("~/s" + "/d" * 90 + "/a", "~/t" + "/d" * 90 + "/a"),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "huge file",
                lambda b: (b.huge("~/s/a"), b.huge("~/t/a")),
                source="~/s",
                target="~/t",
            ),
            hostile(
                "huge total size",
                lambda b: [b.huge(f"~/{top}/{n}", 90 << 20) for top in "st" for n in range(3)],
                source="~/s",
                target="~/t",
            ),
            forged(
                "same names and sizes, different content",
                lambda b: (b.write("~/s/a", "one"), b.write("~/t/a", "two")),
                source="~/s",
                target="~/t",
            ),
            forged(
                "link to a subfolder of the source",
                lambda b: (b.write("~/s/d/a", "x"), b.folder_at("~/t"), b.link("~/t/d", "~/s/d")),
                source="~/s",
                target="~/t",
            ),
            another_way(
                "hard links to the files",
                lambda b: (b.folder_at("~/t"), b.at("~/t/a").hardlink_to(b.write("~/s/a", "x"))),
                source="~/s",
                target="~/t",
            ),
            another_way(
                "different permissions",
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
            positive("exactly the text", _file("one\ntwo"), path="~/a.txt", text="one\ntwo"),
            positive("trailing newline", _file("one\n"), path="~/a.txt", text="one"),
            positive(
                "non-ASCII text", _file("Zürich ✓\n", "~/Ü.txt"), path="~/Ü.txt", text="Zürich ✓\n"
            ),
            negative("different text", _file("three"), path="~/a.txt", text="one"),
            near_miss("different letter case", _file("One"), path="~/a.txt", text="one"),
            another_way(
                "newline entered, and added by the editor",
                _file("one\n\n"),
                path="~/a.txt",
                text="one",
            ),
            another_way(
                "newline expected, and added by the editor",
                _file("one\r\n\r\n"),
                path="~/a.txt",
                text="one\n",
            ),
            near_miss("three trailing newlines", _file("one\n\n\n"), path="~/a.txt", text="one"),
            near_miss("missing empty line", _file("one\n"), path="~/a.txt", text="one\n\n"),
            near_miss("additional text", _file("one two"), path="~/a.txt", text="one"),
            near_miss("trailing space", _file("one "), path="~/a.txt", text="one"),
            near_miss("in a different file", _file("one", "~/b.txt"), path="~/a.txt", text="one"),
            another_way(
                "decomposed Unicode characters",
                _file("Zu\u0308rich"),
                path="~/a.txt",
                text="Zürich",
            ),
            another_way(
                "expected in decomposed Unicode characters",
                _file("Zürich"),
                path="~/a.txt",
                text="Zu\u0308rich",
            ),
            forged("compatibility character", _file("\uff4fne"), path="~/a.txt", text="one"),
            corrupt("not UTF-8", _file(b"one\xff"), path="~/a.txt", text="one"),
            corrupt("UTF-16", _file("one".encode("utf-16")), path="~/a.txt", text="one"),
            missing("no file, and empty expected text", nothing, path="~/a.txt", text=""),
            empty("empty file", _file(""), path="~/a.txt", text="one"),
            empty(
                "empty file and empty expected text", _file(""), path="~/a.txt", text=""
            ).expect_met(),
            hostile("link to outside", _out("one"), path="~/a.txt", text="one"),
            hostile("link within the path", _way("one"), path="~/d/a.txt", text="one"),
            hostile("huge file", lambda b: b.huge("~/a.txt"), path="~/a.txt", text="one"),
            hostile(
                "exactly at the size limit",
                _file("x" * (1 << 20)),
                path="~/a.txt",
                text="x" * (1 << 20),
            ).expect_met(),
            hostile(
                "over the size limit",
                _file("x" * ((1 << 20) + 1)),
                path="~/a.txt",
                text="x" * ((1 << 20) + 1),
            ),
            hostile("named pipe", _pipe("~/a.txt"), path="~/a.txt", text=""),
            hostile("control characters", _file("one\0"), path="~/a.txt", text="one"),
            forged("letter from a different script", _file("\u043ene"), path="~/a.txt", text="one"),
            forged("invisible character", _file("o\u200bne"), path="~/a.txt", text="one"),
            forged("second byte order mark", _file("\ufeff\ufeffone"), path="~/a.txt", text="one"),
            forged("lone carriage return", _file("one\r"), path="~/a.txt", text="one"),
            another_way("with a byte order mark", _file("\ufeffone\n"), path="~/a.txt", text="one"),
            another_way("with CRLF", _file("one\r\ntwo\r\n"), path="~/a.txt", text="one\ntwo"),
            another_way(
                "expected text has CRLF", _file("one\ntwo"), path="~/a.txt", text="one\r\ntwo\r\n"
            ),
        ),
        equivalent={
            "trailing newline: * cut": "no effect",
            "non-ASCII text: args.text: cut": "one trailing newline is ignored",
        },
    ),
    CaseTable(
        texts.file_has_line,
        DesktopFixture,
        (
            positive(
                "among other lines", _file("first\n  Ann: 7 \nlast"), path="~/a.txt", line="Ann: 7"
            ),
            positive("last line", _file("first\nlast"), path="~/a.txt", line=" last "),
            negative("different lines", _file("first\n"), path="~/a.txt", line="Ann: 7"),
            near_miss("part of a line", _file("Ann: 77\n"), path="~/a.txt", line="Ann: 7"),
            near_miss("different letter case", _file("ann: 7\n"), path="~/a.txt", line="Ann: 7"),
            near_miss("split over two lines", _file("Ann:\n7"), path="~/a.txt", line="Ann: 7"),
            corrupt("not UTF-8", _file(b"Ann: 7\n\xff"), path="~/a.txt", line="Ann: 7"),
            missing("no file", nothing, path="~/a.txt", line="Ann: 7"),
            missing("no file, and empty expected line", nothing, path="~/a.txt", line=""),
            empty("empty file", _file(""), path="~/a.txt", line="Ann: 7"),
            hostile("link to outside", _out("Ann: 7"), path="~/a.txt", line="Ann: 7"),
            hostile("huge file", lambda b: b.huge("~/a.txt"), path="~/a.txt", line="Ann: 7"),
            hostile(
                "carriage returns instead of newlines",
                _file("x\rAnn: 7\ry"),
                path="~/a.txt",
                line="Ann: 7",
            ),
            forged(
                "between separators that do not end a line",
                _file("x\u2028Ann: 7\u2028y"),
                path="~/a.txt",
                line="Ann: 7",
            ),
            forged(
                "letter from a different script",
                _file("\u0410nn: 7"),
                path="~/a.txt",
                line="Ann: 7",
            ),
            another_way(
                "with a byte order mark", _file("\ufeffAnn: 7\n"), path="~/a.txt", line="Ann: 7"
            ),
            another_way("with CRLF", _file("x\r\nAnn: 7\r\ny"), path="~/a.txt", line="Ann: 7"),
            another_way(
                "decomposed Unicode characters",
                _file("Zu\u0308rich\n"),
                path="~/a.txt",
                line="Zürich",
            ),
        ),
        equivalent={
            "last line: args.line: cut": "a trailing space is ignored",
            "last line: args.line: empty": "the evaluator raises",
            "among other lines: * cut": "the line is in the first half of the file",
        },
    ),
    CaseTable(
        texts.file_text_contains,
        DesktopFixture,
        (
            missing("no file, and expected text X", nothing, path="~/a.txt", text="X"),
            positive("in the middle", _file("Dear Ann, come"), path="~/a.txt", text="Ann, c"),
            negative("different text", _file("Hello"), path="~/a.txt", text="Ann"),
            near_miss("different letter case", _file("ann"), path="~/a.txt", text="Ann"),
            near_miss(
                "newline instead of the space", _file("Dear\nAnn"), path="~/a.txt", text="Dear Ann"
            ),
            near_miss("in a different file", _file("Ann", "~/b.txt"), path="~/a.txt", text="Ann"),
            corrupt("not UTF-8", _file(b"Ann\xff"), path="~/a.txt", text="Ann"),
            missing("no file", nothing, path="~/a.txt", text="Ann"),
            empty("empty file", _file(""), path="~/a.txt", text="Ann"),
            empty("empty expected text", _file("x"), path="~/a.txt", text="").expect_error(),
            hostile("link to outside", _out("Ann"), path="~/a.txt", text="Ann"),
            hostile("huge file", lambda b: b.huge("~/a.txt"), path="~/a.txt", text="Ann"),
            forged(
                "letter from a different script", _file("Dear \u0410nn"), path="~/a.txt", text="Ann"
            ),
            forged("invisible character", _file("Dear A\u00adnn"), path="~/a.txt", text="Ann"),
            another_way(
                "text spans a CRLF", _file("Dear\r\nAnn"), path="~/a.txt", text="Dear\nAnn"
            ),
            another_way(
                "expected text has CRLF", _file("Dear\nAnn"), path="~/a.txt", text="Dear\r\nAnn"
            ),
            another_way(
                "decomposed Unicode characters",
                _file("In Zu\u0308rich"),
                path="~/a.txt",
                text="Zürich",
            ),
        ),
        equivalent={"*: args.text: cut": "the file also contains a part of the text"},
    ),
    CaseTable(
        texts.file_text_matches,
        DesktopFixture,
        (
            positive("a date", _file("2026-11-21\n"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"),
            negative("no date", _file("today"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"),
            near_miss(
                "additional text after it",
                _file("2026-11-21 x"),
                path="~/a.txt",
                pattern=r"\d{4}-\d\d-21",
            ),
            near_miss(
                "additional text before it",
                _file("x2026-11-21"),
                path="~/a.txt",
                pattern=r"\d{4}-\d\d-21",
            ),
            near_miss(
                "additional line", _file("2026-11-21\n\n"), path="~/a.txt", pattern=r"\d{4}-\d\d-21"
            ),
            corrupt("not UTF-8", _file(b"2026-11-21\xff"), path="~/a.txt", pattern=".*"),
            corrupt(
                "invalid regular expression", _file("x"), path="~/a.txt", pattern="("
            ).expect_error(),
            missing("no file", nothing, path="~/a.txt", pattern=".*"),
            empty("empty file", _file(""), path="~/a.txt", pattern=".+"),
            hostile("link to outside", _out("7"), path="~/a.txt", pattern="7"),
            hostile("huge file", lambda b: b.huge("~/a.txt"), path="~/a.txt", pattern="(?s).*"),
            forged(
                "match on one line of two",
                _file("2026-11-21\nx"),
                path="~/a.txt",
                pattern=r"\d{4}-\d\d-21",
            ),
            forged(
                "invisible character",
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
        equivalent={"a date: home/user/a.txt: flip a byte": "no effect"},
    ),
    CaseTable(
        texts.file_line_count,
        DesktopFixture,
        (
            positive("three lines", _file("a\n\nc\n"), path="~/a.txt", count=3),
            positive("without a newline at the end", _file("a\nb"), path="~/a.txt", count=2),
            negative("ten lines", _file("a\n" * 10), path="~/a.txt", count=3),
            near_miss("one additional line", _file("a\nb\nc\nd"), path="~/a.txt", count=3),
            near_miss("one missing line", _file("a\nb\n"), path="~/a.txt", count=3),
            corrupt("not UTF-8", _file(b"\xff\n\n\n"), path="~/a.txt", count=3),
            missing("no file", nothing, path="~/a.txt", count=0),
            empty("empty file", _file(""), path="~/a.txt", count=1),
            empty("empty, and empty expected", _file(""), path="~/a.txt", count=0).expect_met(),
            hostile("link to outside", _out("a\nb\nc\n"), path="~/a.txt", count=3),
            hostile("huge file", lambda b: b.huge("~/a.txt"), path="~/a.txt", count=1),
            hostile("other line separators", _file("a\rb\u2028c\x0cd"), path="~/a.txt", count=4),
            forged("vertical tabs", _file("a\x0bb\x0bc"), path="~/a.txt", count=3),
            forged(
                "separators that do not end a line", _file("a\x85b\u2029c"), path="~/a.txt", count=3
            ),
            forged("only a byte order mark", _file("\ufeff"), path="~/a.txt", count=1),
            another_way("with CRLF", _file("a\r\nb\r\nc\r\n"), path="~/a.txt", count=3),
            another_way(
                "byte order mark, and no trailing newline",
                _file("\ufeffa\nb\nc"),
                path="~/a.txt",
                count=3,
            ),
        ),
        equivalent={
            "three lines: * flip a byte": "no effect",
            "without*: * flip a byte": "letters are ignored",
        },
    ),
)


TABLES = (*FILES, *FOLDERS, *TEXTS)
