"""A model behind an endpoint on loopback: chosen in a terminal, used by a real server."""

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from tests.conftest import Open
from tests.doors.shell import Answers, daybook
from tests.doors.test_model_commands import config
from tests.durability.served import Served, eventually
from tests.embedding_endpoint import NAME, answer, embeds, setting, texts
from tests.scripted_model import Answer, ScriptedModel

YES = (("Use it", "y\n"),)


def run(home: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return daybook(home, *words, folder=home.parent, **({"EMBEDDING_MODEL": ""} | more))


def type_use(
    home: Path, *words: str, answers: Answers = YES, **more: str
) -> subprocess.CompletedProcess[str]:
    return run(home, "model", "use", *words, typed=True, answers=answers, **more)


def test_the_person_is_told_what_is_sent_and_says_yes(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        process = type_use(home, setting(server))
        listed, state = run(home, "model", "list"), run(home, "status")
        recall = run(home, "recall", "extinct", "--mode", "semantic")

    assert process.returncode == 0, process.stdout
    words = " ".join(process.stdout.split())
    assert f"every kept conversation of all your projects is sent to {server.url}" in words
    assert "leaves this machine only if that program passes it on" in words
    assert f"{setting(server)}#8 answers." in words
    assert config(home) == f'embedding_model = "{setting(server)}#8"\n'
    assert "The quagga is extinct." in " ".join(texts(server))
    assert "texts are sent there" in listed.stdout
    assert f"{setting(server)}#8" in state.stdout
    assert "words only" not in recall.stdout + recall.stderr
    assert "meaning" in recall.stdout


def test_without_a_yes_nothing_is_sent(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        refused = type_use(home, setting(server), answers=(("Use it", "n\n"),))
        by_pipe = run(home, "model", "use", setting(server))

    assert refused.returncode != 0
    assert by_pipe.returncode == 12
    assert "needs the person's consent" in by_pipe.stderr
    assert server.calls == 0
    assert config(home) == ""


def test_status_of_the_model_asks_whether_its_endpoint_answers(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        type_use(home, setting(server))
        answering = run(home, "model", "status").stdout
        server.answers = embeds(12)
        changed = run(home, "model", "status").stdout
        refused = type_use(home, f"{server.url}#another", answers=YES).stdout
    gone = run(home, "model", "status").stdout
    failed = type_use(home, f"{server.url}#another", answers=YES).stdout

    assert "problem" not in answering
    assert "its model has changed" in changed
    assert "another#12 answers" in refused
    assert "nothing answers at that address" in gone
    assert f"Nothing was changed: '{server.url}#another#12' stays." in " ".join(failed.split())


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("http://example.com#m", "Memories are sent only over https"),
        ("https://example.com", "Write '#' and the model's name after"),
        ("https://me:word@example.com#m", "must not contain a name or password"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_sentence(home: Path, typed: str, sentence: str) -> None:
    process = run(home, "model", "use", typed)

    assert process.returncode == 4
    assert sentence in process.stderr


def test_a_key_is_asked_for_and_kept_for_the_person_alone(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        process = type_use(home, setting(server), "--key", answers=(*YES, ("Key", "a-key-of-mine\n")))

    assert "a-key-of-mine" not in process.stdout
    assert {request.headers["authorization"] for request in server.asked} == {"Bearer a-key-of-mine"}
    assert 'embedding_api_key = "a-key-of-mine"' in config(home)
    assert (home / "config.toml").stat().st_mode & 0o777 == 0o600
    assert run(home, "model", "use", "minilm-l6", "--key").returncode == 4


def test_a_variable_sends_nothing_anywhere(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        process = run(home, "recall", "quagga", EMBEDDING_MODEL=f"{setting(server)}#8")

    assert process.returncode == 2
    assert "EMBEDDING_MODEL names an endpoint, which only the person may" in process.stderr
    assert server.calls == 0


def test_a_recall_waits_a_few_seconds_for_an_endpoint_that_embeds_slowly(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        type_use(home, setting(server))
        run(home, "remember", "Quokka | The quokka lives on Rottnest.", "--level", "user")
        server.answers = [answer(after=server.ended)]
        recall = run(home, "recall", "quokka")

    assert "The quokka lives on Rottnest." in recall.stdout
    sentence = f"Searched by words only: The embedding endpoint {server.url} did not answer within 3 seconds."
    assert recall.stderr == f"{sentence}\n"


def test_a_repository_chooses_no_endpoint(home: Path, project: Path) -> None:
    with ScriptedModel(embeds()) as server:
        folder = project / ".claude"
        folder.mkdir()
        named = f"{setting(server)}#8"
        (folder / "settings.json").write_text(
            f'{{"env": {{"EMBEDDING_MODEL": "{named}"}}}}', encoding="utf-8"
        )
        with Served(home, project, EMBEDDING_MODEL=named) as client:
            client.greet()
            assert "Quagga" in client.call("recall", query="quagga")

    assert server.calls == 0


def test_an_endpoint_that_ends_in_the_middle_leaves_what_is_embedded(home: Path, open_here: Open) -> None:
    for number in range(20):
        remember(open_here().store(), Draft(f"Okapi {number}", f"An okapi was seen, number {number}."))
    requests_left = [2]  # requests: the probe and one batch

    def answer(body: dict[str, object]) -> Answer:
        requests_left[0] -= 1
        return embeds()(body) if requests_left[0] >= 0 else Answer(401)

    with ScriptedModel(answer) as server:
        stopped = type_use(home, setting(server))
        requests_left[0] = 1000
        rest = run(home, "sync")

    assert stopped.returncode == 8
    assert "refused the key, or asks for one (HTTP 401)" in stopped.stdout
    assert "in the next session, or by 'daybook sync'" in " ".join(stopped.stdout.split())
    assert rest.returncode == 0
    assert "21 of 21" in run(home, "model", "status").stdout


def test_a_search_says_that_the_endpoint_is_away_and_words_answer(home: Path) -> None:
    with ScriptedModel(embeds()) as server:
        type_use(home, setting(server))

    process = run(home, "recall", "quagga")

    assert process.returncode == 0
    assert "Quagga" in process.stdout
    assert (
        f"Searched by words only: The embedding endpoint {server.url} could not be reached" in process.stderr
    )


def test_a_server_embeds_and_finds_by_it_and_a_prompt_does_not_wait(home: Path, project: Path) -> None:
    released = threading.Event()
    with ScriptedModel(embeds()) as server:
        (home / "config.toml").write_text(f'embedding_model = "{setting(server)}#8"\n', encoding="utf-8")
        with Served(home, project, EMBEDDING_MODEL="") as client:
            client.greet()
            answer = client.call("remember", title="Okapi", content="An okapi was seen near the river.")
            assert "okapi" in answer, answer
            eventually(lambda: any("okapi was seen" in text for text in texts(server)), "it is sent")
            eventually(
                lambda: "words only" not in client.call("recall", query="okapi river", mode="semantic"),
                "it is found by meaning",
            )

            # The endpoint answers only when the prompt was answered: waiting for it would never end.
            server.answers = lambda body: Answer(body=embeds()(body).body, after=released)
            before = server.calls
            prompt = "Is the quagga extinct, or is the quagga not extinct?"
            context = client.call("hook", event="UserPromptSubmit", session_id="s1", prompt=prompt)
            assert server.calls > before
            assert "quagga" in context
            released.set()
    assert NAME in str(server.asked[-1].body)
