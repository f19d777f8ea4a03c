"""Writes page/openapi.json, from which the page's types of requests and answers are made (`npm run types`).

The file is committed, because packages are built without FastAPI. With --check it is only compared, and nothing is written.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent.parent / "page" / "openapi.json"


def interface() -> str:
    """The server's interface as OpenAPI text; the same for every study and whatever the order of the routes."""
    from explorelab.study.config.start_study import init_study
    from explorelab.study.config.study_folder import load_study
    from explorelab.study.database.store import open_store
    from explorelab.study.server.application import create_app

    with tempfile.TemporaryDirectory() as folder:
        init_study(Path(folder, "study"))
        study = load_study(Path(folder, "study"))
        store = open_store(study.database, Path(folder))
        try:
            told = create_app(study, store, admin_password="nobody logs in").openapi()
        finally:
            store.close()
    told["paths"] = dict(sorted(told["paths"].items()))
    told = {**without_names(told), "info": {"title": "explorelab study", "version": "1"}}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def without_names(part: Any, inside: str = "") -> Any:
    """The part without the titles that FastAPI makes from names of functions and fields, which are not in the interface."""
    if isinstance(part, list):
        return [without_names(each) for each in part]
    if not isinstance(part, dict):
        return part
    # In "properties" these are fields of ours, such as the study's title.
    made = () if inside == "properties" else ("operationId", "summary", "title")
    return {name: without_names(each, name) for name, each in part.items() if name not in made}


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(interface(), encoding="utf-8")
    elif not FILE.is_file() or FILE.read_text(encoding="utf-8") != interface():
        sys.exit("page/openapi.json is not what the server answers now: run `make openapi`, then `npm run check` in page/.")
