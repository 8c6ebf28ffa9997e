"""Types of the compiled core. Its sources, with comments, are in core/."""

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

class CoreError(Exception):
    args: tuple[str, dict[str, Any]]

def hash_of(id: bytes) -> int: ...

class Progress:
    def __init__(self) -> None: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...

WIRE_FORM: int

def check_form(form: int) -> None: ...
def table_of_wire(
    form: int,
    is_run: bool,
    topics: NDArray[np.uint8],
    topic_lengths: NDArray[np.uint32],
    counts: Integers,
    collapsed: NDArray[np.uint32],
    rank_disagreements: NDArray[np.uint32],
    ids: NDArray[np.uint8],
    id_lengths: NDArray[np.uint32],
    values: Floats,
    threads: int,
) -> Table: ...

class Table:
    @property
    def is_run(self) -> bool: ...
    @property
    def row_count(self) -> int: ...
    @property
    def collapsed_count(self) -> int: ...
    @property
    def repeated(self) -> tuple[str, str] | None: ...
    def topics(self) -> list[str]: ...
    def counts(self) -> Integers: ...
    def tied(self) -> Integers: ...
    def collapsed(self) -> Integers: ...
    def rank_disagreements(self) -> Integers: ...
    def values(self) -> Floats: ...
    def documents(self, topic: bytes) -> list[str]: ...
    def fingerprint(self) -> int: ...
    def note(self, collapsed: NDArray[np.uint32], rank_disagreements: NDArray[np.uint32]) -> None: ...
    def arrow_stream(self, value_name: str, metadata: bytes) -> Any: ...

class TextLayout:
    """Where things stand in delimited text: numbers of fields, -1 where there is none; `max_fields` 0 is no limit.

    With a blank as `delimiter` fields stand between runs of blanks and tabs; `quotes` are those of CSV.
    """

    def __init__(
        self,
        *,
        topic: int,
        document: int,
        value: int,
        rank: int = -1,
        tag: int = -1,
        min_fields: int,
        max_fields: int = 0,
        delimiter: str = " ",
        quotes: bool = False,
        header_lines: int = 0,
        kind: str,
    ) -> None: ...
    @staticmethod
    def of_json_lines(names: Callable[[list[str]], tuple[int, int, int, int] | None], kind: str) -> TextLayout:
        """JSON lines: `names` says of the keys of a line which number is topic, document, value and tag (-1: none).

        Where it gives None, and wherever something is odd, the text is not understood: a CoreError of that name.
        """
    @property
    def delimiter(self) -> str: ...
    @property
    def quotes(self) -> bool: ...
    @property
    def value(self) -> int: ...
    @property
    def kind(self) -> str: ...

def read_text(
    source: Any,
    layout: TextLayout,
    judgements: Table | None,
    ties_in_input_order: bool,
    threads: int,
    progress: Progress,
    labels: dict[str, float] = {},
) -> tuple[Table, int, str, bool]: ...
def spans_of(text: Any, most: int) -> tuple[Integers, bytes, Integers]: ...

class TextStream:
    def __init__(self, layout: TextLayout, judgements: Table, ties_in_input_order: bool, threads: int) -> None: ...
    def feed(self, piece: bytes) -> bool: ...
    def finish(self) -> tuple[Table, int, str, bool] | None: ...

def read_dict(
    outer: dict[Any, Any], kind: str, judgements: Table | None, ties_in_input_order: bool, threads: int
) -> Table: ...
def read_columns(
    topics: list[Any], per_topic: int, docs: list[Any], values: list[Any] | Floats, kind: str, threads: int
) -> tuple[Table, int]: ...
def read_integer_columns(
    topics: list[Any], per_topic: int, docs: Integers, values: list[Any] | Floats, padding: int, kind: str, threads: int
) -> tuple[Table, int]: ...
def arrow_columns(stream: Any) -> list[str]: ...
def arrow_metadata(stream: Any) -> bytes: ...
def read_arrow(
    stream: Any, columns: list[int], kind: str, judgements: Table | None, ties_in_input_order: bool, threads: int
) -> Table: ...
def join(
    run: Table, qrels: Table, ties_in_input_order: bool, threads: int
) -> tuple[Integers, Integers, Integers, Integers, Integers, Integers]: ...
def segment_sum(offsets: Integers, x: NDArray[Any], of: str = "entries") -> Floats: ...
def running_sum(offsets: Integers, x: NDArray[Any], of: str = "entries") -> Floats: ...
def product_above(offsets: Integers, x: Floats, of: str = "entries") -> Floats: ...
def best_from_here(offsets: Integers, x: Floats, of: str = "entries") -> Floats: ...
def flipped_sums(
    scores: Floats,
    pairs: Integers,
    threshold: Floats,
    seed: int,
    resamples: int,
    threads: int,
    one_sided: bool = False,
) -> Integers: ...
def flipped_maxima(
    scores: Floats, pairs: Integers, weight: Floats, threshold: Floats, seed: int, resamples: int, threads: int
) -> Integers: ...
def permuted_ranges(scores: Floats, seed: int, resamples: int, threads: int) -> Floats: ...
def exact_flips(
    differences: Floats, tolerance: Floats, budget: int, threads: int, one_sided: bool = False
) -> Floats: ...
def chain_counts(
    offsets: Integers,
    pair: Integers,
    clicked: NDArray[np.bool_],
    weight: Floats,
    query_pages: Integers,
    query_pairs: Integers,
    attraction: Floats,
    satisfaction: Floats,
    by_rank: bool,
    onward: float,
    threads: int,
) -> tuple[Floats, Floats, float, float, float]: ...
def chain_chances(
    offsets: Integers,
    pair: Integers,
    clicked: NDArray[np.bool_],
    weight: Floats,
    query_pages: Integers,
    query_pairs: Integers,
    attraction: Floats,
    satisfaction: Floats,
    by_rank: bool,
    onward: float,
    threads: int,
) -> tuple[Floats, Floats]: ...
def position_counts(
    offsets: Integers,
    pair: Integers,
    clicked: NDArray[np.bool_],
    weight: Floats,
    query_pages: Integers,
    query_pairs: Integers,
    attraction: Floats,
    examination: Floats,
    threads: int,
) -> tuple[Floats, Floats, float]: ...

class Gathered:
    @property
    def list_run(self) -> Integers: ...
    @property
    def list_topic(self) -> Integers: ...
    @property
    def list_offsets(self) -> Integers: ...
    @property
    def score(self) -> Floats: ...
    @property
    def document(self) -> Integers: ...
    @property
    def document_offsets(self) -> Integers: ...
    @property
    def found(self) -> Integers: ...
    def document_id(self, document: int) -> str: ...
    def ranked(self, fused: Floats, depth: int) -> Ranked: ...
    def majority_places(self, start: Floats, list_weights: Floats) -> Integers: ...

class Ranked: ...

def gather(runs: tuple[Table, ...], topics: tuple[bytes, ...]) -> Gathered: ...
def ranked_table(parts: list[Ranked], threads: int) -> Table: ...
def document_sums(document: Integers, x: Floats, documents: int) -> Floats: ...
def document_minima(document: Integers, x: Floats, documents: int) -> Floats: ...
def document_maxima(document: Integers, x: Floats, documents: int) -> Floats: ...
def document_medians(document: Integers, x: Floats, documents: int) -> Floats: ...

class TermCounter:
    def __init__(self, marks: list[int], stopped: list[str], threads: int) -> None: ...
    def read(self, texts: list[str]) -> list[str]: ...
    def name(self, terms: list[str]) -> None: ...
    def count(self) -> None: ...
    @property
    def documents(self) -> int: ...
    def terms(self) -> list[str]: ...
    def inverted(
        self, order: NDArray[np.uint32]
    ) -> tuple[Integers, NDArray[np.int32], NDArray[np.unsignedinteger[Any]]]: ...
    def hashed(self) -> tuple[Integers, NDArray[np.uint32], NDArray[np.uint32]]: ...

@overload
def row_products(
    starts: Integers,
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    vector: NDArray[np.float32],
    named: Integers | None,
    threads: int,
) -> NDArray[np.float32]: ...
@overload
def row_products(
    starts: Integers,
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    vector: Floats,
    named: Integers | None,
    threads: int,
) -> Floats: ...
def nearest_rows(
    starts: Integers,
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    shared: NDArray[np.bool_],
    each: int,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
