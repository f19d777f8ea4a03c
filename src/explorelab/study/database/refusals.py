"""Requests that are refused: with a status, one word for programs, and one sentence for people."""

from __future__ import annotations

from explorelab.errors import ExplorelabError


class Refused(ExplorelabError):  # noqa: N818 - it is an answer, not a fault
    """An answer other than what was asked for; nothing has been changed."""

    def __init__(self, status: int, error: str, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.error, self.message, self.retry_after_s = status, error, message, retry_after_s


def invalid(message: str) -> Refused:
    """A value that cannot be."""
    return Refused(422, "invalid", message)


def out_of_order(message: str) -> Refused:
    """Something that is not the next thing to be done."""
    return Refused(409, "out-of-order", message)


def taken_over() -> Refused:
    """A page that is no longer the person's last one."""
    return Refused(409, "taken-over", "This study was opened again in another tab or window, which is now the one in use.")


def elsewhere() -> Refused:
    """Someone who says who they are and cannot show it."""
    return Refused(
        403, "elsewhere", "This study was begun under your name in another browser or session: open it there to go on."
    )


def no_token() -> Refused:
    """A request from nobody that is known here."""
    return Refused(401, "no-token", "The request carries no valid token: open the study's link again.")


def not_now(message: str) -> Refused:
    """Something that is not possible at this stage."""
    return Refused(403, "not-now", message)
