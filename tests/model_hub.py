"""A model hub on the loopback, which gives the files of a folder under another model's name."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mcp_server.core.embedding_models import BY_NAME

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def file_of(path: str) -> str:
    return path.partition(f"/resolve/{COMMIT}/")[2]


@contextmanager
def hub(name: str, folder: Path, *, lacking: str = "") -> Iterator[tuple[str, list[str]]]:
    """
    Serve the model in *folder* as *name*, without the file *lacking*; give the address and what was asked.

    There is a file beside it that nobody needs.
    """
    requests: list[str] = []
    contents = {path.name: path for path in folder.iterdir()}
    contents[BY_NAME[name].file] = contents.pop("model.onnx")
    contents["pytorch_model.bin"] = folder / "model.onnx"
    contents.pop(lacking, None)
    repository = BY_NAME[name].repository

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            requests.append(f"{self.command} {self.path}")
            path = self.path.partition("?")[0]
            if re.fullmatch(rf"/api/models/{re.escape(repository)}(/revision/\w+)?", path):
                siblings = [{"rfilename": name} for name in contents]
                listing = {"id": repository, "sha": COMMIT, "siblings": siblings, "private": False}
                self._send(json.dumps(listing).encode(), body=body)
            elif path.startswith(f"/api/models/{repository}/tree/"):
                listed = [
                    {"type": "file", "path": name, "size": place.stat().st_size, "oid": COMMIT}
                    for name, place in contents.items()
                ]
                self._send(json.dumps(listed).encode(), body=body)
            elif path.startswith(f"/{repository}/resolve/{COMMIT}/") and file_of(path) in contents:
                self._send(contents[file_of(path)].read_bytes(), body=body)
            else:
                self.send_error(404)

        def _send(self, data: bytes, *, body: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
