"""Every error this project raises on purpose.

::

    MesocosmError                  brief, details, resolution; a class-level code
    ├── UsageError                 the caller asked for something that does not exist
    │   ├── UnknownNameError       names the nearest match
    │   ├── SettingsError          an environment variable is unknown or has an invalid value
    │   └── EpisodeUseError        an episode's methods were called in the wrong order
    ├── SpecError                  a user's file is invalid: file, line, what was expected
    ├── RequirementError           the host lacks something; exit code 3
    ├── ToolError                  a host program failed, timed out or is missing
    │   ├── ToolMissingError
    │   ├── ToolFailedError
    │   └── ToolTimeoutError
    ├── ImageError                 building or checking an image failed
    │   ├── ImageMissingError
    │   ├── ImageBuildError
    │   └── ImageCorruptError
    ├── MachineError               a machine could not be created or used
    │   ├── MachineStartError
    │   ├── EngineError            the Docker engine refused a request about a machine
    │   ├── MachineBusyError
    │   ├── LeaseExpiredError      a lease ended before its holder was done
    │   ├── MemoryOutgrownError    a machine was ended: it used more memory than is left
    │   ├── UnsupportedError       this type of machine does not support the request
    │   ├── SnapshotMissingError
    │   ├── SnapshotError          save, rewind or delete failed
    │   │   └── DesktopFaultyError     the desktop to save shows a dialog, lacks icons ...
    │   └── ResetMismatchError     a rewound machine differs from its snapshot
    ├── LinkError                  communication with a guest failed
    │   ├── LinkClosedError
    │   │   ├── PhoneOfflineError        adb knows the phone, but it does not answer
    │   │   └── PhoneUnauthorizedError   the phone rejects our key
    │   ├── LinkTimeoutError       no reply before the deadline
    │   ├── LinkProtocolError      malformed or oversized message
    │   └── GuestCallError         the guest replied with an error
    ├── ActionError                an action could not be executed
    │   └── InvalidActionError     the agent's fault: the machine or its program refuses the call
    │       ├── UnknownActionError     there is no such role or action
    │       ├── ArgumentsError         missing, unknown or invalid arguments
    │       ├── OffScreenError         a coordinate is outside the screen
    │       ├── UnknownMarkError       the agent was shown no such mark
    │       └── RefusedByPersonError   the person who confirms actions declined it
    ├── EvaluationError            an evaluator could not decide
    │   ├── ObstructedEvaluationError  something on the machine prevents a decision
    │   ├── CostlyAnswerError          the submitted answer takes too long to read: unmet
    │   └── GraphError             the graph is invalid
    ├── AgentError                 the agent failed
    │   ├── ModelRefusalError      its model refused, or the request is too large for it: FAIL
    │   └── ModelUnavailableError  its model cannot be reached: infrastructure, never FAIL
    ├── EpisodeStartError          a trial ended before its agent could act
    ├── CancelledError             the operation was cancelled on request
    └── StoreError                 the event log or its index is damaged
        └── StateError             the service's state cannot be used

Exit codes of the command line follow `exit_code`: 1 failed, 2 usage, 3 requirement unmet.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class MesocosmError(Exception):
    """Base of all errors raised on purpose.

    Args:
        brief: one line on what happened.
        details: what is known about the cause; may span several lines.
        resolution: what the user can do about it.
    """

    code: ClassVar[str] = "mesocosm"
    exit_code: ClassVar[int] = 1

    def __init__(self, brief: str, details: str = "", resolution: str = "") -> None:
        super().__init__(brief, details, resolution)
        self.brief = brief
        self.details = details
        self.resolution = resolution

    def __str__(self) -> str:
        return "\n".join(part for part in (self.brief, self.details, self.resolution) if part)


def error_of_code(code: str, brief: str, details: str = "", resolution: str = "") -> MesocosmError:
    """Return the error with a code that another process reported; `MesocosmError` if unknown."""
    kinds: list[type[MesocosmError]] = [MesocosmError]
    for kind in kinds:
        if kind.code == code:
            return kind(brief, details, resolution)
        kinds += kind.__subclasses__()
    return MesocosmError(brief, details, resolution)


def named_error(name: str, error: MesocosmError) -> MesocosmError:
    """Return an error with the name of what it is about, such as a row, before its brief."""
    return error_of_code(error.code, f"{name}: {error.brief}", error.details, error.resolution)


class UsageError(MesocosmError):
    """The caller requested something impossible."""

    code = "usage"
    exit_code = 2


_NAMES_SHOWN = 10
_NEAR_RATIO = 0.7


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return likely corrections of a misspelt name: the nearest, and up to two more."""
    known = list(names)
    best = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    others = difflib.get_close_matches(name, known, n=3, cutoff=_NEAR_RATIO)
    return list(dict.fromkeys([*best, *others]))


def _join_choices(names: list[str]) -> str:
    """Return names as a choice: ``'a', 'b' or 'c'``."""
    quoted = [repr(name) for name in names]
    return " or ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)


class UnknownNameError(UsageError):
    """A name does not exist; suggests the nearest one."""

    code = "unknown_name"

    @classmethod
    def of(cls, what: str, name: str, known: Iterable[str]) -> UnknownNameError:
        """Build the error for `name`, which is not in `known`.

        Args:
            what: the kind of thing, for example ``"suite"``.
            name: what the user wrote.
            known: all valid names.
        """
        names = sorted(str(candidate) for candidate in known)  # a StrEnum shows its value
        near = nearest(name, names)
        shown = ", ".join(names[:_NAMES_SHOWN]) or "none"
        if len(names) > _NAMES_SHOWN:
            shown = f"{shown} and {len(names) - _NAMES_SHOWN} more"
        resolution = f"Did you mean {_join_choices(near)}?" if near else f"Known: {shown}."
        return cls(f"There is no {what} called {name!r}.", resolution=resolution)


class SettingsError(UsageError):
    """A variable MESOCOSM_* is unknown or has an invalid value."""

    code = "settings"


class EpisodeUseError(UsageError):
    """The methods of an episode were called in the wrong order."""

    code = "episode_use"


class SpecError(MesocosmError):
    """A file written by the user is invalid.

    Attributes:
        parts: one error per mistake, if there are several.
    """

    code = "spec"
    exit_code = 2
    parts: tuple[SpecError, ...] = ()


class RequirementError(MesocosmError):
    """The host lacks a requirement."""

    code = "requirement"
    exit_code = 3


class ToolError(MesocosmError):
    """A program on the host failed."""

    code = "tool"


class ToolMissingError(ToolError):
    """A program is not installed."""

    code = "tool_missing"
    exit_code = 3


class ToolFailedError(ToolError):
    """A program ended with a non-zero exit code."""

    code = "tool_failed"


class ToolTimeoutError(ToolError):
    """A program did not end in time and was killed."""

    code = "tool_timeout"


class ImageError(MesocosmError):
    """Something is wrong with an image."""

    code = "image"


class ImageMissingError(ImageError):
    """An image was not built yet."""

    code = "image_missing"


class ImageBuildError(ImageError):
    """Building an image failed; no partial image is left behind."""

    code = "image_build"


class ImageCorruptError(ImageError):
    """An image's content differs from its manifest."""

    code = "image_corrupt"


class MachineError(MesocosmError):
    """A machine could not be created or used."""

    code = "machine"


class MachineStartError(MachineError):
    """A machine did not come up before its deadline."""

    code = "machine_start"


class EngineError(MachineError):
    """The Docker engine refused a request about a machine, other than starting it."""

    code = "engine"


class MachineBusyError(MachineError):
    """Another process holds the machine."""

    code = "machine_busy"


class LeaseExpiredError(MachineError):
    """A lease ended before its holder was done; its machines are leased elsewhere, or gone."""

    code = "lease_expired"


class MemoryOutgrownError(MachineError):
    """A machine was ended because it used more memory than its share and the host ran out."""

    code = "memory_outgrown"


class UnsupportedError(MachineError):
    """This type of machine does not support the request."""

    code = "unsupported"


class SnapshotMissingError(MachineError):
    """The machine has no snapshot of that name."""

    code = "snapshot_missing"


class SnapshotError(MachineError):
    """Saving, rewinding to or deleting a snapshot failed."""

    code = "snapshot"


class DesktopFaultyError(SnapshotError):
    """A desktop shows faults that every reset to it would reproduce."""

    code = "desktop_faulty"


class ResetMismatchError(MachineError):
    """A machine differs from the snapshot it was rewound to."""

    code = "reset_mismatch"


class LinkError(MesocosmError):
    """Communication with a guest failed."""

    code = "link"


class LinkClosedError(LinkError):
    """The other end closed the link."""

    code = "link_closed"


class PhoneOfflineError(LinkClosedError):
    """A phone accepts connections, or did, but does not answer over ADB now."""

    code = "phone_offline"


class PhoneUnauthorizedError(LinkClosedError):
    """A phone rejects the ADB key; retrying does not help."""

    code = "phone_unauthorized"


class LinkTimeoutError(LinkError):
    """No reply came before the deadline."""

    code = "link_timeout"


class LinkProtocolError(LinkError):
    """The other end sent data that no probe would send."""

    code = "link_protocol"


class GuestCallError(LinkError):
    """The guest processed the request and reported an error.

    Attributes:
        kind: the probe's name for the error, such as ``not_found``; set by the link.
    """

    code = "guest_call"
    kind: str = ""


class ActionError(MesocosmError):
    """An action could not be executed."""

    code = "action"


class InvalidActionError(ActionError):
    """The agent requested an unknown action or passed invalid arguments."""

    code = "invalid_action"


class UnknownActionError(InvalidActionError):
    """The agent requested an action or a role that does not exist."""

    code = "unknown_action"


class ArgumentsError(InvalidActionError):
    """The agent passed missing, unknown or invalid arguments."""

    code = "invalid_arguments"


class OffScreenError(InvalidActionError):
    """The agent named a point outside the screen."""

    code = "off_screen"


class UnknownMarkError(InvalidActionError):
    """The agent named a mark that it was not shown."""

    code = "unknown_mark"


class RefusedByPersonError(InvalidActionError):
    """The person who confirms the agent's actions declined one."""

    code = "refused_by_person"


class EvaluationError(MesocosmError):
    """An evaluator could not decide; its node becomes inconclusive."""

    code = "evaluation"


class ObstructedEvaluationError(EvaluationError):
    """Something on the machine prevents a decision; after the start, the agent is responsible."""

    code = "evaluation_obstructed"


class CostlyAnswerError(EvaluationError):
    """Reading the submitted answer takes far longer than any answer needs; its author is at fault."""

    code = "answer_costly"


class GraphError(EvaluationError):
    """An evaluator graph is not a valid graph."""

    code = "graph"


class AgentError(MesocosmError):
    """The agent failed.

    Attributes:
        outage_s: seconds that it waited for a model that did not answer; not charged to it.
        tokens: tokens that its model used for this turn anyway: sent, received, of these cached,
            and of these reasoning; None for counts that it did not report.
        usd: price of the tokens.
    """

    code = "agent"
    outage_s: float = 0.0
    tokens: tuple[int | None, int | None, int | None, int | None] = (0, 0, 0, 0)
    usd: float = 0.0


class ModelRefusalError(AgentError):
    """The model refused, or the request is too large for it: a fault of the agent.

    Attributes:
        status: HTTP status if the server refused the request, else None.
    """

    code = "model_refusal"
    status: int | None = None


class ModelUnavailableError(AgentError):
    """The endpoint of an agent's model cannot be used; this says nothing about the agent."""

    code = "model_unavailable"


class EpisodeStartError(MesocosmError):
    """A trial ended before its agent could act; its result has the reason."""

    code = "episode_start"


class CancelledError(MesocosmError):
    """The operation was cancelled on request."""

    code = "cancelled"
    exit_code = 130


class StoreError(MesocosmError):
    """The event log or its index is damaged."""

    code = "store"


class StateError(StoreError):
    """The service's state cannot be read or written, or is damaged."""

    code = "state"
