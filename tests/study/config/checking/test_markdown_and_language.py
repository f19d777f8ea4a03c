"""Texts that people would see otherwise than meant, or in another language than the rest, are found where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorelab.study.config.checking.markdown_checks import unseen, unseen_labels, wrong_link
from explorelab.study.config.checking.spoken import spoken, words_of
from explorelab.study.config.checking.translation import untranslated, untranslated_labels
from explorelab.study.config.checking.written import Part, parts_of
from explorelab.study.config.design import Texts
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import LANGUAGES, PAGES, TEMPLATES, template_labels

GERMAN = "Vielen Dank für Ihre Teilnahme an dieser Studie, die von der Universität durchgeführt wird. " * 4
ENGLISH = "Thank you for taking part in our study, which will take you about ten minutes of your time and is paid. " * 4
CHINESE = "感谢您参加本研究。您将看到一个由方格组成的田野,每个方格都会给您一些分数。" * 6


def text_warnings(texts: Texts) -> list[str]:
    """What is said of the texts, one line each."""
    parts, file = list(parts_of(texts)), "texts.toml"
    found = [*unseen(parts, Path(__file__).parent), *unseen_labels(texts.labels, file)]  # where no picture is
    return [str(each) for each in (*found, *untranslated(texts.language, parts), *untranslated_labels(texts, file))]


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
        labels=dict(template_labels("de")),
    )


def with_page(texts: Texts, page: str, text: str) -> Texts:
    return replace(texts, pages={**texts.pages, page: text})


def test_a_new_study_and_one_that_is_wholly_translated_have_no_warnings(texts: Texts) -> None:
    assert text_warnings(texts) == []
    assert text_warnings(german(texts)) == []
    assert (
        text_warnings(
            replace(texts, language="zh", pages=dict.fromkeys(PAGES, CHINESE), labels=dict.fromkeys(texts.labels, "方格"))
        )
        == []
    )


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


@pytest.mark.parametrize(
    "text",
    [
        "1 < 2 and 3 > 2",
        "`<b>`",
        "    <b>",
        "\\<b>",
        "[us](https://x.org)",
        "<https://x.org>",
        "[m](mailto:a@x.org?subject=b)",
    ],
)
def test_what_is_meant_as_it_is_written_is_not_warned_of(text: str, texts: Texts) -> None:
    assert text_warnings(with_page(texts, "consent", text)) == []


def test_html_in_a_label_is_named(texts: Texts) -> None:
    name = next(iter(texts.labels))
    (line,) = text_warnings(replace(texts, labels={**texts.labels, name: "<b>Go</b>"}))
    assert line == f"texts.toml: the label {name} contains HTML such as <b>, which is shown as plain text"


def test_labels_left_in_english_are_listed(texts: Texts) -> None:
    names = [name for name, text in template_labels().items() if any(letter.isalpha() for letter in text)][:5]
    half = german(texts)
    (line,) = text_warnings(replace(half, labels={**half.labels, **{name: template_labels()[name] for name in names}}))
    assert line == f"texts.toml: language is 'de', but these labels are still in English: {', '.join(names[:3])} and 2 more"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_left_in_english_is_named(page: str, texts: Texts) -> None:
    (line,) = text_warnings(with_page(german(texts), page, texts.pages[page]))
    assert line.startswith(f"{page}.md, line ")
    assert ": still in English" in line
    assert line.endswith("but its language is 'de'")


OTHERS = [(own, other) for own in LANGUAGES for other in LANGUAGES if own != other]


@pytest.mark.parametrize(("own", "other"), OTHERS)
@pytest.mark.parametrize("page", ["consent", "instructions", "debriefing"])
def test_one_paragraph_in_any_other_language_is_found_where_it_is(own: str, other: str, page: str, texts: Texts) -> None:
    """Not only English that was left: a paragraph pasted from any language into any other."""
    mine, theirs = ((TEMPLATES / each / f"{page}.md").read_text(encoding="utf-8") for each in (own, other))
    labels = dict(template_labels(own))
    whole = replace(texts, language=own, labels=labels, pages={page: mine})
    assert text_warnings(whole) == []
    longest = max(theirs.split("\n\n"), key=len).replace("{", "").replace("}", "")
    mixed = mine.rstrip() + "\n\n" + longest + "\n"
    line = mine.rstrip().count("\n") + 3
    (found,) = text_warnings(replace(whole, pages={page: mixed}))
    assert found.startswith(f"{page}.md, line {line}: still in ")


@pytest.mark.parametrize(("own", "other"), OTHERS)
def test_a_label_of_any_other_language_is_found(own: str, other: str, texts: Texts) -> None:
    labels = dict(template_labels(own))
    labels["withdraw_text"] = template_labels(other)["withdraw_text"]
    labels["continue"] = template_labels(other)["continue"]
    (line,) = untranslated_labels(replace(texts, language=own, labels=labels), "texts.toml")
    assert "continue, withdraw_text" in line.sentence


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_paragraph_of_the_templates_is_told_to_be_in_its_language_or_too_short(language: str) -> None:
    texts = [file.read_text(encoding="utf-8") for file in (TEMPLATES / language).rglob("*.md")]
    parts = [part for text in texts for part in text.split("\n\n")] + list(template_labels(language).values())
    told = {part: spoken(part) for part in parts}
    assert {part: other for part, other in told.items() if other not in (language, None)} == {}
    long = [part for part in parts if len(words_of(part)) >= 15]
    assert len(long) > 30
    assert sum(told[part] == language for part in long) > 0.9 * len(long)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "nl",
            "U kunt op elk moment stoppen, zonder reden. Wij bewaren de antwoorden die u hebt gegeven, of wij wissen ze. "
            * 3,
        ),
        (
            "pt",
            "Pode parar a qualquer momento, sem dar uma razão. Guardamos as respostas que nos deu até esse momento. " * 3,
        ),
        (
            "it",
            "Può smettere in qualsiasi momento, senza dare una ragione. Conserviamo le risposte date fino a quel momento. "
            * 3,
        ),
        ("da", "De kan stoppe når som helst uden at give en grund. Vi gemmer de svar, som De har givet os for dette. " * 3),
    ],
)
def test_languages_that_are_not_known_are_not_taken_for_known_ones(language: str, text: str, texts: Texts) -> None:
    assert [*untranslated(language, [Part("consent.md", 1, text)])] == []
    (found,) = untranslated(language, [Part("consent.md", 1, text + "\n\n" + ENGLISH)])
    assert (found.line, "English" in found.sentence) == (3, True)


def test_a_page_of_ones_own_in_english_is_named(texts: Texts) -> None:
    assert text_warnings(with_page(german(texts), "consent", ENGLISH)) == [
        "consent.md, line 1: still in English, but its language is 'de'"
    ]


def test_pages_translated_without_their_labels_are_named(texts: Texts) -> None:
    assert text_warnings(with_page(texts, "instructions", GERMAN)) == [
        "instructions.md, line 1: still in German, but its language is 'en'"
    ]
    assert text_warnings(with_page(texts, "instructions", CHINESE)) == [
        "instructions.md: does not look like English, but its language is 'en'"
    ]


LINKS = {
    "https://www.uni-bonn.de/ethik?x=1#y": "",
    "https://psych.uni.edu:8443/a": "",
    "mailto:lab@uni-bonn.de": "",
    "#top": "leads nowhere",
    "consent.pdf": "is not a link",
    "javascript:alert(1)": "is not a link",
    "ftp://uni.de": "is not a link",
    "https://uni": "is not an address",
    "https://uni bonn.de": "is not an address",
    "https://user@": "is not a",
    "https://[::1": "is not a",
    "https://uni.de:99999/": "is not a",
    "http://uni-bonn.de": "is not encrypted",
    "https://example.org/ethics": "is an example",
    "https://www.example.com": "is an example",
    "mailto:you@example.org": "is an example",
    "mailto:lab": "is not an e-mail address",
    "mailto:a@b@c.de": "is not an e-mail address",
}


@pytest.mark.parametrize("address", LINKS)
def test_links_that_lead_nowhere_are_told(address: str) -> None:
    assert LINKS[address] in wrong_link(address)
    assert (wrong_link(address) == "") == (LINKS[address] == "")


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
