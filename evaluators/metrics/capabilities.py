"""Ten capabilities of an agent, each scored on tasks with certain levels of complexity.

A capability is a predicate over the levels of the five dimensions; an agent's score in it is its
mean coverage rate over the matching tasks. The sets overlap, so the ten scores are not ten
independent measurements; each is reported with its number of tasks.

`TABLE_12` is the paper's table as printed (three stars mean hard, no stars any level), and
`AMENDED`, the default, corrects two rows that cannot be intended. Doubts about rows are in
`Capability.doubt`. Any other mapping from names to `Capability` can be used as well.

Source: Bu et al., OmniBench, 2025, section 4.2, table 12 and appendix D.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evaluators.metrics.complexity import Dimension, Level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.metrics.complexity import Complexity


@dataclass(frozen=True, slots=True)
class Capability:
    """A capability and the tasks that require it.

    Attributes:
        short: abbreviation.
        needs: required level by dimension; other dimensions may have any level.
        doubt: doubt about the paper's row, or why it was amended; empty if there is none.
    """

    short: str
    needs: Mapping[Dimension, Level]
    doubt: str = ""

    def fits(self, complexity: Complexity) -> bool:
        """Return whether a task requires this capability."""
        return all(complexity.level(dimension) is level for dimension, level in self.needs.items())


def _hard(*dimensions: Dimension) -> dict[Dimension, Level]:
    return dict.fromkeys(dimensions, Level.HARD)


_D = Dimension

TABLE_12: Mapping[str, Capability] = {
    "Parallel Planning": Capability("PP", _hard(_D.DEPENDENCY, _D.BRANCH)),
    "Long-Range Planning": Capability(
        "LRP",
        _hard(_D.DEPENDENCY, _D.HIERARCHY),
        "Section 4.2 calls the same set long-sequence reasoning, which has a row of its own.",
    ),
    "Long-Sequence Reasoning": Capability("LSR", _hard(_D.INSTRUCTION, _D.HIERARCHY)),
    "Long Instruction Following": Capability(
        "LIF", _hard(_D.BRANCH), "It does not ask for a long instruction at all."
    ),
    "Sequential Decision-Making": Capability(
        "SDM",
        _hard(_D.HIERARCHY, _D.BRANCH),
        "A high branch fits 'sequential' only if choosing an order is meant.",
    ),
    "Cross-Domain Decision-Making": Capability("CDDM", _hard(_D.BRANCH, _D.KNOWLEDGE)),
    "Subtask Identification": Capability("SI", _hard(_D.DEPENDENCY, _D.INSTRUCTION)),
    "Dependency Identification": Capability(
        "DI", _hard(_D.DEPENDENCY), "One dimension only, although the text mentions combinations."
    ),
    "Cross-Domain Knowledge": Capability("CDK", _hard(_D.INSTRUCTION, _D.KNOWLEDGE)),
    "Domain-Specific Knowledge": Capability(
        "DSK",
        _hard(_D.INSTRUCTION, _D.KNOWLEDGE),
        "The same row as Cross-Domain Knowledge, yet table 4 has other scores for it.",
    ),
}
"""As printed."""

AMENDED: Mapping[str, Capability] = {
    **TABLE_12,
    "Long Instruction Following": replace(
        TABLE_12["Long Instruction Following"],
        needs=_hard(_D.INSTRUCTION, _D.BRANCH),
        doubt="Instruction hard is added: the printed row does not ask for a long instruction.",
    ),
    "Domain-Specific Knowledge": replace(
        TABLE_12["Domain-Specific Knowledge"],
        needs={_D.INSTRUCTION: Level.HARD, _D.KNOWLEDGE: Level.EASY},
        doubt="Knowledge is easy (one domain): the printed row is Cross-Domain Knowledge again.",
    ),
}
"""The table with two rows corrected that cannot be intended as printed."""


def capabilities_of(
    complexity: Complexity, table: Mapping[str, Capability] = AMENDED
) -> tuple[str, ...]:
    """Return the names of the capabilities that a task requires, in the table's order."""
    return tuple(name for name, capability in table.items() if capability.fits(complexity))
