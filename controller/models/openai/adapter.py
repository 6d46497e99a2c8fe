"""The adapter for OpenAI-compatible endpoints."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from controller.models.client import Capabilities
from controller.models.openai.client import OpenAIClient
from controller.models.openai.gateway import OpenAIGateway
from controller.models.openai.reply import MALFORMED
from controller.models.packages import require_package

if TYPE_CHECKING:
    from controller.models.client import GatewayRules
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_PACKAGE = "openai"


class OpenAIAdapter:
    """See `controller.models.client.Adapter`."""

    capabilities = Capabilities()
    default_url = ""
    own_fields: frozenset[str] = frozenset({"model", "messages", "tools", "stream", "n"})
    texts: tuple[str, ...] = MALFORMED
    gateway: GatewayRules = OpenAIGateway()

    def require(self) -> None:
        """Verify that the SDK is installed.

        Raises:
            RequirementError: it is missing.
        """
        require_package(_PACKAGE, "openai")

    def load(self) -> None:
        """Import the SDK."""
        importlib.import_module(_PACKAGE)

    def connect(self, settings: ModelSettings, clock: Clock) -> OpenAIClient:
        """Return a client of the model."""
        return OpenAIClient(settings, clock)
