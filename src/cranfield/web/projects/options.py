"""How a project asks for judgements: the settings of a project, strictly checked, with words for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from typing import Any

from cranfield.errors import CranfieldError, DataError, UsageError, shorten, some
from cranfield.pooling.candidates import DEPTH, Plan, Share
from cranfield.pooling.strata import Stratum, parse_strata
from cranfield.pooling.strategy import METHODS, all_methods, find_method
from cranfield.render.json_form import Json

CAL = "cal"  # continuous active learning: documents are chosen by what they say, not by where runs have them
ADAPTIVE_BATCH, ADAPTIVE_SAMPLE = 10, 0.1
MOST = {"depth": 10_000, "budget": 1_000_000, "wanted": 20, "calibration": 1_000, "batch": 100_000}
LONGEST_LEASE = 24 * 60.0  # minutes


@dataclass(frozen=True, kw_only=True)
class OptionWords:
    """What an option is called on a form, and what it does."""

    label: str
    help: str


@dataclass(frozen=True, kw_only=True)
class ProjectOptions:
    """How documents are chosen, how often each is judged, and how long an assessor keeps one.

    `sample` and `batch` go by the method where they are not given: a method that learns asks in batches of ten, and a
    tenth of what it asks is a probability sample; a pool is one batch, in one random order.

    >>> ProjectOptions().batch, ProjectOptions(method="move-to-front").batch, ProjectOptions(method="cal").sample
    (None, 10, 0.1)
    >>> ProjectOptions(overlap=2)
    Traceback (most recent call last):
    cranfield.errors.UsageError: overlap is a share from 0 to 1, not 2
    """

    method: str = "depth"
    depth: int = DEPTH
    budget: int | None = None
    strata: str | None = None
    plan: Mapping[str, tuple[int, int]] | None = None
    wanted: int = 1
    overlap: float = 0.0
    owned: bool = False
    repeats: float = 0.04
    sample: float = field(default=None)  # type: ignore[assignment]  # the method says, see __post_init__
    calibration: int = 0
    batch: int | None = None
    seed: int = 0
    lease_minutes: float = 10.0

    def __post_init__(self) -> None:
        _check_method(self.method)
        if self.adaptive:
            object.__setattr__(self, "batch", ADAPTIVE_BATCH if self.batch is None else self.batch)
        if self.sample is None:
            object.__setattr__(self, "sample", ADAPTIVE_SAMPLE if self.adaptive else 0.0)
        for name, least in (("depth", 1), ("budget", 1), ("wanted", 1), ("calibration", 0), ("batch", 1)):
            value = getattr(self, name)
            if value is not None or name in ("depth", "wanted", "calibration"):
                _check_whole(name, value, least, MOST[name])
        for name in ("overlap", "repeats", "sample"):
            _check_share(name, getattr(self, name))
        _check_whole("seed", self.seed, 0, 2**31 - 1)
        if not isinstance(self.owned, bool):
            raise UsageError(f"owned is true or false, not {shorten(repr(self.owned))}")
        if not _is_number(self.lease_minutes) or not 0 < self.lease_minutes <= LONGEST_LEASE:
            shown = shorten(repr(self.lease_minutes))
            raise UsageError(f"lease_minutes is a number of minutes up to {LONGEST_LEASE:g}, not {shown}")
        self._check_sizes()

    def _check_sizes(self) -> None:
        """What belongs to one method alone is refused for others: it would be ignored in silence."""
        if self.strata is not None:
            if self.kind != "sample":
                raise UsageError(f"strata are for stratified sampling, not for {self.method}")
            parse_strata(_text("strata", self.strata))
        if self.kind == "sample" and (self.budget is not None or self.plan is not None):
            raise UsageError(f"the strata of {self.method} say how deep and how many: no plan and no budget")
        if self.sample and not self.adaptive:
            raise UsageError(f"a probability sample beside what is asked is for methods that learn, not {self.method}")
        if (self.plan is None) == (find_name(self.method) == "plan"):
            raise UsageError("the method plan and a plan, the depth and priority of each run, go together")
        if self.plan is not None:
            _check_plan(self.plan)

    @property
    def kind(self) -> str:
        """order, adaptive or sample."""
        return find_method(self.method).kind

    @property
    def learns(self) -> bool:
        """Whether documents are chosen by what they say: then no run is needed."""
        return find_name(self.method) == CAL

    @property
    def pool_depth(self) -> int | None:
        """How far down every run was pooled; None where a method says by other means what is judged."""
        return self.depth if self.kind == "order" and self.plan is None and self.budget is None else None

    @property
    def adaptive(self) -> bool:
        """Whether what is asked next depends on what was judged."""
        return self.kind == "adaptive"

    @property
    def parsed_strata(self) -> tuple[Stratum, ...] | None:
        """The strata, where there are some."""
        return None if self.strata is None else parse_strata(self.strata)

    @property
    def parsed_plan(self) -> Plan | None:
        """The plan, where there is one."""
        return None if self.plan is None else {name: Share(*share) for name, share in self.plan.items()}

    def to_json(self) -> dict[str, Json]:
        """The options as JSON.

        >>> ProjectOptions.from_json(ProjectOptions(method="rrf", budget=50).to_json()).budget
        50
        """
        said = asdict(self)
        if self.plan is not None:
            said["plan"] = {name: list(share) for name, share in self.plan.items()}
        return said

    @classmethod
    def from_json(cls, data: object) -> ProjectOptions:
        """The options that JSON says; what it does not say is as usual.

        >>> ProjectOptions.from_json({"dept": 10})
        Traceback (most recent call last):
        cranfield.errors.DataError: a project has no option dept; it has method, depth, budget, strata, plan and 9 more
        """
        if not isinstance(data, Mapping):
            raise DataError(f"options are an object with a value for each name, not {shorten(repr(data))}")
        names = [option.name for option in fields(cls)]
        unknown = [str(name) for name in data if name not in names]
        if unknown:
            raise DataError(f"a project has no option {some(unknown)}; it has {some(names)}")
        given: dict[str, Any] = dict(data)
        if isinstance(given.get("plan"), Mapping):
            given["plan"] = {name: _pair(share) for name, share in given["plan"].items()}
        try:
            return cls(**given)
        except DataError:
            raise
        except CranfieldError as error:
            raise DataError(str(error)) from None

    def changed(self, data: Mapping[str, object], *, prepared: bool) -> ProjectOptions:
        """The same with some options changed; once a project is prepared, only those of `changeable`.

        >>> ProjectOptions().changed({"depth": 5}, prepared=True)
        Traceback (most recent call last):
        cranfield.errors.DataError: the documents are chosen already: depth can't be changed any more
        """
        before = self.to_json()
        if data.get("method", self.method) != self.method:  # these go by the method, unless they are said
            data = {"sample": None, "batch": None, **data}
        made = ProjectOptions.from_json(before | dict(data))
        after = made.to_json()
        fixed = [name for name in before if before[name] != after[name] and name not in self.changeable]
        if prepared and fixed:
            raise DataError(f"the documents are chosen already: {some(fixed)} can't be changed any more")
        return made

    @property
    def changeable(self) -> frozenset[str]:
        """The options that may change when judging has begun: those that are looked at anew each time."""
        always = {"owned", "repeats", "lease_minutes"}
        return frozenset(always | {"budget", "sample", "batch"} if self.adaptive else always)


WORDS: Mapping[str, OptionWords] = {
    "method": OptionWords(
        label="Method", help="How documents are chosen: a method of cranfield pool, with its parameters."
    ),
    "depth": OptionWords(label="Depth", help="How far down each run counts."),
    "budget": OptionWords(
        label="Budget",
        help="The most documents a topic, however often each is judged; empty for all that the method chooses.",
    ),
    "strata": OptionWords(
        label="Strata", help="For stratified sampling: depth:share, as in 10:1,100:10%. Empty for just these."
    ),
    "plan": OptionWords(
        label="Plan", help="For the method plan: a line for each run with its name, depth and priority (1 first)."
    ),
    "wanted": OptionWords(label="Opinions", help="How many assessors judge each document."),
    "overlap": OptionWords(
        label="Overlap", help="Share of the documents, from 0 to 1, that one more assessor judges, to see agreement."
    ),
    "owned": OptionWords(label="Topics have owners", help="Each topic is one assessor's, who alone judges it."),
    "repeats": OptionWords(
        label="Blind repeats", help="Share of what somebody judged, from 0 to 1, that comes again without being told."
    ),
    "sample": OptionWords(
        label="Sample",
        help="Share of what is asked, from 0 to 1, that is a probability sample: from it recall is estimated. For "
        "methods that learn.",
    ),
    "calibration": OptionWords(
        label="Calibration", help="Documents at the start of each topic that every assessor judges."
    ),
    "batch": OptionWords(
        label="Batch", help="How many documents are asked for in one random order; empty for all of a pool."
    ),
    "seed": OptionWords(label="Seed", help="The same seed draws the same documents and orders."),
    "lease_minutes": OptionWords(label="Minutes", help="How long a document is kept for the assessor who has it open."),
}


def method_choices() -> list[tuple[str, str]]:
    """Every method with what it is called, for a form.

    >>> method_choices()[0]
    ('depth', 'depth-k')
    """
    return [(method.name, method.title) for method in all_methods()]


def options_of_form(form: Mapping[str, str]) -> dict[str, Json]:
    """What a form says, as JSON says it; an empty field says nothing. Fields that are no options are left out.

    >>> options_of_form({"method": "rrf", "budget": "50", "overlap": "0.1", "depth": "", "title": "Ducks"})
    {'method': 'rrf', 'budget': 50, 'overlap': 0.1}
    """
    said: dict[str, Json] = {}
    for name in (option.name for option in fields(ProjectOptions)):
        text = form.get(name, "").strip()
        if name == "owned" and name in form:
            said[name] = text in ("on", "true", "yes")
        elif text and name == "plan":
            said[name] = _plan_of_text(text)
        elif text and name in ("method", "strata"):
            said[name] = text
        elif text:
            said[name] = _number(WORDS[name].label, text)
    return said


def plan_text(plan: Mapping[str, tuple[int, int]] | None) -> str:
    """A plan as a form shows it.

    >>> plan_text({"bm25": (100, 1)})
    'bm25 100 1'
    """
    return "\n".join(f"{name} {depth} {priority}" for name, (depth, priority) in (plan or {}).items())


def _plan_of_text(text: str) -> dict[str, Json]:
    plan: dict[str, Json] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            name, *numbers = line.rsplit(maxsplit=2)
            if len(numbers) != 2 or not all(part.isascii() and part.isdigit() for part in numbers):
                raise DataError(f"line {number} of the plan is not a run, its depth and its priority: {shorten(line)}")
            plan[name] = [int(part) for part in numbers]
    return plan


def _number(label: str, text: str) -> int | float:
    from cranfield.numerals import decimal, whole

    number = whole(text)
    value = decimal(text) if number is None else number
    if value is None:
        raise DataError(f"{label}: '{shorten(text)}' is not a number")
    return value


def find_name(method: str) -> str:
    """The name of a method without its parameters."""
    return method.partition("(")[0].strip()


def _check_method(method: object) -> None:
    if not isinstance(method, str) or len(method) > 200:
        raise UsageError(f"method is the name of a pooling method, not {shorten(repr(method))}")
    if METHODS.look_up(find_name(method)) is None:
        known = ", ".join(name for name, _ in method_choices())
        raise UsageError(f"there is no pooling method '{shorten(find_name(method))}'; there are {known}")
    find_method(method)


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise UsageError(f"{name} is a whole number from {least} to {most:,}, not {shorten(repr(value))}")


def _check_share(name: str, value: object) -> None:
    if not _is_number(value) or not 0 <= value <= 1:  # type: ignore[operator]
        raise UsageError(f"{name} is a share from 0 to 1, not {shorten(repr(value))}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _check_plan(plan: object) -> None:
    if not isinstance(plan, Mapping) or not plan:
        raise UsageError("a plan has the depth and the priority of each run")
    for name, share in plan.items():
        if not isinstance(share, tuple) or len(share) != 2:
            raise UsageError(f"the plan of run '{shorten(str(name))}' is a depth and a priority")
        for what, value in zip(("depth", "priority"), share, strict=True):
            _check_whole(f"the {what} of run '{shorten(str(name))}'", value, 1, MOST["depth"])


def _pair(share: object) -> tuple[Any, ...]:
    if not isinstance(share, list | tuple):
        raise DataError(f"the plan of a run is its depth and its priority, not {shorten(repr(share))}")
    return tuple(share)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > 1000:
        raise UsageError(f"{name} is a text, not {shorten(repr(value))}")
    return value
