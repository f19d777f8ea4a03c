"""Writes page/openapi.json, from which the page's types of requests and answers are made (`npm run types`).

The file is committed, because packages are built without FastAPI. With --check it is only compared, and nothing is written.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent.parent / "page" / "openapi.json"


def interface() -> str:
    """The interface of a study and of a laboratory as OpenAPI text, whatever the order of the routes."""
    with tempfile.TemporaryDirectory() as folder:
        told, more = of_study(Path(folder, "study")), of_laboratory(Path(folder, "laboratory"))
    told["paths"] = dict(sorted({**told["paths"], **more["paths"]}.items()))
    told["components"]["schemas"] = joined(told["components"]["schemas"], more["components"]["schemas"])
    told = {**without_names(told), "info": {"title": "explorelab study", "version": "1"}}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def of_study(folder: Path) -> dict[str, Any]:
    """The interface of a study, which is the same for every study."""
    from explorelab.study.config.start_study import init_study
    from explorelab.study.config.study_folder import load_study
    from explorelab.study.database.store import open_store
    from explorelab.study.server.application import create_app

    init_study(folder)
    study = load_study(folder)
    store = open_store(study.database, folder)
    try:
        return create_app(study, store, admin_password="nobody logs in").openapi()
    finally:
        store.close()


def of_laboratory(folder: Path) -> dict[str, Any]:
    """The laboratory's own interface."""
    from explorelab.laboratory.database.lab_database import open_lab_database
    from explorelab.laboratory.hosting.laboratory_folder import open_folder
    from explorelab.laboratory.server.lab_application import applications
    from explorelab.laboratory.server.laboratory import Laboratory

    laboratory = open_folder(folder)
    database = open_lab_database(laboratory.database, folder)
    try:
        return applications(Laboratory(laboratory, database, time.time))[0].openapi()
    finally:
        database.close()


def joined(schemas: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The types of both, sorted; a name that both use must be one type."""
    different = [name for name in schemas.keys() & more.keys() if schemas[name] != more[name]]
    if different:
        sys.exit(f"the study and the laboratory have different types called {', '.join(sorted(different))}: rename one.")
    return dict(sorted({**schemas, **more}.items()))


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
