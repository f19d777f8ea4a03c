"""Every text of a new study in every language: the same keys and placeholders, nothing missing, nothing left in English."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorelab.errors import InputError
from explorelab.study.config.checking.check_folder import check_folder
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import ENGLISH, LANGUAGES, PAGES, TEMPLATES, template_labels

pytestmark = pytest.mark.quick

OTHERS = [language for language in LANGUAGES if language != "en"]
FILES = sorted(path.relative_to(ENGLISH).as_posix() for path in ENGLISH.rglob("*") if path.is_file())
SAME = {"Total", "Points", "Details", "Pause", "Option {number}", "Option 1", "Option 2", "Option 3", "Option 4"}
"""Words that are the same in two of the languages."""
NOT_READ = {"id", "kind", "correct", "name", "file", "picture", "language", "direction"}
"""Settings of forms and quizzes that nobody reads: the same in all languages."""


def text_of(language: str, name: str) -> str:
    return (TEMPLATES / language / name).read_text(encoding="utf-8")


def placeholders(text: str) -> Counter[str]:
    return Counter(re.findall(r"\{[^{}\n]*\}", text))


def leaves(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Every value of a TOML file, with the keys that lead to it."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*at, key))
    else:
        yield at, value


def test_there_are_the_four_languages() -> None:
    assert set(LANGUAGES) >= {"en", "de", "es", "fr"}


@pytest.mark.parametrize("language", OTHERS)
def test_every_file_is_there_in_every_language_and_no_other(language: str) -> None:
    folder = TEMPLATES / language
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == FILES


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".md")])
def test_a_page_has_the_parts_and_placeholders_of_the_english_one(name: str, language: str) -> None:
    english, other = text_of("en", name), text_of(language, name)
    assert placeholders(other) == placeholders(english)
    for part in (r"^#+ ", r"^- ", r"\*\*\[[^]]{3,}\]\*\*", r"!\[[^]]*\]\([^)]*\)"):
        counts = [len(re.findall(part, text, re.MULTILINE)) for text in (english, other)]
        assert counts[0] == counts[1], part
    lines = {line.strip() for line in english.splitlines() if len(re.findall(r"[^\W\d_]{2,}", line)) >= 3}
    assert [line for line in other.splitlines() if line.strip() in lines] == []


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".toml")])
def test_a_file_of_settings_has_the_same_keys_and_placeholders_and_no_english(name: str, language: str) -> None:
    english, other = (dict(leaves(tomllib.loads(text_of(each, name)))) for each in ("en", language))
    if name == "texts.toml":
        assert (other.pop(("language",)), other.pop(("title",)) != "") == (language, True)
        english.pop(("language",))
    assert list(other) == list(english)
    for at, text in english.items():
        if not isinstance(text, str) or NOT_READ & set(at[-1:]):
            assert other[at] == text, at
            continue
        translated = other[at]
        assert isinstance(translated, str)
        assert placeholders(translated) == placeholders(text), at
        words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\{[^{}]*\}", "", text))
        assert translated != text or not words or text in SAME or at == ("direction",), f"{at} is still in English"


@pytest.mark.parametrize("advice", [False, True])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_study_in_each_language_has_nothing_in_another(tmp_path: Path, language: str, advice: bool) -> None:
    init_study(tmp_path / "study", advice=advice, languages=[language])
    study = load_study(tmp_path / "study")
    assert study.texts.language == language
    assert study.languages == (language,)
    assert dict(study.texts.labels) == dict(template_labels(language))
    assert [each for each in check_folder(tmp_path / "study").findings if each.level != "to fill in"] == []
    assert (study.title == "A game of squares") == (language == "en")
    assert ("advice" in (tmp_path / "study" / "study.toml").read_text(encoding="utf-8").split("[database]")[0]) == advice
    for page in ("consent", "instructions") if advice else ():
        more = text_of(language, f"advice/{page}.md").strip()
        assert more in study.texts.pages[page]
        # It stands before a heading, or before the next section's: never in the middle of a paragraph.
        assert re.search(re.escape(more) + r"\n\n## ", study.texts.pages[page])


def test_numbers_and_money_in_pages_follow_the_language(tmp_path: Path) -> None:
    init_study(tmp_path / "study", languages=LANGUAGES)
    study = load_study(tmp_path / "study")
    written = {language: study.speaking(language).texts.pages["instructions"] for language in LANGUAGES}
    assert "0.0005 USD" in written["en"]
    for language in OTHERS:
        assert "0,0005 USD" in written[language], language
        assert "0.0005" not in written[language]


def test_a_study_in_several_languages(tmp_path: Path) -> None:
    made = init_study(tmp_path / "study", languages=["fr", "en", "de"])
    assert {path.parent.name for path in made} == {"study", "fr", "en", "de"}
    study = load_study(tmp_path / "study")
    assert study.languages == ("fr", "en", "de")
    assert study.texts.language == "fr"
    assert [study.speaking(each).texts.language for each in ("de", "en", "fr", "it", None)] == ["de", "en", "fr", "fr", "fr"]
    titles = [study.speaking(each).title for each in ("fr", "en", "de")]
    assert titles == ["Un jeu de cases", "A game of squares", "Ein Spiel mit Feldern"]
    assert {name for name in study.files if name.startswith("de/")} == {f"de/{page}.md" for page in PAGES} | {
        "de/texts.toml"
    }


def test_a_study_in_one_language_has_its_files_side_by_side(tmp_path: Path) -> None:
    init_study(tmp_path / "study", languages=["de"])
    assert {path.name for path in (tmp_path / "study").iterdir()} == {
        "study.toml",
        "texts.toml",
        *(f"{p}.md" for p in PAGES),
    }


@pytest.mark.parametrize(
    ("languages", "sentence"),
    [
        (["en", "xx"], "unknown language 'xx'"),
        (["de", "de"], "each language must be named once, got 'de' twice"),
        ([], "expected at least one language"),
    ],
)
def test_languages_that_there_are_not(tmp_path: Path, languages: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        init_study(tmp_path / "study", languages=languages)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('languages = ["en", "it"]', "[study] languages names 'it', but there is no folder it"),
        ('languages = ["en", "../en"]', '[study] languages must be codes such as "en" or "pt-BR"'),
        ("languages = []", "[study] languages must have at least one name"),
        ('languages = "en"', "[study] languages must be a list of names"),
        ('languages = ["en", "en"]', "must list each name once, got 'en' twice"),
    ],
)
def test_languages_of_a_study_that_cannot_be_read(tmp_path: Path, line: str, sentence: str) -> None:
    init_study(tmp_path / "study", languages=["en", "de"])
    file = tmp_path / "study" / "study.toml"
    file.write_text(
        re.sub(r"^languages = .*$", line, file.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        load_study(tmp_path / "study")
    assert sentence in str(caught.value)


def test_the_texts_of_a_folder_are_in_the_language_it_is_named_for(tmp_path: Path) -> None:
    init_study(tmp_path / "study", languages=["en", "de"])
    file = tmp_path / "study" / "de" / "texts.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('language = "de"', 'language = "fr"'), encoding="utf-8")
    with pytest.raises(InputError, match="language must be that of the folder, 'de', got 'fr'"):
        load_study(tmp_path / "study")
