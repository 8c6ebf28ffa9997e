"""Measures of whole sessions. sDCG has three conventions in use, with other numbers: each has a name that says which.

To add one, write a function of a `UserSession` and decorate it with `@session_measure`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log
from typing import Any

from cranfield.errors import UsageError
from cranfield.judged import Floats
from cranfield.measures.definition import EVERYWHERE, SHARED, Better, Definition, Traits
from cranfield.measures.registry import Measure
from cranfield.notation import parse
from cranfield.online.sessions.session_logs import UserSession
from cranfield.registry import Parameter, Registry, described, is_number

SESSION_MEASURES: Registry[Definition] = Registry(
    "session measure",
    group="cranfield.session_measures",
    package="cranfield.online.sessions",
    decorator="session_measure",
)
UNBOUNDED = Traits(range=(0.0, float("inf")), needs="sessions")


def _above_one(help: str) -> Parameter:
    return Parameter(help, "a number above 1", lambda value: is_number(value) and value > 1)


PARAMETERS = {
    "b": _above_one("base of the logarithm that discounts ranks"),
    "bq": _above_one("base of the logarithm that discounts later pages"),
    "repeats": Parameter(
        "whether a document that was shown before in the session gains again",
        "'again' or 'once'",
        lambda value: value in ("again", "once"),
    ),
    "ideal": Parameter(
        "what 1 is: judged documents where they count most on the session's pages (best), or sorted down them (pages)",
        "'best' or 'pages'",
        lambda value: value in ("best", "pages"),
    ),
    "p": Parameter(
        "persistence: the chance not to end the session at a document",
        "a number from 0, below 1",
        lambda value: is_number(value) and 0 <= value < 1,
    ),
    "balance": Parameter(
        "the share of going on that is to the next document rather than to the next query",
        "a number from 0 to 1",
        lambda value: is_number(value) and 0 <= value <= 1,
    ),
}


def session_measure(
    traits: Traits = UNBOUNDED, *, better: Better = "higher"
) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Registers a function of a session as a measure under its own name."""

    def register(function: Callable[..., float]) -> Callable[..., float]:
        known = described(function, "session_measure", PARAMETERS, SHARED)
        usual: dict[str, Any] = {"judged_only": False, "agg": "mean"}
        definition = Definition(
            **vars(traits),
            name=function.__name__,
            function=_of_judged(function),
            parameters=known | {name: SHARED[name]._replace(default=usual[name]) for name in EVERYWHERE},
            averages={},
            averaged={},
            better=better,
        )
        SESSION_MEASURES.add(definition)
        FUNCTIONS[function.__name__] = function
        return function

    return register


FUNCTIONS: dict[str, Callable[..., float]] = {}


def _of_judged(function: Callable[..., float]) -> Callable[..., Floats]:
    """What a measure of sessions is where one of rankings is called for: refused."""

    def refused(*_: object, **__: object) -> Floats:
        raise UsageError(f"{function.__name__} is a measure of sessions: `cranfield online sessions` has it")

    refused.__doc__, refused.__module__, refused.__name__ = function.__doc__, function.__module__, function.__name__
    return refused


def parse_session_measure(text: str | Measure) -> Measure:
    """A measure of sessions by its name, with its parameters.

    >>> parse_session_measure("sRBP(balance=0.5)"), parse_session_measure("Clicks").better
    (sRBP(balance=0.5), 'neither')
    """
    if isinstance(text, Measure):
        return text
    definition = SESSION_MEASURES.find(text.partition("(")[0].strip())
    measure = Measure(definition, definition.name)
    return measure(**dict(parse(text.strip()).given)) if "(" in text else measure


def score_session(measure: Measure, session: UserSession) -> float:
    """The value of a measure; NaN where the log does not tell.

    >>> q1, q2 = (3.0, 0.0, 2.0), (0.0, 3.0, 1.0)
    >>> session = UserSession("s", "", None, (("a", "b", "c"), ("d", "e", "f")), (q1, q2), (3, 3, 2, 1), 2, 0, (), None)
    >>> [round(score_session(parse_session_measure(name), session), 6) for name in ("sDCG_Jarvelin", "sDCG_jig")]
    [6.682479, 5.031607]
    """
    values = {key: value for key, value in measure.parameters.items() if key not in EVERYWHERE}
    return float(FUNCTIONS[measure.definition.name](session, **values))


# -- what pages gain --


def _gains(session: UserSession, repeats: str) -> list[list[float]]:
    """Gains of the pages; with "once", nothing for a document that was shown before."""
    seen: set[str] = set()
    pages = []
    for documents, gains in zip(session.documents, session.gains, strict=True):
        page = []
        for document, gain in zip(documents, gains, strict=True):
            page.append(0.0 if repeats == "once" and document in seen else gain)
            seen.add(document)
        pages.append(page)
    return pages


def _jarvelin(rank: int, page: int, b: float, bq: float) -> float:
    return (1.0 if rank < b else 1 / log(rank, b)) / (1 + log(page, bq))


def _jig(rank: int, page: int, b: float, bq: float) -> float:
    return 1 / (1 + log(rank, b)) / (1 + log(page, bq))


def _kanoulas(rank: int, page: int, b: float, bq: float) -> float:
    return 1 / log(rank + b - 1, b) / log(page + bq - 1, bq)


Discount = Callable[[int, int, float, float], float]


def _weights(session: UserSession, discount: Discount, b: float, bq: float) -> list[list[float]]:
    return [
        [discount(rank, page, b, bq) for rank in range(1, len(gains) + 1)]
        for page, gains in enumerate(session.gains, start=1)
    ]


def _discounted(pages: list[list[float]], weights: list[list[float]]) -> float:
    return sum(
        gain * weight
        for gains, of_page in zip(pages, weights, strict=True)
        for gain, weight in zip(gains, of_page, strict=True)
    )


def _exponential(gain: float) -> float:
    return float(2**gain - 1)


def _sdcg(
    session: UserSession, discount: Discount, b: float, bq: float, repeats: str, worth: Callable[[float], float]
) -> float:
    pages = [[worth(gain) for gain in page] for page in _gains(session, repeats)]
    return _discounted(pages, _weights(session, discount, b, bq))


def _normalised(
    value: float, session: UserSession, weights: list[list[float]], worth: Callable[[float], float], ideal: str
) -> float:
    """A value over the most that the judged documents could give on the pages of the session; 0 where that is 0."""
    slots = [weight for page in weights for weight in page]
    if ideal == "best":
        slots.sort(reverse=True)
    most = sum(worth(gain) * weight for gain, weight in zip(session.pool, slots, strict=False))
    return value / most if most else 0.0


def _plain(gain: float) -> float:
    return gain


@session_measure()
def sDCG_Jarvelin(session: UserSession, *, b: float = 2, bq: float = 4, repeats: str = "again") -> float:
    """Session DCG as Järvelin and others defined it in 2008: ranks below b are not discounted.

    A document that is shown again gains again.

    Formula: Σ_q 1 / (1 + log_bq q) Σ_r g_qr / max(1, log_b r)
    Reference: Järvelin, Price, Delcambre and Nielsen, "Discounted cumulated gain based evaluation of multiple-query IR
      sessions", ECIR 2008.
    """
    return _sdcg(session, _jarvelin, b, bq, repeats, _plain)


@session_measure()
def sDCG_jig(session: UserSession, *, b: float = 2, bq: float = 4, repeats: str = "again") -> float:
    """Session DCG as the jig of TREC's Dynamic Domain track has it: ranks are discounted from the second on.

    Formula: Σ_q 1 / (1 + log_bq q) Σ_r g_qr / (1 + log_b r)
    Reference: Yang, Tang and Soboroff, "TREC 2017 Dynamic Domain track overview", 2017.
    """
    return _sdcg(session, _jig, b, bq, repeats, _plain)


@session_measure()
def sDCG_Kanoulas(session: UserSession, *, b: float = 2, bq: float = 4, repeats: str = "once") -> float:
    """Session DCG as the TREC Session track took it over: gains are 2^grade - 1, and a document gains once.

    Formula: Σ_q 1 / log_bq(q + bq - 1) Σ_r (2^g_qr - 1) / log_b(r + b - 1)
    Reference: Kanoulas, Carterette, Clough and Sanderson, "Evaluating multi-query sessions", SIGIR 2011.
    """
    return _sdcg(session, _kanoulas, b, bq, repeats, _exponential)


@session_measure()
def nsDCG_Jarvelin(
    session: UserSession, *, b: float = 2, bq: float = 4, repeats: str = "once", ideal: str = "best"
) -> float:
    """sDCG_Jarvelin over the most that the judged documents could give on the pages of the session.

    It is at most 1 with repeats='once' and ideal='best'. Without a relevant document it is 0.

    Formula: sDCG / ideal sDCG
    Reference: Järvelin, Price, Delcambre and Nielsen, ECIR 2008.
    """
    value = _sdcg(session, _jarvelin, b, bq, repeats, _plain)
    return _normalised(value, session, _weights(session, _jarvelin, b, bq), _plain, ideal)


@session_measure()
def nsDCG_jig(
    session: UserSession, *, b: float = 2, bq: float = 4, repeats: str = "once", ideal: str = "best"
) -> float:
    """sDCG_jig over the most that the judged documents could give on the pages of the session.

    It is at most 1 with repeats='once' and ideal='best'. Without a relevant document it is 0.

    Formula: sDCG / ideal sDCG
    Reference: Yang, Tang and Soboroff, "TREC 2017 Dynamic Domain track overview", 2017.
    """
    value = _sdcg(session, _jig, b, bq, repeats, _plain)
    return _normalised(value, session, _weights(session, _jig, b, bq), _plain, ideal)


@session_measure()
def nsDCG_Kanoulas(
    session: UserSession, *, b: float = 2, bq: float = 4, repeats: str = "once", ideal: str = "best"
) -> float:
    """sDCG_Kanoulas over the most that the judged documents could give on the pages of the session.

    It is at most 1 with repeats='once' and ideal='best'. Without a relevant document it is 0.

    Formula: sDCG / ideal sDCG
    Reference: Kanoulas, Carterette, Clough and Sanderson, "Evaluating multi-query sessions", SIGIR 2011.
    """
    value = _sdcg(session, _kanoulas, b, bq, repeats, _exponential)
    return _normalised(value, session, _weights(session, _kanoulas, b, bq), _exponential, ideal)


@session_measure(Traits(needs="sessions"))
def sRBP(
    session: UserSession, *, p: float = 0.8, balance: float = 0.8, rel: float = 1, repeats: str = "again"
) -> float:
    """Session rank-biased precision: users go on to the next document, to the next query, or end the session.

    With balance=1 it is RBP of the first page; all weights together are 1.

    Formula: (1 - p) Σ_m ((p - bp) / (1 - bp))^(m-1) Σ_n (bp)^(n-1) g_mn, b = balance, g = 1 if relevant, else 0
    Reference: Lipani, Carterette and Yilmaz, "From a user model for query sessions to session rank biased precision
      (sRBP)", ICTIR 2019.
    """
    down, over = balance * p, (p - balance * p) / (1 - balance * p)
    pages = _gains(session, repeats)
    return (1 - p) * sum(
        over ** (m - 1) * down ** (n - 1)
        for m, page in enumerate(pages, start=1)
        for n, gain in enumerate(page, start=1)
        if gain >= rel
    )


@session_measure()
def GainRead(session: UserSession) -> float:
    """The grades of the documents that the user clicked, each document once.

    Formula: Σ g over documents read
    """
    return sum(document.gain for document in session.read)


# -- effort: less of it is better only where as much was gained --


@session_measure(better="neither")
def Queries(session: UserSession) -> float:
    """How many queries the user wrote: a further page of the same query is none.

    Formula: number of pages whose query is another than that of the page before
    """
    return float(session.queries)


@session_measure(better="neither")
def Pages(session: UserSession) -> float:
    """How many result pages the user saw.

    Formula: number of pages
    """
    return float(len(session.gains))


@session_measure(better="neither")
def Clicks(session: UserSession) -> float:
    """How many clicks the user made, again on the same document included.

    Formula: number of clicks
    """
    return float(session.clicks)


@session_measure(better="neither")
def DocumentsRead(session: UserSession) -> float:
    """How many documents the user clicked.

    Formula: number of different documents clicked
    """
    return float(len(session.read))


@session_measure(better="neither")
def Seconds(session: UserSession) -> float:
    """How long the session took, from its first page to the last thing known to have happened in it.

    Without times on all its pages it is not known.

    Formula: time of the last page, click or end of reading - time of the first page
    """
    return float("nan") if session.seconds is None else session.seconds


def all_session_measures() -> Iterator[Measure]:
    """Every measure of sessions.

    >>> next(all_session_measures())
    sDCG_Jarvelin
    """
    for definition in SESSION_MEASURES.all():
        yield Measure(definition, definition.name)
