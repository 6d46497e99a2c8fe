"""Names of cells and ranges."""

from __future__ import annotations

import pytest

from evaluators.sheets.places import cells_in, cells_of, column_letters, ordered, qualified, spot_of


def test_cells_have_names_and_places() -> None:
    assert spot_of("AB12") == (11, 27)
    assert [column_letters(number) for number in (0, 25, 26, 701, 702)] == [
        "A",
        "Z",
        "AA",
        "ZZ",
        "AAA",
    ]
    assert dict(cells_of("Z9", [[1, 2], [3]])) == {"Z9": 1, "AA9": 2, "Z10": 3}
    assert cells_in("A1:B2") == ["A1", "B1", "A2", "B2"]
    assert cells_in("C3") == ["C3"]


@pytest.mark.parametrize(
    ("area", "wanted"),
    [
        ("$B$3:b2", "Data!B2:B3"),
        ("Data.B2:B3", "Data!B2:B3"),
        ("'My data'!B2", "My data!B2:B2"),
        ("v1.2.B2:C3", "v1.2!B2:C3"),
    ],
)
def test_ranges_are_qualified(area: str, wanted: str) -> None:
    assert qualified(area, "Data") == wanted
    assert ordered("C1:A3") == "A1:C3"
