"""The adapter for OpenAI's Responses API."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from controller.models.client import Capabilities
from controller.models.openai.gateway import OpenAIGateway
from controller.models.openai_responses.client import ResponsesClient
from controller.models.openai_responses.items import MALFORMED
from controller.models.packages import require_package

if TYPE_CHECKING:
    from controller.models.client import GatewayRules
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_PACKAGE = "openai"


class ResponsesAdapter:
    """See `controller.models.client.Adapter`."""

    capabilities = Capabilities(seed=False)
    default_url = "https://api.openai.com/v1"
    own_fields: frozenset[str] = frozenset(
        {"model", "input", "instructions", "tools", "stream", "store", "previous_response_id"}
    )
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

    def connect(self, settings: ModelSettings, clock: Clock) -> ResponsesClient:
        """Return a client of the model."""
        return ResponsesClient(settings, clock)
