"""Every way in which an import changes the file of a memory that is there."""

from collections.abc import Callable

from mcp_server.actions.exchange import seed
from mcp_server.actions.exchange.auto_memory import import_auto_memory
from tests.actions.changing_ways import Act, Place
from tests.importing import import_from


def _imported_again(place: Place) -> Act:
    note = place.folder / "notes" / "a.md"
    note.parent.mkdir()
    note.write_text("# Note\n\nThe port is 8080.\n", encoding="utf-8")
    import_from(place.store, "notes", note.parent)
    note.write_text("# Note\n\nThe port is 9090.\n", encoding="utf-8")
    return lambda: import_from(place.store, "notes", note.parent)


def _said_to_be_own(place: Place) -> Act:
    exported = place.folder / "export" / "knowledge" / "retry-rule.md"
    exported.parent.mkdir(parents=True)
    exported.write_text("---\nid: retry-rule\ntitle: Retry rule\nsource: manual\n---\nWait thirty seconds.\n")
    export = exported.parent.parent
    import_from(place.store, "daybook", export)
    return lambda: import_from(place.store, "daybook", export, own_export=True)


def _seeded_again(place: Place) -> Act:
    document = "# Ports\n\nThe port of the shop is 8080, since the proxy wants it so.\n"
    seed.seed_from_text(place.store, document, name="ports")
    return lambda: seed.seed_from_text(place.store, document.replace("8080", "9090"), name="ports")


def _auto_memory_again(place: Place) -> Act:
    project = place.store.project
    assert project
    slug = "".join(character if character.isalnum() else "-" for character in str(project.root))
    topic = place.folder / "claude" / "projects" / slug / "memory" / "port.md"
    topic.parent.mkdir(parents=True)
    text = "---\nname: port\ndescription: the port\ntype: project\n---\nThe port is {}.\n"
    topic.write_text(text.format(8080), encoding="utf-8")
    (topic.parent / "MEMORY.md").write_text("- [port](port.md)\n", encoding="utf-8")
    report = import_auto_memory(place.store, place.folder / "claude")
    assert report.items
    topic.write_text(text.format(9090), encoding="utf-8")
    return lambda: import_auto_memory(place.store, place.folder / "claude")


OF_IMPORTS: dict[str, Callable[[Place], Act]] = {
    "import again": _imported_again,
    "say that an export is one's own": _said_to_be_own,
    "seed again": _seeded_again,
    "import auto memory again": _auto_memory_again,
}
