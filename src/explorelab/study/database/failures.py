"""Database failures in words, for the log, the researcher and the command line. Values are never repeated."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

MISSING = "a table of the study is missing from the database"
SQLITE = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the database cannot be written to: the file, its folder or the whole file system is read-only",
    "SQLITE_CANTOPEN": "the database file cannot be opened: does its folder exist, and is it writable?",
    "SQLITE_PERM": "the database file may not be opened by this user",
    "SQLITE_AUTH": "the database file may not be opened by this user",
    "SQLITE_BUSY": "another program holds the database locked",
    "SQLITE_LOCKED": "another program holds the database locked",
    "SQLITE_PROTOCOL": "another program holds the database locked",
    "SQLITE_IOERR": "the disk cannot be read or written (an input/output error)",
    "SQLITE_NOMEM": "there is no memory left",
    "SQLITE_CORRUPT": "the database file is damaged",
    "SQLITE_NOTADB": "the file is not a SQLite database, or it is damaged",
    "SQLITE_TOOBIG": "a value is larger than the database can keep",
    "SQLITE_SCHEMA": "the database's tables were changed while it was open",
}
POSTGRESQL = {
    "53100": "the disk of PostgreSQL is full",
    "53200": "PostgreSQL has no memory left",
    "53300": "PostgreSQL has too many connections",
    "53400": "PostgreSQL has reached a limit of its settings",
    "57P01": "PostgreSQL was shut down",
    "57P02": "PostgreSQL was shut down",
    "57P03": "PostgreSQL is starting up or shutting down",
    "57P04": "the database has been dropped",
    "57014": "PostgreSQL took too long",
    "55P03": "another program holds the database locked",
    "40P01": "two transactions waited for each other",
    "40001": "two transactions met",
    "25006": "PostgreSQL accepts no writes: it is read-only",
    "42P01": MISSING,
    "42703": "a column of the study is missing from the database",
    "42501": "PostgreSQL does not let this user do that",
    "3D000": "the database does not exist",
    "3F000": "the database's schema does not exist",
    "28000": "PostgreSQL does not know this user or password",
    "28P01": "PostgreSQL does not know this user or password",
    "58030": "the disk of PostgreSQL cannot be read or written (an input/output error)",
    "XX001": "PostgreSQL says that its data are damaged",
    "XX002": "PostgreSQL says that its data are damaged",
}
SAID = {
    "too many clients": POSTGRESQL["53300"],
    "remaining connection slots": POSTGRESQL["53300"],
    "connection refused": "PostgreSQL does not answer: the connection was refused",
    "no such file": "PostgreSQL does not answer: its socket does not exist",
    "could not translate host": "PostgreSQL's host is not known",
    "name or service not known": "PostgreSQL's host is not known",
    "failed to resolve host": "PostgreSQL's host is not known",
    "timeout expired": "PostgreSQL does not answer in time",
    "connection timeout": "PostgreSQL does not answer in time",
    "does not exist": "the database or its user does not exist",
    "authentication failed": POSTGRESQL["28P01"],
    "no password supplied": POSTGRESQL["28P01"],
    "starting up": POSTGRESQL["57P03"],
    "shutting down": POSTGRESQL["57P03"],
    "server closed the connection": "PostgreSQL closed the connection: it was stopped, or has failed",
    "terminating connection": POSTGRESQL["57P01"],
    "connection is closed": "PostgreSQL closed the connection: it was stopped, or has failed",
    "no space left": POSTGRESQL["53100"],
}
"""What PostgreSQL's library says when it gives no code, mostly while connecting."""
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "XX001", "XX002", "42P01", "42703", "3F000")


def code_of(error: BaseException) -> str:
    """The database's own code for a failure: SQLite's primary name, PostgreSQL's SQLSTATE, or nothing."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        name = str(getattr(original, "sqlite_errorname", "") or "")
        return next((known for known in SQLITE if name == known or name.startswith(f"{known}_")), name)
    return str(getattr(original, "sqlstate", "") or "")


def is_damaged(error: BaseException) -> bool:
    """Whether the database says that its own data are broken or gone: trying again does not help."""
    return code_of(error) in DAMAGED or in_words(error) == MISSING


def in_words(error: BaseException) -> str:
    """Why the database failed, in plain words without any stored or requested value."""
    if isinstance(error, PoolTimeout):
        return "all connections to the database are in use"
    original = error.orig if isinstance(error, DBAPIError) else error
    code = code_of(error)
    if code in SQLITE or code in POSTGRESQL:
        return SQLITE.get(code) or POSTGRESQL[code]
    if isinstance(original, OSError):
        return "the disk is full" if original.errno in (errno.ENOSPC, errno.EDQUOT) else _lower(original.strerror)
    said = str(original).lower()
    if isinstance(original, sqlite3.Error):
        return MISSING if "no such table" in said else _kind(original)
    return next((words for part, words in SAID.items() if part in said), _kind(original))


def _lower(words: str | None) -> str:
    return f"{words[0].lower()}{words[1:]}" if words else "the disk failed"


def _kind(error: BaseException | None) -> str:
    return f"the database failed ({type(error).__name__})"
