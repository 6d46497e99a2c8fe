"""Play one task through its MCP server, with the protocol's reference client."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters, types


async def main(task: str, *options: str) -> None:
    """Write a file on the desktop and print what the tools return."""
    arguments = ["-m", "mesocosm.mcp", task, *options]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(server) as client:
        print(client.instructions)
        await client.call_tool("desktop_open_app", {"name": "Terminal"})
        result = await client.call_tool("desktop_type_text", {"text": "echo hello > note.txt\n"})
        images = [part for part in result.content if isinstance(part, types.ImageContent)]
        print(result.structured_content, f"{len(images)} image")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
