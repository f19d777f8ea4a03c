"""Follows docs/deployment.md: every command that it marks, on a "laptop" (an empty folder) and a "server" (a new Debian 13).

    python -m evaluations.follow_deployment --wheel explorelab-0.1.0-py3-none-any.whl [--debian FOLDER]

The server is a folder made by debootstrap, entered by chroot, so run it as root. Without systemd in there, the service
is started as its file says, under its user; its settings for isolation, the firewall and certificates are not tried here.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
from tests.support.study.folder import finish  # noqa: E402
from tests.support.study.postgres import free_port  # noqa: E402

PAGE = ROOT / "docs" / "deployment.md"
BLOCK = re.compile(r"<!-- run: ([a-z ]+) -->\n```sh\n(.*?)```", re.DOTALL)
USUAL = "127.0.0.1:8000"
"""Where the page's service listens; here at any address that is free."""
SHORT = {
    "fast = 1500": "fast = 300",
    "slow = 6000": "slow = 400",
    "choices = 90": "choices = 5",
    "choices = 10": "choices = 2",
}
"""Robots keep to the clocks: with the paper's they would take twelve minutes."""


def blocks(where: str) -> list[str]:
    """The commands of the page that are marked so, in their order."""
    return [found[2] for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8")) if found[1] == where]


def follow(script: str, folder: Path, *enter: str) -> str:
    """Run commands until one fails; each is shown, as is what the last of them says."""
    print(f"--- {' '.join(enter) or folder}\n{script.strip()}", flush=True)
    done = subprocess.run([*enter, "bash", "-e", "-c", script], cwd=folder, text=True, stdout=-1, stderr=-2, check=False)
    print("\n".join(f"    {line}" for line in done.stdout.splitlines()[-8:]), flush=True)
    if done.returncode:
        sys.exit(f"status {done.returncode}")
    return done.stdout


def on_the_laptop(wheel: Path, folder: Path) -> None:
    """The first part, and the files for the server."""
    shutil.copy(wheel, folder)
    made, checked, deployed = blocks("laptop")
    follow(made, folder)
    follow(checked, folder)
    finish(folder / "explore")
    toml = folder / "explore" / "study.toml"
    text = toml.read_text(encoding="utf-8")
    for old, new in SHORT.items():
        text = text.replace(old, new)
    toml.write_text(text, encoding="utf-8")
    follow(deployed, folder)


def new_debian(folder: Path) -> None:
    """A Debian 13 with nothing but itself, which reaches what this computer reaches."""
    if not (folder / "bin").exists():
        subprocess.run(["debootstrap", "--variant=minbase", "trixie", str(folder)], check=True, stdout=subprocess.DEVNULL)
    for name in ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs", "root/.config/pip"):
        source, target = Path("/") / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore_dangling_symlinks=True)
        elif source.exists():
            shutil.copy(source, target)


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Processes and devices, for as long as the block lasts."""
    for name in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", f"/{name}", str(folder / name)], check=True)
    try:
        yield
    finally:
        for name in ("proc", "dev"):
            subprocess.run(["umount", "-l", str(folder / name)], check=False)


@contextmanager
def serving(folder: Path, port: int) -> Iterator[None]:
    """The study's service, started as its file says: its command, user, settings and credentials."""
    unit = (folder / "etc/systemd/system/explorelab-explore.service").read_text(encoding="utf-8").replace("\\\n", " ")
    command = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert command is not None
    credentials = folder / "run" / "credentials"
    credentials.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "etc/explorelab/explore.password", credentials / "admin_password")
    start = (
        "chown -R explorelab: /run/credentials; install -d -o explorelab /var/cache/explorelab; umask 077; "
        "exec runuser -u explorelab -- env CREDENTIALS_DIRECTORY=/run/credentials XDG_CACHE_HOME=/var/cache/explorelab "
        f"bash -c 'exec {command[1]} --port {port}'"
    )
    with subprocess.Popen(["chroot", str(folder), "bash", "-c", start]) as process:
        try:
            until = time.monotonic() + 120
            while not _is_ready(port):
                if process.poll() is not None or time.monotonic() > until:
                    sys.exit("the service did not start")
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            print(f"the service ended with status {process.wait(30)}")


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=10).json() == {"ok": True}
    except (httpx.TransportError, ValueError):
        return False


def main() -> int:
    """Follow the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--debian", type=Path, default=Path("/var/tmp/explorelab-debian"), help="made if it is not there")
    given = parser.parse_args()
    system, install, robots = given.debian, *blocks("server")[1:]
    with tempfile.TemporaryDirectory(prefix="laptop-") as name:
        laptop = Path(name)
        on_the_laptop(given.wheel.resolve(), laptop)
        new_debian(system)
        with mounted(system):
            for each in (given.wheel.name, "explore", "deploy"):
                follow(f"cp -r {laptop / each} {system / 'root'}", laptop)
            os.environ["HOME"] = "/root"
            enter = ("chroot", str(system), "env", "-C", "/root")
            follow("DEBIAN_FRONTEND=noninteractive\nexport DEBIAN_FRONTEND\n" + blocks("server")[0], laptop, *enter)
            follow(install, laptop, *enter)
            port = free_port()
            with serving(system, port):
                follow(robots.replace(USUAL, f"127.0.0.1:{port}"), laptop, *enter)
                follow("study backup explore --keep 56", laptop, *enter)
            follow("study check explore && ls -l /srv/explorelab/explore /srv/explorelab/explore/backups", laptop, *enter)
        backups = sorted((system / "srv/explorelab/explore/backups").iterdir())
        shutil.copytree(backups[-1].parent, laptop / "backups")
        (last,) = blocks("laptop backup")
        follow(last.replace("explore-DATE.db", backups[-1].name) + "\ngrep -c . data/README* || true", laptop)
    print("Everything that the page says was done.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
