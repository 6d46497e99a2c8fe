"""``mesocosm suite lint``: check a suite's files without a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.cli.output import JsonOption, print_json, say
from appliance.cli.run_options import Suite

if TYPE_CHECKING:
    from evaluators.loading.suite import Suite as SuiteModel


def lint(suite: Suite, json: JsonOption = False) -> None:
    """Check the files of a suite, and that this host has the images that it needs.

    All mistakes of its files are reported at once, each with its file and line. Nothing is leased;
    `mesocosm suite validate` checks that each task can be passed, and only by doing it.

    The exit code is 0 if there is no mistake, 2 if files have mistakes, 1 if an image is not built,
    and 3 if one lacks an application.
    """
    from controller.unfamiliar import misspelt_packages
    from controller.wiring import open_suite

    opened = open_suite(suite)
    notes = [f"{name} is skipped: {why}" for name, why in opened.left_out.items()]
    notes += misspelt_packages(opened)
    _require_images(opened)
    if json:
        print_json({"suite": opened.name, "tasks": len(opened.tasks), "notes": notes})
        return
    for line in notes:
        say(f"note: {line}")
    say(f"{opened.name}: {len(opened.tasks)} tasks, no mistakes")


def _require_images(suite: SuiteModel) -> None:
    from controller.image_requirements import require_shipped_images, require_suite_images
    from foundation.settings import get_settings

    settings = get_settings()
    needs = {spec for task in suite.tasks for spec in task.roles.values()}
    require_shipped_images(suite, needs, settings)
    require_suite_images(suite, needs, settings)
