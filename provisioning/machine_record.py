"""The base record of a machine; each backend adds the fields it needs to find its machines again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from foundation.errors import UnknownNameError
from provisioning.machine_state import MachineState, require_transition
from provisioning.protocols import MachineInfo
from provisioning.registry import registry

if TYPE_CHECKING:
    from typing import Self

SCHEMA_VERSION = 2

META = "meta.json"
"""Name of the record's file."""


def _is_empty(value: object) -> bool:
    return not value


class MachineRecord(BaseModel):
    """The description of a machine.

    Attributes:
        schema_version: version of the record format; records of other versions are not read.
        machine_id: unique in this appliance; the folder's name.
        kind: such as ``desktop`` or ``phone``.
        backend: the backend that made it; discriminates the record types.
        image: label of its image, such as ``desktop:debian-12``.
        image_digest: digest of that image.
        accelerator: ``kvm``, ``tcg`` or ``none``.
        user: login name that agents act as.
        home: that user's home folder.
        browser: name, version and origin of a desktop's browser; empty if unknown.
        is_hand_made: whether its image, or a parent of it, was saved from a machine by hand.
        state: as last written.
        is_fork: whether it is a copy of a template that ends with its lease.
        parameters: those of the specification that it was made for; not written if there are none.
        stamp: digest of all inputs it was made from; differs if a new machine would differ.
        created_s: unix time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    shows_vnc: ClassVar[bool] = False
    """Whether machines of its backend have a VNC server at ``vnc.sock`` in their folders."""

    schema_version: int = SCHEMA_VERSION
    machine_id: str
    kind: str
    backend: str
    image: str
    image_digest: str
    accelerator: str
    user: str
    home: str
    browser: str = ""
    is_hand_made: bool = Field(default=False, exclude_if=_is_empty)
    state: MachineState = MachineState.STARTING
    is_fork: bool = False
    parameters: dict[str, JsonValue] = Field(default_factory=dict, exclude_if=_is_empty)
    stamp: str = ""
    created_s: float = 0.0

    def moved_to(self, state: MachineState) -> Self:
        """Return a copy of the record with another state.

        Raises:
            MachineError: that state cannot follow the current one.
        """
        require_transition(self.machine_id, self.state, state)
        return self.model_copy(update={"state": state})

    @property
    def info(self) -> MachineInfo:
        """Return the description that results record."""
        return MachineInfo(
            machine_id=self.machine_id,
            kind=self.kind,
            backend=self.backend,
            image=self.image,
            image_digest=self.image_digest,
            accelerator=self.accelerator,
            user=self.user,
            home=self.home,
            browser=self.browser,
            is_hand_made=self.is_hand_made,
        )


class _Named(BaseModel):
    """The part of a record that says which class it has."""

    backend: str


def parse_record(data: bytes) -> MachineRecord:
    """Return the record of a machine of any backend.

    Args:
        data: its file, JSON.

    Raises:
        ValueError: its backend is unknown, or it is no record of that backend.
    """
    backend = _Named.model_validate_json(data).backend
    try:
        record_class: type[MachineRecord] = registry().record_class(backend)
    except UnknownNameError as exc:
        raise ValueError(str(exc)) from exc
    return record_class.model_validate_json(data)
