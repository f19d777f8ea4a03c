"""What is not translated: labels and paragraphs in another language than the rest, and versions whose parts differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from explorelab._support.counted import counted
from explorelab.study.config.checking.findings import Finding
from explorelab.study.config.checking.spoken import Paragraph, main_language, paragraphs, spoken, words_of
from explorelab.study.config.checking.written import Part, parts_of
from explorelab.study.config.design import Texts
from explorelab.study.config.texts import LANGUAGES, LATER, TEMPLATES, own_name, template_labels

NAMED = 3
"""Labels named in a finding; the others are only counted."""
FEW_WORDS = 30
"""Pages with fewer words are too short to tell that they are not English."""
ENGLISH_WORDS = frozenset({"the", "and", "of", "to", "you", "your", "is", "are", "will"})
"""Every fifth word of an English page is one of these; in other languages hardly any."""
MOST_FOREIGN = 0.05
SURELY = 3
"""Different English words that show a paragraph of a page in an unknown language to be English."""


def untranslated(declared: str, parts: Iterable[Part]) -> Iterator[Finding]:
    """Pages and forms that are in another language than texts.toml says."""
    for part in parts:
        yield from _part(declared, part)


def untranslated_labels(texts: Texts, file: str) -> Iterator[Finding]:
    """Labels that are in another language than texts.toml says."""
    found: dict[str, list[str]] = {}
    for name, text in texts.labels.items():
        if language := _language_of_label(name, text, texts.language):
            found.setdefault(language, []).append(name)
    for language, names in found.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        sentence = f"these labels are still in {in_words(language)}: {', '.join(names[:NAMED])}{more}"
        yield _doubt(file, None, f"language is {texts.language!r}, but {sentence}")


def _language_of_label(name: str, text: str, declared: str) -> str | None:
    """The language of a label, if it is another than the texts': that of a template, or of its words."""
    own = main_language(declared)
    # Some words are the same: "Total" is French too.
    same = template_labels(own).get(name) if own in LANGUAGES else None
    if not _has_words(text) or text == same:
        return None
    copied = next((each for each in ("en", *LANGUAGES) if each != own and template_labels(each).get(name) == text), None)
    return copied or _other(text, own)


def _other(text: str, own: str) -> str | None:
    """Another language that the text is clearly in."""
    found = spoken(text)
    if found is None or found == own:
        return None
    if own in LANGUAGES:
        return found
    # Unknown languages share words with those known: only much English is told from them.
    return found if found == "en" and len(set(words_of(text)) & ENGLISH_WORDS) >= SURELY else None


def _part(declared: str, part: Part) -> Iterator[Finding]:
    own = main_language(declared)
    found: dict[str, list[Paragraph]] = {}
    for each in paragraphs(part.text):
        if language := _copied(part.page, each.text, own) or _other(each.text, own):
            found.setdefault(language, []).append(each)
    for language, those in found.items():
        rest = f" (and {counted(len(those) - 1, 'more paragraph')})" if len(those) > 1 else ""
        line = part.at(those[0].line)
        yield _doubt(part.file, line, f"still in {in_words(language)}{rest}, but its language is {declared!r}")
    if own == "en" and part.is_page and not found and _is_foreign(part.text):
        yield _doubt(part.file, None, f"does not look like English, but its language is {declared!r}")


def _copied(page: str, text: str, own: str) -> str | None:
    """The language of a template that has this paragraph too."""
    return next((each for each in LANGUAGES if each != own and _plain(text) in _sentences(page, each)), None)


@cache
def _sentences(page: str, language: str) -> frozenset[str]:
    """Paragraphs of a template with enough words to be recognisably in its language, and no placeholders."""
    file = TEMPLATES / language / f"{page}.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return frozenset(
        _plain(each.text) for each in paragraphs(text) if len(words_of(each.text)) >= 4 and "{" not in each.text
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _has_words(text: str) -> bool:
    return re.search(r"[^\W\d_]{2}", re.sub(r"\{[^{}]*\}", "", text)) is not None


def _is_foreign(text: str) -> bool:
    """Whether a page that is long enough has hardly any English words."""
    words = words_of(text)
    # Chinese and Japanese have no spaces between words: there the letters count.
    long_enough = len(words) >= FEW_WORDS or sum(map(len, words)) >= 4 * FEW_WORDS
    return long_enough and sum(word in ENGLISH_WORDS for word in words) < MOST_FOREIGN * len(words)


def in_words(language: str) -> str:
    """The English name of a language that studies are offered in; of others their code."""
    return {"en": "English", "de": "German", "es": "Spanish", "fr": "French"}.get(language, repr(own_name(language)))


# Several languages ----------------------------------------------------------------------------------------------------

PARTS = {
    "heading": re.compile(r"^#+ ", re.MULTILINE),
    "list item": re.compile(r"^ *(?:[-*+]|\d+[.)]) ", re.MULTILINE),
    "picture": re.compile(r"!\[[^][\n]*\]\("),
    "link": re.compile(r"(?<!!)\[[^][\n]+\]\("),
}
_PLACEHOLDER = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")


def differing(versions: Mapping[str, Texts]) -> Iterator[Finding]:
    """What one language of a study has and another lacks; the usual language comes first."""
    (usual, first), *others = versions.items()
    # The title of study.toml is in one of the languages: that one needs none of its own.
    for language in [language for language, texts in versions.items() if not texts.title][1:]:
        file = f"{language}/texts.toml"
        yield _doubt(file, None, f"has no title, so people see the one of study.toml in {language!r} too")
    for language, texts in others:
        theirs = {part.file.partition("/")[2]: part.text for part in parts_of(first, f"{usual}/") if part.is_page}
        for part in parts_of(texts, f"{language}/"):
            name = part.file.partition("/")[2]
            if part.is_page and name in theirs:
                yield from _apart(part, theirs[name], f"{usual}/{name}")


def _apart(part: Part, theirs: str, file: str) -> Iterator[Finding]:
    """Where a page differs from that of the usual language in its parts, or does not differ at all."""
    for has, wanted in _differences(part.text, theirs):
        yield _doubt(part.file, None, f"has {has}, and {file} has {wanted}: is one of them out of date?")
    known = {_plain(each.text) for each in paragraphs(theirs) if len(words_of(each.text)) >= 4}
    those = [each for each in paragraphs(part.text) if _plain(each.text) in known]
    if those:
        yield _doubt(part.file, those[0].line, f"the same text as in {file}: is it still to be translated?")


def _differences(mine: str, theirs: str) -> Iterator[tuple[str, str]]:
    """What two versions of a page have that should be the same, and is not."""
    for name, pattern in PARTS.items():
        n, wanted = (len(pattern.findall(text)) for text in (mine, theirs))
        if n != wanted:
            yield counted(n, name), str(wanted)
    came, wanted_names = (set(_PLACEHOLDER.findall(text)) for text in (mine, theirs))
    if came != wanted_names:
        yield "the placeholders " + _braced(came - wanted_names), _braced(wanted_names - came)


def _braced(names: set[str]) -> str:
    """Names that one of two has alone."""
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "none that the other lacks"


def lacking(written: Mapping[str, str], language: str, file: str) -> Iterator[Finding]:
    """Labels that are not in texts.toml, so that English ones are shown; those of the template are fine."""
    if main_language(language) in LANGUAGES:
        return
    names = [name for name in LATER if name not in written]
    if names:
        rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield _doubt(file, None, f"lacks labels that are then shown in English: {', '.join(names[:NAMED])}{rest}")


def _doubt(file: str, line: int | None, sentence: str) -> Finding:
    return Finding(file, line, "doubtful", "language", sentence)


def foreign(passages: Sequence[str], language: str) -> list[str]:
    """Those of the passages that are clearly in another language than this one."""
    return [each for each in passages if _other(each, main_language(language))]
