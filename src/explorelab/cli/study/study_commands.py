"""Commands for an experiment in the browser: create it, serve it, pilot it with robots, export the data, pay people."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from explorelab.cli.options import NAMED, Seed, long_work, several_agents
from explorelab.cli.study import laboratory_command, operator_commands
from explorelab.cli.study.folder_argument import Folder

study = typer.Typer(help="Run an experiment in the browser.", no_args_is_help=True)

token = typer.Typer(help="Tokens for programs that read live results or metrics.", no_args_is_help=True)
study.add_typer(token, name="token")
TokenName = Annotated[str, typer.Argument(metavar="NAME", help="A name by which to recognise the token.")]


class Use(StrEnum):
    """What a token opens."""

    RESULTS = "results"
    METRICS = "metrics"


class Pilots(StrEnum):
    """Whether robots are exported: not at all, with people, or alone."""

    WITHOUT = "without"
    WITH = "with"
    ONLY = "only"


class Template(StrEnum):
    """What a new study is like."""

    PAPER = "paper"
    BANDIT = "bandit"
    GRAPH = "graph"


class Doubted(StrEnum):
    """Whether choices.csv includes people who may not have played by hand or in time."""

    WITHOUT = "without"
    WITH = "with"


class Excluded(StrEnum):
    """Whether analyses keep people to whom the study's rules of exclusion apply."""

    WITHOUT = "without"
    WITH = "with"


def register(app: typer.Typer) -> None:
    """Add the `study` commands to the command line."""
    operator_commands.register(study)
    laboratory_command.register(study)
    app.add_typer(study, name="study")


@study.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to create.")],
    template: Annotated[
        Template, typer.Option(help="The paper's design, a restless bandit with four buttons, or walks on a graph.")
    ] = Template.PAPER,
    advice: Annotated[
        bool, typer.Option("--advice", help="A study in which a computer suggests squares to some people.")
    ] = False,
    language: Annotated[
        str, typer.Option(help="Comma-separated languages of the texts (en, de, es, fr); the first is the default.")
    ] = "en",
) -> None:
    """Create a study folder: a design in study.toml and the texts people read, ready to edit."""
    from explorelab.study.config.start_study import init_study

    languages = [each.strip() for each in language.split(",")]
    for path in init_study(folder, template=template.value, advice=advice, languages=languages):
        typer.echo(f"Wrote {path}")
    typer.echo(f"Next: edit the texts; explorelab study check {folder} says what is left to do.")
    typer.echo(f"Then: explorelab study serve {folder}")


@study.command()
def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Number of server processes; more than one needs PostgreSQL.")
    ] = 1,
    admin_password_file: Annotated[
        Path | None, typer.Option(help="File with the researcher's password; or set EXPLORELAB_ADMIN_PASSWORD.")
    ] = None,
    public_url: Annotated[str, typer.Option(help="The address people open, if the server is behind a proxy.")] = "",
    trusted_proxies: Annotated[
        str, typer.Option(help="Comma-separated addresses or networks of proxies whose X-Forwarded-For header is trusted.")
    ] = "",
    allow_unfinished: Annotated[
        bool, typer.Option("--allow-unfinished", help="Serve the study even if its texts still contain placeholders.")
    ] = False,
) -> None:
    """Bring the database up to date and serve the study until interrupted."""
    from explorelab.study.server import serve as server

    def announce(links: server.Links) -> None:
        typer.echo(f"participants  {links.participants}")
        typer.echo(f"researcher    {links.admin}")
        if links.password is not None:
            typer.echo(
                f"password      {links.password}   (for this run only; set EXPLORELAB_ADMIN_PASSWORD to choose your own)"
            )
        query = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        typer.echo(f"for Prolific  {links.participants}{query}")
        for line in links.unfinished:
            typer.echo(f"to do         {line}")
        if links.proxy_unnamed:
            typer.echo("to do         name the proxy with --trusted-proxies (127.0.0.1 if it runs on this computer):")
            typer.echo("              until then, everyone counts as one address and shares its limits")

    server.serve(folder, host, port, workers, admin_password_file, public_url, allow_unfinished, announce, trusted_proxies)


@study.command()
def pilot(
    folder: Folder,
    people: Annotated[int, typer.Option(min=1, help="Number of robots.")] = 20,
    url: Annotated[str, typer.Option(help="Address of a running server; by default one is started for the robots.")] = "",
    seed: Seed = 0,
    agents: Annotated[
        str | None,
        typer.Option(help=f"Comma-separated agents for the robots in turn, each {NAMED}; default: a mixture like people."),
    ] = None,
    follow: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Probability that a robot follows advice (studies with advice only).  [default: 0.5]"
        ),
    ] = None,
    passes: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Probability that a robot gives the expected answer, for each question alone.  [default: 0.8]"
        ),
    ] = None,
    language: Annotated[
        str, typer.Option(help="Comma-separated languages for the robots in turn; default: all of the study's.")
    ] = "",
    link: Annotated[
        bool, typer.Option("--link", help="Print links for taking part as a pilot in a browser, then exit.")
    ] = False,
) -> None:
    """Let robots take part: the library's agents play over the real interface and are marked as pilots."""
    from explorelab.study.robots import pilot_runs

    if link:
        typer.echo(pilot_runs.links(folder, url))
        return
    played = None if agents is None else several_agents(agents)
    with long_work():
        languages = [each.strip() for each in language.split(",") if each.strip()]
        summary = pilot_runs.pilot(folder, people, url, seed, follow, played, languages, passes)
    typer.echo(summary)


@study.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Output folder; an earlier export there is replaced.")] = Path("data"),
    pilots: Annotated[Pilots, typer.Option(help="Whether to export robots.")] = Pilots.WITHOUT,
    doubted: Annotated[
        Doubted, typer.Option(help="Whether choices.csv includes people who may not have played by hand or in time.")
    ] = Doubted.WITHOUT,
    excluded: Annotated[
        Excluded, typer.Option(help="Whether analyses of choices.csv keep people to whom the study's [exclude] applies.")
    ] = Excluded.WITHOUT,
) -> None:
    """Export everything recorded as CSV files with a description of every column (Psych-DS)."""
    from explorelab.study.admin import offline

    with long_work():
        typer.echo(offline.export(folder, out, pilots.value, doubted.value, excluded.value))


@study.command()
def find(
    folder: Folder,
    platform_id: Annotated[str, typer.Argument(metavar="PLATFORM_ID", help="The person's ID on Prolific or MTurk.")],
) -> None:
    """Find a person's code from their platform ID, so that you can look them up or delete them on the researcher's page."""
    from explorelab.study.admin import offline

    typer.echo(offline.find(folder, platform_id))


@study.command()
def pay(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("payments"),
    again: Annotated[bool, typer.Option("--again", help="Write the last files again, without adding anyone.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Pay this person despite the doubts; can be repeated."),
    ] = None,
) -> None:
    """Write bonus files for Prolific and MTurk, for everyone who has finished; nobody appears in two files.

    People who may not have played by hand or in time are listed first and not paid unless you name them with --also.
    """
    from explorelab.study.admin import offline

    typer.echo(offline.pay(folder, out, again, also or ()))


@token.command("add")
def add_token(
    folder: Folder,
    name: TokenName,
    use: Annotated[Use, typer.Option(help="What the token opens.")],
) -> None:
    """Create a token and print it; it is not shown again."""
    from explorelab.study.admin import offline

    typer.echo(offline.add_token(folder, name, use.value))


@token.command("list")
def list_tokens(folder: Folder) -> None:
    """List the tokens: name, what each opens, and when it was made."""
    from explorelab.study.admin import offline

    typer.echo(offline.list_tokens(folder))


@token.command("revoke")
def revoke_token(folder: Folder, name: TokenName) -> None:
    """Revoke a token: it stops working at once."""
    from explorelab.study.admin import offline

    typer.echo(offline.revoke_token(folder, name))
