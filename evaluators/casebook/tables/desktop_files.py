"""Cases of evaluators of single files and folders."""

from __future__ import annotations

import os

from evaluators.casebook.case import (
    Kind,
    State,
    Table,
    empty,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.casebook.desktop import DesktopBench
from evaluators.desktop import files

NO_CONTENT = "the evaluator does not look at content, so there is none to be broken"


def _text(content: str | bytes, path: str = "~/a.txt") -> State:
    return lambda bench: bench.write(path, content)


TABLES = (
    Table(
        files.file_exists,
        DesktopBench,
        (
            positive("a file", _text("x"), path="~/a.txt"),
            positive("an absolute path", _text("x", "/srv/a.txt"), path="/srv/a.txt"),
            negative("another file", _text("x", "~/b.txt"), path="~/a.txt"),
            near_miss("other case", _text("x", "~/A.txt"), path="~/a.txt"),
            near_miss("in a folder below", _text("x", "~/d/a.txt"), path="~/a.txt"),
            near_miss("a folder", lambda b: b.folder_at("~/a.txt"), path="~/a.txt"),
            missing("nothing", nothing, path="~/a.txt"),
            missing("a file for a folder", _text("x"), path="~/a.txt/b"),
            empty("an empty file counts", _text(""), path="~/a.txt").still_met(),
            hostile(
                "a link out",
                lambda b: (b.write("/o/a", "x"), b.link("~/a.txt", "/o/a")),
                path="~/a.txt",
            ),
            hostile("a pipe", lambda b: os.mkfifo(b.at("~/a.txt")), path="~/a.txt"),
            hostile(
                "a huge file is not read", lambda b: b.huge("~/a.txt"), path="~/a.txt"
            ).still_met(),
        ),
        inapplicable={Kind.CORRUPT: NO_CONTENT},
        equivalent={
            "*: empty": "an empty file is a file",
            "*: cut": "the content does not count",
            "*: flip a byte": "the content does not count",
        },
    ),
)
