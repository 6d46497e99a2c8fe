"""Questions about a persona as values of parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from controller.actions.vocabulary import vocabulary
from evaluators.loading.suite import load_suite
from evaluators.parameters.asking import ask
from evaluators.parameters.binding import bind_task
from foundation.errors import SpecError, UsageError
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from pathlib import Path

LENA = persona(7)
TASK = """\
schema_version: 2
id: cheapest
instruction: How much was ${order}, placed on ${order.placed_long}? Write to ${guest.email}.
parameters:
  order: {type: persona, ask: orders.in_month(last_month).cheapest()}
  guest: {type: persona, ask: "contacts.in_group('friends')"}
roles: {phone: phone, world: {kind: world, parameters: {seed: 7}}}
graph:
  - {id: sent, on: world, check: has_sent_mail, with: {to: "${guest.email}", subject: "${order.total}"}}
limits: {steps: 9, seconds: 60}
oracle: [{do: complete}]
"""


def one(question: str) -> Any:  # noqa: ANN401 - any answer
    (answer,) = ask(LENA, question)
    return answer


def test_answers_are_those_of_the_interface_for_python() -> None:
    order = LENA.orders.in_month(LENA.last_month).cheapest()
    answer = one("orders.in_month(last_month).cheapest()")
    assert (answer[""], answer["number"], answer["total_cents"]) == (
        order.number,
        order.number,
        order.total_cents,
    )
    assert answer["total"] == f"{order.total_cents / 100:.2f} {LENA.person.currency}"
    assert answer["placed"] == f"{order.placed:%Y-%m-%dT%H:%M}"
    mail = LENA.mails.about(order).first()
    question = "mails.about(orders.in_month(last_month).cheapest()).first()"
    assert one(question)[""] == mail.subject
    manager = LENA.contacts.related_as("manager").only()
    assert one("contacts.related_as('manager').only()")["email"] == manager.email
    assert one("events.with_guest(contacts.related_as('manager').only()).last().title")
    assert one("person.home.town") == LENA.person.home.town
    assert one("today") == LENA.today.isoformat()
    assert one("orders.in_month(this_month.before).total_cents()") == sum(
        order.total_cents for order in LENA.orders.in_month(LENA.last_month)
    )


def test_several_records_are_several_answers() -> None:
    friends = LENA.contacts.in_group("friends")  # type: ignore[arg-type] # a StrEnum's value
    answers: Any = ask(LENA, "contacts.in_group('friends')")
    assert [answer["id"] for answer in answers] == [friend.id for friend in friends]
    assert len(ask(LENA, "contacts[2:5]")) == 3


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("orders.", "is not a question"),
        ("orders.in_mnth(last_month)", "in_month"),
        ("order.cheapest()", "orders"),
        ("orders.where(1)", "where"),
        ("orders.cheapest().prise", "price|no value"),
        ("__import__('os').system('id')", "is not part of a question"),
        ("person.__class__", "no value"),
        ("orders.__class__", "no value"),
        ("records.seed", "no value"),
        ("lambda: 1", "is not part of a question"),
        ("mails", "selects"),
        ("contacts.related_as('astronaut').only()", "Exactly one"),
        ("orders.cheapest(1)", "does not accept"),
        ("orders.before('yesterday')", "does not accept"),
        ("last_month", "cannot be the value"),
    ],
)
def test_a_wrong_question_is_an_error_that_says_why(question: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ask(LENA, question)


def write(folder: Path, task: str) -> Path:
    (folder / "suite.yaml").write_text(
        'schema_version: 2\nname: s\nversion: "1"\ndescription: d\ntasks: [cheapest.yaml]\n'
    )
    (folder / "cheapest.yaml").write_text(task)
    return folder


def test_a_task_has_the_answers(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, TASK), vocabulary())
    (task,) = suite.tasks
    order = LENA.orders.in_month(LENA.last_month).cheapest()
    chosen = set()
    for seed in range(12):
        bound = bind_task(task, seed)
        assert (
            f"How much was {order.number}, placed on {order.placed.day} " in bound.task.instruction
        )
        args = bound.task.graph[0].args
        assert args["subject"] == f"{order.total_cents / 100:.2f} {LENA.person.currency}"
        chosen.add(args["to"])
    friends = {friend.email for friend in LENA.contacts.in_group("friends")}  # type: ignore[arg-type]
    assert chosen <= friends
    assert len(chosen) > 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cheapest()", "cheapst()", "cheapest.yaml:5: .*cheapst"),
        ("${order.total}", "${order.price}", "order.price"),
        ("seed: 7", "seed: 9999999999999999999999", "seed"),
        ("seed: 7", "sed: 7", "no parameter 'sed'. Did you mean seed"),
        ("seed: 7", 'seed: "${order}"', "is the same in every trial"),
        ("world: {kind: world, parameters: {seed: 7}}", "desktop: desktop", "is not a world"),
    ],
)
def test_lint_reports_a_wrong_question_with_file_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        load_suite(write(tmp_path, TASK.replace(old, new)), vocabulary())
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "guest.email" not in str(caught.value)  # which is right
