"""Writes docs/laboratory-rights.md: who may ask which address of a laboratory, from the tables of routes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "laboratory-rights.md"
HEAD = """\
# Who may ask which address of a laboratory

Written by `python scripts/rights.py` from the tables of routes; a test compares. Roles are those in the study of the address
or, where there is none, in the laboratory. Whoever has no role in a study is answered as if there were none.
Participants' own addresses (`/s/{study}/api/...`) need the token of their page, and those for programs
(`/s/{study}/api/results`, `/s/{study}/metrics`) a token of their own.

| address | right | anyone | account | viewer | helper | owner |
|---|---|---|---|---|---|---|
"""


def rows() -> Iterator[str]:
    """A row for each address."""
    from explorelab.laboratory.accounts.roles import RIGHTS, Role
    from explorelab.laboratory.server.lab_routes import ROUTES
    from explorelab.study.admin.admin_routes import ROUTES as OF_STUDY
    from explorelab.study.admin.entry.rights import OF_A_STUDY, Right

    listed = [(f"{method} /lab{path}", right) for method, path, right, *_ in ROUTES]
    listed += [(f"{method} /s/{{study}}/admin{path}", right) for method, path, right, *_ in OF_STUDY]
    for address, right in listed:
        may = [right == Right.ANYONE, right in (Right.ANYONE, Right.ENTER)]
        for role in Role:
            of_laboratory = right == Right.LEAD and role == Role.OWNER
            may.append(may[1] or (right in OF_A_STUDY and right in RIGHTS[role]) or of_laboratory)
        yield f"| `{address}` | {right} | {' | '.join('yes' if each else '' for each in may)} |"


def page() -> str:
    """The page."""
    return HEAD + "\n".join(rows()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
