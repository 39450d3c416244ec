"""The MCP application: its tools, and how it turns errors into answers that a model can act on."""

import contextlib
import functools
import keyword
from collections.abc import Callable
from typing import Any, ParamSpec

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations

from mcp_server import __version__
from mcp_server.actions.capture.learn_on_plan import HandedOut
from mcp_server.actions.judge.origins import judge, judge_words
from mcp_server.actions.judge.persons_word import turns_of
from mcp_server.actions.team.where import told_where
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import DaybookError, disk_refused
from mcp_server.doors.server.arguments import Server, refused
from mcp_server.doors.server.consent import Consent
from mcp_server.doors.server.dialog import Dialog, PersonAsked
from mcp_server.doors.server.hook_tool import Hooks
from mcp_server.doors.server.replies import shown_lines
from mcp_server.doors.server.session import TOOL_USE
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown import origins as shown
from mcp_server.doors.shown.trouble import remarks
from mcp_server.store import Store

P = ParamSpec("P")
ALWAYS_LOADED = frozenset({"remember", "recall"})


class Application:
    """
    Registers tools: turns the errors of each into answers, and sets its permission hints.

    The server has no instructions: the descriptions of `remember` and `recall` are in every request, too.
    """

    def __init__(self, opened: Opened, hooks: Hooks) -> None:
        self.opened = opened
        self.session = hooks.session
        self.meet = hooks.meet
        self.handed_out: dict[str, HandedOut] = {}
        """The piece that the client is asking a model about: one at most, by the name of its call."""
        self.asking: contextlib.ExitStack | None = None
        """What keeps other sessions from asking the person about their plan, until they answer this one."""
        self._look = hooks.look
        # What is listed never changes. A client that may subscribe to changes does at once, and needs the
        # library for it: nothing else is answered for a second then.
        self.server = Server("daybook", version=__version__, log_level="WARNING", subscriptions=False)

    def turns(self) -> list[str]:
        """Return the person's turns of this session, as far back as we read."""
        if self.session.by_claude:
            return []
        return turns_of(self.session.transcript(), prompt=self.session.prompt)

    def consent(self, context: Context[Any, Any], store: Store) -> Consent:
        """Return what asks the person before a call of a tool changes what they said in *store*."""
        return Consent(Dialog(context), store, self.turns)

    def judged(self, memory_id: str, *, was: str = "") -> str:
        """
        Find in the session the source of what Claude just stored, unless it is the person's word already.

        *was* is the memory's former text, where that may be shown unasked. Return a sentence with the reason
        why it waits, '' when it does not, or when that is known only later.
        """
        session = self.session
        self.meet("")
        try:
            reason = judge(
                self.opened.store(),
                memory_id,
                session.transcript(),
                prompt=session.prompt,
                call=TOOL_USE.get(),
                was=was,
            )
        except DaybookError:
            return ""  # it is stored, and waits for the person
        return shown.waits(reason)

    def judged_words(self, *words: str) -> None:
        """Find in the session the source of Claude's summary, so that the next session may be shown it."""
        self.meet("")
        for sentence in filter(None, words):
            with contextlib.suppress(DaybookError):
                judge_words(
                    self.opened.store(), sentence, self.session.transcript(), prompt=self.session.prompt
                )

    def tool(
        self, *, reads: bool = False, destroys: bool = False
    ) -> Callable[[Callable[P, Shown | str]], Callable[P, Shown | str]]:
        """Register a function as the tool of its name: a model reads its docstring and its result."""

        def register(function: Callable[P, Shown | str]) -> Callable[P, Shown | str]:
            @functools.wraps(function)
            def answered(*args: P.args, **kwargs: P.kwargs) -> str | CallToolResult | InputRequiredResult:
                # A parameter called `from_` is `from` to the model.
                for name in [name for name in kwargs if keyword.iskeyword(name)]:
                    kwargs[f"{name}_"] = kwargs.pop(name)
                try:
                    result = function(*args, **kwargs)
                    answer = self._with_remarks(result if isinstance(result, str) else shown_lines(result))
                    self._look.beside()
                    return answer
                except PersonAsked as pause:
                    return pause.question
                except DaybookError as error:
                    told = told_where(self.opened.store, error)
                    return refused(self._with_remarks(told.with_hint, refusal=error))
                except OSError as error:
                    return refused(self._with_remarks(disk_refused(error), refusal=error))

            self.server.tool(
                description=" ".join((function.__doc__ or "").split()),
                annotations=ToolAnnotations(
                    read_only_hint=reads,
                    destructive_hint=destroys,
                    idempotent_hint=reads,
                    open_world_hint=False,
                ),
                meta={"anthropic/alwaysLoad": True} if function.__name__ in ALWAYS_LOADED else None,
                structured_output=False,
            )(answered)
            return function

        return register

    def _with_remarks(self, answer: str, *, refusal: Exception | None = None) -> str:
        """Return *answer*, or the words of a *refusal*, followed by the remarks about the index."""
        return "\n\n".join([answer, *remarks(self.opened.remarks(), refusal=refusal)])
