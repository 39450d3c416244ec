"""Lines of a transcript, and what is told of them."""

import json
from pathlib import Path
from typing import Any

from mcp_server.core.sessions.transcript import Condenser, Utterance

DATA = Path(__file__).parents[2] / "data" / "transcripts"
TIME = "2026-11-20T15:28:56.908Z"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
KEY = "AKIAQ3EGRFT5ZK7PLW2N"


def user(content: object, **fields: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, "timestamp": TIME, **fields}


def claude(*blocks: object, **fields: object) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"id": "msg_1", "role": "assistant", "model": "claude-opus-5-5", "content": content}
    return {"type": "assistant", "message": message, "timestamp": TIME, **fields}


def call(name: str, call_id: str = "toolu_1", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str = "toolu_1", *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "OUTPUT", "is_error": failed}
    return user([block])


def ranges(data: bytes, start: int = 0) -> list[tuple[bytes, int, int]]:
    line_ranges = []
    for line in data[start:].split(b"\n")[:-1]:
        line_ranges.append((line, start, start + len(line) + 1))
        start += len(line) + 1
    return line_ranges


def as_bytes(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def utterances_of(*lines: object, subagent: bool = False, skipping: bool = False) -> list[Utterance]:
    condenser = Condenser(subagent=subagent, skipping=skipping)
    return list(condenser.read(ranges(as_bytes(*lines))))


def words(*lines: object, subagent: bool = False) -> list[str]:
    return [utterance.words for utterance in utterances_of(*lines, subagent=subagent)]
