"""Projects as tables, for the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.render.grid import DELIMITERS, WRITERS, Grid, separated
from cranfield.render.json_form import as_json
from cranfield.web.projects.desk import Answer


def render_projects(projects: Sequence[Answer], format: str) -> str:
    """A list of projects in a format."""
    if format == "json":
        return as_json("cranfield.projects/1", {"projects": list(projects)})
    rows = [[project["slug"], project["title"], project["state"]] for project in projects]
    return _written(Grid(["project", "title", "state"], rows, labels=3, caption="Projects."), format)


def render_project(project: Answer, format: str) -> str:
    """A project and its topics in a format."""
    if format == "json":
        return as_json("cranfield.project/1", project)
    topics = [
        [topic["name"], topic["title"], str(topic["documents"]), str(topic["finished"])] for topic in project["topics"]
    ]
    header = ["topic", "title", "documents", "finished"]
    return _written(Grid(header, topics, labels=2, caption=f"Topics of {project['title']}."), format)


def _written(grid: Grid, format: str) -> str:
    if format in DELIMITERS:
        return separated(grid.header, [[cell.text for cell in row] for row in grid.cells()], DELIMITERS[format])
    return WRITERS[format](grid)


def sentences(project: Answer) -> list[str]:
    """What is to be said of a project besides."""
    state = f"{project['slug']} is {project['state']}" + (f": {project['reason']}" if project["reason"] else "")
    return [state, *(finding["message"] for finding in project["findings"]), f"next: {project['next_step']}"]
