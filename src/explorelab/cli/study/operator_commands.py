"""Commands for whoever puts a study on a server: check it, deploy it, back it up, restore it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from explorelab.cli.options import AsJson, long_work
from explorelab.cli.study.folder_argument import Folder


def register(study: typer.Typer) -> None:
    """Add these commands to those of `study`."""
    for command in (check, deploy, backup, restore):
        study.command()(command)


def check(
    folder: Folder,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 also if something is only doubtful.")] = False,
    json: AsJson = False,
) -> None:
    """List everything wrong or doubtful in a study's folder, with file and line, and say how long the study takes.

    The exit status is 1 if the study cannot be served to the public as it is.
    """
    from explorelab.cli.tables.study_tables import print_checked
    from explorelab.study.config.checking.check_folder import check_folder

    found = check_folder(folder)
    print_checked(found, folder, json)
    if not found.is_ready or (strict and found.findings):
        raise typer.Exit(1)


def deploy(
    folder: Folder,
    domain: Annotated[str, typer.Option(help="The study's address on the web, such as study.example.org.")],
    out: Annotated[Path, typer.Option(help="Folder to write; nothing in it is replaced.")] = Path("deploy"),
) -> None:
    """Write the files with which a server runs this study: for systemd and Caddy, and for containers (Docker)."""
    from explorelab.study.operation.write_deployment import write_deployment

    for path in write_deployment(folder, out, domain):
        typer.echo(f"Wrote {path}")
    typer.echo(f"Next: {out / 'README.md'} says what to do with them.")


def backup(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write, or a folder for a new file; by default the folder backups of the study."),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(min=1, help="Then keep only this many of the study's backups in that folder.")
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(min=0.01, max=8760, metavar="HOURS", help="Keep running, with a backup this often, until stopped."),
    ] = None,
) -> None:
    """Back up the study's database, even while the server runs or after a crash; every acknowledged choice is included."""
    from explorelab.study.operation import backup as backing_up
    from explorelab.study.operation import rotation

    with long_work():
        if every is not None:
            rotation.back_up_every(folder, every, typer.echo, out, keep)
        else:
            typer.echo(backing_up.backup(folder, out, keep))


def restore(
    folder: Folder, file: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by `study backup`.")]
) -> None:
    """Restore the study's database from a backup and keep the old one beside it; stop the server first.

    A backup of SQLite can also be restored to PostgreSQL.
    """
    from explorelab.study.operation import restore as restoring

    with long_work():
        typer.echo(restoring.restore(folder, file))
