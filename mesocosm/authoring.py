"""Where the names are defined that suites, agents, scripts and programs import from `mesocosm`.

This file is shipped into guests with the desktop evaluators: standard library only, Python 3.9.
"""

from __future__ import annotations

MODULE = "mesocosm"
"""The module with the names."""

MODULES = {
    "SessionState": "controller.actions.session",
    "Mark": "controller.observation.marks",
    "Prompted": "controller.observation.suite_functions",
    "Sight": "controller.observation.suite_functions",
    "put_file": "controller.actions.setup_files",
    "Action": "controller.actions.space",
    "AgentDriver": "controller.agents.driver",
    "RunContext": "controller.episode.context",
    "Episode": "controller.episode.episode",
    "Observation": "controller.observation.observer",
    "ActionResult": "controller.observation.results",
    "run_suite": "controller.programs",
    "Agent": "controller.protocol",
    "AgentContext": "controller.protocol",
    "Turn": "controller.protocol",
    "Usage": "controller.models.usage",
    "Report": "controller.store.report",
    "read_report": "controller.store.report",
    "open_fleet": "controller.wiring",
    "open_suite": "controller.wiring",
    "ActionSpec": "controller.specification.run",
    "EpisodeSpec": "controller.specification.episode",
    "ObservationSpec": "controller.specification.observation",
    "TrialLog": "controller.store.event_log",
    "SYSTEM_CLOCK": "foundation.clock",
    "persona": "provisioning.world.persona.persona",
    "ScreenPath": "evaluators.coordinates",
    "ScreenX": "evaluators.coordinates",
    "ScreenY": "evaluators.coordinates",
    "MachinePath": "evaluators.decorators",
    "SuiteFile": "evaluators.decorators",
    "action": "evaluators.decorators",
    "evaluator": "evaluators.decorators",
    "observation": "evaluators.decorators",
    "setup": "evaluators.decorators",
    "visual_prompt": "evaluators.decorators",
    "is_absent": "evaluators.desktop.reading",
    "is_file": "evaluators.desktop.reading",
    "is_folder": "evaluators.desktop.reading",
    "lines_of": "evaluators.desktop.reading",
    "link_target": "evaluators.desktop.reading",
    "look": "evaluators.desktop.reading",
    "names_in": "evaluators.desktop.reading",
    "opened": "evaluators.desktop.reading",
    "private_folder": "evaluators.desktop.reading",
    "read_bytes": "evaluators.desktop.reading",
    "read_plain_text": "evaluators.desktop.reading",
    "read_text": "evaluators.desktop.reading",
    "sha256_of": "evaluators.desktop.reading",
    "tree_of": "evaluators.desktop.reading",
    "words_of": "evaluators.desktop.reading",
    "MachineView": "evaluators.machine_view",
    "PhoneView": "evaluators.phone.view",
    "CellItem": "evaluators.rendering.request",
    "CellPlace": "evaluators.rendering.request",
    "Input": "evaluators.rendering.request",
    "NotesItem": "evaluators.rendering.request",
    "ObjectItem": "evaluators.rendering.request",
    "Perturbation": "evaluators.rendering.request",
    "PicturesItem": "evaluators.rendering.request",
    "SheetObjectItem": "evaluators.rendering.request",
    "TextItem": "evaluators.rendering.request",
    "ViewedDocument": "evaluators.rendering.views.any",
    "PdfView": "evaluators.rendering.views.pdf",
    "SheetsView": "evaluators.rendering.views.sheets",
    "SlidesView": "evaluators.rendering.views.slides",
    "TextView": "evaluators.rendering.views.text",
    "SessionView": "evaluators.session.answers",
    "CrossView": "evaluators.session.view",
    "WorldView": "evaluators.world.view",
    "MesocosmError": "foundation.errors",
    "ModelRefusalError": "foundation.errors",
    "ModelUnavailableError": "foundation.errors",
    "get_settings": "foundation.settings",
    "Guest": "provisioning.probe.guest",
    "Bounds": "provisioning.protocols",
    "Element": "provisioning.protocols",
    "Machine": "provisioning.protocols",
    "ResourceSpec": "provisioning.resource",
    "World": "provisioning.world.resource",
}
"""The module of the appliance that defines each name."""

CLIENT = {
    "connect": "mesocosm.client.sync",
    "Client": "mesocosm.client.sync",
    "Env": "mesocosm.client.sync",
    "connect_async": "mesocosm.client.aio",
    "AsyncClient": "mesocosm.client.aio",
    "AsyncEnv": "mesocosm.client.aio",
    "act": "mesocosm.client.models",
    "ServiceError": "mesocosm.client.errors",
}
"""The same for names that need no appliance: the distribution `mesocosm-client` has their modules."""

IN_GUESTS = frozenset(
    name
    for name, module in MODULES.items()
    if module == "evaluators.decorators" or module.startswith("evaluators.desktop.")
)
"""The names that evaluators of desktops may import when they run in a guest."""
