"""Nobody but the browser that the person's command opened may look, and only from the viewer's own pages."""

import http.client
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from mcp_server.doors.viewer.guard import HEADERS, MOST_SENT
from tests.conftest import Open
from tests.viewer.conftest import Look, Viewing

Start = Callable[..., Viewing]


class Stranger:
    """A program that sends whatever it likes to the port of a viewer."""

    def __init__(self, link: str) -> None:
        self.host = urlsplit(link).netloc
        self.ticket = urlsplit(link).path

    def ask(
        self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.host)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Host": self.host, **named})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def enter(self) -> tuple[str, str]:
        """Use the link; return the first page's path, and the cookie."""
        answer = self.ask(self.ticket)
        assert answer.status == HTTPStatus.SEE_OTHER
        return str(answer.getheader("Location")), str(answer.getheader("Set-Cookie")).partition(";")[0]


@pytest.fixture
def running(viewing: Start, open_here: Open) -> Viewing:
    return viewing(open_here())


@pytest.fixture
def stranger(running: Viewing) -> Stranger:
    return Stranger(running.link)


def test_the_link_works_once(stranger: Stranger) -> None:
    path, cookie = stranger.enter()

    assert stranger.ask(path, Cookie=cookie).status == HTTPStatus.OK
    assert stranger.ask(stranger.ticket).status == HTTPStatus.FORBIDDEN


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize("host", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_another_account_that_reads_the_link_cannot_use_it(stranger: Stranger, host: str) -> None:
    steal = (
        "import os, socket, sys; os.setgid(65534); os.setuid(65534); host, port, path = sys.argv[1:]\n"
        "line = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET)\n"
        "line.connect((host, int(port)))\n"
        "line.sendall(f'GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n'.encode())\n"
        "print(line.recv(100).split()[1].decode())"
    )
    command = [sys.executable, "-c", steal, host, stranger.host.rpartition(":")[2], stranger.ticket]

    stolen = subprocess.run(command, capture_output=True, check=True)

    assert int(stolen.stdout) == HTTPStatus.FORBIDDEN
    path, cookie = stranger.enter()
    assert stranger.ask(path, Cookie=cookie).status == HTTPStatus.OK


def test_the_cookie_is_for_the_browser_alone_and_for_the_secret_path(stranger: Stranger) -> None:
    answer = stranger.ask(stranger.ticket)
    cookie = str(answer.getheader("Set-Cookie"))

    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert f"Path={str(answer.getheader('Location')).rstrip('/')}" in cookie


def test_without_cookie_or_secret_path_nothing_is_shown(stranger: Stranger) -> None:
    path, cookie = stranger.enter()

    for refused in (
        stranger.ask(path),
        stranger.ask(path, Cookie=f"{cookie}x"),
        stranger.ask(path, Cookie='daybook="'),
        stranger.ask("/", Cookie=cookie),
        stranger.ask("/memories", Cookie=cookie),
        stranger.ask(f"{path}static/../../memories", Cookie=""),
        stranger.ask(f"{path}static/style.css"),
        stranger.ask("/open/"),
        stranger.ask("/open/x"),
    ):
        assert refused.status == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "[::1]", "", "evil.example@127.0.0.1"]
)
def test_a_rebound_name_gets_nothing_and_uses_no_link_up(stranger: Stranger, host: str) -> None:
    assert stranger.ask(stranger.ticket, Host=host).status == HTTPStatus.MISDIRECTED_REQUEST
    path, cookie = stranger.enter()

    assert stranger.ask(path, Cookie=cookie, Host=host).status == HTTPStatus.MISDIRECTED_REQUEST


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://{host}"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_gets_nothing(stranger: Stranger, origin: str, method: str) -> None:
    path, cookie = stranger.enter()
    answer = stranger.ask(path, method=method, Cookie=cookie, Origin=origin.format(host=stranger.host))

    assert answer.status == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_port_gets_nothing(stranger: Stranger, site: str) -> None:
    path, cookie = stranger.enter()

    assert stranger.ask(path, Cookie=cookie, Sec_Fetch_Site=site).status == HTTPStatus.FORBIDDEN


def test_what_changes_something_must_say_its_origin_and_length(stranger: Stranger) -> None:
    path, cookie = stranger.enter()
    own = f"http://{stranger.host}"

    assert stranger.ask(path, method="POST", body=b"", Cookie=cookie).status == HTTPStatus.FORBIDDEN
    assert stranger.ask(path, method="POST", Cookie=cookie, Origin=own, Content_Length="x").status in (
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.LENGTH_REQUIRED,
    )
    large = stranger.ask(path, method="POST", Cookie=cookie, Origin=own, Content_Length=f"{MOST_SENT + 1}")
    assert large.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_a_viewer_for_looking_lets_nothing_else_pass(viewing: Start, open_here: Open, method: str) -> None:
    stranger = Stranger(viewing(open_here(), read_only=True).link)
    path, cookie = stranger.enter()
    own = f"http://{stranger.host}"

    assert stranger.ask(path, method=method, Cookie=cookie, Origin=own).status == HTTPStatus.FORBIDDEN


def test_every_answer_has_the_headers_that_browsers_obey(stranger: Stranger) -> None:
    path, cookie = stranger.enter()

    for answer in (
        stranger.ask(path, Cookie=cookie),
        stranger.ask(f"{path}nowhere", Cookie=cookie),
        stranger.ask(f"{path}static/style.css", Cookie=cookie),
    ):
        assert {name: answer.getheader(name) for name in HEADERS} == HEADERS


def test_after_the_end_nobody_answers(running: Viewing, stranger: Stranger) -> None:
    path, cookie = stranger.enter()
    running.end()

    with pytest.raises(ConnectionRefusedError):
        stranger.ask(path, Cookie=cookie)


def test_it_listens_on_this_machine_alone(stranger: Stranger) -> None:
    assert stranger.host.startswith("127.0.0.1:")


@pytest.fixture
def other_site() -> Iterator[str]:
    """A page of another program on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_page_of_another_port_reads_nothing_even_with_the_address(
    chromium: Browser, running: Viewing, other_site: str
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(running.link)
    address = page.url
    beside = context.new_page()
    beside.goto(other_site)

    fetch = f"fetch({address!r}, {{credentials: 'include', mode: 'no-cors'}})"
    assert beside.evaluate(f"{fetch}.then(async (answer) => (await answer.text()).length, () => 0)") == 0
    beside.set_content(f"<iframe src={address!r}></iframe>")
    expect(beside.frame_locator("iframe").get_by_role("heading", name="Today")).to_have_count(0)
    context.close()


def test_after_the_end_the_page_says_so(look: Look, running: Viewing) -> None:
    page = look(running)
    running.end()
    page.evaluate("htmx.ajax('GET', document.body.dataset.base + '/', 'main').catch(() => 0)")

    expect(page.get_by_text("The viewer has ended.")).to_be_visible()
