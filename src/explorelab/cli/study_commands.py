"""The commands around an experiment in the browser: make one, serve it, let robots play it, take out what came of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from explorelab.cli.options import Seed, long_work

study = typer.Typer(help="Run an experiment in the browser.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="The study's folder, with study.toml in it.")]


class Pilots(StrEnum):
    """Which people are taken out."""

    WITHOUT = "without"
    WITH = "with"
    ONLY = "only"


class Doubted(StrEnum):
    """Whether people about whom there are doubts are in choices.csv."""

    WITHOUT = "without"
    WITH = "with"


def register(app: typer.Typer) -> None:
    """Enter the commands of this file into the command line."""
    app.add_typer(study, name="study")


@study.command()
def init(folder: Annotated[Path, typer.Argument(help="A new folder.")]) -> None:
    """Make a folder with the paper's design in study.toml, ready to edit, and the texts that people read."""
    from explorelab.study.config.start_study import init_study

    for path in init_study(folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"Next: edit the texts, then explorelab study serve {folder}")


@study.command()
def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Server processes; more than one needs PostgreSQL.")] = 1,
    admin_password_file: Annotated[
        Path | None, typer.Option(help="File with the researcher's password; or set EXPLORELAB_ADMIN_PASSWORD.")
    ] = None,
    public_url: Annotated[str, typer.Option(help="The address as people see it, if a proxy stands in between.")] = "",
    trusted_proxies: Annotated[
        str, typer.Option(help="Addresses or networks of proxies, with commas between, whose X-Forwarded-For is believed.")
    ] = "",
    as_it_is: Annotated[bool, typer.Option("--as-it-is", help="Serve also while texts are still to be filled in.")] = False,
) -> None:
    """Bring the database up to date and serve the study until interrupted."""
    from explorelab.study.server import serve as server

    def announce(links: server.Links) -> None:
        typer.echo(f"participants  {links.participants}")
        typer.echo(f"researcher    {links.admin}")
        if links.password is not None:
            typer.echo(f"password      {links.password}   (made for this run; set EXPLORELAB_ADMIN_PASSWORD to choose one)")
        query = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        typer.echo(f"for Prolific  {links.participants}{query}")
        for line in links.unfinished:
            typer.echo(f"to do         {line}")
        if links.proxy_unnamed:
            typer.echo("to do         name the proxy with --trusted-proxies (127.0.0.1 if it runs on this computer):")
            typer.echo("              until then all people count as one address, with the limits of one")

    server.serve(folder, host, port, workers, admin_password_file, public_url, as_it_is, announce, trusted_proxies)


@study.command()
def pilot(
    folder: Folder,
    people: Annotated[int, typer.Option(min=1, help="How many robots take part.")] = 20,
    url: Annotated[str, typer.Option(help="A server that runs; by default one is started for the robots.")] = "",
    seed: Seed = 0,
    link: Annotated[
        bool, typer.Option("--link", help="Print links by which a browser takes part as a pilot, and end.")
    ] = False,
) -> None:
    """Let robots take part: agents of the library over the real interface, kept apart from people as pilots."""
    from explorelab.cli import pilot_runs

    if link:
        typer.echo(pilot_runs.links(folder, url))
        return
    with long_work():
        told = pilot_runs.pilot(folder, people, url, seed)
    typer.echo(told)


@study.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Folder for the files; an earlier export there is replaced.")] = Path("data"),
    pilots: Annotated[Pilots, typer.Option(help="Whether robots are in it.")] = Pilots.WITHOUT,
    doubted: Annotated[
        Doubted, typer.Option(help="Whether people who may not have played by hand or in time are in choices.csv.")
    ] = Doubted.WITHOUT,
) -> None:
    """Write everything that was recorded as CSV files with their description (Psych-DS)."""
    from explorelab.study.admin import offline

    with long_work():
        typer.echo(offline.export(folder, out, pilots.value, doubted.value))


@study.command()
def find(
    folder: Folder,
    platform_id: Annotated[str, typer.Argument(help="What Prolific or MTurk calls the person.")],
) -> None:
    """Say which code a person has who writes in, so that they can be looked up or deleted on the researcher's page."""
    from explorelab.study.admin import offline

    typer.echo(offline.find(folder, platform_id))


@study.command()
def pay(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("payments"),
    again: Annotated[bool, typer.Option("--again", help="Write the last files once more; nobody is added.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Pay this person in spite of doubts; may be given several times."),
    ] = None,
) -> None:
    """Write files with the bonuses of those who have finished, for Prolific and MTurk; nobody is in two files.

    People who may not have played by hand or in time are listed first and not paid, unless they are named with --also.
    """
    from explorelab.study.admin import offline

    typer.echo(offline.pay(folder, out, again, also or ()))


@study.command()
def backup(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default a new one in the study's folder, under backups.")
    ] = None,
) -> None:
    """Copy the study's database, also while the server runs or after it was killed; nothing acknowledged is missing."""
    from explorelab.study.backup import backup as backing_up

    with long_work():
        typer.echo(backing_up.backup(folder, out))


@study.command()
def restore(folder: Folder, file: Annotated[Path, typer.Argument(help="A file written by `study backup`.")]) -> None:
    """Put a backup in the place of the study's database, which is kept beside it; the server must be stopped."""
    from explorelab.study.backup import restore as restoring

    with long_work():
        typer.echo(restoring.restore(folder, file))
