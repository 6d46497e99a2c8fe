"""The table of all kinds of resources, and of the backends that make them.

A new backend needs a folder with its code, an entry in `BACKENDS`, and nothing else; extensions add
entries from outside this project (`foundation.extensions`). Entries name modules as text, as
``module:NAME``, so that reading the table imports no client library.

Every host can open all backends, as it may have resources of each. So a backend must import its
client library late, and removing strays must do nothing if the backend's host is absent.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from foundation.environment import variable
from foundation.errors import SettingsError, UnknownNameError
from foundation.extensions import entries_of
from foundation.settings import Settings, get_settings
from provisioning.resource import DESKTOP, PHONE, WORLD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.resource import ResourceSpec


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A kind of resources.

    Attributes:
        name: name of the kind, which tasks write; also the default role.
        setting: field of `Settings` that names the backend; empty if there is none: the first
            backend of the kind is then used.
        runs_probe: whether the probe runs inside, and evaluators in it; otherwise evaluators run on
            the host and send commands.
        has_sudo: whether a task may let the agent become root.
        is_on_request: whether `mesocosm up` makes none, and does not build its image.
    """

    name: str
    setting: str = ""
    runs_probe: bool = False
    has_sudo: bool = False
    is_on_request: bool = False


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A backend: what makes the resources of one kind in one way.

    Attributes:
        name: value of the kind's setting, such as ``vm``.
        kind: name of the kind.
        backend: a function ``(settings, spec)`` that returns a
            `provisioning.fleet.backend.Backend` for the specification, as ``module:NAME``.
        record: class of its records, a `provisioning.machine_record.MachineRecord`, as
            ``module:Class``.
        recorded: its name in records; by default, `name`.
        images: images that its resources are made from, in build order; the last one is their own.
        has_variants: whether resources of several variants of that image may exist side by side.
        has_layers: whether images of one's own are layers over its only image; see
            `images.custom.phone`.
        parameters: names of the parameters of specifications that it understands.
        forked_from: what its forks are made from: a saved ``template``, an existing ``machine``,
            or ``nothing`` if it cannot fork.
        host: what runs its resources on this host: ``hypervisor``, ``docker``, or empty.
    """

    name: str
    kind: str
    backend: str
    record: str = "provisioning.machine_record:MachineRecord"
    recorded: str = ""
    images: tuple[str, ...] = ()
    has_variants: bool = False
    has_layers: bool = False
    parameters: tuple[str, ...] = ()
    forked_from: Literal["template", "machine", "nothing"] = "nothing"
    host: Literal["hypervisor", "docker", ""] = ""

    @property
    def recorded_name(self) -> str:
        """Return its name in records."""
        return self.recorded or self.name

    @property
    def recipe(self) -> str | None:
        """Return the image that its resources start from; None if there is none."""
        return self.images[-1] if self.images else None

    def label_of(self, spec: ResourceSpec) -> str | None:
        """Return the label of the image that a specification starts from; None if there is none."""
        if self.has_layers:
            return self.recipe
        return f"{self.recipe}:{spec.image}" if self.recipe and spec.image else self.recipe


KINDS = (
    ResourceKind(DESKTOP, setting="desktop", runs_probe=True, has_sudo=True),
    ResourceKind(PHONE, setting="phone"),
    ResourceKind(WORLD, is_on_request=True),
)
"""The kinds of this project, in the order in which `mesocosm up` prepares them."""

BACKENDS = (
    BackendEntry(
        name="vm",
        kind=DESKTOP,
        backend="provisioning.desktop.qemu.backend:QemuBackend",
        record="provisioning.desktop.qemu.record:QemuRecord",
        recorded="libvirt",
        images=("hypervisor", "desktop"),
        has_variants=True,
        forked_from="template",
        host="hypervisor",
    ),
    BackendEntry(
        name="container",
        kind=DESKTOP,
        backend="provisioning.desktop.container.backend:ContainerBackend",
        record="provisioning.desktop.container.record:ContainerRecord",
        images=("desktop-container",),
        has_variants=True,
        forked_from="machine",
        host="docker",
    ),
    BackendEntry(
        name="remote",
        kind=DESKTOP,
        backend="provisioning.desktop.remote.backend:RemoteBackend",
        record="provisioning.desktop.remote.record:RemoteRecord",
    ),
    BackendEntry(
        name="reference",
        kind=PHONE,
        backend="provisioning.phone.reference.backend:reference_backend",
        record="provisioning.phone.reference.record:PhoneRecord",
        recorded="reference-phone",
        has_layers=True,
        images=("phone",),
        host="docker",
    ),
    BackendEntry(
        name="emulator",
        kind=PHONE,
        backend="provisioning.phone.reference.backend:emulator_backend",
        record="provisioning.phone.reference.record:PhoneRecord",
        recorded="android-emulator",
        has_layers=True,
        images=("android",),
        host="docker",
    ),
    BackendEntry(
        name="world",
        kind=WORLD,
        backend="provisioning.world.backend:WorldBackend",
        record="provisioning.world.record:WorldRecord",
        images=("hypervisor", "world"),
        parameters=("seed",),
        host="docker",
    ),
)
"""The backends of this project, by kind."""

FAKE = "fake"
"""Name of in-memory machines in records; no backend makes them."""
_FAKE_RECORD = "provisioning.fake.record:FakeRecord"


@dataclass(frozen=True, slots=True)
class Registry:
    """All kinds and backends.

    Attributes:
        kinds: kinds by name.
        backends: backends in the order of the table.
    """

    kinds: Mapping[str, ResourceKind]
    backends: tuple[BackendEntry, ...]

    def kind(self, name: str) -> ResourceKind:
        """Return a kind.

        Raises:
            UnknownNameError: there is no such kind.
        """
        if name not in self.kinds:
            raise UnknownNameError.of("kind of resource", name, self.kinds)
        return self.kinds[name]

    def backends_of(self, kind: str) -> dict[str, BackendEntry]:
        """Return the backends of a kind by name; a later entry replaces an earlier one."""
        return {entry.name: entry for entry in self.backends if entry.kind == kind}

    def chosen(self, kind: str, settings: Settings) -> BackendEntry:
        """Return the backend that settings choose for a kind.

        Raises:
            UnknownNameError: there is no such kind, or no such backend of it.
        """
        setting, entries = self.kind(kind).setting, self.backends_of(kind)
        name = str(getattr(settings, setting)) if setting else next(iter(entries), "")
        if name not in entries:
            raise UnknownNameError.of(f"{kind} backend", name, entries)
        return entries[name]

    def recorded(self, name: str) -> BackendEntry | None:
        """Return the backend with a name in records; None if there is none."""
        return next((entry for entry in self.backends if entry.recorded_name == name), None)

    def record_class(self, name: str) -> Any:  # noqa: ANN401 - the caller knows the base class
        """Return the class of the records of a backend.

        Args:
            name: name of the backend in records.

        Raises:
            UnknownNameError: there is no such backend.
        """
        entry = self.recorded(name)
        if entry is None and name != FAKE:
            names = [*(known.recorded_name for known in self.backends), FAKE]
            raise UnknownNameError.of("backend", name, names)
        return load(_FAKE_RECORD if entry is None else entry.record)


def registry(extensions: str | None = None) -> Registry:
    """Return the table, with the entries of extensions.

    Args:
        extensions: value of the setting; by default, that of this process.

    Raises:
        SettingsError: an extension cannot be used.
    """
    return _registry(get_settings().extensions if extensions is None else extensions)


@lru_cache(maxsize=16)
def _registry(extensions: str) -> Registry:
    kinds = (*KINDS, *entries_of(extensions, ResourceKind))
    backends = (*BACKENDS, *entries_of(extensions, BackendEntry))
    return Registry({kind.name: kind for kind in kinds}, backends)


def require_choices(settings: Settings) -> None:
    """Check that the settings choose existing backends.

    Raises:
        SettingsError: there is no such backend, or an extension cannot be used.
    """
    table = registry(settings.extensions)
    for kind in table.kinds.values():
        names = list(table.backends_of(kind.name))
        if kind.setting and getattr(settings, kind.setting) not in names:
            name, value = variable(Settings, kind.setting), getattr(settings, kind.setting)
            known = " or ".join(filter(None, (", ".join(map(repr, names[:-1])), repr(names[-1]))))
            raise SettingsError(
                f"{name} has an invalid value.",
                details=f"{name}={value}: input should be {known}",
                resolution="Correct or unset it; docs/settings.md lists the values of each setting.",
            )


def load(name: str) -> Any:  # noqa: ANN401 - whatever is named
    """Import what an entry names as ``module:NAME``."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
