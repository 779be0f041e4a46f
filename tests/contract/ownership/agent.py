"""An agent: it starts `dormouse mcp` and speaks the protocol over its pipes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.contract.program import DEADLINE_S, Program, lines_of


class Agent:
    def __init__(self, program: Program) -> None:
        self.process = program.start("mcp")
        assert self.process.stdout
        self._answers = lines_of(self.process.stdout)
        self._number = 0

    def shake_hands(self) -> dict[str, Any]:
        """Named, so that its memories go to `racer_memory`."""
        client = {"name": "racer", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        answer = self.ask("initialize", given)
        self._send({"method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: object) -> str:
        """The text of a tool's answer."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return str(answer["result"]["content"][0]["text"])

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        for line in self._answers:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._number:
                return message
        assert self.process.stderr
        raise AssertionError(f"the relay ended: {self.process.stderr.read().decode()}")

    def leave(self) -> int:
        """Close its end, as an agent that stops does."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(timeout=DEADLINE_S)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def agents(program: Program, count: int) -> Iterator[list[Agent]]:
    """All started before the first is waited for; killed at the end."""
    running = [Agent(program) for _ in range(count)]
    try:
        yield running
    finally:
        for agent in running:
            agent.process.kill()
            agent.process.stdin and agent.process.stdin.close()
            agent.process.wait(timeout=DEADLINE_S)
            for pipe in (agent.process.stdout, agent.process.stderr):
                pipe and pipe.close()
