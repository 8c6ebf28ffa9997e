"""User studies: plans of who sees what, questionnaires, their scores, and how these go with measures."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.studies.answers import Answers as Answers
    from cranfield.studies.answers import read_answers as read_answers
    from cranfield.studies.assignments import StudyPlan as StudyPlan
    from cranfield.studies.assignments import plan_study as plan_study
    from cranfield.studies.scales import Scale as Scale
    from cranfield.studies.scales import find_scale as find_scale
    from cranfield.studies.scales import read_scales as read_scales
    from cranfield.studies.scoring import StudyScores as StudyScores
    from cranfield.studies.scoring import score_answers as score_answers
    from cranfield.studies.squares import graeco_latin_square as graeco_latin_square
    from cranfield.studies.squares import williams_squares as williams_squares
    from cranfield.studies.study_comparison import StudyComparison as StudyComparison
    from cranfield.studies.study_comparison import StudyQuestion as StudyQuestion
    from cranfield.studies.study_comparison import compare_answers as compare_answers
    from cranfield.studies.study_correlation import StudyCorrelation as StudyCorrelation
    from cranfield.studies.study_correlation import correlate_answers as correlate_answers

PUBLIC = {
    "answers": "Answers read_answers",
    "assignments": "StudyPlan plan_study",
    "study_comparison": "StudyComparison StudyQuestion compare_answers",
    "study_correlation": "StudyCorrelation correlate_answers",
    "scales": "Scale find_scale read_scales",
    "scoring": "StudyScores score_answers",
    "squares": "graeco_latin_square williams_squares",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
