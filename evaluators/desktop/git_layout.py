"""Where the files of a git repository are, as git itself finds them.

The repository of a work tree is its folder ``.git``, or the folder that its file ``.git`` names
(``git init --separate-git-dir``, a linked work tree, a submodule). Its file ``commondir`` leads to
the references and objects of another repository; ``objects/info/alternates`` adds objects from
further folders.

Source: gitrepository-layout(5).
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from evaluators.desktop.reading import is_folder, look, names_in, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

_HEAD = "HEAD"
_LINK = "gitdir: "
_OWN_REFERENCES = ("refs/bisect", "refs/rewritten", "refs/worktree")
"""Folders of references that a linked work tree has for itself."""
_REPLACEMENTS = "refs/replace"
_MAX_ALTERNATES = 100
_MAX_CHAIN = 5
"""How many repositories in a row may take objects from each other, as in git."""
_MAX_DEPTH = 10


class Layout(NamedTuple):
    """Locations of a repository's files.

    Attributes:
        own: folder of the files that belong to one work tree, such as HEAD.
        common: folder of all other files; the same, unless ``commondir`` names another one.
        objects: folders of objects, its own first.
    """

    own: str
    common: str
    objects: tuple[str, ...]

    def path(self, name: str) -> str:
        """Return the path of a file of references."""
        is_own = name == _HEAD or _is_own(name)
        return f"{self.own if is_own else self.common}/{name}"


def layout_of(guest: Guest, path: str) -> Layout | None:
    """Return the layout of a work tree's repository; None if git finds none, or only through links."""
    try:
        own = _repository_of(guest, guest.path(f"{path}/.git"))
        common = _common_of(guest, own)
        if not is_folder(guest, f"{common}/refs") or not is_folder(guest, f"{common}/objects"):
            return None
        return Layout(own, common, tuple(_object_folders(guest, f"{common}/objects")))
    except ValueError:
        return None


def references_in(guest: Guest, layout: Layout) -> Iterator[str]:
    """Iterate over the relative paths of everything below ``refs`` that is not a folder."""
    for name in _below(guest, layout.common, "refs"):
        if layout.own == layout.common or not _is_own(name):
            yield name
    if layout.own != layout.common:
        for folder in _OWN_REFERENCES:
            yield from _below(guest, layout.own, folder)


def shows_stored_history(guest: Guest, layout: Layout) -> bool:
    """Return whether git shows commits as they are stored: without replacements and grafts."""
    grafts = look(guest, f"{layout.common}/info/grafts")
    replacements = names_in(guest, f"{layout.common}/{_REPLACEMENTS}")
    is_packed = f" {_REPLACEMENTS}/" in (read_text(guest, f"{layout.common}/packed-refs") or "")
    return not (replacements or is_packed) and (grafts is None or not grafts.st_size)


def _repository_of(guest: Guest, own: str) -> str:
    """Return the folder that ``.git`` is, or that it names."""
    if is_folder(guest, own):
        return own
    link = _text_in(guest, own).rstrip("\r\n")
    if not link.startswith(_LINK):
        raise ValueError("it is neither a repository nor a link to one")
    return guest.path(posixpath.join(posixpath.dirname(own), link[len(_LINK) :]))


def _common_of(guest: Guest, own: str) -> str:
    if look(guest, f"{own}/commondir") is None:
        return own
    return guest.path(posixpath.join(own, _text_in(guest, f"{own}/commondir").rstrip("\r\n")))


def _object_folders(guest: Guest, objects: str) -> list[str]:
    """Return a folder of objects, and those that it takes others from."""
    folders, last = [objects], [objects]
    for _ in range(_MAX_CHAIN + 1):
        named = [folder for taker in last for folder in _alternates_of(guest, taker)]
        last = [folder for folder in dict.fromkeys(named) if folder not in folders]
        folders += last
        if len(folders) > _MAX_ALTERNATES:
            raise ValueError("there are too many alternates")
    return folders


def _alternates_of(guest: Guest, objects: str) -> list[str]:
    """Return the folders that a folder of objects names.

    Raises:
        ValueError: a name is quoted.
    """
    path = f"{objects}/info/alternates"
    if look(guest, path) is None:
        return []
    rows = [row for row in _text_in(guest, path).split("\n") if row and not row.startswith("#")]
    if any(row.startswith('"') for row in rows):
        raise ValueError("a name is quoted")
    return [guest.path(posixpath.join(objects, row)) for row in rows]


def _text_in(guest: Guest, path: str) -> str:
    """Return a file's text.

    Raises:
        ValueError: it is missing, a link, too large or not text.
    """
    text = read_text(guest, path)
    if text is None or "\0" in text:
        raise ValueError(f"{path} is not a text file")
    return text


def _is_own(name: str) -> bool:
    return name.startswith(tuple(f"{folder}/" for folder in _OWN_REFERENCES))


def _below(guest: Guest, source: str, folder: str) -> Iterator[str]:
    """Iterate over the relative paths of everything below a folder that is not a folder."""
    is_too_deep = folder.count("/") > _MAX_DEPTH
    for name in () if is_too_deep else names_in(guest, f"{source}/{folder}") or ():
        path = f"{folder}/{name}"
        if is_folder(guest, f"{source}/{path}"):
            yield from _below(guest, source, path)
        else:
            yield path
