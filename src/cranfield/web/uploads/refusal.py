"""Why an upload is refused: a word for programs, a status for the answer, a text for people."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from cranfield.errors import CranfieldError

if TYPE_CHECKING:
    from fastapi.responses import Response

log = logging.getLogger("cranfield.web")

# Every way in which an upload can fail, and the status of HTTP that says so.
STATUS = {
    "malformed": 400,  # not a form with one file
    "disconnected": 400,
    "slow": 408,
    "too-long": 413,
    "expansion": 413,  # of compressed bytes
    "rows": 413,
    "packed": 415,  # an archive, or packed twice
    "not-one-file": 415,  # names other files, or is none
    "contents": 422,
    "memory": 422,
    "processor": 422,
    "time": 422,
    "file-size": 422,
    "answer": 422,
    "crash": 422,
    "failure": 500,
    "busy": 503,
    "killed": 503,
    "no-space": 507,
}
# What ends while the client may still be sending: the connection is of no use any more.
UNREAD = ("malformed", "slow", "too-long", "no-space")


class UploadError(CranfieldError):
    """An upload that is refused. Its text is for the client; `detail` is for the log of the server alone.

    >>> error = UploadError("too-long", "a.run is longer than 1,000 bytes")
    >>> error.status, error.headers
    (413, {'connection': 'close'})
    """

    def __init__(self, code: str, message: str, *more: str, detail: str = "") -> None:
        super().__init__(message, *more)
        self.code, self.status, self.detail = code, STATUS[code], detail

    @property
    def headers(self) -> dict[str, str]:
        """What the answer must have: without it, a server goes on reading what nobody wants."""
        return {"connection": "close"} if self.code in UNREAD else {}


def refused(error: CranfieldError, response: Response) -> Response:
    """The answer to a request that an error ended, with the status and headers of the error; what is for the log goes
    there."""
    response.status_code = 400
    if isinstance(error, UploadError):
        if error.detail:
            log.warning("an upload was refused (%s): %s", error.code, error.detail)
        response.status_code = error.status
        response.headers.update(error.headers)
    return response
