"""What the laboratory is asked and answers, as types that check and document both."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from explorelab.laboratory.accounts.roles import Role
from explorelab.study.admin.entry.rights import Right


class Asking(BaseModel):
    """A request: nothing unknown in it, and what it holds is not repeated in refusals."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Entering(Asking):
    """A name and a password."""

    login: str = Field(max_length=200)
    password: str = Field(max_length=1000)


class Joining(Entering):
    """An invitation, and the account to make with it."""

    invitation: str = Field(max_length=200)
    name: str = Field(max_length=200)


class Holding(Asking):
    """An invitation's secret."""

    invitation: str = Field(max_length=200)


class NewPassword(Asking):
    """Another password, and the one before it."""

    password: str = Field(max_length=1000)
    new: str = Field(max_length=1000)


class Inviting(Asking):
    """Whom to invite, and to what."""

    role: Role
    for_whom: str = Field("", max_length=100)


class RoleAsked(Asking):
    """The role that somebody is to have; null for none."""

    role: Role | None


class NewStudy(Asking):
    """A study to create from a template."""

    name: str = Field(max_length=100)
    title: str = Field("", max_length=200)
    template: str = Field("paper", max_length=40)
    languages: list[str] = Field(["en"], min_length=1, max_length=20)
    advice: bool = False


class Opening(Asking):
    """Open a study; `anyway` even if something is still to be filled in."""

    anyway: bool = False


class Done(BaseModel):
    """It was done."""

    ok: bool


class Me(BaseModel):
    """Whoever is logged in."""

    csrf: str
    ends_at: float
    number: int
    login: str
    name: str
    laboratory: str
    """The laboratory's title."""
    role: Role | None
    """In the whole laboratory."""
    rights: list[Right]
    languages: list[str]
    """In which a new study may be."""
    templates: list[str]
    """What a new study may be like."""


class SessionShown(BaseModel):
    """Where somebody is logged in."""

    number: int
    browser: str
    made_at: float
    seen_at: float
    is_this: bool


class SessionsShown(BaseModel):
    """Everywhere somebody is logged in."""

    sessions: list[SessionShown]


class Invited(BaseModel):
    """What an invitation is for."""

    laboratory: str
    study: str | None
    """The study's name; null for the whole laboratory."""
    role: Role
    made_by: str


class InvitationMade(BaseModel):
    """A new invitation: its secret is told this once."""

    invitation: str
    ends_at: float


class InvitationShown(BaseModel):
    """An invitation that has not been used."""

    number: int
    role: Role
    for_whom: str
    made_by: str
    ends_at: float


class Member(BaseModel):
    """Somebody with an account, and their role there."""

    number: int
    login: str
    name: str
    role: Role | None
    in_laboratory: Role | None
    """In a list of a study: the role in the whole laboratory, which counts too."""


class Members(BaseModel):
    """Who may do what, and who is invited."""

    members: list[Member]
    invitations: list[InvitationShown]


class DeedShown(BaseModel):
    """Who did what, and when."""

    at: float
    by: str
    what: str


class Deeds(BaseModel):
    """What was done, the latest first."""

    deeds: list[DeedShown]


type StudyState = Literal["open", "closed", "archived", "stopped"]


class StudyShown(BaseModel):
    """A study in the list."""

    name: str
    title: str
    state: StudyState
    """Open or closed to newcomers, put away, or stopped by the problem."""
    problem: str
    rights: list[Right]
    """What whoever asks may do in it."""
    role: Role
    version: int
    made_at: float
    n_people: int
    n_active: int
    """Taking part, and seen within the time to come back."""
    n_finished: int
    n_pilots: int
    seen_at: float | None
    """When somebody was last there."""


class StudiesShown(BaseModel):
    """The studies that somebody may see."""

    now: float
    studies: list[StudyShown]
