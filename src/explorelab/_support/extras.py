"""The parts of the package that need more than its basic installation, and what to install for them."""

from __future__ import annotations

from importlib.util import find_spec

from explorelab._support.counted import plural
from explorelab.errors import ExplorelabError

EXTRAS = {
    "study": ("alembic", "babel", "fastapi", "httpx", "markdown_it", "sqlalchemy", "tomlkit", "uvicorn"),
    "bayes": ("arviz_base", "arviz_stats", "numpyro"),
    "parquet": ("pyarrow",),
    "postgresql": ("psycopg",),
}
"""The modules that each extra of pyproject.toml brings."""


class MissingExtraError(ExplorelabError, ImportError):
    """Something was asked for that needs modules which are not installed; the message says what to install."""


def needs(extra: str, what: str) -> None:
    """Raise, with what to install, if the modules of an extra are not all here; `what` begins the sentence."""
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
