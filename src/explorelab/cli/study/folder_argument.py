"""The argument that all commands of a study have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The study folder, which contains study.toml.")]
