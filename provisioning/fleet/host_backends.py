"""The backends of this host, as the table and the settings name them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError, RequirementError, UnknownNameError, UnsupportedError
from images.catalog import make_recipe, split_label
from images.custom.phone import phone_image_names
from provisioning.registry import BackendEntry, load, registry
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from foundation.settings import Settings
    from provisioning.fleet.backend import Backend
    from provisioning.machine_record import MachineRecord


class HostBackends:
    """A `provisioning.fleet.backends.Backends` over the table of `provisioning.registry`.

    For each kind, the settings choose one backend that makes and leases resources; resources of the
    others can be attached. Each specification has its own instance of the backend.

    Args:
        settings: choose the backends, and configure them.
        without: names of backends that are unavailable now, such as ``vm``.
        given: instances to use for the default specification, by name of the backend.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        without: Collection[str] = (),
        given: Mapping[str, Backend] | None = None,
    ) -> None:
        self._settings = settings
        self._table = registry()
        self._without = frozenset(without)
        self._given = dict(given or {})
        self._instances: dict[tuple[str, ResourceSpec], Backend] = {}
        self._default_images: dict[str, str] = {}
        self._lock = threading.Lock()

    def resolve(self, spec: ResourceSpec) -> ResourceSpec:
        """Return a specification whose image is empty if it is the default, after checking it.

        Raises:
            UnknownNameError: there is no such kind, image or parameter.
            UnsupportedError: resources of the chosen backend have only one image.
        """
        entry = self._table.chosen(spec.kind, self._settings)
        if spec.image and entry.has_layers:
            spec = self._resolved(entry, spec)
            known = phone_image_names(self._settings)
            if spec.image and spec.image not in known:
                raise UnknownNameError.of(f"image of a {spec.kind}", spec.image, known)
        elif spec.image and not entry.has_variants:
            raise UnsupportedError(
                f"A {spec.kind} of the backend {entry.name!r} has no choice of images.",
                details=f"The image {spec.image!r} is required.",
                resolution="Omit the image, or choose another backend.",
            )
        if label := entry.label_of(spec):
            split_label(label, self._settings)
        for name in spec.parameters:
            if name not in entry.parameters:
                what = f"parameter of a {spec.kind} of the backend {entry.name!r}"
                raise UnknownNameError.of(what, name, entry.parameters)
        return self._resolved(entry, spec)

    def of(self, spec: ResourceSpec) -> Backend:
        """Return the chosen backend's instance for a resolved specification."""
        return self._instance(self._table.chosen(spec.kind, self._settings), spec)

    def of_record(self, record: MachineRecord) -> Backend | None:
        """Return the instance for an existing resource; None if its backend is not available."""
        entry = self._table.recorded(record.backend)
        if entry is None or entry.name in self._without:
            return None
        spec = self.spec_of(record)
        if entry.has_layers and spec.image not in {"", *phone_image_names(self._settings)}:
            return None
        if label := entry.label_of(spec):
            try:
                split_label(label, self._settings)
            except UnknownNameError:  # its image is no longer known
                return None
        return self._instance(entry, spec)

    def spec_of(self, record: MachineRecord) -> ResourceSpec:
        """Return the resolved specification that an existing resource was made for."""
        entry = self._table.recorded(record.backend)
        spec = ResourceSpec(record.kind, parameters=record.parameters)
        if entry is None or not (entry.has_variants or entry.has_layers):
            return spec
        image = record.image.partition(":")[2]
        return self._resolved(entry, ResourceSpec(record.kind, image, record.parameters))

    def is_offered(self, record: MachineRecord) -> bool:
        """Return whether a resource is of the backend that settings choose for its kind."""
        entry = self._table.recorded(record.backend)
        if entry is None or entry.name in self._without:
            return False
        return self._table.chosen(record.kind, self._settings).name == entry.name

    def opened(self) -> Iterable[Backend]:
        """Return an instance of each available backend, for its default specification."""
        return [
            self._instance(entry, ResourceSpec(entry.kind))
            for entry in self._table.backends
            if entry.name not in self._without
        ]

    def _instance(self, entry: BackendEntry, spec: ResourceSpec) -> Backend:
        if entry.name in self._without:
            raise RequirementError(f"The {entry.kind} backend {entry.name!r} is not available now.")
        if spec == ResourceSpec(entry.kind) and entry.name in self._given:
            return self._given[entry.name]
        with self._lock:
            key = (entry.name, spec)
            if key not in self._instances:
                backend: Backend = load(entry.backend)(self._settings, spec)
                self._instances[key] = backend
            return self._instances[key]

    def _resolved(self, entry: BackendEntry, spec: ResourceSpec) -> ResourceSpec:
        is_default = not spec.image or spec.image == self._default_image(entry)
        return ResourceSpec(spec.kind, "" if is_default else spec.image, spec.parameters)

    def _default_image(self, entry: BackendEntry) -> str:
        """Return the variant of the image that settings choose; empty if it is unknown here."""
        if entry.name not in self._default_images:
            try:
                variant = make_recipe(entry.images[-1], self._settings).variant
            except MesocosmError:
                return ""
            self._default_images[entry.name] = variant
        return self._default_images[entry.name]
