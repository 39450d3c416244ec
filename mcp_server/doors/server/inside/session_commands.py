"""`/save-session` and `/restore-session`: the state of the work, saved and restored without a model."""

from mcp_server.actions.capture.session_summary import so_far
from mcp_server.actions.memory.session import restore_session, save_session
from mcp_server.actions.recall.find_named import meant_by
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Kind
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.search.query import Filter
from mcp_server.doors.server import replies
from mcp_server.doors.server.inside import texts
from mcp_server.doors.server.inside.typed_command import Answer, Typed
from mcp_server.doors.shown import memory as shown


def save(command: Typed) -> Answer:
    """Save what is known of this session under the words given, or its first prompt. Raises DaybookError."""
    application, folder = command.application, command.folder
    work = so_far(application.session.transcript(), folder)
    if work is None:
        raise Rejected("You have asked nothing in this session yet, so there is nothing to save.", "")
    saved = save_session(
        command.store,
        command.words or work.title,
        work.text,
        files=work.files,
        folder=folder,
        session=command.session,
        source=ASSISTANT,  # no matter who saves it, it contains words of Claude and of others
    )
    own = saved.memory.id
    text = replies.shown_lines(shown.saved(saved, "session", waits=application.judged(own)))
    return {"text": f"{text}\nIt comes back with: /restore-session {own}"}


def restore(command: Typed) -> Answer:
    """Show the saved session that the words name, without words the last one, and what changed since."""
    store, words = command.store, command.words
    if words not in ("", "latest", "last"):
        meant = meant_by(store, words, Filter(kinds=(Kind.SESSION,)))
        if meant.files and (len(meant.files) > 1 or not meant.sure):
            return {"text": texts.several(meant.files, "restore-session", sure=meant.sure)}
        words = meant.files[0].memory.id if meant.files else words
    try:
        file, since = restore_session(store, words, folder=command.folder)
    except NotFound as error:
        hint = error.hint if words not in ("", "latest", "last") else "/save-session saves this one."
        raise Rejected(str(error), hint) from None
    whole = replies.shown_lines(shown.saved_session(file, since))
    context = f"The person brought back a saved session with /restore-session:\n{whole}"
    return {"text": texts.session(file, since), "context": [context]}
