"""What a person may do in a project. A role has all that those before it have."""

from __future__ import annotations

from enum import Enum

ROLES = ("viewer", "assessor", "adjudicator", "owner")


class Permission(Enum):
    """What a route asks of a visitor. The first four are for the whole server, the others for one project."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"
    ADMIN = "site admin"
    VIEW = "view"
    JUDGE = "judge"
    ADJUDICATE = "adjudicate"
    OWN = "own"

    @property
    def of_project(self) -> bool:
        return self in LEAST_ROLE


LEAST_ROLE = {
    Permission.VIEW: "viewer",
    Permission.JUDGE: "assessor",
    Permission.ADJUDICATE: "adjudicator",
    Permission.OWN: "owner",
}


def allows(role: str | None, permission: Permission) -> bool:
    """Whether a role in a project is enough; None is that of somebody who is no member.

    >>> allows("owner", Permission.JUDGE), allows("viewer", Permission.JUDGE), allows(None, Permission.VIEW)
    (True, False, False)
    """
    return role in ROLES and ROLES.index(role) >= ROLES.index(LEAST_ROLE[permission])
