from __future__ import annotations

from controller.models.families.family import Declared, History
from controller.models.families.history import Exchange, compose
from controller.models.messages import Image, Message, Role, ToolCall

PICTURE = Image(b"png")
DECLARED = Declared("You act.", (), "The task.")


def user(number: int) -> Message:
    return Message(Role.USER, (f"screen {number}", PICTURE))


def model(number: int) -> Message:
    return Message(Role.MODEL, (f"reply {number}",))


EARLIER = [Exchange((user(n),), model(n), f"did {n}") for n in range(4)]


def shape(messages: tuple[Message, ...]) -> list[tuple[str, str, int]]:
    return [
        (message.role.value, message.text, sum(isinstance(part, Image) for part in message.parts))
        for message in messages
    ]


def test_conversation_keeps_turns_and_drops_old_pictures() -> None:
    messages = compose(DECLARED, History(turns=2, pictures=2), EARLIER, [user(4)])
    assert shape(messages) == [
        ("system", "You act.", 0),
        ("user", "The task.screen 2[older screenshots left out]", 0),
        ("model", "reply 2", 0),
        ("user", "screen 3", 1),
        ("model", "reply 3", 0),
        ("user", "screen 4", 1),
    ]


def test_summary_lists_turns_without_pictures() -> None:
    messages = compose(DECLARED, History(turns=9, pictures=2, is_summary=True), EARLIER, [user(4)])
    assert shape(messages) == [
        ("system", "You act.", 0),
        (
            "user",
            "The task.\n\nYour earlier steps:\nStep 1: did 0\nStep 2: did 1\nStep 3: did 2screen 3",
            1,
        ),
        ("model", "reply 3", 0),
        ("user", "screen 4", 1),
    ]
    first = compose(DECLARED, History(turns=9, pictures=2, is_summary=True), [], [user(0)])
    assert first[1].text == "The task.\n\nYour earlier steps:\nnonescreen 0"
    short = compose(DECLARED, History(turns=1, pictures=1, is_summary=True), EARLIER, [user(4)])
    assert "Step 4: did 3" in short[1].text
    assert "Step 3" not in short[1].text


def test_outcomes_of_calls_that_are_no_longer_in_the_request_become_a_message_of_the_user() -> None:
    call = Message(Role.MODEL, (), (ToolCall("a", "computer"),))
    outcome = Message(Role.TOOL, ("Done.", PICTURE), call_id="a")
    earlier = [Exchange((user(0),), call, "did"), Exchange((outcome,), call, "did")]
    messages = compose(DECLARED, History(turns=1, pictures=2), earlier, [outcome])
    assert [(row.role, row.call_id) for row in messages[1:]] == [
        (Role.USER, ""),
        (Role.MODEL, ""),
        (Role.TOOL, "a"),
    ]
    assert messages[1].parts == ("The task.", PICTURE)
    now = compose(DECLARED, History(turns=1, pictures=1), earlier, [outcome])
    assert [row.has_pictures for row in now[1:]] == [False, False, True]
