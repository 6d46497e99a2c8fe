"""Let the print of an open document show what the screen shows: what is not printed, and not what is only printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

MAX_SHAPES = 5_000
"""Shapes of a document, with those in groups."""
ANIMATED = "an animated picture or text is beside it, of which a print has one moment"
_MAX_DEPTH = 20
_UnknownProperty = uno.getClass("com.sun.star.beans.UnknownPropertyException")
_SETTINGS = {
    **dict.fromkeys(
        (
            "PrintControls",
            "PrintDrawings",
            "PrintEmptyPages",
            "PrintGraphics",
            "PrintLeftPages",
            "PrintPageBackground",
            "PrintRightPages",
            "PrintTables",
            "PrintTextPlaceholder",
        ),
        True,
    ),
    **dict.fromkeys(
        ("PrintBlackFonts", "PrintHiddenText", "PrintProspect", "PrintReversed"),
        False,
    ),
}
_GROUP = "com.sun.star.drawing.GroupShape"
_PICTURES = ("GraphicObjectShape", "FrameShape")
"""Ends of the names of types that may be pictures; those of texts are frames."""
_CONTROL = "com.sun.star.drawing.ControlShape"


def print_as_shown(pages: Iterable[Any]) -> None:
    """Print the shapes, controls and frames of draw pages that the screen shows, and no others.

    Args:
        pages: the draw pages.

    Raises:
        DocumentError: they have more than `MAX_SHAPES` shapes.
    """
    for shape in every_shape(pages):
        is_visible = _get(shape, "Visible")
        if is_visible is None:
            if _get(shape, "Print") is False:  # of frames of texts
                shape.Print = True
        elif _get(shape, "Printable") != is_visible:
            shape.Printable = is_visible
        if _kind_of(shape) == _CONTROL and shape.Control is not None:
            shape.Control.Printable = True


def print_layers_as_shown(document: Any) -> None:  # noqa: ANN401 - UNO has no types
    """Print the layers of a presentation that the screen shows, and no others."""
    layers = document.LayerManager
    for number in range(layers.Count):
        layer = layers.getByIndex(number)
        layer.IsPrintable = layer.IsVisible


def print_text_as_shown(document: Any) -> bool:  # noqa: ANN401 - UNO has no types
    """Let the settings of a text document not keep from its print what the screen shows.

    Returns:
        Whether it opens in the web view, which has no pages, headers and footers; they are switched off.
    """
    settings = document.createInstance("com.sun.star.document.Settings")
    for name, value in _SETTINGS.items():
        settings.setPropertyValue(name, value)
    if not document.CurrentController.ViewSettings.ShowOnlineLayout:
        return False
    styles = document.StyleFamilies.getByName("PageStyles")
    for number in range(styles.Count):
        style = styles.getByIndex(number)
        style.HeaderIsOn = style.FooterIsOn = False
    return True


def every_shape(pages: Iterable[Any]) -> Iterator[Any]:
    """Yield the shapes of draw pages, and those in their groups.

    Raises:
        DocumentError: there are more than `MAX_SHAPES`.
    """
    pending = [(page, 0) for page in pages]
    count = 0
    while pending:
        owner, depth = pending.pop()
        count += owner.Count
        if count > MAX_SHAPES or depth > _MAX_DEPTH:
            raise DocumentError(f"It has more than {MAX_SHAPES} shapes.")
        for number in range(owner.Count):
            shape = owner.getByIndex(number)
            yield shape
            if _kind_of(shape) == _GROUP:
                pending.append((shape, depth + 1))


def texts_of(pages: Iterable[Any]) -> list[str]:
    """Return the texts of the shapes of draw pages, without empty ones and repetitions."""
    texts = (getattr(shape, "String", "") for shape in every_shape(pages))
    return sorted({text.strip() for text in texts if isinstance(text, str) and text.strip()})


def has_animation(pages: Iterable[Any]) -> bool:
    """Return whether a picture on draw pages has several frames, or a text moves or blinks."""
    return any(map(is_animated, every_shape(pages)))


def refuse(rows: Iterable[dict[str, Any]], pages: Container[int]) -> None:
    """Let nothing be seen that is decided on pages of the print with animations."""
    for row in rows:
        for place in row["places"]:
            place["is_seen"] = place["is_seen"] and place["page"] not in pages
        is_left = any(place["is_seen"] for place in row["places"])
        if row["is_shown"] and row["page"] in pages and not is_left:
            row.update(is_shown=False, reason=ANIMATED)


def is_animated(shape: Any) -> bool:  # noqa: ANN401 - UNO has no types
    """Return whether a shape is a picture of several frames, of which a print has the first one, or has a moving text."""
    motion = _get(shape, "TextAnimationKind")
    if motion is not None and motion.value != "NONE":
        return True
    is_picture = _kind_of(shape).endswith(_PICTURES)
    return is_picture and bool(_get(_get(shape, "Graphic"), "Animated"))


def _kind_of(shape: Any) -> str:  # noqa: ANN401 - UNO has no types
    return str(getattr(shape, "ShapeType", ""))


def _get(thing: Any, name: str) -> Any:  # noqa: ANN401 - UNO has no types
    """Return a property; None if there is none."""
    try:
        return thing.getPropertyValue(name) if hasattr(thing, "getPropertyValue") else None
    except _UnknownProperty:
        return None
