"""Writes the files with which a server runs a study, filled in for it."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from explorelab import __version__
from explorelab._support.files import cannot_be_written
from explorelab._support.whole_folders import add_files, put_folder, workshop
from explorelab.errors import InputError
from explorelab.study.config.study_folder import load_study

TEMPLATES = Path(__file__).parent / "templates"
_PART = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}$)(?:{_PART}\.)+[a-z][a-z0-9-]*[a-z0-9]|localhost")
_TOKEN = re.compile(r"<<(\w+)>>")


def write_deployment(folder: Path, out: Path, domain: str) -> list[Path]:
    """Write the files for the study in this folder into a new or empty one, or change nothing; returns them."""
    study = load_study(folder)
    if not _DOMAIN.fullmatch(domain):
        raise InputError(f"--domain must be a name such as study.example.org, without https:// or a path, got {domain!r}.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: expected a new or empty folder for the files, but there is something already.")
    values = {"name": study.name, "domain": domain, "version": __version__}
    try:
        with workshop(out, "deployment", within=out.parent) as made:
            names = _fill(made, values)
            # An existing folder is kept, not replaced: it may be someone's current directory.
            (add_files if out.is_dir() else put_folder)(made, out)
    except OSError as error:
        raise cannot_be_written(out, error) from None
    return [out / name for name in names]


def _fill(made: Path, values: dict[str, str]) -> list[str]:
    """Write the templates with their values, and new secrets; returns the names of all files."""
    names = []
    for template in sorted(file for file in TEMPLATES.rglob("*") if file.is_file()):
        name = template.relative_to(TEMPLATES).as_posix().replace("NAME", values["name"])
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_bytes(filled(template.read_text(encoding="utf-8"), values).encode())
        names.append(name)
    return [*names, *_secrets(made / "secrets", values["name"])]


def filled(text: str, values: dict[str, str]) -> str:
    """A template with its values."""
    return _TOKEN.sub(lambda found: values[found[1]], text)


def _secrets(folder: Path, name: str) -> list[str]:
    """New passwords, in a folder that only its owner may enter; the containers' user may read the files that it is given."""
    folder.mkdir(mode=0o700)
    password = secrets.token_urlsafe(24)
    written = {
        "admin_password": secrets.token_urlsafe(12),
        "database_password": password,
        "database_address": f"postgresql+psycopg://explorelab:{password}@database/explorelab",
    }
    for file, text in written.items():
        (folder / file).write_text(f"{text}\n", encoding="utf-8")
        (folder / file).chmod(0o644)
    return [f"secrets/{file}" for file in written]
