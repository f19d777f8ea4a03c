"""In which of the study's languages a page is shown: the one its link names, one the browser prefers, or the usual one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explorelab.study.config.design import Study

LANG = "lang"
"""The parameter of a link that names a language."""
MOST = 20
"""Languages of a browser that are looked at."""


def language_for(study: Study, query: Mapping[str, str], accepted: str) -> str:
    """The language for someone who opens the page; `accepted` is the browser's header Accept-Language."""
    return closest_to(study.languages, query.get(LANG, ""), accepted)


def closest_to(languages: Sequence[str], wish: str, accepted: str) -> str:
    """Of these languages the one wished for, one that the browser prefers, or the first."""
    if len(languages) == 1:
        return languages[0]
    for code in (wish, *_wishes(accepted)):
        if found := _closest(code, languages):
            return found
    return languages[0]


def _wishes(accepted: str) -> list[str]:
    """The languages of an Accept-Language header, the most wanted first."""
    wishes = []
    for number, part in enumerate(accepted.split(",")[:MOST]):
        code, _, weight = part.partition(";")
        try:
            wanted = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            wanted = 0.0
        if 0 < wanted <= 1:
            wishes.append((-wanted, number, code.strip()))
    return [code for _, _, code in sorted(wishes)]


def _closest(wish: str, languages: Sequence[str]) -> str:
    """The language itself or, failing that, one that differs in its region alone; empty if there is none."""
    wish = wish.strip().lower().replace("_", "-")
    same = [language for language in languages if language.lower() == wish]
    near = [language for language in languages if _main(language) == _main(wish)]
    return next(iter(same or near), "")


def _main(language: str) -> str:
    return language.lower().partition("-")[0]
