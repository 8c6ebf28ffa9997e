"""A server of its own for uploads: it tells what it has received, and what it refuses.

Called as `python upload_server.py FOLDER LIMITS [BYTES]`, with the limits as JSON and perhaps the most bytes that the
system lets a file of this process have. It prints its port.
"""

from __future__ import annotations

import json
import resource
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from cranfield.web.uploads.receiving import BodyLimits, Receive, received
from cranfield.web.uploads.refusal import UploadError

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def application(folder: str, limits: BodyLimits) -> Callable[..., Awaitable[None]]:
    async def answer(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        headers: dict[str, str] = {}
        try:
            file = await received(scope, receive, folder, name=scope["path"], limits=limits)
            told: dict[str, Any] = {"size": file.size, "sha256": file.sha256, "name": file.name, "path": file.path}
            told["fields"] = dict(file.fields)
            status = 200
        except UploadError as error:
            told, status, headers = {"code": error.code, "text": str(error)}, error.status, error.headers
        data = json.dumps(told).encode()
        with_length = {**headers, "content-length": str(len(data))}
        encoded = [(key.encode(), value.encode()) for key, value in with_length.items()]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        await send({"type": "http.response.body", "body": data})

    return answer


def main() -> None:
    folder, limits, *most = sys.argv[1:]
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most[0]), int(most[0])))
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(
        application(folder, BodyLimits(**json.loads(limits))), log_level="critical", lifespan="off", http="httptools"
    )
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
