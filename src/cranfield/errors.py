"""What can go wrong, told so that it can be mended: what, where, the text itself, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cranfield.render.escaping import visible_lines

MOST_TOLD = 50  # inputs of which it is told what is wrong


class CranfieldError(Exception):
    """Base of every error that cranfield raises on purpose: what is wrong, then more about it, a line each.

    Names and ids in it may hold anything, and are shown with nothing unprintable and no lines of their own.

    >>> issubclass(DataError, CranfieldError) and issubclass(UsageError, CranfieldError)
    True
    """

    def __init__(self, message: str, *more: str) -> None:
        # A tab stays: it is what the columns of a line that is shown are parted by.
        super().__init__("\n    ".join(visible_lines(line).replace("\n", "\\n") for line in (message, *more)))


class UsageError(CranfieldError, ValueError):
    """The request makes no sense: an unknown measure, a cutoff below 1. Exit code 2 on the command line.

    >>> import cranfield
    >>> cranfield.measures.parse_measure("P@0")
    Traceback (most recent call last):
    cranfield.errors.UsageError: P: cutoff must be a whole number from 1, not 0
    """


class ArgumentError(UsageError, TypeError):
    """An argument under a name that there is not, or of a type of which nothing can be made. As in Python, a TypeError.

    >>> import cranfield
    >>> cranfield.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, "RR", bond=True)
    Traceback (most recent call last):
    cranfield.errors.ArgumentError: evaluate has no argument 'bond'; did you mean bounds?
    """


class LibraryError(UsageError, ImportError):
    """Something needs a library that is not installed; the message has what to type. As in Python, an ImportError.

    >>> issubclass(LibraryError, UsageError)
    True
    """


class DataError(CranfieldError, ValueError):
    """The input is not what it must be. Exit code 3 on the command line.

    `message`, `source`, `line`, `text` and `remedy` hold its parts; `at_prompt` is what the command line tells,
    where the remedy, `option`, is another one than in Python. A remedy may have several lines; what it quotes
    has none of its own.

    >>> str(DataError("score 'high' is not a number", source="a.run", line=3, text="q1 Q0 d7 3 high x"))
    "a.run:3: score 'high' is not a number\\n    3 | q1 Q0 d7 3 high x"
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        text: str | None = None,
        remedy: str | None = None,
        option: str | None = None,
    ) -> None:
        self.message, self.source, self.line, self.text = message, source, line, text
        self.remedy, self.option = remedy, option
        where = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        shown = [] if text is None else [f"{line} | {shorten(text)}"]
        super().__init__(f"{where}{message}", *shown, *_lines(remedy))
        self.at_prompt = str(CranfieldError(f"{where}{message}", *shown, *_lines(option or remedy)))

    def with_more(self, lines: Iterable[str]) -> DataError:
        """The same with further lines below.

        >>> str(DataError("is empty", source="a.run").with_more(["So is b.run."]))
        'a.run: is empty\\n    So is b.run.'
        """
        remedy, option = ("\n    ".join(filter(None, (of, *lines))) for of in (self.remedy, self.option or self.remedy))
        where = {"source": self.source, "text": self.text, "remedy": remedy, "option": option}
        return type(self)(self.message, line=self.line, **where)


def all_told(errors: Sequence[DataError], noun: str = "file") -> DataError:
    """What is wrong with several inputs as one error: the first with its remedy, then the others, a line each.

    `noun` is what they are: not all need be files.

    >>> print(all_told([DataError("is empty", source="a.run"), DataError("is not TREC text", source="b.run", line=3)]))
    a.run: is empty
        1 other file is wrong as well:
        b.run:3: is not TREC text
    """
    first, *others = errors
    count = f"1 other {noun} is" if len(others) == 1 else f"{len(others):,} other {noun}s are"
    lines = [str(error).partition("\n")[0] for error in others[:MOST_TOLD]]
    more = [f"and {len(others) - MOST_TOLD:,} more"] if len(others) > MOST_TOLD else []
    return first.with_more([f"{count} wrong as well:", *lines, *more])


def _lines(remedy: str | None) -> list[str]:
    return remedy.split("\n    ") if remedy else []


class DuplicateError(DataError):
    """A document has two values for the same topic.

    >>> issubclass(DuplicateError, DataError)
    True
    """


def shorten(text: str, length: int = 120) -> str:
    """The text on one line with nothing unprintable in it, cut where it grows too long.

    >>> shorten("a\\tb\\x00" + "c" * 200, 12)
    'a\\tb\\\\x00cccc…'
    """
    visible = "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text[: length + 1])
    return visible if len(visible) <= length else visible[: length - 1] + "…"


def some(names: Sequence[str], most: int = 5, count: int | None = None) -> str:
    """A few names, and how many more there are; `count` is how many there are, where only the first are known.

    >>> some(["a", "b", "c"], 2), some(["a", "b"], 2, count=7)
    ('a, b and 1 more', 'a, b and 5 more')
    """
    count = len(names) if count is None else count
    shown = list(names)[:most]
    named = ", ".join(short_names(shown))
    return named if count <= len(shown) else f"{named} and {count - len(shown):,} more"


def short_names(names: Iterable[str]) -> list[str]:
    """Names that fit into a sentence: long ones without their middle, and longer where two would become the same.

    >>> short_names(["a.run", "/home/ada/experiments/2026/runs/bm25-stemmed-tuned.run"])
    ['a.run', '/home/ada/experimen…25-stemmed-tuned.run']
    """
    whole = [str(name) for name in names]
    for length in (40, 80, 160):
        short = [_without_middle(name, length) for name in whole]
        if len({*short}) == len({*whole}):
            break
    return short


def _without_middle(name: str, length: int) -> str:
    half = (length - 1) // 2
    visible = shorten(name, length + 1)
    if len(visible) <= length:
        return visible
    end = shorten(name[-half - 1 :], 6 * length)
    return f"{visible[:half]}…{end[-half - 1 :]}"


def either(names: Iterable[str]) -> str:
    """Names to choose from.

    >>> either(["a", "b", "c"]), either(["a"])
    ('a, b or c', 'a')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "topic"), plural(2000, "topic")
    ('1 topic', '2,000 topics')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share(part: float, digits: int = 0) -> str:
    """A share in percent, to more digits where it would look like nothing or everything and is not.

    >>> share(0.354), share(1.0), share(0.996), share(0.0004), share(1 - 1e-9), share(0.9996, 1)
    ('35%', '100%', '99.6%', '0.04%', 'above 99.99%', '99.96%')
    """
    for precise in range(digits, 3):
        shown = f"{part:.{precise}%}"
        if part in (0, 1) or shown not in (f"{0:.{precise}%}", f"{1:.{precise}%}"):
            return shown
    return "below 0.01%" if part < 0.5 else "above 99.99%"


def percent(level: float) -> str:
    """How sure something is at a level of significance, to two digits of that.

    >>> percent(0.05), percent(0.001), percent(0.05 / 3), percent(0.05 / 4950)
    ('95%', '99.9%', '98.3%', '99.999%')
    """
    from math import floor, log10

    digits = max(0, 1 - floor(log10(100 * level)))
    sure = f"{100 * (1 - level):.{digits}f}"
    return (sure.rstrip("0").rstrip(".") if digits else sure) + "%"
