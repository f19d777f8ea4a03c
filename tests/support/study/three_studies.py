"""Three whole studies: the paper's, a restless bandit in German with quiz and form, a graph with factors within persons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from explorelab.study.config.start_study import init_study
from tests.support.study.own_blocks import HEAD
from tests.support.study.server import write_study

type Answers = dict[str, dict[str, Any]]
"""By page, then by question."""


class WholeStudy(NamedTuple):
    """A study, and someone's answers to what it asks."""

    write: Callable[[Path], None]
    """Makes its folder."""
    n_choices: int
    """In all blocks, if none is left out."""
    right: Answers
    wrong: Answers
    """What they answer at first, where all answers must be right."""


def write_paper(folder: Path) -> None:
    """The paper's design, shortened."""
    training = ("standard", "neighbour", "travel")
    write_study(folder, "sqlite:///study.db", training=training, n_training=2, n_trials=2, fast_ms=2500, slow_ms=3000)


HEAD_DE = HEAD.replace("Blocks of one's own", "Vier Automaten").replace('name = "own"', 'name = "automaten"')
BANDIT = """
[tasks.automaten]
restless = 4
diffusion_sd = 2.8
points = [1, 100]

[blocks.uebung]
task = "automaten"
choices = 2
counts = false
labels = ["Rot", "Blau", "Grün", "Gelb"]
colours = ["#c0392b", "#2471a3", "#1e8449", "#f1c40f"]
[blocks.spiel]
task = "automaten"
choices = 4
labels = ["Rot", "Blau", "Grün", "Gelb"]
colours = ["#c0392b", "#2471a3", "#1e8449", "#f1c40f"]

[[pages]]
kind = "text"
file = "anleitung.md"
[[pages]]
kind = "quiz"
file = "verstanden.toml"
attempts = 3
[[pages]]
kind = "blocks"
blocks = ["uebung", "spiel"]
[[pages]]
kind = "form"
file = "fragen.toml"
[[pages]]
kind = "score"
"""
ANLEITUNG = """
# So funktioniert das Spiel

Sie sehen **vier Automaten**: einen roten, einen blauen, einen grünen und einen gelben. Mit jedem Klick wählen Sie einen
davon und erhalten zwischen 1 und 100 Punkte.

Was ein Automat einbringt, **ändert sich langsam**: Der beste von jetzt muss später nicht mehr der beste sein. Es lohnt sich
also, ab und zu auch die anderen auszuprobieren.

Sie haben so viel Zeit, wie Sie möchten. Für Ihre Punkte erhalten Sie einen Bonus.
"""
EINWILLIGUNG = """
# {title}

Sie sind eingeladen, an einer Studie darüber teilzunehmen, wie Menschen zwischen Möglichkeiten wählen, die sich ändern. Sie
spielen ein kurzes Spiel ohne Zeitdruck und beantworten einige Fragen.

Sie erhalten {base} {currency} und einen Bonus von bis zu {most} {currency}, der von Ihren Punkten abhängt. Gespeichert wird,
was Sie wählen und antworten, und wann. Sie können **jederzeit aufhören** und dann auch alles löschen lassen.
"""
AUFKLAERUNG = """
# Vielen Dank!

Was die Automaten einbrachten, hat sich während des Spiels zufällig verändert. Wir möchten verstehen, wie Menschen
entscheiden, wann sie bei Bewährtem bleiben und wann sie Neues ausprobieren.
"""
VERSTANDEN = """
title = "Haben wir uns verständlich ausgedrückt?"
[[questions]]
name = "wandel"
kind = "choice"
text = "Bleibt der beste Automat immer der beste?"
options = {ja = "Ja, immer", nein = "Nein, das kann sich ändern"}
expected = "nein"
feedback = "Was ein Automat einbringt, ändert sich langsam."
[[questions]]
name = "anzahl"
kind = "number"
text = "Wie viele Automaten gibt es?"
expected = 4
"""
FRAGEN = """
title = "Zum Schluss"
intro = "Wie ging es Ihnen beim Spielen? Wählen Sie, was am besten zutrifft."
[[questions]]
name = "spass"
kind = "scale"
labels = ["trifft nicht zu", "trifft eher nicht zu", "teils, teils", "trifft eher zu", "trifft zu"]
text = "Das Spiel hat mir Spaß gemacht."
score = "freude"
[[questions]]
name = "langweilig"
kind = "scale"
labels = ["trifft nicht zu", "trifft eher nicht zu", "teils, teils", "trifft eher zu", "trifft zu"]
text = "Das Spiel war langweilig."
score = "freude"
reverse = true
[[questions]]
name = "aufmerksam"
kind = "scale"
labels = ["trifft nicht zu", "trifft eher nicht zu", "teils, teils", "trifft eher zu", "trifft zu"]
text = "Damit wir sehen, dass Sie die Fragen lesen: Wählen Sie hier bitte „trifft eher zu“."
expected = 4
[[questions]]
name = "alter"
kind = "number"
text = "Wie alt sind Sie?"
least = 18
most = 99
whole = true
[[questions]]
name = "spiele"
kind = "several"
text = "Was spielen Sie sonst gern?"
options = ["Kartenspiele", "Brettspiele", "Computerspiele"]
required = false
[[questions]]
name = "anmerkung"
kind = "text"
text = "Möchten Sie uns noch etwas sagen?"
lines = 3
required = false
"""


def write_bandit(folder: Path) -> None:
    """Four restless coloured buttons, in German."""
    init_study(folder, languages=["de"])
    (folder / "study.toml").write_text(HEAD_DE + BANDIT, encoding="utf-8")
    texts = (folder / "texts.toml").read_text(encoding="utf-8")
    (folder / "texts.toml").write_text(texts.replace("Ein Spiel mit Feldern", "Vier Automaten"), encoding="utf-8")
    files = {"consent.md": EINWILLIGUNG, "anleitung.md": ANLEITUNG, "debriefing.md": AUFKLAERUNG}
    for name, text in {**files, "verstanden.toml": VERSTANDEN, "fragen.toml": FRAGEN}.items():
        (folder / name).write_text(text, encoding="utf-8")


GRAPH = """
[tasks.town]
means = [20, 35, 50, 60, 30, 45, 70]
integer_noise = 5
graph = [[0, 1], [1, 2], [0, 3], [1, 4], [3, 4], [4, 5], [2, 5], [3, 6], [5, 6]]

[blocks.town]
task = "town"
choices = 2
order = "full"
labels = ["Dock", "Market", "Mill", "Bridge", "Tower", "Well", "Castle"]
places = [[0.1, 0.2], [0.45, 0.1], [0.85, 0.25], [0.25, 0.6], [0.6, 0.55], [0.9, 0.75], [0.45, 0.92]]

[factors.dynamic]
within = ["neighbour", "travel"]
[factors.shown]
within = { points = { rewards = "points" }, money = { rewards = "money" } }

[[pages]]
kind = "text"
file = "town.md"
[[pages]]
kind = "blocks"
[[pages]]
kind = "form"
file = "after.toml"
"""
TOWN = """
# A town with treasures

You visit the places of a small town, along its streets. Each place has a treasure; what you find there varies a little.

In some rounds you go **from place to place**; in others you name **a goal**, and your dot walks there by the shortest way.
"""
CONSENT = """
# {title}

You are invited to a study on how people look for the best places. You play {n_blocks} short rounds without a time limit, and
answer a question.

You get {base} {currency}, and a bonus of up to {most} {currency} for what you find. What you choose and answer is stored,
and when. You may **stop at any time**, and have everything deleted.
"""
DEBRIEFING = """
# Thank you!

Every place had the same worth in all rounds. We want to understand how people explore what they can only reach step by step.
"""
AFTER = """
[[questions]]
name = "easier"
kind = "choice"
text = "Which was easier?"
options = {step = "From place to place", goal = "Naming a goal", same = "Both were the same"}
"""


def write_graph(folder: Path) -> None:
    """A small town as a graph, under two factors within persons."""
    init_study(folder)
    head = HEAD.replace("Blocks of one's own", "A town with treasures").replace('name = "own"', 'name = "town"')
    (folder / "study.toml").write_text(head + GRAPH, encoding="utf-8")
    for name, text in {"consent.md": CONSENT, "town.md": TOWN, "debriefing.md": DEBRIEFING, "after.toml": AFTER}.items():
        (folder / name).write_text(text, encoding="utf-8")


STUDIES = {
    "paper": WholeStudy(write_paper, 3 * 2 + 2 * 2, {}, {}),
    "bandit": WholeStudy(
        write_bandit,
        6,
        {
            "verstanden": {"wandel": "nein", "anzahl": 4},
            "fragen": {
                "spass": 4,
                "langweilig": 2,
                "aufmerksam": 4,
                "alter": 31,
                "spiele": ["Brettspiele"],
                "anmerkung": "Nein.",
            },
        },
        {"verstanden": {"wandel": "ja", "anzahl": 3}},
    ),
    "graph": WholeStudy(write_graph, 8, {"after": {"easier": "goal"}}, {}),
}
