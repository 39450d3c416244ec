"""
The language model, called through Anthropic's library: one request, one reply or one kind of failure.

Whatever the other side does, a call ends within its deadline, reads a bounded number of bytes, and reveals
neither the key nor the prompt. The library's own retries are off: each try is reserved in the ledger first.
"""

import json
import logging
import math
from collections.abc import Callable
from typing import Any

from mcp_server.adapters.connection import Connection, seconds_asked, why_unanswered, why_unusable
from mcp_server.adapters.patient_call import PatientCall, StillRunning
from mcp_server.core import budget
from mcp_server.core.addresses import is_loopback
from mcp_server.core.budget import API, CallFailed, CallOutcome, Reply, identity, outcome_of
from mcp_server.core.settings import MODEL

DEADLINE = 60.0  # seconds from the first byte sent to the last one read
# The same for an endpoint on this machine, which may load a model first, and has no GPU.
PATIENCE_HERE = 600.0
CONNECT_TIMEOUT = 10.0  # seconds
MOST_BYTES = 2 * 1024 * 1024  # of an answer
_PROXIES = ("all://", "http://", "https://")


class ClaudeModel:
    """
    The *model* behind *base_url*, for which *key* pays; '' for an endpoint that wants none.

    Raises PermissionError without *consent*: this is the last check before the network.
    *own_network* is false when the environment names proxies and certificates that the person did not set.
    A request to this machine never goes through a proxy.
    """

    def __init__(
        self,
        key: str,
        base_url: str = API,
        model: str = MODEL,
        *,
        consent: bool,
        own_network: bool = True,
        deadline: float | None = None,
    ) -> None:
        import anthropic  # slow: 0.7 s

        for name in ("anthropic", "httpx2", "httpcore2"):  # at their most verbose they log prompts
            logging.getLogger(name).setLevel(logging.WARNING)
        if not consent:
            raise PermissionError("The model is not called without consent.")
        self.identity = identity(key, base_url)
        self._connection_error = anthropic.APIConnectionError
        self._consent = consent
        self._model = model
        is_here = is_loopback(base_url)
        self._deadline = deadline = deadline or (PATIENCE_HERE if is_here else DEADLINE)
        self._own_network = own_network or is_here
        uses_network = own_network and not is_here

        def new_client(wire: "_Wire") -> anthropic.Anthropic:
            client = anthropic.Anthropic(
                api_key=key or "none",  # the library requires a value; without our key no header is sent
                base_url=base_url,
                max_retries=0,
                timeout=anthropic.Timeout(deadline, connect=min(CONNECT_TIMEOUT, deadline)),
                open_telemetry=False,
                http_client=anthropic.DefaultHttpxClient(
                    follow_redirects=False,  # a prompt goes only to the address that the person configured
                    trust_env=uses_network,
                    mounts={} if uses_network else dict.fromkeys(_PROXIES),
                    event_hooks={"request": [wire.on_request], "response": [wire.on_response]},
                ),
            )
            wire.key_headers = dict(client.auth_headers) if key else {}
            if key and base_url != API:  # some gateways read the first header, some the second
                wire.key_headers |= {"X-Api-Key": key, "Authorization": f"Bearer {key}"}
            return client

        self._new_client: Callable[[_Wire], anthropic.Anthropic] = new_client

    def ask(self, *, system: str, prompt: str, most_tokens: int) -> Reply:
        """Make one call and return its reply; raises CallFailed for every other result."""
        if not self._consent:
            raise PermissionError("The model is not called without consent.")
        wire = _Wire(own_network=self._own_network)
        # A thread of its own: nothing else bounds a slow name server, or a reply of one byte per second.
        call = PatientCall(lambda: self._call(wire, system, prompt, most_tokens), name="call-model")
        try:
            return call.result(self._deadline)
        except StillRunning:
            wire.cut()
            call.wait(1.0)
            sentence = f"The model did not answer within {self._deadline:.0f} seconds."
            raise CallFailed(CallOutcome.UNREACHABLE, sentence, charged=wire.sent) from None

    def _call(self, wire: "_Wire", system: str, prompt: str, most_tokens: int) -> Reply:
        """Make one call and return its reply; raises CallFailed for every other result."""
        try:
            client = self._new_client(wire)
        except Exception as error:
            raise CallFailed(CallOutcome.UNREACHABLE, f"The model {why_unusable(error)}") from None
        try:
            with (
                client,
                client.messages.with_streaming_response.create(
                    model=self._model,
                    max_tokens=most_tokens,
                    system=system,
                    messages=[{"role": "user", "content": prompt}],
                ) as response,
            ):
                return _reply(_read(response.iter_bytes), characters=len(system) + len(prompt))
        except CallFailed:
            raise
        except self._connection_error as error:
            if isinstance(error.__cause__, CallFailed):
                raise error.__cause__ from None
            raise _unreachable(error.__cause__ or error, wire) from None
        except UnicodeError:
            sentence = "The text for the model is not valid Unicode."
            raise CallFailed(CallOutcome.BAD_REQUEST, sentence) from None
        except Exception as error:  # any other error of the library: no reply, and perhaps a cost
            raise _unreachable(error, wire) from None
        finally:
            wire.forget()


class _Wire(Connection):
    """The connection of one call, with the headers that carry our key."""

    def __init__(self, *, own_network: bool) -> None:
        super().__init__(own_network=own_network)
        self.key_headers: dict[str, str] = {}

    def on_request(self, request: Any) -> None:
        """Prepare the request: only our key goes with it, whatever headers the environment adds."""
        self.host = request.url.raw_host.decode("ascii")
        for name in ("authorization", "x-api-key"):
            request.headers.pop(name, None)
        request.headers.update(self.key_headers)
        request.headers["accept-encoding"] = "identity"  # the limit counts the bytes as they arrive
        request.extensions = {**request.extensions, "trace": self.on_event}

    def on_response(self, response: Any) -> None:
        """Raise CallFailed for an answer that is not a reply, before the library reads it without limit."""
        status = int(response.status_code)
        if 200 <= status < 300:
            return
        try:
            message = _error_message(_read(response.iter_bytes))
        except CallFailed:
            message = ""
        finally:
            response.close()
        outcome = outcome_of(status, message)
        sentence = _SENTENCES[outcome].format(status=status)
        raise CallFailed(outcome, sentence, retry_after=seconds_asked(response.headers))


_SENTENCES = {
    CallOutcome.REFUSED_KEY: "The endpoint refused the key (HTTP {status}).",
    CallOutcome.NO_MODEL: "The endpoint lacks the model, or is not this kind of endpoint (HTTP {status}).",
    CallOutcome.NO_CREDIT: "The key has no credit left, or reached its spending limit (HTTP {status}).",
    CallOutcome.BAD_REQUEST: "The model refused the text (HTTP {status}).",
    CallOutcome.RATE_LIMITED: "The model was asked too often (HTTP {status}).",
    CallOutcome.OVERLOADED: "The model is overloaded (HTTP {status}).",
    CallOutcome.UNUSABLE: "The endpoint's answer is not a valid reply (HTTP {status}).",
}


def _read(parts: Callable[[], Any]) -> bytes:
    """Return the whole body; raise CallFailed when it is too long."""
    body = b""
    for part in parts():
        body += part
        if len(body) > MOST_BYTES:
            raise CallFailed(
                CallOutcome.UNUSABLE, f"The answer has more than {MOST_BYTES:,} bytes.", charged=True
            )
    return body


def _reply(body: bytes, *, characters: int) -> Reply:
    """
    Return the reply in *body*; raise CallFailed when it holds none.

    Where an endpoint gives no token counts, or impossible ones, they are estimated from the *characters*
    that were sent and those of the reply.
    """
    try:
        reply = json.loads(body)
        text = "".join(str(block["text"]) for block in reply["content"] if block["type"] == "text")
        usage = reply.get("usage")
        input_tokens = _counted(usage, _INPUT_TOKENS) or budget.tokens_of(characters)
        output_tokens = _counted(usage, _OUTPUT_TOKENS) or math.ceil(len(text) / budget.CHARACTERS_PER_TOKEN)
        return Reply(text, input_tokens, output_tokens, str(reply.get("stop_reason") or ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CallFailed(
            CallOutcome.UNUSABLE, "The endpoint's answer is not a valid reply.", charged=True
        ) from None


def _counted(usage: object, names: tuple[str, ...]) -> int:
    """Return the sum of what *usage* says under *names*, 0 where it is not a possible number."""
    numbers = [usage.get(name) or 0 for name in names] if isinstance(usage, dict) else []
    return (
        sum(numbers) if all(type(number) is int and 0 <= number <= _MOST_TOKENS for number in numbers) else 0
    )


_INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OUTPUT_TOKENS = ("output_tokens",)
_MOST_ERROR = 4096  # bytes of an error that is not JSON
_MOST_TOKENS = 10_000_000  # no model takes or gives that many


def _error_message(body: bytes) -> str:
    """
    Return the text of an error: its type and message, in any known shape, or the body as text.

    It is searched for words and never shown: it could quote the prompt.
    """
    text = body[:_MOST_ERROR].decode("utf-8", "replace")
    try:
        reply = json.loads(body)
        error = reply.get("error", reply)
        return (
            f"{error.get('type', '')} {error.get('message', error)}"
            if isinstance(error, dict)
            else str(error)
        )
    except (ValueError, AttributeError, RecursionError):
        return text


def _unreachable(error: BaseException, wire: _Wire) -> CallFailed:
    sentence = f"The model {why_unanswered(error, wire, reached=wire.sent)}"
    return CallFailed(CallOutcome.UNREACHABLE, sentence, charged=wire.sent)
