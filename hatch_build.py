"""The pages of the study server go into every wheel and source distribution, built first where need be."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT = "EXPLORELAB_WITHOUT_PAGE"


class PageHook(BuildHookInterface):  # type: ignore[misc]
    """Builds the pages before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages, unless they are there; end in one sentence if that cannot be done."""
        # An editable installation uses the checkout, where `make page` builds them.
        if version == "editable" or os.environ.get(WITHOUT):
            return
        page = runpy.run_path(str(Path(self.root) / "scripts" / "page.py"))
        if page["is_built"]():
            return
        try:
            page["build"]()
        except page["PageError"] as error:
            self.app.abort(f"explorelab: {error}, install a wheel, or set {WITHOUT}=1 to leave the study's pages out.")
