"""shown_to_claude: what Claude is shown at a session's start and with a prompt, and what each part costs."""

from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.inject import SHORTEST_PROMPT, Decided, Fate, decide
from mcp_server.actions.context.notice import next_notice
from mcp_server.actions.context.start import AtStart, start
from mcp_server.actions.sessions.session_history import list_sessions
from mcp_server.bootstrap import model_identity
from mcp_server.core.bounds import session_id
from mcp_server.core.context.brief import FRAMED, NOTED, SUBAGENT_BUDGET, BriefLine
from mcp_server.core.memory_parts import id_in
from mcp_server.core.render import CHARACTERS_PER_TOKEN, estimated_tokens
from mcp_server.doors import turns
from mcp_server.doors.shown import needs, unasked
from mcp_server.doors.viewer.page import folder_of, page, store_of, viewer
from mcp_server.doors.viewer.page_query import Where, projects
from mcp_server.store import Store

LISTED = 60  # memories that the brief leaves out
LONGEST_TRIED = 4000  # characters: a search looks at no more, and an address holds them
NEXT = "the next session"  # no id has blanks


def shown(request: Request) -> Response:
    """Return the page about the brief, with the prompt that is tried."""
    store, where = _seen_from(request)
    begun = start(store, folder=folder_of(request))
    for_subagent = brief(store, for_subagent=True, folder=folder_of(request))
    prompt, session = _asked(request)
    tried = _tried(request, store, where, begun) if prompt.strip() else {}
    return page(
        request,
        "shown_page.html",
        projects=projects(request),
        start=begun,
        sections=_sections(where, begun.brief.lines),
        notice=needs.notice(next_notice(store, identity=model_identity(viewer(request).opened.environment))),
        subagent=for_subagent,
        subagent_sections=_sections(where, for_subagent.lines),
        subagent_tokens=estimated_tokens(for_subagent.text),
        subagent_budget=SUBAGENT_BUDGET // CHARACTERS_PER_TOKEN,
        left_out=[(memory, where.of(memory.ref)) for memory in begun.left_out[:LISTED]],
        at_start=unasked.AT_START,
        more=max(0, len(begun.left_out) - LISTED),
        elsewhere=[_named(where, ref) for ref in begun.elsewhere],
        in_block=[_named(where, ref) for ref in (begun.block.refs if begun.block else ())],
        sessions=[episode for episode in list_sessions(store) if not episode.forgotten],
        prompt=prompt,
        session=session,
        longest=LONGEST_TRIED,
        **tried,
    )


def prompt_tried(request: Request) -> Response:
    """Return what would come with the prompt in the address, as a part of the page."""
    store, where = _seen_from(request)
    begun = start(store, folder=folder_of(request))
    return page(request, "shown_tried.html", **_tried(request, store, where, begun))


def _asked(request: Request) -> tuple[str, str]:
    """Return the prompt to try, and the id of the session that it is tried in, '' for the next one."""
    prompt = request.query_params.get("prompt", "").replace("\r\n", "\n")
    return prompt[:LONGEST_TRIED], session_id(request.query_params.get("session"))


def _tried(request: Request, store: Store, where: Where, begun: AtStart) -> dict[str, Any]:
    prompt, session = _asked(request)
    pairs = () if session else zip(begun.brief.refs, begun.brief.digests, strict=True)
    decided = decide(
        store.in_session(session or NEXT),
        prompt[: turns.LONGEST_PROMPT],
        already_given=[*pairs],
        explained=True,
    )
    text = decided.called.text
    fates = [(hit, fate, where.of(hit.ref)) for hit, fate in decided.fates]
    return {
        "typed": prompt.strip(),
        "decided": decided,
        "text": text,
        "text_tokens": estimated_tokens(text),
        "with_prompt": unasked.WITH_PROMPT,
        "come": [entry for entry in fates if entry[1].is_shown],
        "missed": [
            (hit, fate, to, [bar for bar in hit.bars if bar.missing > 0] if fate is Fate.UNSURE else [])
            for hit, fate, to in fates
            if not fate.is_shown
        ],
        "shortest": SHORTEST_PROMPT,
        "is_marked": turns.is_marked(prompt),
        **_by_words(store, decided),
    }


def _by_words(store: Store, decided: Decided) -> dict[str, Any]:
    """Tell whether words alone were searched, and whether that will change by itself."""
    by_words = decided.asks and not decided.semantic
    loads = by_words and store.settings.embedding_model != "none" and not store.meaning.problem
    return {"by_words": by_words, "loads": loads}


def _sections(where: Where, lines: tuple[BriefLine, ...]) -> list[dict[str, Any]]:
    """
    Return the lines under their headings, each piece with the address that it leads to.

    The heading is the first line of its section; the frame has none, and that of the notices is not shown.
    """
    sections = []
    for name, group in groupby(lines, lambda line: line.section):
        section_lines = [*group]
        heading = {FRAMED: "", NOTED: NOTED}.get(name, section_lines[0].text)
        sections.append(
            {
                "heading": heading,
                "tokens": sum(line.tokens for line in section_lines),
                "lines": [
                    (line.tokens, [(piece, where.of(piece.ref)) for piece in line.pieces])
                    for line in (section_lines if heading in ("", NOTED) else section_lines[1:])
                ],
            }
        )
    return sections


def _seen_from(request: Request) -> tuple[Store, Where]:
    store = store_of(request)
    return store, Where(request, store)


def _named(where: Where, ref: str) -> tuple[str, str]:
    return id_in(ref), where.of(ref)


ROUTES = (Route("/shown", shown), Route("/shown/prompt", prompt_tried))
