"""The steps of a custom image: each provisions the parent's tree a little further."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from foundation.strict import Strict, is_empty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOME = "/home/user"
Owner = Literal["root", "user"]
_MAX_PATH = 512
_FORBIDDEN = ("/proc", "/sys", "/dev", "/run")
"""Folders of a running system, which no image has."""


def _require_inside(path: str) -> str:
    """Refuse a path that leaves the image's folder."""
    parts = path.split("/")
    if path.startswith("/") or ".." in parts or not path.isprintable() or path in {"", "."}:
        message = "{path} is not a relative path inside the image's folder."
        raise PydanticCustomError("local_path", message, {"path": repr(path)})
    return posixpath.normpath(path)


def _require_absolute(path: str) -> str:
    """Refuse a path that is not one absolute, normal path of a machine."""
    plain = posixpath.normpath(path)
    if not path.startswith("/") or ".." in path.split("/") or not path.isprintable():
        message = "{path} is not an absolute path on the machine."
        raise PydanticCustomError("guest_path", message, {"path": repr(path)})
    if plain == "/" or any(plain == top or plain.startswith(f"{top}/") for top in _FORBIDDEN):
        message = "{path} is not part of an image's file system."
        raise PydanticCustomError("guest_path", message, {"path": repr(path)})
    return plain


LocalPath = Annotated[str, Field(max_length=_MAX_PATH), AfterValidator(_require_inside)]
"""A file or folder in the image's folder."""
GuestPath = Annotated[str, Field(max_length=_MAX_PATH), AfterValidator(_require_absolute)]
"""An absolute path on the machine."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
PackageName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+:~-]+)?$")]
"""A package of the distribution, or ``name=version``."""
PipRequirement = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.\[\],-]*(\s*[=<>!~]=?.*)?$")]
Command = Annotated[str, Field(min_length=1, max_length=20_000)]


class LocalFile(Strict):
    """A file in the image's folder whose content is fixed.

    Attributes:
        file: path in the image's folder.
        sha256: SHA-256 of its content, 64 hex digits.
    """

    file: LocalPath
    sha256: Sha256


class Archive(LocalFile):
    """An archive (``.tar.*`` or ``.zip``) to extract.

    Attributes:
        to: folder on the machine; created if missing.
        strip: number of leading folders that are removed from the names in it.
        owner: owner of what is extracted.
    """

    to: GuestPath
    strip: int = Field(default=0, ge=0, le=8)
    owner: Owner = "root"


class FileCopy(Strict):
    """A file or folder to copy.

    Attributes:
        source: path in the image's folder; written as ``from``.
        to: path on the machine; missing parent folders are created.
        owner: owner; below the home folder the user, elsewhere root, if omitted.
        mode: permission bits in octal, as text; those of the source, without write permission for
            others, if omitted.
    """

    source: LocalPath = Field(alias="from")
    to: GuestPath
    owner: Owner | None = None
    mode: str | None = Field(default=None, pattern=r"^0?[0-7]{3}$")

    @property
    def effective_owner(self) -> Owner:
        """Return the owner, chosen by the destination if none is given."""
        return self.owner or ("user" if self.to.startswith(f"{HOME}/") else "root")


class Bookmark(Strict):
    """A bookmark in the browser's toolbar.

    Attributes:
        title: its name.
        url: its address.
    """

    title: str = Field(min_length=1, max_length=200)
    url: str = Field(pattern=r"^(https?|file|about):\S+$", max_length=2000)


class UserData(Strict):
    """Data of the machine's user.

    Attributes:
        documents: file or folder whose content is copied into ``~/Documents``; likewise the
            following ones.
        bookmarks: bookmarks in Firefox's toolbar.
        profiles: folders of settings by path below the home folder, such as
            ``{.config/mtpaint: profiles/mtpaint}``.
    """

    desktop: LocalPath | None = None
    documents: LocalPath | None = None
    downloads: LocalPath | None = None
    music: LocalPath | None = None
    pictures: LocalPath | None = None
    videos: LocalPath | None = None
    bookmarks: tuple[Bookmark, ...] = Field(default=(), strict=False)
    profiles: dict[LocalPath, LocalPath] = Field(default_factory=dict)

    def copies(self) -> dict[str, str]:
        """Return the folder on the machine of each path whose content is copied."""
        names = ("desktop", "documents", "downloads", "music", "pictures", "videos")
        pairs = {
            f"{HOME}/{name.capitalize()}": value for name in names if (value := getattr(self, name))
        }
        return pairs | {f"{HOME}/{below}": source for below, source in self.profiles.items()}


def gvariant(value: JsonValue) -> str:
    """Return a value of a setting as GVariant text.

    Source: GLib, *GVariant text format*.

    Raises:
        ValueError: it has no obvious type; the message ends a sentence about it.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _quoted(value)
        case list() if value and all(isinstance(item, str) for item in value):
            return f"[{', '.join(_quoted(str(item)) for item in value)}]"
        case {"gvariant": str(text), **others} if not others:
            return text
    raise ValueError("is not text, a number, true, false, a list of text or {gvariant: TEXT}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _require_type(value: JsonValue) -> JsonValue:
    """Refuse a value without an obvious type."""
    try:
        gvariant(value)
    except ValueError as exc:
        message = "{value} {problem}."
        context = {"value": repr(value)[:80], "problem": str(exc)}
        raise PydanticCustomError("setting", message, context) from exc
    return value


Setting = Annotated[JsonValue, AfterValidator(_require_type)]
SchemaName = Annotated[str, Field(pattern=r"^[A-Za-z][\w.-]*(:/[\w./-]*/)?$")]
KeyName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]


def _one_action(schema: dict[str, Any]) -> None:
    """Say in the JSON Schema that a step does exactly one thing."""
    schema["oneOf"] = [{"required": [name]} for name in ACTIONS]


class Step(Strict):
    """One step of the build; exactly one of the keys, except `title`, and `as`, `uses` with `run`.

    Attributes:
        title: what it is for, in logs; derived from its content if omitted.
        packages: packages of the distribution to install, with their dependencies.
        debs: local packages to install, with their dependencies from the distribution.
        archives: archives to extract.
        pip: Python packages to install for all programs of the machine.
        files: files and folders to copy.
        run: a shell command, in a folder with what `uses` names, which it can only read.
        run_as: who runs it: ``root`` or the agent's ``user``; written as ``as``.
        uses: files and folders of the image that the command needs.
        settings: values of the user's GNOME settings, by schema and key; text, numbers, booleans and
            lists of text as such, other types as ``{gvariant: "uint32 5"}``.
        fonts: font files to install for all programs.
        data: data of the user.
    """

    title: str = Field(default="", max_length=120)
    packages: tuple[PackageName, ...] = Field(default=(), strict=False)
    debs: tuple[LocalFile, ...] = Field(default=(), strict=False)
    archives: tuple[Archive, ...] = Field(default=(), strict=False)
    pip: tuple[PipRequirement, ...] = Field(default=(), strict=False)
    files: tuple[FileCopy, ...] = Field(default=(), strict=False)
    run: Command | None = None
    run_as: Owner | None = Field(default=None, alias="as")
    uses: tuple[LocalPath, ...] = Field(default=(), strict=False)
    settings: dict[SchemaName, dict[KeyName, Setting]] = Field(default_factory=dict)
    fonts: tuple[LocalPath, ...] = Field(default=(), strict=False)
    data: UserData | None = None

    model_config = ConfigDict(json_schema_extra=_one_action)

    @model_validator(mode="after")
    def _require_one_action(self) -> Self:
        actions = [name for name in ACTIONS if not is_empty(getattr(self, name))]
        if len(actions) != 1:
            found = " and ".join(repr(name) for name in actions) or "none"
            message = "a step has exactly one of {known}; this one has {found}."
            raise PydanticCustomError(
                "one_action", message, {"known": ", ".join(ACTIONS), "found": found}
            )
        if self.run is None and (self.run_as is not None or self.uses):
            key = "uses" if self.uses else "as"
            message = f"the key {key!r} is only for 'run'."
            raise PydanticCustomError("one_action", message, {})
        return self

    @property
    def action(self) -> str:
        """Return the key that says what it does."""
        return next(name for name in ACTIONS if not is_empty(getattr(self, name)))

    @property
    def label(self) -> str:
        """Return one line on what it does."""
        return self.title or f"{self.action}: {self._summary()}"

    def _summary(self) -> str:
        match self.action:
            case "packages" | "pip" | "fonts":
                text = " ".join(getattr(self, self.action))
            case "debs" | "archives":
                text = " ".join(entry.file for entry in getattr(self, self.action))
            case "files":
                text = " ".join(entry.to for entry in self.files)
            case "run":
                text = " ".join((self.run or "").split())
            case "settings":
                text = " ".join(self.settings)
            case _:
                text = "data of the user"
        return text if len(text) <= _LABEL_CHARS else f"{text[:_LABEL_CHARS]}…"

    def sources(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield each path in the image's folder that it names, after its place in the step."""
        for action in ("debs", "archives"):
            for number, entry in enumerate(getattr(self, action)):
                yield (action, number, "file"), entry.file
        for number, copy in enumerate(self.files):
            yield ("files", number, "from"), copy.source
        for name in ("fonts", "uses"):
            for number, path in enumerate(getattr(self, name)):
                yield (name, number), path
        if self.data is not None:
            yield from self._data_sources(self.data)

    def _data_sources(self, data: UserData) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for name in UserData.model_fields:
            value = getattr(data, name)
            if isinstance(value, str):
                yield ("data", name), value
        for below, source in data.profiles.items():
            yield ("data", "profiles", below), source


ACTIONS = ("packages", "debs", "archives", "pip", "files", "run", "settings", "fonts", "data")
_LABEL_CHARS = 60


def all_settings(settings: Mapping[str, Mapping[str, JsonValue]]) -> list[tuple[str, str, str]]:
    """Return schema, key and GVariant text of each setting."""
    return [
        (schema, key, gvariant(value))
        for schema, values in settings.items()
        for key, value in values.items()
    ]
