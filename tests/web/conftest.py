"""Tests of the server get their fixtures from tests/common/site_fixtures.py."""

from site_fixtures import clock, cluster, ready_database, ready_file, settings, site, store  # noqa: F401
