"""http_headers: the headers that a server of ours adds to each answer."""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Return *send* which sets *headers* in each answer, in place of its own of these names."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sending
