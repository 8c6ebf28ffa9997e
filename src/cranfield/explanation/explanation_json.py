"""The stable JSON form of explanations, `cranfield.explain/1`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.render.json_form import Json, finite

if TYPE_CHECKING:
    from cranfield.explanation.explanation import Account, Explanation, SideBySide
    from cranfield.quotation.quoting import Quotations

SCHEMA = "cranfield.explain/1"


def to_document(explanation: Explanation) -> dict[str, Json]:
    """An explanation as plain Python that json can write, in full precision."""
    return finite(
        {
            "schema": SCHEMA,
            "topic": explanation.topic,
            "runs": list(explanation.runs),
            "policy": explanation.policy.to_dict(),
            "accounts": [_account_document(account) for account in explanation.accounts],
            "pairs": [_pair_document(pair) for pair in explanation.pairs],
            **({} if explanation.quotations is None else _texts_document(explanation, explanation.quotations)),
        }
    )


def _texts_document(explanation: Explanation, quotations: Quotations) -> dict[str, Json]:
    """What was asked, and of each document that has a text title, passage and the words that are marked in it."""
    topic = explanation.topic
    documents: dict[str, Json] = {
        document: {
            "title": quotations.documents[document].title,
            "snippet": quotations.documents[document].passages[topic],
            "words": quotations.words(topic, [document]),
        }
        for document in explanation.documents
        if document in quotations.documents
    }
    asked = quotations.questions.get(topic)
    return {"question": None if asked is None else dict(asked), "documents": documents}


def _account_document(account: Account) -> dict[str, Json]:
    lines = [
        line._asdict() | {"values": dict(zip(account.columns, line.values, strict=True))} for line in account.lines
    ]
    return {
        "run": account.run,
        "measure": str(account.measure),
        "value": account.value,
        "formula": account.formula,
        "steps": list(account.steps),
        "text": account.text,
        "adds_up": account.adds_up,
        "lines": lines,
        "levels": [{"recall": level, "precision": precision} for level, precision in account.levels],
        "below": account.below._asdict(),
        "retrieved": account.retrieved,
        "relevant": account.relevant,
        "found": account.found,
        "unjudged": account.unjudged,
        "missed": [missed._asdict() for missed in account.missed],
        "supposed_grade": account.supposed_grade,
        "lower": account.bounds[0] if account.bounds else None,
        "upper": account.bounds[1] if account.bounds else None,
        "outside_bounds": list(account.outside_bounds),
        "notes": list(account.notes),
    }


def _pair_document(pair: SideBySide) -> dict[str, Json]:
    documents = [
        {
            "document": placed.move.document,
            "grade": placed.move.grade,
            "rank": placed.move.rank,
            "other_rank": placed.move.other_rank,
            "change": placed.move.change,
            "contribution": placed.contribution,
            "other_contribution": placed.other_contribution,
        }
        for placed in pair.documents
    ]
    head = {"measure": str(pair.measure), "run": pair.run, "other": pair.other}
    scores = {"value": pair.value, "other_value": pair.other_value, "difference": pair.difference}
    return head | scores | {"documents": documents}
