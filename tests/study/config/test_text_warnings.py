"""`serve` warns of texts that people would see otherwise than meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorelab.study.config.design import Texts
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.text_warnings import text_warnings
from explorelab.study.config.texts import PAGES, template_labels

GERMAN = "Vielen Dank für Ihre Teilnahme an dieser Studie, die von der Universität durchgeführt wird. " * 4
ENGLISH = "Thank you for taking part in our study, which will take you about ten minutes of your time and is paid. " * 4
CHINESE = "感谢您参加本研究。您将看到一个由方格组成的田野,每个方格都会给您一些分数。" * 6


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Texts:
    folder = tmp_path_factory.mktemp("studies") / "mine"
    init_study(folder)
    return load_study(folder).texts


def german(texts: Texts) -> Texts:
    return replace(
        texts,
        language="de",
        pages=dict.fromkeys(PAGES, GERMAN),
        labels={name: f"Ü {text}" if text.strip() else text for name, text in texts.labels.items()},
    )


def with_page(texts: Texts, page: str, text: str) -> Texts:
    return replace(texts, pages={**texts.pages, page: text})


def test_a_new_study_and_one_that_is_wholly_translated_have_no_warnings(texts: Texts) -> None:
    assert text_warnings(texts) == []
    assert text_warnings(german(texts)) == []
    assert text_warnings(replace(german(texts), language="zh", pages=dict.fromkeys(PAGES, CHINESE))) == []


RAW = {
    "bold": ("Hello\n\nsome <b>words</b>.", [(3, "<b>"), (3, "</b>")]),
    "bold in the second line of a paragraph": ("one\ntwo <i>three</i>", [(2, "<i>"), (2, "</i>")]),
    "a line break": ("one<br>two", [(1, "<br>")]),
    "a block": ("text\n\n<div class='x'>\nhello\n</div>\n", [(3, "<div class='x'>")]),
    "a comment": ("text\n\n<!-- to do -->\n", [(3, "<!-- to do -->")]),
    "a picture": ("a\n\n![map](map.png)", [(3, "map.png")]),
    "a picture from elsewhere": ("![map](https://example.org/map.png 'Map')", [(1, "https://example.org/map.png")]),
    "a picture by reference": ("![map][1]\n\n[1]: map.png", [(1, "map.png")]),
    "a picture in a list": ("- one\n- ![map](map.png)", [(2, "map.png")]),
    "a link to a file": ("see [this](consent.pdf)", [(1, "consent.pdf")]),
    "in a table": ("|a|b|\n|-|-|\n|<b>x</b>|y|", [(3, "<b>"), (3, "</b>")]),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("case", RAW)
def test_what_would_be_shown_raw_is_named_with_file_and_line(case: str, page: str, texts: Texts) -> None:
    text, expected = RAW[case]
    found = [line for line in text_warnings(with_page(texts, page, text)) if line.startswith(f"{page}.md, line")]
    assert len(found) == len(expected), found
    for line, (number, what) in zip(found, expected, strict=True):
        assert line.startswith(f"{page}.md, line {number}: ")
        assert what in line


@pytest.mark.parametrize("text", ["1 < 2 and 3 > 2", "`<b>`", "    <b>", "\\<b>", "[us](https://x.org)", "<https://x.org>"])
def test_what_is_meant_as_it_is_written_is_not_warned_of(text: str, texts: Texts) -> None:
    assert text_warnings(with_page(texts, "consent", text)) == []


def test_html_in_a_label_is_named(texts: Texts) -> None:
    name = next(iter(texts.labels))
    (line,) = text_warnings(replace(texts, labels={**texts.labels, name: "<b>Go</b>"}))
    assert line == f"texts.toml, {name}: HTML such as <b> is shown as plain text"


def test_labels_left_in_english_are_listed(texts: Texts) -> None:
    names = [name for name, text in template_labels().items() if any(letter.isalpha() for letter in text)][:5]
    half = german(texts)
    (line,) = text_warnings(replace(half, labels={**half.labels, **{name: template_labels()[name] for name in names}}))
    assert line == f"texts.toml has language 'de', but these labels are still in English: {', '.join(names[:3])} and 2 more"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_left_in_english_is_named(page: str, texts: Texts) -> None:
    (line,) = text_warnings(with_page(german(texts), page, texts.pages[page]))
    assert line.startswith(f"{page}.md, line ")
    assert line.endswith(": still in English, but texts.toml has language 'de'")


def test_a_page_of_ones_own_in_english_is_named(texts: Texts) -> None:
    assert text_warnings(with_page(german(texts), "consent", ENGLISH)) == [
        "consent.md looks like English, but texts.toml has language 'de'"
    ]


@pytest.mark.parametrize("foreign", [GERMAN, CHINESE])
def test_pages_translated_without_their_labels_are_named(foreign: str, texts: Texts) -> None:
    assert text_warnings(with_page(texts, "instructions", foreign)) == [
        "instructions.md does not look like English, but texts.toml has language 'en'"
    ]


def test_serve_prints_the_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    from explorelab.study.server import serve

    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: None)
    monkeypatch.delenv(serve.PASSWORD, raising=False)
    init_study(tmp_path / "mine")
    page = tmp_path / "mine" / "declined.md"
    page.write_text("Goodbye, <b>you</b>.", encoding="utf-8")
    told: list[serve.Links] = []
    serve.serve(tmp_path / "mine", port=0, announce=told.append)
    assert any(line.startswith("declined.md, line 1: HTML such as <b>") for line in told[0].unfinished)
