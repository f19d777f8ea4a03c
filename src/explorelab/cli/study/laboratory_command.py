"""The command for several studies on one server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(study: typer.Typer) -> None:
    """Add the command to those of studies."""
    study.command()(lab)


def lab(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The laboratory's folder; a new one is made if there is none.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Number of server processes; more than one needs PostgreSQL.")
    ] = 1,
    public_url: Annotated[str, typer.Option(help="The address people open, if the server is behind a proxy.")] = "",
    trusted_proxies: Annotated[
        str, typer.Option(help="Comma-separated addresses or networks of proxies whose X-Forwarded-For header is trusted.")
    ] = "",
    invite_owner: Annotated[
        bool, typer.Option("--invite-owner", help="Print a link by which an owner makes an account, then exit.")
    ] = False,
) -> None:
    """Serve several studies, for several researchers with accounts, until interrupted."""
    from explorelab.laboratory.hosting import serve_laboratory as server

    if invite_owner:
        typer.echo(server.invite_owner(folder, public_url or f"http://{host}:{port}"))
        return

    def announce(links: server.LabLinks) -> None:
        typer.echo(f"researchers   {links.researchers}")
        if links.first_owner:
            typer.echo(f"first owner   {links.first_owner}   (works once, for a week)")
        for line in links.studies:
            typer.echo(f"study         {line}")
        if links.proxy_unnamed:
            typer.echo("to do         name the proxy with --trusted-proxies (127.0.0.1 if it runs on this computer):")
            typer.echo("              until then, everyone counts as one address and shares its limits")

    server.serve_laboratory(folder, host, port, workers, public_url, trusted_proxies, announce)
