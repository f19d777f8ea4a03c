"""What somebody may do. Every address that researchers ask names the one right it needs."""

from __future__ import annotations

from enum import StrEnum


class Right(StrEnum):
    """A right: the first is everybody's, the next are about one study, the last about a laboratory."""

    ANYONE = "anyone"
    """The way in: nobody has to be logged in."""
    SEE = "see"
    """Look at a study: numbers, people by their codes, texts and their history."""
    RUN = "run"
    """Open and close a study, let robots play, download data and reports, back up."""
    EDIT = "edit"
    """Change a study's texts, settings and pictures."""
    NAMES = "names"
    """Handle what identifies people: platform IDs and the files by which they are paid."""
    OWN = "own"
    """Delete people's data, say who works on the study, archive it."""
    ENTER = "enter"
    """Have an account: see the list of one's studies, and look after the account."""
    LEAD = "lead"
    """Create studies; invite people, say what they may do, and remove them."""


OF_A_STUDY = (Right.SEE, Right.RUN, Right.EDIT, Right.NAMES, Right.OWN)
