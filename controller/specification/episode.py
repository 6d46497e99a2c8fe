"""Specification of an episode: what it is told about its run, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from controller.specification.agent import MEMBER, NoopSpec, Record
from controller.specification.observation import ObservationSpec
from controller.specification.run import ActionSpec


@dataclass(frozen=True, slots=True)
class TeamMember:
    """Labels of a member's metrics.

    Attributes:
        agent: name of its agent.
        model: name of the model that it queries; empty for none.
    """

    agent: str = ""
    model: str = ""


class EpisodeSpec(Record):
    """What an episode is told about its run.

    Attributes:
        suite: name of the suite, a label of metrics.
        members: the team that plays the trial, by name.
        code: version of Mesocosm, for logs.
        observation: what agents receive before they act.
        actions: how agents may act.
        recording_hz: recorded frames per second of each screen; 0 records none.
    """

    suite: str = ""
    members: dict[str, TeamMember] = Field(default={MEMBER: TeamMember()})
    code: str = ""
    observation: ObservationSpec = ObservationSpec()
    actions: ActionSpec = ActionSpec()
    recording_hz: float = 0.0

    @property
    def is_noop(self) -> bool:
        """Whether nobody acts, so that its trials are baselines of changes."""
        return all(member.agent == NoopSpec().kind for member in self.members.values())
