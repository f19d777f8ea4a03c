"""Options that describe the designs of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from explorelab.errors import InputError


@dataclass(frozen=True)
class DesignFlags:
    """What the designs have in common, and in what they differ."""

    config: Annotated[Path | None, typer.Option(help="TOML file with a table [task]; options override it.")] = None
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=V1,V2", help="Compare tasks that differ in a setting of [task]; may be repeated."),
    ] = None
    design: Annotated[
        list[Path] | None, typer.Option(help="TOML file with a table [task], one of several designs; may be repeated.")
    ] = None
    in_turn: Annotated[
        bool, typer.Option("--in-turn", help="Everyone plays all tasks of --vary or --design in turn, in one design.")
    ] = False
    horizon: Annotated[
        str | None, typer.Option("--horizon", "-T", help="Choices in a block; several numbers, such as 40,80, are compared.")
    ] = None
    blocks: Annotated[str | None, typer.Option(help="Blocks of everyone; several numbers, such as 1,2,4, are compared.")] = (
        None
    )


def numbers(flag: str, text: str | None) -> list[int] | None:
    """Comma-separated whole numbers."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be comma-separated whole numbers, got {text!r}.") from None
