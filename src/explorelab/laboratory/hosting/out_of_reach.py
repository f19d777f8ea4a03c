"""What somebody is told whose link leads to a study that is archived, was never here, or cannot be served."""

from __future__ import annotations

from starlette.types import Scope, Send

from explorelab.study.config.languages import closest_to
from explorelab.study.server.limits.request_limits import answer
from explorelab.study.server.security_headers import API

SAID = {
    "en": (
        "This study is not here at the moment",
        "Its link may be old, or the study may be over. Please ask the researchers.",
    ),
    "de": (
        "Diese Studie ist gerade nicht erreichbar",
        "Der Link ist vielleicht alt, oder die Studie ist zu Ende. Bitte wenden Sie sich an die Forschenden.",
    ),
    "es": (
        "Este estudio no está disponible en este momento",
        "El enlace puede ser antiguo, o el estudio puede haber terminado. Consulte a los investigadores.",
    ),
    "fr": (
        "Cette étude n’est pas disponible pour le moment",
        "Le lien est peut-être ancien, ou l’étude est terminée. Adressez-vous aux chercheurs.",
    ),
}
"""The heading and a sentence, by language: that of the study is not known here."""
PAGE = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{up}static/study.css">
</head>
<body>
<header id="header"></header>
<main id="main"><div class="sheet written"><h1>{title}</h1><p>{sentence}</p></div></main>
</body>
</html>
"""


async def out_of_reach(scope: Scope, send: Send, status: int, error: str) -> None:
    """A page for a browser that opens the link, and JSON for all others."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    if scope["method"] not in ("GET", "HEAD") or "text/html" not in headers.get(b"accept", ""):
        await answer(send, status, error, "This study cannot be reached at the moment; ask the researchers.")
        return
    language = closest_to(tuple(SAID), "", headers.get(b"accept-language", ""))
    title, sentence = SAID[language]
    # Relative, so that it is right behind every proxy.
    up = "../" * (scope["path"].count("/") - 1)
    body = PAGE.format(language=language, title=title, sentence=sentence, up=up).encode()
    about = {**API, "Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
    sent = [(name.lower().encode(), value.encode()) for name, value in about.items()]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
