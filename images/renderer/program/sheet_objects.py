"""Charts, pivot tables and comments of a sheet."""

from __future__ import annotations

from typing import Any

import uno

MAX_OBJECTS = 200
MAX_POINTS = 2_000
_IllegalArgument = uno.getClass("com.sun.star.lang.IllegalArgumentException")


def read_charts(sheet: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the charts of a sheet with their place, size and series."""
    return [
        {"name": shape.PersistName, "number": number, **place_of(shape), **_chart(embedded)}
        for number, shape in enumerate(shapes_of(sheet.DrawPage))
        if (embedded := find_chart(sheet, shape)) is not None
    ]


def shapes_of(page: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    """Return the shapes of a draw page, up to `MAX_OBJECTS`."""
    return [page.getByIndex(number) for number in range(min(page.Count, MAX_OBJECTS))]


def place_of(shape: Any) -> dict[str, float]:  # noqa: ANN401 - UNO has no types
    """Return position and size of a shape in mm."""
    return {
        "left_mm": shape.Position.X / 100,
        "top_mm": shape.Position.Y / 100,
        "width_mm": shape.Size.Width / 100,
        "height_mm": shape.Size.Height / 100,
    }


def find_chart(sheet: Any, shape: Any) -> Any | None:  # noqa: ANN401 - UNO has no types
    """Return the chart that a shape of a sheet holds; None if it holds none."""
    name = getattr(shape, "PersistName", "")
    return sheet.Charts.getByName(name).EmbeddedObject if sheet.Charts.hasByName(name) else None


_PERCENT = 1
"""Source: com.sun.star.chart2.AxisType."""


def series_of(embedded: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    """Return the series of a chart, in the order of its view."""
    return [series for kind in _types_of(embedded) for series in kind.getDataSeries()[:MAX_OBJECTS]]


def axes_of(embedded: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    """Return the axes of a chart."""
    return [axis for system in systems_of(embedded) for _, _, axis in numbered_axes(system)]


def numbered_axes(system: Any) -> list[tuple[int, int, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the axes of a coordinate system, with their dimension and number."""
    return [
        (dimension, number, system.getAxisByDimension(dimension, number))
        for dimension in range(system.getDimension())
        for number in range(system.getMaximumAxisIndexByDimension(dimension) + 1)
    ]


def _types_of(embedded: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    return [kind for system in systems_of(embedded) for kind in system.getChartTypes()]


def systems_of(embedded: Any) -> tuple[Any, ...]:  # noqa: ANN401 - UNO has no types
    """Return the coordinate systems of a chart."""
    diagram = embedded.getFirstDiagram()
    return tuple(diagram.getCoordinateSystems()) if diagram else ()


def title_of(titled: Any) -> str:  # noqa: ANN401 - UNO has no types
    """Return the title of a chart; empty if it has none."""
    title = titled.getTitleObject()
    return "".join(part.String for part in title.getText()) if title else ""


def _chart(embedded: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    types, systems = _types_of(embedded), systems_of(embedded)
    return {
        "type": types[0].getChartType().rpartition(".")[2] if types else "",
        "is_sideways": any(bool(system.SwapXAndYAxis) for system in systems),
        "is_percent": any(_is_percent(system) for system in systems),
        "title": title_of(embedded),
        "series": [_series(series) for series in series_of(embedded)],
    }


def _is_percent(system: Any) -> bool:  # noqa: ANN401 - UNO has no types
    """Return whether values are drawn as shares of their sum."""
    if system.getDimension() < 2:  # noqa: PLR2004
        return False
    return bool(system.getAxisByDimension(1, 0).getScaleData().AxisType == _PERCENT)


def values_of(series: Any) -> list[float | None]:  # noqa: ANN401 - UNO has no types
    """Return the values of a series; None for gaps."""
    values = _values_of(series)
    return _numbers(values.getValues().getData()) if values else []


def _values_of(series: Any) -> Any:  # noqa: ANN401 - UNO has no types
    by_role = {
        sequence.getValues().Role: sequence
        for sequence in series.getDataSequences()
        if sequence.getValues()
    }
    return by_role.get("values-y") or next(iter(by_role.values()), None)


def _series(series: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    values = _values_of(series)
    label = values.getLabel() if values else None
    return {
        "label": " ".join(str(part) for part in label.getData()) if label else "",
        "values": values_of(series),
        "range": _range(values.getValues()) if values else "",
        "label_range": _range(label) if label else "",
    }


def _numbers(data: Any) -> list[float | None]:  # noqa: ANN401 - UNO has no types
    return [
        float(value) if isinstance(value, int | float) and value == value else None  # noqa: PLR0124 - NaN
        for value in data[:MAX_POINTS]
    ]


def _range(sequence: Any) -> str:  # noqa: ANN401 - UNO has no types
    return str(sequence.getSourceRangeRepresentation()).replace("$", "")


def read_pivot_tables(sheet: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the pivot tables of a sheet."""
    tables = sheet.getDataPilotTables()
    return [_pivot_table(tables.getByIndex(number)) for number in range(tables.Count)]


def read_comments(sheet: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the comments of a sheet's cells."""
    comments = sheet.Annotations
    found = [comments.getByIndex(number) for number in range(min(comments.Count, MAX_OBJECTS))]
    return [
        {
            "row": comment.Position.Row,
            "column": comment.Position.Column,
            "text": comment.String,
            "author": comment.Author,
        }
        for comment in found
    ]


def _pivot_table(table: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    def names(fields: Any) -> list[str]:  # noqa: ANN401 - UNO has no types
        return [fields.getByIndex(number).Name for number in range(fields.Count)]

    try:
        source = area_name(table.SourceRange)
    except _IllegalArgument:
        source = ""
    return {
        "name": table.Name,
        "source": source,
        "output": area_name(table.OutputRange),
        "row_fields": names(table.RowFields),
        "column_fields": names(table.ColumnFields),
        "page_fields": names(table.PageFields),
        "data_fields": [
            {
                "name": table.DataFields.getByIndex(number).Name,
                "function": table.DataFields.getByIndex(number).Function.value.lower(),
            }
            for number in range(table.DataFields.Count)
        ],
    }


def area_name(address: Any) -> str:  # noqa: ANN401 - UNO has no types
    """Return the name of a range of cells, such as ``A1:C3``."""
    first = f"{column_name(address.StartColumn)}{address.StartRow + 1}"
    return f"{first}:{column_name(address.EndColumn)}{address.EndRow + 1}"


def column_name(number: int) -> str:
    """Return the name of a column, such as ``AA``, by its number from 0."""
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name
