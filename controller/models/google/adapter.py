"""The adapter for Google's Gemini API."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from controller.models.client import Capabilities
from controller.models.google.client import GoogleClient
from controller.models.google.gateway import GoogleGateway
from controller.models.google.messages import MALFORMED
from controller.models.packages import require_package

if TYPE_CHECKING:
    from controller.models.client import GatewayRules
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_PACKAGE = "google.genai"


class GoogleAdapter:
    """See `controller.models.client.Adapter`."""

    capabilities = Capabilities()
    default_url = "https://generativelanguage.googleapis.com"
    own_fields: frozenset[str] = frozenset(
        {"contents", "systemInstruction", "tools", "generationConfig"}
    )
    texts: tuple[str, ...] = MALFORMED
    gateway: GatewayRules = GoogleGateway()

    def require(self) -> None:
        """Verify that the SDK is installed.

        Raises:
            RequirementError: it is missing.
        """
        require_package(_PACKAGE, "google")

    def load(self) -> None:
        """Import the SDK."""
        importlib.import_module(_PACKAGE)

    def connect(self, settings: ModelSettings, clock: Clock) -> GoogleClient:
        """Return a client of the model."""
        return GoogleClient(settings, clock)
