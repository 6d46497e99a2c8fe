"""What suites, agents and scripts import: decorators, views, actions, agents, episodes and runs.

Programs elsewhere import the client of a service from it: `connect`. The distribution
`mesocosm-client` has this package without the appliance's, so that only the client's names work.

These names stay; the packages that define them may change. A name is imported when it is first
used. This file is shipped into guests with the desktop evaluators, where only the names of
`mesocosm.authoring.IN_GUESTS` exist: standard library only, Python 3.9.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mesocosm.authoring import CLIENT, MODULES

if TYPE_CHECKING:
    from controller.actions.session import SessionState as SessionState
    from controller.actions.setup_files import put_file as put_file
    from controller.actions.space import Action as Action
    from controller.agents.driver import AgentDriver as AgentDriver
    from controller.episode.context import RunContext as RunContext
    from controller.episode.episode import Episode as Episode
    from controller.models.usage import Usage as Usage
    from controller.observation.marks import Mark as Mark
    from controller.observation.observer import Observation as Observation
    from controller.observation.results import ActionResult as ActionResult
    from controller.observation.suite_functions import Prompted as Prompted
    from controller.observation.suite_functions import Sight as Sight
    from controller.programs import run_suite as run_suite
    from controller.protocol import Agent as Agent
    from controller.protocol import AgentContext as AgentContext
    from controller.protocol import Turn as Turn
    from controller.specification.episode import EpisodeSpec as EpisodeSpec
    from controller.specification.observation import ObservationSpec as ObservationSpec
    from controller.specification.run import ActionSpec as ActionSpec
    from controller.store.event_log import TrialLog as TrialLog
    from controller.store.report import Report as Report
    from controller.store.report import read_report as read_report
    from controller.wiring import open_fleet as open_fleet
    from controller.wiring import open_suite as open_suite
    from evaluators.coordinates import ScreenPath as ScreenPath
    from evaluators.coordinates import ScreenX as ScreenX
    from evaluators.coordinates import ScreenY as ScreenY
    from evaluators.decorators import MachinePath as MachinePath
    from evaluators.decorators import SuiteFile as SuiteFile
    from evaluators.decorators import action as action
    from evaluators.decorators import evaluator as evaluator
    from evaluators.decorators import observation as observation
    from evaluators.decorators import setup as setup
    from evaluators.decorators import visual_prompt as visual_prompt
    from evaluators.desktop.reading import is_absent as is_absent
    from evaluators.desktop.reading import is_file as is_file
    from evaluators.desktop.reading import is_folder as is_folder
    from evaluators.desktop.reading import lines_of as lines_of
    from evaluators.desktop.reading import link_target as link_target
    from evaluators.desktop.reading import look as look
    from evaluators.desktop.reading import names_in as names_in
    from evaluators.desktop.reading import opened as opened
    from evaluators.desktop.reading import private_folder as private_folder
    from evaluators.desktop.reading import read_bytes as read_bytes
    from evaluators.desktop.reading import read_plain_text as read_plain_text
    from evaluators.desktop.reading import read_text as read_text
    from evaluators.desktop.reading import sha256_of as sha256_of
    from evaluators.desktop.reading import tree_of as tree_of
    from evaluators.desktop.reading import words_of as words_of
    from evaluators.machine_view import MachineView as MachineView
    from evaluators.phone.view import PhoneView as PhoneView
    from evaluators.rendering.request import CellItem as CellItem
    from evaluators.rendering.request import CellPlace as CellPlace
    from evaluators.rendering.request import Input as Input
    from evaluators.rendering.request import NotesItem as NotesItem
    from evaluators.rendering.request import ObjectItem as ObjectItem
    from evaluators.rendering.request import Perturbation as Perturbation
    from evaluators.rendering.request import PicturesItem as PicturesItem
    from evaluators.rendering.request import SheetObjectItem as SheetObjectItem
    from evaluators.rendering.request import TextItem as TextItem
    from evaluators.rendering.views.any import ViewedDocument as ViewedDocument
    from evaluators.rendering.views.pdf import PdfView as PdfView
    from evaluators.rendering.views.sheets import SheetsView as SheetsView
    from evaluators.rendering.views.slides import SlidesView as SlidesView
    from evaluators.rendering.views.text import TextView as TextView
    from evaluators.session.answers import SessionView as SessionView
    from evaluators.session.view import CrossView as CrossView
    from evaluators.world.view import WorldView as WorldView
    from foundation.clock import SYSTEM_CLOCK as SYSTEM_CLOCK
    from foundation.errors import MesocosmError as MesocosmError
    from foundation.errors import ModelRefusalError as ModelRefusalError
    from foundation.errors import ModelUnavailableError as ModelUnavailableError
    from foundation.settings import get_settings as get_settings
    from mesocosm.client.aio import AsyncClient as AsyncClient
    from mesocosm.client.aio import AsyncEnv as AsyncEnv
    from mesocosm.client.aio import connect_async as connect_async
    from mesocosm.client.errors import ServiceError as ServiceError
    from mesocosm.client.models import act as act
    from mesocosm.client.sync import Client as Client
    from mesocosm.client.sync import Env as Env
    from mesocosm.client.sync import connect as connect
    from provisioning.probe.guest import Guest as Guest
    from provisioning.protocols import Bounds as Bounds
    from provisioning.protocols import Element as Element
    from provisioning.protocols import Machine as Machine
    from provisioning.resource import ResourceSpec as ResourceSpec
    from provisioning.world.persona.persona import persona as persona
    from provisioning.world.resource import World as World


def __getattr__(name: str) -> object:
    """Import a name when it is first used.

    Raises:
        AttributeError: there is no such name.
        ImportError: the name needs the appliance, and only its client is installed; or it needs the
            client's packages.
    """
    module = CLIENT.get(name) or MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value: object = getattr(import_module(module), name)
    except ModuleNotFoundError as exc:
        if name in CLIENT and exc.name == "httpx":
            raise ImportError(
                f"mesocosm.{name} needs the package httpx: run `pip install httpx`, or install the "
                "client (docs/client.md)."
            ) from None
        if name in CLIENT or exc.name != module.partition(".")[0]:
            raise
        raise ImportError(
            f"mesocosm.{name} needs the appliance, but only mesocosm-client is installed. "
            "To use a running appliance, call mesocosm.connect(); to use this name, run the "
            "program with .venv/bin/python of the appliance's checkout."
        ) from exc
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all names, also those that were not used yet."""
    return sorted({*globals(), *MODULES, *CLIENT})
