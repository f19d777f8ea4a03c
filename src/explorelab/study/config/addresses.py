"""Addresses in a study: where people are sent at the end, and where the database is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from explorelab._support.toml.toml_file import shown
from explorelab.errors import InputError
from explorelab.study.config.fields import TomlFile

DATABASE = "EXPLORELAB_DATABASE"
"""The environment variable that overrides the study's database."""
DATABASE_FILE = "EXPLORELAB_DATABASE_FILE"
"""The environment variable with the name of a file that holds the address, as containers and systemd hand secrets over."""

_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|::1", re.IGNORECASE)
_LOCAL = ("localhost", "127.0.0.1", "::1")
_DATABASES = "sqlite:///study.db or postgresql+psycopg://name@host/database"


def wrong_redirect(address: str, code: str) -> str:
    """What is wrong with the address that people are sent to, if anything."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not address.isascii() or re.search(r"[\s\"'<>\\^`]", address) or not _HOST.fullmatch(host) or "@" in parts.netloc:
        return f"must be a full address such as https://example.org/done?code={{code}}, got {shown(address)}."
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOCAL):
        return f"must begin with https:// (http:// only for localhost), got {shown(address)}."
    others = set(re.findall(r"\{[^{}]*\}", address)) - {"{code}"}
    if others or re.search(r"[{}]", address.replace("{code}", "")):
        return f"may contain {{code}} and no other braces, got {shown(address)}."
    if "{code}" in address and not code:
        return "contains {code}, so a setting code is needed too."
    return ""


def database_of(toml: TomlFile, default: str) -> str:
    """The address of the database: from the environment, otherwise from the table [database]."""
    table = toml.table("database", known=("url",), needed=False)
    url = table.text("url", 2000, default)
    wrong = wrong_database(url) if url else ""
    if wrong:
        table.problem("url", wrong)
    return _from_environment() or url


def _from_environment() -> str:
    """The address in the environment, or in the file that the environment names; empty if there is none."""
    file = os.environ.get(DATABASE_FILE, "").strip()
    asked, where = os.environ.get(DATABASE, "").strip(), f"the environment variable {DATABASE}"
    if file and not asked:
        where = f"{file}, which the environment variable {DATABASE_FILE} names,"
        try:
            asked = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{where} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
        if not asked:
            raise InputError(f"{where} must hold the address of a database, got an empty file.")
    if asked and (wrong := wrong_database(asked)):
        raise InputError(f"{where} {wrong}")
    return asked


def wrong_database(url: str) -> str:
    """What is wrong with a database address, if anything; it is never repeated, as it may contain a password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        address = make_url(url)
        kind = address.get_backend_name()
    except (ArgumentError, ValueError):
        return f"must be an address such as {_DATABASES}, got something that is not one."
    if kind not in ("sqlite", "postgresql"):
        return f"must be an address such as {_DATABASES}, got one of {kind!r}."
    if kind == "sqlite" and (address.database or ":memory:") == ":memory:":
        return "must be kept in a file, such as sqlite:///study.db, got one in memory, where it would be lost."
    if not address.database:
        return f"must name the database, as in {_DATABASES}, got none."
    return ""
