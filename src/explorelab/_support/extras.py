"""Optional parts of the package, and what to install for them."""

from __future__ import annotations

from importlib.util import find_spec

from explorelab._support.counted import plural
from explorelab.errors import ExplorelabError

EXTRAS = {
    "study": ("alembic", "babel", "fastapi", "httpx", "markdown_it", "networkx", "sqlalchemy", "tomlkit", "uvicorn"),
    "bayes": ("arviz_base", "arviz_stats", "numpyro"),
    "dask": ("distributed",),
    "parquet": ("pyarrow",),
    "postgresql": ("psycopg",),
}
"""The modules that each extra of pyproject.toml installs."""


class MissingExtraError(ExplorelabError, ImportError):
    """A feature needs modules that are not installed; the message says what to install."""


def needs(extra: str, what: str) -> None:
    """Raise, saying what to install, if modules of an extra are missing; `what` begins the sentence."""
    missing = [name for name in EXTRAS[extra] if not _is_here(name)]
    if missing:
        are = plural(len(missing), "is", "are")
        raise MissingExtraError(
            f"{what} needs {', '.join(missing)}, which {are} not installed: pip install 'explorelab[{extra}]'."
        )


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
