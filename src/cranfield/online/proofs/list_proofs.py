"""Proofs about interleaving: which methods are fair and see who is better, exactly; and how few users suffice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

import numpy as np

from cranfield.online.interleaving.auditing import Audit, audit_interleaver
from cranfield.online.interleaving.serving import RankedQuery
from cranfield.online.proofs.proof import ProofEffort, ProvedClaim, above, between, count, least
from cranfield.online.users.pages import JudgedRankings
from cranfield.online.users.sensitivity import rehearse
from cranfield.online.users.simulating import UserSimulation
from cranfield.online.users.user_models import Population, UserModel
from cranfield.online.users.user_sums import sums_of_users, votes_of_users
from cranfield.statistics.interleaved import preference
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.significance import Sampling

PERMUTED = "permutations of 4"
# Of all permutations of 4 documents against one: how many are biased, and how many do not see who is better.
BIASED = {"balanced": 12, "team-draft": 0, "probabilistic": 0, "optimised": 0, "pairwise": 0}
UNSEEN = {"balanced": 7, "team-draft": 8, "probabilistic": 0, "optimised": 0, "pairwise": 0}


def _failed(audit: Audit, criterion: str) -> int:
    (found,) = (part for one in audit.criteria if one.name == criterion for part in one.parts if part.kind == PERMUTED)
    return found.failed


def audits(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """i, j: every outcome of every method on all permutations of 4 documents. Balanced must fail to be unbiased, team
    draft must fail to see who is better; the others pass both.
    """
    found = {method: audit_interleaver(method, length=4, overlapping=0) for method in BIASED}
    for method, expected in BIASED.items():
        verdict = "fails" if expected else "holds"
        claim = f"{method} is unbiased: {verdict}; permutations of 24 that are biased"
        yield count("i", claim, expected, _failed(found[method], "unbiased"))
    for method, expected in UNSEEN.items():
        verdict = "fails" if expected else "holds"
        claim = f"{method} prefers the better: {verdict}; permutations of 24 where not"
        yield count("j", claim, expected, _failed(found[method], "better wins"))


def judged_collection(seed: int, topics: int = 40, noise: tuple[float, float] = (1.0, 0.8)) -> JudgedRankings:
    """Topics with 30 documents of grades 0 to 4, most of them 0, and two rankers that see grades through noise: the
    second through less.

    >>> [len(ranking) for ranking in judged_collection(1).asked[0].rankings]
    [10, 10]
    """
    rng = np.random.default_rng([seed, topics])
    asked, relevance = [], {}
    for topic in range(topics):
        grades = np.minimum(rng.geometric(0.6, 30) - 1, 4)
        grades[0] = 4
        docs = [f"d{topic}-{number}" for number in range(30)]
        orders = [np.argsort(-(grades + spread * 2 * rng.standard_normal(30)))[:10] for spread in noise]
        rankings = tuple(tuple(docs[place] for place in order.tolist()) for order in orders)
        asked.append(RankedQuery(str(topic), None, rankings))
        relevance[str(topic)] = {doc: float(grade) / 4 for doc, grade in zip(docs, grades.tolist(), strict=True)}
    return JudgedRankings(("noisy", "clear"), tuple(asked), relevance, 4.0)


def sensitivity(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """k: with as many users as a rehearsal says, each design finds the better ranker about as often as it says; and
    interleaving needs fewer.

    Sizes are themselves estimated: power may be off by 0.05.
    """
    rankings = judged_collection(effort.seed)
    people = Population(users=effort.times(10_000, 100_000), seed=effort.seed)
    simulation = UserSimulation(rankings, UserModel("navigational"), people)
    found = rehearse(simulation, sampling=Sampling(resamples=200))
    by_metric = {one.metric: one for one in found.needed}
    ab, shown = by_metric["rr_first"], by_metric["preference"]
    times = effort.times(50, 1_000)
    hits, agreeing = {"ab": 0, "interleaving": 0}, 0
    for number in range(times):
        some = Population(users=ceil(ab.users), seed=effort.seed + 1 + number)
        users = sums_of_users(UserSimulation(rankings, simulation.model, some, "ab"))
        arms = [
            Moments.of({"first": users.sums["rr_first"][users.arm == arm], "queries": users.queries[users.arm == arm]})
            for arm in range(2)
        ]
        effect = Ratio("first", "queries").compared(*arms).difference()
        hits["ab"] += effect.p < 0.05 and effect.value > 0
        fewer = replace(some, users=ceil(shown.users))
        votes = votes_of_users(UserSimulation(rankings, simulation.model, fewer, "interleaving"))
        liked = preference(votes.losses, votes.ties, votes.wins).effect
        hits["interleaving"] += liked.p < 0.05 and liked.value > 0
        agreeing += liked.value > 0
    for design, one in (("ab", ab), ("interleaving", shown)):
        claim = f"{one.design} ({one.metric}) with {ceil(one.users):,} users finds the better ranker: power"
        yield between("k", claim, (0.75, 0.85), hits[design], times)
    claim = f"{ceil(shown.users):,} users on interleaved lists lean to the better ranker: above"
    yield above("k", claim, 0.8, agreeing, times)
    claim = f"users of an A/B test by those of interleaving, {ab.times:.2f} (95% to {ab.times_high:.2f}): from, above"
    yield least("k", claim, 1.0, ab.times_low, found.simulated)
