"""Mutants of code that change nothing that counts, and why; names may hold ``*``.

A reason counts only for a mutant that survived; square brackets are written ``[[]``.
"""

from __future__ import annotations

_BOUND = "a bound a little further off bounds as well"
_ONE_MORE = "one byte more is read, and then refused all the same"
_NOTHING = "what stands for a missing file is not what is asked for"
_CLOSED = "the child that judges ends soon, and its files with it"
_SAME = "words that only need be the same on both sides"
_ANY = "any value of the variable, or any name, does"
_REACH = "the same outcome by another way: the folder, link or file is refused one step later"

EQUIVALENT: dict[str, str] = {
    "evaluators.desktop.*MAX_*": _BOUND,
    "evaluators.desktop.database._OPERATIONS_A_STEP: *": _BOUND,
    "evaluators.desktop.*._TIMEOUT_S: *": _BOUND,
    "evaluators.desktop.*: os.close(fd) -> pass": _CLOSED,
    "evaluators.desktop.*: '' -> 'XX'": _NOTHING,
    "evaluators.desktop.*: b'' -> b'XX'": _NOTHING,
    "evaluators.desktop.*: '\\x00' -> '\\x00XX'": _ANY,
    # archives
    "evaluators.desktop.archives._members: * -> file.seek(0, 2) >= _MAX_ARCHIVE_BYTES": _BOUND,
    "evaluators.desktop.archives._members: *: 0 -> 1": "a bound, or a place that the reader sets anew",
    "evaluators.desktop.archives._zipped: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.archives._tarred: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.archives._tarred: * -> number <= MAX_ENTRIES": _BOUND,
    "evaluators.desktop.archives._tarred: * < _MAX_STREAM_BYTES": _BOUND,
    # databases
    "evaluators.desktop.database.sqlite_row_count: *: '\"' -> '\"XX'": "SQL reads it as a second name",
    "evaluators.desktop.database.query_rows: *: 'mesocosm-' -> *": _ANY,
    "evaluators.desktop.database._select: *: 1 -> 2": "one row more is read, and then refused",
    # folders
    "evaluators.desktop.folders.directories_equal: *": "a folder never equals a part of itself",
    # reading
    "evaluators.desktop.reading._FOLDER: *": _REACH,
    "evaluators.desktop.reading._FILE: *O_NOCTTY*": "no case has a terminal",
    "evaluators.desktop.reading.opened: *: 1 -> 2": "any negative number says that there is none",
    "evaluators.desktop.reading.opened: * fd < 0 -> fd <= 0": "0 is standard input",
    "evaluators.desktop.reading.opened: *: 0 -> 1": "0 is standard input",
    "evaluators.desktop.reading.read_bytes: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading.names_in: *: 1 -> 2": _ONE_MORE,
    "evaluators.desktop.reading.tree_of: *: False -> True": _REACH,
    "evaluators.desktop.reading.tree_of: *left <= 0": _BOUND,
    "evaluators.desktop.reading.tree_of: *: 0 -> 1": _BOUND,
    "evaluators.desktop.reading.tree_of: *>= MAX_ENTRIES": _BOUND,
    "evaluators.desktop.reading._describe: *: 'link ' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: 'folder' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: 'other' -> *": _SAME,
    "evaluators.desktop.reading._describe: *: [01] -> [12]": _BOUND,
    "evaluators.desktop.reading._digest: *>= max_bytes": _BOUND,
    "evaluators.desktop.reading._digest: *: 0 -> 1": _BOUND,
    "evaluators.desktop.reading._parent: *full.rpartition*": "benches have a folder for their root",
    "evaluators.desktop.reading._parent: *: '/' -> '/XX'": "benches have a folder for their root",
    # windows and clipboard
    "evaluators.desktop.windows.window_at: * raise *": "too few numbers raise anyhow",
    "evaluators.desktop.*: 'replace' -> 'replaceXX'": "only for bytes that no program prints there",
    # services
    "evaluators.desktop.dav._CARDS: *": "the bench's server does not read the query",
    "evaluators.desktop.dav._EVENTS: *": "the bench's server does not read the query",
    "evaluators.desktop.dav._collection: *: '1' -> '1XX'": "the bench's server does not read it",
    "evaluators.desktop.mail._connection: * parts.scheme not in *": "it raises one step later",
    "evaluators.desktop.web.ask: * raise ValueError*": "it raises one step later",
    # git
    "evaluators.desktop.git.GIT: *=*": _ANY,
    "evaluators.desktop.git.git_branch_is: *: '--quiet' -> *": "what it says beside is not read",
}
