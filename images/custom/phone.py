"""Images of phones: an ``image.yaml`` that extends ``phone``, layers of data over its saved state.

::

    <phone_images_dir>/<name>/image           link to the current copy
    <phone_images_dir>/<name>/copy-<random>/  a copy of the folder, `product.json` and, for the
                                              reference phone, `state/`
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from foundation.errors import SpecError, nearest
from foundation.files import digest_file, digest_json, digest_tree, write_atomic
from foundation.strict import Name, Strict, is_empty
from foundation.yaml_models import parse
from foundation.yaml_source import join_errors, read_yaml
from images.custom.declaration import FILE, SCHEMA_VERSION
from images.custom.steps import GuestPath, LocalFile, LocalPath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foundation.settings import Settings
    from foundation.yaml_source import Source

PHONE = "phone"
"""What `extends` names to mean this appliance's phone."""
PRODUCT, STATE = "product.json", "state"
_CURRENT, _COPY = "image", "copy-"
_FORMAT = 1
_MAX_TEXT = 4096
_WRITABLE = ("/sdcard/", "/storage/emulated/0/", "/data/local/tmp/")
_SKIPPED = ("__pycache__", ".git", ".pytest_cache", PRODUCT, STATE)

Namespace = Literal["system", "secure", "global"]
SettingKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,256}$")]


def _require_writable(path: str) -> str:
    if not path.startswith(_WRITABLE):
        message = "{path} is not below one of {known}."
        context = {"path": repr(path), "known": ", ".join(_WRITABLE)}
        raise PydanticCustomError("phone_path", message, context)
    return path


PhonePath = Annotated[GuestPath, AfterValidator(_require_writable)]
"""A path that the phone's shell may write to."""
Value = str | int


class PhoneFile(Strict):
    """A file or folder to copy.

    Attributes:
        source: path in the image's folder; written as ``from``.
        to: path on the phone, below ``/sdcard`` or ``/data/local/tmp``.
    """

    source: LocalPath = Field(alias="from")
    to: PhonePath


class Row(Strict):
    """A row of a content provider.

    Attributes:
        uri: address of the table, such as ``content://sms``.
        values: values by column.
    """

    uri: str = Field(pattern=r"^content://[^\s]+$", max_length=_MAX_TEXT)
    values: dict[str, Value] = Field(min_length=1)


class Contact(Strict):
    """A person in the address book.

    Attributes:
        name: displayed name.
        phone: phone number; empty for none.
        email: email address; empty for none.
    """

    name: str = Field(min_length=1, max_length=200)
    phone: str = ""
    email: str = ""


class Account(Strict):
    """An account that calendars belong to; it has no server.

    Attributes:
        name: its name, such as an address.
        type: its type; ``LOCAL`` needs no application.
    """

    name: str = Field(min_length=1, max_length=200)
    type: str = Field(default="LOCAL", min_length=1, max_length=200)


class PhoneStep(Strict):
    """A layer; exactly one of the keys, except `title`.

    Attributes:
        title: what it is for, in logs.
        files: files and folders to copy.
        settings: values of settings, by namespace (``system``, ``secure``, ``global``) and key.
        contacts: people to add to the address book.
        rows: rows to add to tables of content providers.
        accounts: local accounts, each with a calendar; on Android only.
        apks: applications to install; on Android only.
    """

    title: str = Field(default="", max_length=120)
    files: tuple[PhoneFile, ...] = Field(default=(), strict=False)
    settings: dict[Namespace, dict[SettingKey, Value]] = Field(default_factory=dict)
    contacts: tuple[Contact, ...] = Field(default=(), strict=False)
    rows: tuple[Row, ...] = Field(default=(), strict=False)
    accounts: tuple[Account, ...] = Field(default=(), strict=False)
    apks: tuple[LocalFile, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _require_one_action(self) -> Self:
        actions = [name for name in ACTIONS if not is_empty(getattr(self, name))]
        if len(actions) != 1:
            found = " and ".join(map(repr, actions)) or "none"
            message = "a step of a phone has exactly one of {known}; this one has {found}."
            context = {"known": ", ".join(ACTIONS), "found": found}
            raise PydanticCustomError("one_action", message, context)
        return self

    @property
    def action(self) -> str:
        """Return the key that says what it does."""
        return next(name for name in ACTIONS if not is_empty(getattr(self, name)))

    @property
    def label(self) -> str:
        """Return one line on what it does."""
        return self.title or f"{self.action} ({len(getattr(self, self.action))})"

    def sources(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield each path in the image's folder that it names, after its place in the step."""
        for number, copy in enumerate(self.files):
            yield ("files", number, "from"), copy.source
        for number, apk in enumerate(self.apks):
            yield ("apks", number, "file"), apk.file


ACTIONS = ("files", "settings", "contacts", "rows", "accounts", "apks")
ONLY_ANDROID = ("accounts", "apks")
"""What the reference phone has no place for."""


class PhoneImageFile(Strict):
    """The content of an ``image.yaml`` of a phone.

    Attributes:
        name: name of the image, which tasks write as ``image``.
        extends: ``phone``, or another image of a phone that was built.
        description: what it is for.
        steps: the layers, in order.
    """

    name: Name
    extends: str = Field(min_length=1, max_length=64)
    description: str = Field(default="", max_length=2000)
    steps: tuple[PhoneStep, ...] = Field(default=(), strict=False, max_length=100)


class PhoneProduct(BaseModel):
    """What was built of an image.

    Attributes:
        format: version of this file's schema.
        base: digest of the phone's image that its state was saved on.
        backend: the kind of phone.
        digest: digest of the image.
        built_at: UTC, ISO 8601.
        seconds: duration of the build.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    base: str
    backend: str
    digest: str
    built_at: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PhoneLayer:
    """A step, and the folder of the files that it names."""

    folder: Path
    step: PhoneStep


@dataclass(frozen=True, slots=True)
class PhoneImage:
    """An image of a phone.

    Attributes:
        path: its folder.
        source: its ``image.yaml``, for errors.
        content: its content.
        layers: its layers, those of its parents first.
        lineage: its name, then its parents'.
    """

    path: Path
    source: Source
    content: PhoneImageFile
    layers: tuple[PhoneLayer, ...]
    lineage: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return its name."""
        return self.content.name

    @property
    def product(self) -> PhoneProduct | None:
        """Return what was built of it; None if nothing was."""
        try:
            return PhoneProduct.model_validate_json((self.path / PRODUCT).read_bytes())
        except (OSError, ValidationError):
            return None

    def digest(self, base: str) -> str:
        """Return the digest of its content on a phone's image.

        Args:
            base: digest of that image.
        """
        rows = []
        for layer in self.layers:
            files = {path: digest_tree(layer.folder / path) for _, path in layer.step.sources()}
            step = layer.step.model_dump(mode="json", exclude={"title"}, exclude_defaults=True)
            rows.append([step, files])
        return digest_json({"format": _FORMAT, "base": base, "layers": rows})

    def state(self, base: str, backend: str) -> Path | None:
        """Return the folder of its saved state; None if it has none for that phone's image.

        Args:
            base: digest of the phone's image.
            backend: the kind of phone.
        """
        made, folder = self.product, self.path / STATE
        if made is None or not folder.is_dir():
            return None
        is_same = (made.base, made.backend, made.digest) == (base, backend, self.digest(base))
        return folder if is_same else None


def phone_images_dir(settings: Settings) -> Path:
    """Return the folder of all images of phones."""
    return settings.state_dir / "custom-phones"


def phone_image_names(settings: Settings) -> list[str]:
    """Return the names of the images of phones that were built, sorted."""
    found = phone_images_dir(settings).glob(f"*/{_CURRENT}/{FILE}")
    return sorted(path.parent.parent.name for path in found)


def find_phone_image(name: str, settings: Settings) -> PhoneImage | None:
    """Return an image of a phone that was built; None if there is none.

    Raises:
        SpecError: this release does not understand its declaration.
    """
    place = phone_images_dir(settings) / name / _CURRENT
    if not name or "/" in name or "\0" in name or not (place / FILE).is_file():
        return None
    return read_phone_image(place.resolve(), settings)


def is_phone_folder(folder: Path, settings: Settings) -> bool:
    """Return whether a folder has an ``image.yaml`` that extends a phone."""
    path = folder if folder.name == FILE else folder / FILE
    if not path.is_file():
        return False
    try:
        data = read_yaml(path).data
    except SpecError:
        return False
    parent = data.get("extends") if isinstance(data, dict) else None
    return parent == PHONE or parent in phone_image_names(settings)


def read_phone_image(folder: Path, settings: Settings) -> PhoneImage:
    """Read and check the folder of an image of a phone.

    Args:
        folder: the folder, or its ``image.yaml``.
        settings: locate its parents.

    Raises:
        SpecError: it is invalid; the details have all errors, each with file and line.
    """
    folder = folder.parent if folder.name == FILE else folder
    source = read_yaml(folder / FILE)
    data = source.data if isinstance(source.data, dict) else {}
    version = data.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise source.error(
            ("schema_version",),
            f"schema_version is {version!r}; this release reads {SCHEMA_VERSION}.",
            resolution="Write `schema_version: 1` at the top of the file.",
        )
    own = source.with_data({key: value for key, value in data.items() if key != "schema_version"})
    content = parse(own, PhoneImageFile)
    parents = _read_parents(own, content, settings)
    layers = [layer for parent in parents for layer in parent.layers][-100:]
    layers += [PhoneLayer(folder, step) for step in content.steps]
    if errors := list(_check_files(own, content, folder)):
        raise join_errors(errors)
    lineage = (content.name, *(parents[0].lineage if parents else (PHONE,)))
    return PhoneImage(folder, own, content, tuple(layers), lineage)


def _read_parents(
    source: Source, content: PhoneImageFile, settings: Settings
) -> tuple[PhoneImage, ...]:
    """Return the parent, if it is not the phone itself.

    Raises:
        SpecError: there is no such image, or the image extends itself.
    """
    if content.extends == PHONE:
        return ()
    known = phone_image_names(settings)
    near = nearest(content.extends, [PHONE, *known])
    if content.extends == content.name or content.extends not in known:
        hint = f"Did you mean {near[0]!r}? " if near and near[0] != content.extends else ""
        raise source.error(
            ("extends",),
            "the image extends itself."
            if content.extends == content.name
            else f"There is no image of a phone called {content.extends!r}.",
            resolution=f"{hint}Write `extends: {PHONE}`, or build the parent first.",
        )
    parent = find_phone_image(content.extends, settings)
    if parent is None or content.name in parent.lineage:
        raise source.error(("extends",), "the image extends itself.", resolution="Rename it.")
    return (parent,)


def _check_files(source: Source, content: PhoneImageFile, folder: Path) -> Iterator[SpecError]:
    for number, step in enumerate(content.steps):
        for where, path in step.sources():
            if not (folder / path).exists():
                names = [str(other.relative_to(folder)) for other in folder.rglob("*")][:10_000]
                near = nearest(path, names)
                yield source.error(
                    ("steps", number, *where),
                    f"There is no {path} in {folder}.",
                    resolution=f"Did you mean {near[0]}?" if near else "Add it.",
                )
        for place, apk in enumerate(step.apks):
            if (folder / apk.file).is_file() and digest_file(folder / apk.file) != apk.sha256:
                yield source.error(
                    ("steps", number, "apks", place, "sha256"),
                    f"{apk.file} has another SHA-256: {digest_file(folder / apk.file)}.",
                    resolution="Correct the digest, if the file is the right one.",
                )


def require_supported(image: PhoneImage, backend: str) -> None:
    """Check that a kind of phone has a place for everything in an image.

    Args:
        image: the image.
        backend: the kind of phone.

    Raises:
        SpecError: the reference phone lacks it.
    """
    if backend != "reference-phone":
        return
    errors = [
        image.source.error(
            ("steps", number, step.action),
            f"The reference phone has no {step.action}: it runs no Android applications.",
            resolution="Use Android's emulator (MESOCOSM_PHONE=emulator), or remove the step.",
        )
        for number, step in enumerate(image.content.steps)
        if step.action in ONLY_ANDROID
    ]
    if errors:
        raise join_errors(errors)
    for layer in image.layers:
        if layer.step.action in ONLY_ANDROID:
            raise image.source.error(
                ("extends",),
                f"Its parent has {layer.step.action}, which the reference phone has not.",
                resolution="Use Android's emulator: MESOCOSM_PHONE=emulator.",
            )


def copy_for_build(image: PhoneImage, settings: Settings) -> Path:
    """Copy the folder of an image to where it is kept, without making it the current one.

    Raises:
        OSError: it cannot be written.
    """
    place = phone_images_dir(settings) / image.name
    place.mkdir(parents=True, exist_ok=True)
    copy = Path(tempfile.mkdtemp(prefix=_COPY, dir=place))
    copy.chmod(0o755)
    ignored = shutil.ignore_patterns(*_SKIPPED)
    shutil.copytree(image.path, copy, dirs_exist_ok=True, ignore=ignored)
    return copy


def make_current(copy: Path, product: PhoneProduct) -> None:
    """Make a copy the current one of its name, and remove the others.

    A reader sees the old or the new copy, also if this process is killed.
    """
    write_atomic(copy / PRODUCT, product.model_dump_json(indent=1) + "\n")
    place = copy.parent
    link = place / f".{copy.name}"
    link.symlink_to(copy.name)
    link.replace(place / _CURRENT)
    for other in (*place.glob(f"{_COPY}*"), *place.glob(f".{_COPY}*")):
        if other != copy:
            shutil.rmtree(other) if not other.is_symlink() else other.unlink()


def forget_phone_image(name: str, settings: Settings) -> None:
    """Remove an image of a phone; its phones stay."""
    shutil.rmtree(phone_images_dir(settings) / name, ignore_errors=True)


def as_row(image: PhoneImage) -> Mapping[str, object]:
    """Return the row of an image in lists."""
    made = image.product
    return {
        "name": PHONE,
        "variant": image.name,
        "digest": made.digest if made else "",
        "path": str(image.path),
        "built_at": made.built_at if made else "",
        "build_seconds": made.seconds if made else 0.0,
        "notes": {"phone": f"{' → '.join(image.lineage)} on {made.backend if made else '?'}"},
    }
