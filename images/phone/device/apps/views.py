"""The view of the reference phone's camera: a different landscape for each picture."""

from __future__ import annotations

import random
from functools import lru_cache

from PIL import Image, ImageDraw

_SKIES = (
    ((92, 160, 220), (236, 240, 244)),
    ((38, 50, 86), (226, 143, 112)),
    ((120, 140, 160), (214, 220, 224)),
)
_HILLS = ((92, 124, 88), (70, 100, 74), (52, 78, 60))


@lru_cache(maxsize=2)
def landscape(seed: int, width: int, height: int) -> Image.Image:
    """Draw a landscape as an RGB image.

    Args:
        seed: equal seeds produce equal pictures.
        width: px.
        height: px.
    """
    dice = random.Random(seed)  # noqa: S311 - not a secret
    top, low = dice.choice(_SKIES)
    column = Image.new("RGB", (1, 64))
    for row in range(64):
        part = row / 63
        column.putpixel(
            (0, row), tuple(round(a + (b - a) * part) for a, b in zip(top, low, strict=True))
        )
    image = column.resize((width, height), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    x, y, side = dice.random() * width, height * (0.1 + 0.25 * dice.random()), width * 0.05
    pen.ellipse((x - side, y - side, x + side, y + side), fill=(255, 244, 214))
    for place, color in enumerate(_HILLS):
        base = height * (0.52 + 0.13 * place)
        step = width / 6
        line = [
            (number * step, base + (dice.random() - 0.5) * height * 0.12) for number in range(-1, 9)
        ]
        pen.polygon([*line, (width * 1.4, height), (-width * 0.4, height)], fill=color)
    for _ in range(dice.randint(3, 9)):
        foot_x, foot_y = dice.random() * width, height * (0.8 + 0.18 * dice.random())
        tall = height * (0.04 + 0.05 * dice.random())
        pen.rectangle((foot_x - 3, foot_y - tall / 3, foot_x + 3, foot_y), fill=(86, 62, 46))
        crown = [
            (foot_x, foot_y - tall),
            (foot_x - tall / 3, foot_y - tall / 4),
            (foot_x + tall / 3, foot_y - tall / 4),
        ]
        pen.polygon(crown, fill=(34, 70, 46))
    return image
