"""A search engine to try `cranfield probe` on: the documents of pond.toml behind HTTP, answering as Elasticsearch does.

python engine.py [PORT]

prints its address, and answers this machine alone until it is stopped (Ctrl-C).
"""

import json
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cranfield.search import build_index, find_model
from cranfield.texts import read_documents

DOCUMENTS = read_documents(Path(__file__).parent / "pond-documents.jsonl")
SYSTEM = find_model("bm25").system(build_index(DOCUMENTS))


class Engine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_GET(self) -> None:
        self.answer({"version": {"number": "8.0.0", "distribution": "pond"}})

    def do_POST(self) -> None:
        try:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = SYSTEM.rank(asked["query"]["multi_match"]["query"], asked.get("size", 10))
        except (KeyError, TypeError, ValueError) as error:
            self.answer(
                {"error": f"a multi_match query is understood here, and nothing else: {error!r}"},
                HTTPStatus.BAD_REQUEST,
            )
            return
        rows = zip(found.documents.tolist(), found.scores.tolist(), strict=True)
        self.answer({"hits": {"hits": [{"_id": SYSTEM.index.ids[i], "_score": score} for i, score in rows]}})

    def answer(self, content: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        body = json.dumps(content).encode()
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        self.wfile.write(
            head.encode() + body
        )  # at once: a second packet would wait 40 ms for a delayed acknowledgement


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9200), Engine) as server:
        print(f"http://localhost:{server.server_port}/pond", flush=True)
        server.serve_forever()
