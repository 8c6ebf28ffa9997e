"""Tests of the server get their fixtures from tests/common/site_fixtures.py."""

from site_fixtures import clock, cluster, settings, site, store  # noqa: F401
