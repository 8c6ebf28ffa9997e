"""Releases for programs."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel

from cranfield.judging.releasing import ReleasePolicy
from cranfield.web.accounts.roles import Permission
from cranfield.web.pages.releases import download
from cranfield.web.review.release_files import EVENTS, PROVENANCE, QRELS, SAMPLED
from cranfield.web.review.releases import Version, file_of, make_release, preview, version_of, versions
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()


class ReleaseRequest(BaseModel):
    """The policy where opinions differ and nobody decided."""

    policy: ReleasePolicy = "majority"


class LeftOutSystem(BaseModel):
    """A run, with its own documents in the pool and without those that only it had."""

    run: str
    score: float
    score_without: float
    rank: int
    rank_without: int


class SupportedMeasure(BaseModel):
    """Whether the judgements of a topic suffice for a measure; what all measures need besides is `still_needed`."""

    measure: str
    fits: bool
    why: str


class UndecidedPair(BaseModel):
    """A pair without a grade."""

    pair: int
    topic: str
    document: str
    why: str


class ReleasePreview(BaseModel):
    """What a release would be now; `lacking` says why it can't be made, if so, `still_needed` what is needed before
    systems are compared by any measure."""

    policy: ReleasePolicy
    pairs: int
    short: int
    judgements: int
    methods: dict[str, int]
    undecided: dict[str, int]
    named: list[UndecidedPair]
    late: int
    findings: list[str]
    still_needed: str
    measures: list[SupportedMeasure]
    reusable: str | None
    reasons: list[str]
    left_out: list[LeftOutSystem]
    lacking: str


@router.get("/projects/{project}/releases")
@needs(Permission.VIEW)
def releases(visit: Visiting) -> list[Version]:
    """All versions, the newest first."""
    with visit.store.reading() as connection:
        return versions(connection, visit.here.id)


@router.post("/projects/{project}/releases", status_code=201)
@needs(Permission.OWN)
def release(request: Request, response: Response, visit: Visiting, asked: ReleaseRequest) -> Version:
    """Makes a release. If the last one is the same it is that one, with 200 instead of 201."""
    made, new = make_release(visit, request.app.state.settings.folder, asked.policy)
    response.status_code = 201 if new else 200
    return made


@router.get("/projects/{project}/releases/preview")
@needs(Permission.OWN)
def release_preview(request: Request, visit: Visiting, policy: ReleasePolicy = "majority") -> ReleasePreview:
    """What is missing, and what a release would be good for."""
    found = preview(visit, request.app.state.settings.folder, policy)
    supported = found.support
    analysis = None if supported is None else supported.analysis
    left_out = () if analysis is None else [run for out in analysis.left_out for run in out.runs]
    return ReleasePreview(
        policy=found.policy,
        pairs=found.pairs,
        short=found.short,
        judgements=found.judgements,
        methods=found.methods,
        undecided=found.undecided,
        named=[UndecidedPair(pair=number, **pair._asdict()) for number, pair in found.named],
        late=len(found.late),
        findings=found.findings,
        still_needed=found.still_needed,
        measures=[] if supported is None else [SupportedMeasure(**a._asdict()) for a in supported.description.advice],
        reusable=None if analysis is None else analysis.verdict.word,
        reasons=[] if analysis is None else list(analysis.verdict.reasons),
        left_out=[LeftOutSystem.model_validate(run._asdict()) for run in left_out],
        lacking=found.lacking,
    )


@router.get("/projects/{project}/releases/{version}")
@needs(Permission.VIEW)
def one_release(visit: Visiting, version: int) -> Version:
    """One version."""
    return version_of(visit, version)


@router.get("/projects/{project}/releases/{version}/qrels", response_class=Response)
@needs(Permission.VIEW)
def qrels(request: Request, visit: Visiting, version: int) -> Response:
    """The judgements, as text."""
    return _file(request, visit, version, QRELS)


@router.get("/projects/{project}/releases/{version}/qrels.gz", response_class=Response)
@needs(Permission.VIEW)
def qrels_packed(request: Request, visit: Visiting, version: int) -> Response:
    """The judgements, packed."""
    return _file(request, visit, version, QRELS, packed=True)


@router.get("/projects/{project}/releases/{version}/sampled", response_class=Response)
@needs(Permission.VIEW)
def sampled(request: Request, visit: Visiting, version: int) -> Response:
    """The judgements with the chance of each, where documents were drawn by lot."""
    return _file(request, visit, version, SAMPLED)


@router.get("/projects/{project}/releases/{version}/provenance", response_class=Response)
@needs(Permission.ADJUDICATE)
def provenance(request: Request, visit: Visiting, version: int) -> Response:
    """How the judgements came about, pair by pair, with who gave which grade, under pseudonyms: for those who may see
    others' judgements. What of it tells no single opinion is in `summary` of the release."""
    return _file(request, visit, version, PROVENANCE)


@router.get("/projects/{project}/releases/{version}/events", response_class=Response)
@needs(Permission.OWN)
def events(request: Request, visit: Visiting, version: int) -> Response:
    """Everything that was said, under pseudonyms, a line each."""
    return _file(request, visit, version, EVENTS)


def _file(request: Request, visit: Visiting, version: int, name: str, *, packed: bool = False) -> Response:
    content = file_of(visit, request.app.state.settings.folder, version, name)
    return download(content, f"{visit.here.slug}-{version}-{name}", packed=packed)
