"""What the researcher's page receives of assessments."""

from __future__ import annotations

from pydantic import BaseModel


class Estimate(BaseModel):
    """A parameter of a person, with its 95 % interval."""

    parameter: str
    estimate: float | None
    low: float | None
    high: float | None


class ShownWeakness(BaseModel):
    """The weakness that a person shows most probably."""

    name: str
    probability: float
    cost: float
    """Regret that it costs in a whole block."""
    sentence: str


class Found(BaseModel):
    """What a companion finds of a person in the task block that they play or played last."""

    n_trials: int
    regret: list[float]
    """Observed regret after each choice so far."""
    later: list[int]
    """Choices to come at which the band is told, from 1."""
    low: list[float]
    middle: list[float]
    high: list[float]
    """95 % band of observed regret after those choices."""
    forms: dict[str, float]
    """Probability of each form of regret at the end of the block."""
    regret_to_come: float
    """Expected in the rest of the block if the person goes on as they do."""
    regret_if_advised: float
    """The same if they did what an adviser suggests."""
    estimates: list[Estimate]
    weakness: ShownWeakness | None
    """None if none is more probable than not."""


class AssessedPerson(BaseModel):
    """Somebody who is playing or has just finished."""

    code: str
    place: str
    block: int
    """The task block that they were assessed in or, before that, play; from 1."""
    choices: int
    """In task blocks."""
    made_at: float | None
    """When they were last assessed; null if not yet."""
    known: int | None
    """How many of their choices were known then."""
    found: Found | None
    trouble: str
    """Why they could not be assessed, in a sentence; empty if they were."""


class Assessments(BaseModel):
    """Everyone who is playing or has just finished; none if the study's settings say so."""

    enabled: bool
    now: float
    agent: str
    """The model of a person."""
    people: list[AssessedPerson]
    why_not: str
    """Why nobody can be assessed in this study, in a sentence; empty if they can."""
