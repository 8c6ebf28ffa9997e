"""Jobs that fail for other reasons than their inputs: what Spark tells in a hundred lines, in two."""

from __future__ import annotations

import re

from cranfield.errors import UsageError, shorten

_LAST_OF_PYTHON = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n|\n)+(\w[\w.]*(?:: .*)?)")
_NAMED = re.compile(r"^(?:Caused by)?(?:: )?((?:\w+\.)*\w*(?:Error|Exception)\b.*)", re.MULTILINE)
_REMEDIES = (
    (
        r"No module named '(cranfield|numpy|pyarrow|pandas|pyspark)\b",
        "Install cranfield with the extra spark on every worker (pip install 'cranfield[spark]'), in the Python that "
        "they start: PYSPARK_PYTHON, in the environment of whoever starts the job, says which.",
    ),
    (
        r'Cannot run program "|PYTHON_VERSION_MISMATCH|different (minor )?version',
        "PYSPARK_PYTHON, in the environment of whoever starts the job, says which Python workers start: it must be at "
        "that place on all of them, of the version that is used here, and have cranfield[spark].",
    ),
    (
        r"Can't get attribute|has no attribute|AttributeError|UnpicklingError|unexpected keyword argument",
        "Is the same version of cranfield, and of PySpark, installed on every worker as here?",
    ),
    (
        r"OutOfMemoryError|exit(ed with)? code 137|exit status: 137|MemoryError",
        "There is too little memory: spark.executor.memory, spark.executor.pyspark.memory and spark.driver.memory say "
        "how much there may be.",
    ),
)
_ELSEWHERE = "The page of the master leads to the logs of executors, where all of it is."


def failure(error: BaseException) -> UsageError:
    """The error of a job that Spark gave up: the most telling line of the cause, and what to do, or where to look."""
    line, remedy = _told(str(error))
    return UsageError(f"the job on Spark failed: {shorten(line, 300)}", remedy)


def _told(text: str) -> tuple[str, str]:
    """What Python said last, if a worker's ended; otherwise the innermost cause of Java that can be helped, or of all.

    >>> _told('x.y.Failed: no\\n  at a.b\\nCaused by: java.io.IOException: Cannot run program "/no"\\n  at c.d')[0]
    'java.io.IOException: Cannot run program "/no"'
    >>> _told("nothing that anybody knows\\nor would")[0]
    'nothing that anybody knows'
    """
    named = _LAST_OF_PYTHON.findall(text) or _NAMED.findall(text) or text.strip().splitlines()[:1]
    lines = [line.rpartition("most recent failure: ")[2].strip() for line in named] or ["it does not say why"]
    for line in reversed(lines):
        for sign, remedy in _REMEDIES:
            if re.search(sign, line):
                return line, remedy
    return lines[-1], _ELSEWHERE
