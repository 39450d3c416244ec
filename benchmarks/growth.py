"""
Whether any function of the core takes long on a hostile text: `python -m benchmarks.growth [NAME…]`.

Each function reads each atom repeated to 16, 64 and 256 KiB. Four times the text may take six times the
processor time, and 64 KiB a second; masking secrets may take 50 ms, and twice that on a machine that is busy.
Ends with 1 when something takes longer.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from mcp_server.core import links, markdown, memory_parts, render  # fmt: skip
from mcp_server.core.capture import mining  # fmt: skip
from mcp_server.core.context import managed_block  # fmt: skip
from mcp_server.core.errors import DaybookError
from mcp_server.core.exchange import foreign, seeding  # fmt: skip
from mcp_server.core.graph import graph  # fmt: skip
from mcp_server.core.judge import consolidation  # fmt: skip
from mcp_server.core.provenance import instructions, provenance  # fmt: skip
from mcp_server.core.search import boosts, prompt_parts  # fmt: skip
from mcp_server.core.secrets import redaction  # fmt: skip
from mcp_server.core.sessions import conversation, passages  # fmt: skip
from mcp_server.core.text import excerpt, private, text_relation, time_words, titles, words  # fmt: skip
from mcp_server.core.worth import ratings, use  # fmt: skip

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MOST_GROWTH = 6.0  # of processor time, for four times the text
MOST_SECONDS = 1.0  # for 64 KiB
MOST_TO_MASK = 0.1
TOO_SHORT = 0.02  # seconds under which a growth says nothing

Reads = Callable[[str], object]
FUNCTIONS: dict[str, Reads] = {
    "redact": redaction.redact,
    "words": words.words,
    "identifier_parts": words.identifier_parts,
    "index_parts": words.index_parts,
    "query_terms": words.query_terms,
    "content_words": words.content_words,
    "wiki_links": links.wiki_links,
    "outside_code": markdown.outside_code,
    "parse_link": links.parse_link,
    "is_artifact": links.is_artifact,
    "passages.sections": lambda text: list(passages.sections(text)),
    "passages.pieces": passages.pieces,
    "mine": lambda text: mining.mine([("user", text)]),
    "sentences": mining.sentences,
    "excerpt": lambda text: excerpt.excerpt(text, ["key", "a"], 300),
    "visible": render.visible,
    "one_line": render.one_line,
    "quoted": render.quoted,
    "markdown": lambda text: list(markdown.sections(text)),
    "block find": managed_block.find,
    "block splice": lambda text: managed_block.splice(text, "x"),
    "block mend": managed_block.mend,
    "parts_of": prompt_parts.parts_of,
    "span_of": lambda text: time_words.span_of(text, NOW),
    "source_of": lambda text: provenance.source_of(text, text),
    "reads_like_instruction": instructions.reads_like_instruction,
    "parse_turns": conversation.parse_turns,
    "quoted_phrases": boosts.quoted_phrases,
    "asks_about_now": boosts.asks_about_now,
    "named_paths": boosts.named_paths,
    "tokens": text_relation.tokens,
    "numbers_in": text_relation.numbers_in,
    "negates": text_relation.negates,
    "names_in": text_relation.names_in,
    "guarded_difference": lambda text: text_relation.guarded_difference(text, text + "x"),
    "says_skip": private.says_skip,
    "without_private": private.without_private,
    "kept_of": private.kept_of,
    "seeding.sections": lambda text: seeding.sections(text, "x"),
    "seeding.parted": seeding.parted,
    "title_of": titles.title_of,
    "clipped": titles.clipped,
    "lines_of": foreign.lines_of,
    "tags_of": foreign.tags_of,
    "slug": memory_parts.slug,
    "clean_text": lambda text: memory_parts.clean_text(text, 10**9),
    "split_title": titles.split_title,
    "split_list": memory_parts.split_list,
    "fingerprint": lambda text: memory_parts.fingerprint("x", text),
    "holds": lambda text: consolidation.holds(text, text),
    "importance": ratings.importance,
    "telling_tokens": use.telling_tokens,
    "gist_of": lambda text: graph.gist_of("x", text),
}
ATOMS = (
    *"a A \\ / . - _ : ; , = * ` ~ < > [ ] ( ) { } # | & % $ @ ! ? 1 0 é İ 漢 ' \"".split(),
    " ", "\n", "\n\n", "\t", "\r\n", "\x00", "\u200b", "\u2028", "a ", "A b ", "*a*", "a\n", "```\n",
    "~~~\n",
    "[[", "]]", "[[a]]", "[a](", "](", "# a\n", "- a\n", "> a\n", "1. a\n", "1.", "2020-01-01 ", "a/",
    "a.b", "../",
    ". ", "A. ", "::", "a: ", "\nUser: x\n", "<private>", "</private>", "<!--", "-->", "**", "| a |\n",
    "don't ",
    "not ", "always ", "we decided to ", "yesterday ", "in 3 days ", "---\n", "x" * 50 + " ", "漢。",
    "\u0301",
    # secrets, almost secrets and the words beside them
    "token=", "token=a1 ", "password: ", "key", "pw:", "password=hunter2!x ", "token=a8f3k2j9d0s7\n",
    "the password for a b c is ", "http://a:b@", "http://a:x9!kq@c ", "Bearer ", "Bearer a8f3k2j9d0s7 ",
    "authorization: ", "curl -u a:b ", "curl -u a:x9!kq\n", "mysql -px9!kq ", "eyJ-", "eyJ-a.",
    "-----BEGIN PRIV" + "ATE KEY-----", "[secret removed: ", "[secret removed: a token]", "login a ",
    "kind: Secret\ndata:\n a: aGVsbG8gd29ybGQh\n", "pat.", "s.", "sl.", "-us", "live_", "EAA", "key-",
    "sk-", "SK",
    "ey", ":AA", "AKIA", "password='\\'", "pass pass ", "credentials are a / b ", "a is the password ",
    "secret_",
    "password\t", "password > ", "tokens ", "<password>", "abandon ", "AKIAABCDEFGHIJKLMNOP ",
    "log in with ",
    "pin code is 12 ", "backup codes: a ", "seed phrase: a b ", "cookie: a=b;", "pgpass a:1:b:c:d\n",
    "auth=(\"a\",",
    "echo a | ", "htpasswd -b a b ", "sig=", "пароль ", "密码是", "variable \"pw\" {\n", "default = \"a\"\n",
)  # fmt: skip


def repeated(atom: str, kibibytes: int) -> str:
    return (atom * (kibibytes * 1024 // len(atom) + 1))[: kibibytes * 1024]


def seconds(function: Reads, text: str) -> float:
    """Return the processor time that *function* takes; a refusal is an answer."""
    began = time.process_time()
    with contextlib.suppress(DaybookError, ValueError):
        function(text)
    return time.process_time() - began


def too_long(name: str, function: Reads) -> Iterator[str]:
    """Yield what *function* takes too long for."""
    for atom in ATOMS:
        small, middle = (seconds(function, repeated(atom, size)) for size in (16, 64))
        if middle > (MOST_TO_MASK if name == "redact" else MOST_SECONDS):
            yield f"{name}: {atom!r} takes {middle:.2f} s at 64 KiB"
        if middle > TOO_SHORT and middle / max(small, 0.001) > MOST_GROWTH:
            large = seconds(function, repeated(atom, 256)) if middle < 5 else float("inf")
            if large / middle > MOST_GROWTH:
                yield f"{name}: {atom!r} takes {small:.3f}, {middle:.3f}, {large:.3f} s at 16, 64, 256 KiB"


def main() -> None:
    complaints = 0
    for name, function in FUNCTIONS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            for complaint in too_long(name, function):
                print(complaint, flush=True)
                complaints += 1
    print(f"{len(FUNCTIONS)} functions, {len(ATOMS)} atoms: {complaints or 'nothing'} too long")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
