"""The files for a server: filled in, without secrets where others look, and understood by the programs that read them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from explorelab import InputError, __version__
from explorelab.cli.app import app
from explorelab.study.config.addresses import DATABASE, DATABASE_FILE
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.operation.write_deployment import write_deployment

ROOT = Path(__file__).parents[3]
SERVICES = ("explorelab-explore.service", "explorelab-explore-backup.service", "explorelab-explore-backup.timer")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deployed") / "study"
    init_study(folder)
    return folder


@pytest.fixture(scope="module")
def written(study: Path) -> Path:
    """The files for this study."""
    out = study.with_name("deploy")
    done = CliRunner().invoke(app, ["study", "deploy", str(study), "--domain", "study.uni-bonn.de", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert sorted(line.removeprefix("Wrote ") for line in done.output.splitlines()[:-1]) == sorted(map(str, files(out)))
    return out


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_everything_is_filled_in(written: Path) -> None:
    assert {file.name for file in files(written)} >= {"compose.yaml", "Caddyfile", "README.md", "study", *SERVICES}
    for file in files(written):
        assert not re.search(r"<<\w|NAME", file.read_text()), file
    for name in ("compose.yaml", "Caddyfile", "server/Caddyfile", "README.md", f"server/{SERVICES[0]}"):
        assert "study.uni-bonn.de" in (written / name).read_text()


def test_secrets_are_new_each_time_and_nowhere_else(written: Path, study: Path, tmp_path: Path) -> None:
    folder = written / "secrets"
    assert folder.stat().st_mode & 0o777 == 0o700
    secrets = {file.name: file.read_text().strip() for file in folder.iterdir()}
    assert set(secrets) == {"admin_password", "database_password", "database_address"}
    assert secrets["database_password"] in secrets["database_address"]
    for file in files(written):
        if file.parent != folder:
            assert not [name for name, secret in secrets.items() if secret in file.read_text()], file
    write_deployment(study, tmp_path / "again", "study.uni-bonn.de")
    assert not {(tmp_path / "again" / "secrets" / name).read_text().strip() for name in secrets} & set(secrets.values())


@pytest.fixture(scope="module")
def compose(written: Path) -> Any:
    return yaml.safe_load((written / "compose.yaml").read_text())


def test_containers_have_what_they_name_and_no_more_than_they_need(compose: Any) -> None:
    services = compose["services"]
    assert set(services) == {"study", "backup", "database", "caddy"}
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, name
        assert not {"privileged", "network_mode", "pid"} & set(service), name
        assert set(service.get("secrets", [])) <= set(compose["secrets"])
        assert set(service["networks"]) <= set(compose["networks"])
        named = {volume.partition(":")[0] for volume in service["volumes"]}
        assert {each for each in named if not each.startswith(("/", "."))} <= set(compose["volumes"])
    assert [name for name, service in services.items() if "ports" in service] == ["caddy"]
    assert [name for name in ("study", "backup", "caddy") if not services[name].get("read_only")] == []
    assert "front" not in services["database"]["networks"]
    assert compose["networks"]["back"] == {"internal": True}
    assert services["study"]["image"] == services["backup"]["image"] == f"explorelab:{__version__}"


def test_only_caddys_own_address_is_trusted_to_say_who_asks(compose: Any) -> None:
    (trusted,) = [word for word in compose["services"]["study"]["command"] if word.startswith("--trusted-proxies=")]
    assert trusted.partition("=")[2] == compose["services"]["caddy"]["networks"]["front"]["ipv4_address"]


def test_the_programs_for_backups_are_those_of_the_database(compose: Any) -> None:
    """Debian bookworm, on which both images are built, has PostgreSQL 15."""
    assert compose["services"]["database"]["image"] == "postgres:15-bookworm"
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "FROM python:3.12-slim-bookworm\n" in dockerfile
    assert "postgresql-client" in dockerfile


@pytest.mark.parametrize("service", ["study", "backup"])
def test_what_containers_are_told_to_run_are_commands_of_ours(service: str, compose: Any, study: Path) -> None:
    """Parsed by the command line itself: every option exists, and its value is taken."""
    from typer.main import get_command

    group, name, *words = compose["services"][service]["command"]
    command = get_command(app).commands[group].commands[name]  # type: ignore[attr-defined]
    context = command.make_context(name, [str(study) if word == "/study" else word for word in words])
    assert context.params["folder"] == study


def test_the_dockerfile_runs_the_same_command_as_a_user_without_rights(compose: Any) -> None:
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    last = lines[max(number for number, line in enumerate(lines) if line.startswith("FROM ")) :]
    by = {line.split()[0]: line.partition(" ")[2] for line in last if line and not line.startswith("#")}
    assert by["USER"] == "10001"
    assert "--uid 10001" in "".join(last)
    assert by["ENTRYPOINT"] == '["explorelab"]'
    assert yaml.safe_load(by["CMD"])[:3] == compose["services"]["study"]["command"][:3]
    check = yaml.safe_load(by["HEALTHCHECK"].partition("CMD ")[2])
    assert "/api/health" in check[-1]
    compile(check[-1], "healthcheck", "exec")


@pytest.mark.parametrize("name", ["study.example.org", "a.b.c.uni-bonn.de", "xn--bcher-kva.example", "localhost"])
def test_names_of_servers(name: str, study: Path, tmp_path: Path) -> None:
    assert write_deployment(study, tmp_path / "out", name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "https://study.example.org",
        "study.example.org/x",
        "study",
        "1.2.3.4",
        "a b.de",
        "-a.de",
        "a..de",
        "a.de\n}",
        "ä.de",
    ],
)
def test_what_is_no_name_of_a_server_is_refused(name: str, study: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--domain must be a name such as"):
        write_deployment(study, tmp_path / "out", name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced(study: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    for out in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(InputError, match="there is something already"):
            write_deployment(study, out, "study.example.org")


# What reads them ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def units(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The services, with the command of this environment and a user that there is."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed here")
    folder = tmp_path_factory.mktemp("units")
    command = Path(sys.executable).with_name("explorelab")
    for name in SERVICES:
        text = (written / "server" / name).read_text()
        text = text.replace("/opt/explorelab/bin/explorelab", str(command))
        text = re.sub(r"^(User|Group)=explorelab$", r"\1=root", text, flags=re.MULTILINE)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", SERVICES)
def test_systemd_understands_the_services(name: str, units: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(units / name)], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if "explorelab" in line]
    assert (done.returncode, said) == (0, []), done.stderr


@pytest.mark.parametrize("name", SERVICES[:2])
def test_systemd_finds_the_services_well_locked(name: str, units: Path) -> None:
    """Of 10, with 0 the best; a service without any of these settings has 9.6."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", str(units / name)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["Caddyfile", "server/Caddyfile"])
def test_caddy_understands_its_file(name: str, written: Path) -> None:
    if shutil.which("caddy") is None:
        pytest.skip("Caddy is not installed here")
    file = written / name
    done = subprocess.run(
        ["caddy", "validate", "--adapter", "caddyfile", "--config", str(file)],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin", "HOME": str(written.parent)},
    )  # fmt: skip
    assert "Valid configuration" in done.stdout, done.stderr
    formatted = subprocess.run(["caddy", "fmt", str(file)], capture_output=True, text=True, check=False)
    assert formatted.stdout == file.read_text()


# The address of the database in a file --------------------------------------------------------------------------------


def test_the_address_of_the_database_may_be_in_a_file(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABASE, raising=False)
    file = tmp_path / "address"
    file.write_text("postgresql+psycopg://me:secret@database/one\n")
    monkeypatch.setenv(DATABASE_FILE, str(file))
    assert load_study(study).database == "postgresql+psycopg://me:secret@database/one"
    monkeypatch.setenv(DATABASE, "sqlite:///other.db")
    assert load_study(study).database == "sqlite:///other.db"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file"),
        ("", "got an empty file"),
        ("secret!", "got something that is not one"),
        (b"\xff\xfe", "it is no text"),
    ],
)
def test_a_file_that_holds_no_address_is_one_sentence_without_its_content(
    content: str | bytes | None, sentence: str, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATABASE, raising=False)
    file = tmp_path / "address"
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.setenv(DATABASE_FILE, str(file))
    with pytest.raises(InputError, match=sentence) as caught:
        load_study(study)
    assert DATABASE_FILE in str(caught.value)
    assert "secret" not in str(caught.value)
