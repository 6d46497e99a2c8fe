"""Whose words a title is, from recorded requests."""

from __future__ import annotations

import struct

import pytest

from provisioning.probe.titles import (
    MAX_CREATED,
    MAX_NAMED,
    Request,
    Standing,
    Titles,
    requests_in,
)

MASK = 0x1FFFFF
OWNER, OTHER = 0x400000, 0x600000
WINDOW = OWNER | 7
NET_NAME, NAME, STRING, UTF8 = 300, 39, 31, 301
CREATE, CHANGE, DELETE, ROTATE = 1, 18, 19, 114
REPLACE, PREPEND, APPEND = 0, 1, 2


@pytest.fixture
def titles() -> Titles:
    return Titles(MASK, NET_NAME)


def create(titles: Titles, window: int = WINDOW, client: int = OWNER) -> None:
    titles.take(Request(client, "<", CREATE, 24, struct.pack("<II", window, 1)))


def change(  # noqa: PLR0913 - the request's parts
    titles: Titles,
    text: bytes,
    *,
    client: int = OWNER,
    window: int = WINDOW,
    name: int = NET_NAME,
    kind: int = UTF8,
    mode: int = REPLACE,
    order: str = "<",
    bits: int = 8,
) -> None:
    head = struct.pack(f"{order}IIIB3xI", window, name, kind, bits, len(text) * 8 // bits)
    titles.take(Request(client, order, CHANGE, mode, head + text))


def test_a_window_that_nobody_saw_has_no_title_that_can_be_told(titles: Titles) -> None:
    assert titles.title_of(WINDOW) is None


def test_a_window_seen_being_made_has_none(titles: Titles) -> None:
    create(titles)
    assert titles.title_of(WINDOW) == ""


def test_only_the_owner_counts(titles: Titles) -> None:
    create(titles)
    change(titles, b"mine")
    change(titles, b"theirs", client=OTHER)
    titles.take(Request(OTHER, "<", DELETE, 0, struct.pack("<II", WINDOW, NET_NAME)))
    titles.take(Request(OTHER, "<", ROTATE, 0, struct.pack("<IHhI", WINDOW, 1, 1, NET_NAME)))
    create(titles, client=OTHER)
    assert titles.title_of(WINDOW) == "mine"


def test_what_another_wrote_first_is_not_the_title(titles: Titles) -> None:
    create(titles)
    change(titles, b"theirs", client=OTHER)
    assert titles.title_of(WINDOW) == ""


def test_parts_are_put_together_as_the_server_does(titles: Titles) -> None:
    create(titles)
    change(titles, b"b", mode=APPEND)
    change(titles, b"a", mode=PREPEND)
    change(titles, b"c", mode=APPEND)
    assert titles.title_of(WINDOW) == "abc"
    change(titles, b"d")
    assert titles.title_of(WINDOW) == "d"


def test_a_part_added_to_what_nobody_saw_stays_unknown(titles: Titles) -> None:
    change(titles, b"sent", mode=APPEND)
    assert titles.title_of(WINDOW) is None
    change(titles, b"whole")
    assert titles.title_of(WINDOW) == "whole"


def test_the_old_name_counts_where_the_new_one_is_known_to_be_empty(titles: Titles) -> None:
    change(titles, b"old", name=NAME, kind=STRING)
    assert titles.title_of(WINDOW) is None
    create(titles)
    change(titles, "gr\xfc\xdfe".encode("latin-1"), name=NAME, kind=STRING)
    assert titles.title_of(WINDOW) == "gr\xfc\xdfe"
    change(titles, "gr\xfc\xdfe!".encode(), name=NAME)
    assert titles.title_of(WINDOW) == "gr\xfc\xdfe!"
    change(titles, b"new")
    assert titles.title_of(WINDOW) == "new"
    titles.take(Request(OWNER, "<", DELETE, 0, struct.pack("<II", WINDOW, NET_NAME)))
    assert titles.title_of(WINDOW) == "gr\xfc\xdfe!"


def test_rotation_by_the_owner_leaves_the_title_unknown(titles: Titles) -> None:
    create(titles)
    change(titles, b"a")
    titles.take(Request(OWNER, "<", ROTATE, 0, struct.pack("<IHhI", WINDOW, 1, 1, NET_NAME)))
    assert titles.title_of(WINDOW) is None


def test_other_properties_are_no_titles(titles: Titles) -> None:
    create(titles)
    change(titles, b"x", name=NET_NAME + 9)
    change(titles, b"\0\0\0\0x   ", bits=32)
    assert titles.title_of(WINDOW) == ""


def test_clients_of_the_other_byte_order_are_understood(titles: Titles) -> None:
    change(titles, b"title", order=">")
    assert titles.title_of(WINDOW) == "title"


def test_an_identifier_used_again_begins_anew(titles: Titles) -> None:
    create(titles)
    change(titles, b"first")
    create(titles)
    assert titles.title_of(WINDOW) == ""


def test_nothing_outlives_its_client(titles: Titles) -> None:
    create(titles)
    change(titles, b"mine")
    create(titles, WINDOW + 1)
    change(titles, b"other's", client=OTHER, window=OTHER | 1)
    titles.bury(OWNER)
    assert titles.title_of(WINDOW) is None
    assert titles.title_of(WINDOW + 1) is None
    assert titles.title_of(OTHER | 1) == "other's"
    assert titles.deaths == {OWNER: 1}
    assert len(titles) == 1


def test_what_stood_before_is_believed(titles: Titles) -> None:
    titles.believe(Standing(WINDOW, b"", b"gr\xfcn", is_latin=True))
    assert titles.title_of(WINDOW) == "gr\xfcn"
    change(titles, b"!", name=NAME, mode=APPEND)
    assert titles.title_of(WINDOW) == "gr\xfcn!"


def test_a_flood_keeps_the_table_bounded_and_costs_who_makes_it(titles: Titles) -> None:
    change(titles, b"mine")
    for number in range(50_000):
        create(titles, OTHER | number, OTHER)
        if number % 2:
            change(titles, b"x" * 3000, client=OTHER, window=OTHER | number)
    assert len(titles) <= MAX_NAMED + MAX_CREATED
    assert titles.title_of(WINDOW) == "mine"
    assert titles.title_of(OTHER | 1) is None
    assert titles.title_of(OTHER | 49_999) == "x" * 3000


@pytest.mark.parametrize("is_swapped", [False, True])
def test_recorded_data_is_taken_apart(is_swapped: bool) -> None:
    order = "=" if not is_swapped else (">" if struct.pack("=H", 1)[0] else "<")
    small = struct.pack(f"{order}BBHI", 19, 0, 2, 5)
    big = struct.pack(f"{order}BBHII", 18, 2, 0, 100, 9) + b"y" * 40
    first, second, cut = requests_in(small + small + big, OWNER, is_swapped=is_swapped)
    assert first == second
    assert (first.opcode, first.numbers(1)) == (19, (5,))
    assert (cut.opcode, cut.detail, cut.numbers(1), len(cut.body)) == (18, 2, (9,), 44)
    assert first.numbers(2) == ()


@pytest.mark.parametrize("data", [b"\x12", b"\x12\0\0\0", b"\x12\0\0\0\x01\0\0\0" * 2, bytes(8)])
def test_data_that_cannot_be_is_left(data: bytes) -> None:
    assert list(requests_in(data, OWNER, is_swapped=False)) == []
