"""Online evaluation: what users of a running system do, and whether a new one is really better for them."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.aggregation import aggregate as aggregate
    from cranfield.online.assignment import assigned_arm as assigned_arm
    from cranfield.online.assignment import place_of as place_of
    from cranfield.online.imports import import_logs as import_logs
    from cranfield.online.log_checks import check_logs as check_logs
    from cranfield.online.log_report import LogReport as LogReport
    from cranfield.online.logs import Logs as Logs
    from cranfield.online.logs import read_logs as read_logs
    from cranfield.online.metrics import Metric as Metric
    from cranfield.online.metrics import all_metrics as all_metrics
    from cranfield.online.metrics import defined_metric as defined_metric
    from cranfield.online.metrics import metric as metric
    from cranfield.online.moments_files import Aggregate as Aggregate
    from cranfield.online.moments_files import added as added
    from cranfield.online.moments_files import read_moments as read_moments
    from cranfield.online.trial import Trial as Trial
    from cranfield.online.trial_files import read_trial as read_trial

PUBLIC = {
    "aggregation": "aggregate",
    "assignment": "assigned_arm place_of",
    "imports": "import_logs",
    "log_checks": "check_logs",
    "log_report": "LogReport",
    "logs": "Logs read_logs",
    "metrics": "Metric all_metrics defined_metric metric",
    "moments_files": "Aggregate added read_moments",
    "trial": "Trial",
    "trial_files": "read_trial",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
