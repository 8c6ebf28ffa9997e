"""Running engines: topics sent over HTTP, answers looked at, a run made of them, and how fast they came."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.probing.addresses import read_headers as read_headers
    from cranfield.probing.asking import Probed as Probed
    from cranfield.probing.asking import Target as Target
    from cranfield.probing.asking import probe as probe
    from cranfield.probing.client import Limits as Limits
    from cranfield.probing.engines import ENGINES as ENGINES
    from cranfield.probing.engines import Call as Call
    from cranfield.probing.engines import Endpoint as Endpoint
    from cranfield.probing.engines import Engine as Engine
    from cranfield.probing.engines import engine as engine
    from cranfield.probing.expectations import Expectations as Expectations
    from cranfield.probing.expectations import ItemRank as ItemRank
    from cranfield.probing.expectations import Visibility as Visibility
    from cranfield.probing.expectations import read_items as read_items

PUBLIC = {
    "addresses": "read_headers",
    "asking": "Probed Target probe",
    "client": "Limits",
    "engines": "ENGINES Call Engine Endpoint engine",
    "expectations": "Expectations ItemRank Visibility read_items",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
