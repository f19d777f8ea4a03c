"""Only a token made for it opens what programs read; it is shown once, and stored and logged nowhere."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from explorelab.cli.app import app
from explorelab.study.admin import offline
from explorelab.study.config.study_folder import load_study
from explorelab.study.export.live.access_tokens import USES
from explorelab.study.export.live.program_desk import PER_SECOND, WRONG
from tests.support.study.lab import Lab, Tab
from tests.support.study.server import write_study

PLACES = {"results": "/api/results", "metrics": "/metrics"}
"""What each use opens; a new use must be added here, and is then attacked like the others."""


class Guarded:
    """A served study, and a token for each use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_study(folder, "sqlite:///study.db")
        self.tokens = {use: offline.add_token(folder, f"for-{use}", use).split()[0] for use in USES}
        self.lab = Lab(load_study(folder), folder)

    def ask(self, use: str, token: str | None = None, method: str = "GET", more: str = "", **headers: str) -> httpx.Response:
        """Ask for what this use opens, with enough time since the last question."""
        self.lab.clock.now += 10
        sent = headers if token is None else {"Authorization": f"Bearer {token}", **headers}
        return self.lab.client.request(method, PLACES[use] + more, headers=sent)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    made = Guarded(tmp_path_factory.mktemp("guarded") / "study")
    with made.lab.client:
        yield made


def test_every_use_is_attacked() -> None:
    assert set(PLACES) == set(USES)


@pytest.mark.parametrize("use", PLACES)
def test_a_token_opens_its_use_alone(guarded: Guarded, use: str) -> None:
    assert {other: guarded.ask(use, token).status_code for other, token in guarded.tokens.items()} == {
        other: 200 if other == use else 401 for other in USES
    }


@pytest.mark.parametrize("use", PLACES)
def test_everything_else_is_refused_in_the_same_words(guarded: Guarded, use: str) -> None:
    token, person = guarded.tokens[use], Tab(guarded.lab)
    wrong: list[dict[str, Any]] = [
        {},
        {"more": f"?token={token}"},
        {"more": f"?authorization=Bearer%20{token}"},
        {"token": ""},
        {"token": token[:-1]},
        {"token": token + "x"},
        {"token": token.swapcase()},
        {"token": "xl_" + "A" * 43},
        {"token": "xl_" + "é" * 43},
        {"token": f"{token} {token}"},
        {"token": person.token},
        {"Authorization": token},
        {"Authorization": f"Basic {token}"},
        {"Cookie": f"Authorization=Bearer {token}"},
    ]
    answers = []
    for each in wrong:
        raw = {
            name: value.encode() if isinstance(value, str) else value for name, value in each.items() if name[0].isupper()
        }
        if "é" in each.get("token", ""):
            raw, each = {"Authorization": f"Bearer {each['token']}".encode()}, {}
        kept = {name: value for name, value in each.items() if name[0].islower()}
        answers.append(guarded.ask(use, **kept, **raw))  # type: ignore[arg-type]
    assert {(answer.status_code, answer.text) for answer in answers} == {(401, answers[0].text)}
    assert token not in answers[0].text


@pytest.mark.parametrize("use", PLACES)
def test_head_says_nothing(guarded: Guarded, use: str) -> None:
    assert guarded.ask(use, method="HEAD").status_code == 401
    known = guarded.ask(use, guarded.tokens[use], method="HEAD")
    assert (known.status_code, known.content) == (405, b"")


def test_a_programs_token_opens_nothing_else(guarded: Guarded) -> None:
    for use, token in guarded.tokens.items():
        sent = {"Authorization": f"Bearer {token}"}
        assert guarded.lab.client.post("/api/state", json={"epoch": 1}, headers=sent).status_code == 401, use
        assert guarded.lab.client.get("/admin/api/people", headers=sent).status_code == 401, use


@pytest.mark.parametrize("use", PLACES)
def test_a_revoked_token_opens_nothing_at_once(guarded: Guarded, use: str) -> None:
    token = offline.add_token(guarded.folder, f"soon-revoked-{use}", use).split()[0]
    assert guarded.ask(use, token).status_code == 200
    offline.revoke_token(guarded.folder, f"soon-revoked-{use}")
    assert guarded.ask(use, token).status_code == 401


def test_who_asks_too_often_waits_and_others_do_not(guarded: Guarded) -> None:
    other = offline.add_token(guarded.folder, "other", "results").split()[0]
    guarded.lab.clock.now += 10
    sent = {"Authorization": f"Bearer {guarded.tokens['results']}"}
    answers = [guarded.lab.client.get("/api/results", headers=sent) for _ in range(int(3 * PER_SECOND) + 1)]
    assert [answer.status_code for answer in answers] == [200] * int(3 * PER_SECOND) + [429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert guarded.lab.client.get("/api/results", headers={"Authorization": f"Bearer {other}"}).status_code == 200


def test_who_guesses_is_slowed_down_and_known_tokens_are_not(guarded: Guarded) -> None:
    guarded.lab.clock.now += 120
    tried = [guarded.lab.client.get("/api/results").status_code for _ in range(WRONG + 1)]
    assert tried == [401] * WRONG + [429]
    sent = {"Authorization": f"Bearer {guarded.tokens['results']}"}
    assert guarded.lab.client.get("/api/results", headers=sent).status_code == 200
    guarded.lab.clock.now += 120


def test_tokens_are_nowhere_in_the_folder_or_the_log(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for use, token in guarded.tokens.items():
            guarded.ask(use, token)
            guarded.ask(use, more=f"?token={token}")
    stored = b"".join(file.read_bytes() for file in guarded.folder.rglob("*") if file.is_file())
    for token in guarded.tokens.values():
        assert token.encode() not in stored
        ours = [record.getMessage() for record in caplog.records if record.name.startswith("explorelab")]
        assert ours
        assert not any(token in line for line in ours)


# The command ----------------------------------------------------------------------------------------------------------


def command(folder: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["study", "token", words[0], str(folder), *words[1:]])
    return done.exit_code, done.output + (str(done.exception) if done.exception else "")


def test_tokens_are_added_listed_and_revoked(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db")
    assert "There are no tokens" in command(folder, "list")[1]
    status, said = command(folder, "add", "grafana", "--use", "metrics")
    assert status == 0
    (token,) = re.findall(r"\bxl_[A-Za-z0-9_-]{43}\b", said)
    listed = command(folder, "list")[1]
    assert re.search(r"^grafana +metrics +20\d\d-", listed, re.MULTILINE)
    assert token not in listed
    assert command(folder, "revoke", "grafana")[0] == 0
    assert "There are no tokens" in command(folder, "list")[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "two words", "--use", "results"), "a token's name must be 1 to 64 letters"),
        (("add", "taken", "--use", "results"), "there is a token named 'taken' already"),
        (("revoke", "take"), "unknown token 'take': did you mean 'taken'?"),
    ],
)
def test_a_wrong_name_is_one_sentence(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db")
    command(folder, "add", "taken", "--use", "results")
    status, said = command(folder, *words)
    assert status != 0
    assert sentence in said
