from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from controller.observation.pictures import Picture, encode_png, fit_screen
from controller.specification.observation import ImageSpec
from provisioning.protocols import Bounds

FRAME = np.full((800, 1280, 3), 200, np.uint8)


def decoded(picture: Picture) -> Image.Image:
    return Image.open(io.BytesIO(picture.data()))


def test_an_unchanged_screen_is_the_screenshot_itself() -> None:
    png = encode_png(FRAME)
    picture = Picture(FRAME, png=png)
    assert picture.data() is png
    assert picture.is_plain
    assert not picture.is_mapped
    assert picture.scaled(1) is picture


@pytest.mark.parametrize(("name", "pillow"), [("png", "PNG"), ("jpeg", "JPEG"), ("webp", "WEBP")])
def test_formats_and_sizes_are_those_of_the_specification(name: str, pillow: str) -> None:
    spec = ImageSpec.model_validate({"format": name, "width": 640, "height": 640})
    picture = Picture(FRAME, spec)
    image = decoded(picture)
    assert (image.format, image.size, picture.media_type) == (pillow, (640, 400), f"image/{name}")


@pytest.mark.parametrize(
    ("fit", "size", "inside"),
    [
        ("scale", (640, 400), Bounds(0, 0, 640, 400)),
        ("stretch", (640, 640), Bounds(0, 0, 640, 640)),
        ("letterbox", (640, 640), Bounds(0, 120, 640, 520)),
    ],
)
def test_screens_are_fitted(fit: str, size: tuple[int, int], inside: Bounds) -> None:
    spec = ImageSpec.model_validate({"width": 640, "height": 640, "fit": fit})
    layout = fit_screen((1280, 800), spec)
    assert (layout.size_px, layout.inside_px) == (size, inside)


def test_scaling_never_enlarges_but_a_letterbox_does() -> None:
    assert fit_screen((100, 50), ImageSpec(width=400, height=400)).size_px == (100, 50)
    grown = fit_screen((100, 50), ImageSpec(width=400, height=400, fit="letterbox"))
    assert grown.inside_px == Bounds(0, 100, 400, 300)


@pytest.mark.parametrize("fit", ["scale", "stretch", "letterbox"])
@pytest.mark.parametrize("point", [(0, 0), (1279, 799), (640, 400), (333, 77)])
def test_coordinates_return_to_their_place_within_a_pixel_of_the_picture(
    fit: str, point: tuple[int, int]
) -> None:
    picture = Picture(FRAME, ImageSpec.model_validate({"width": 640, "height": 640, "fit": fit}))
    shown = picture.to_picture(point)
    back = tuple(picture.to_machine(shown[axis], axis) for axis in (0, 1))
    assert all(abs(back[axis] - point[axis]) <= 2 for axis in (0, 1))


def test_coordinates_in_a_border_become_those_of_the_edge() -> None:
    picture = Picture(FRAME, ImageSpec(width=640, height=640, fit="letterbox"))
    assert picture.to_machine(0, 1) == 0
    assert picture.to_machine(639, 1) == 799
    assert decoded(picture).getpixel((320, 10)) == (0, 0, 0)
    assert decoded(picture).getpixel((320, 320)) == (200, 200, 200)


def test_a_model_may_want_its_picture_smaller_or_in_another_format() -> None:
    picture = Picture(FRAME, ImageSpec(width=640, height=640, fit="letterbox"))
    assert decoded(picture.scaled(0.5)).size == (320, 320)
    assert picture.scaled(0.5).to_machine(160, 0) == 642
    assert picture.fitted(ImageSpec(width=320, format="jpeg")).size_px == (320, 200)
    assert Picture(FRAME).resized(picture).size_px == (640, 640)
