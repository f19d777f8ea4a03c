"""Pictures: by what is in them, not by what they are called; drawn anew, so that nothing but the picture is kept."""

from __future__ import annotations

import io
import re
import warnings

from explorelab.study.database.refusals import invalid
from explorelab.study.session.pages.picture_files import MOST_BYTES

LARGEST_BYTES = 5_000_000
LARGEST_SIDE = 4000
KINDS = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "GIF": ".gif"}
"""What may be uploaded, and what its name ends in. Drawings in SVG are programs, and are refused."""
_STEM = re.compile(r"[^A-Za-z0-9_-]+")


def redrawn(name: str, data: bytes) -> tuple[str, bytes]:
    """The name and the content under which a picture is kept. Takes a while for large ones: not for the event loop."""
    from PIL import Image, UnidentifiedImageError

    if len(data) > LARGEST_BYTES:
        raise invalid(f"A picture may have at most {LARGEST_BYTES // 1_000_000} MB, got {len(data) / 1e6:.1f}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=tuple(KINDS)) as picture:
                kind = str(picture.format)
                if max(picture.size) > LARGEST_SIDE:
                    raise invalid(f"A picture may have at most {LARGEST_SIDE} pixels a side, got {picture.size}.")
                fresh = picture.convert("RGB") if kind == "JPEG" else picture.convert("RGBA")
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombWarning,
        Image.DecompressionBombError,
    ):
        raise invalid("This is not a picture that can be used: upload a PNG, JPEG, WebP or GIF file.") from None
    out = io.BytesIO()
    kept = "JPEG" if kind == "JPEG" else "PNG"
    fresh.save(out, kept, **({"quality": 90} if kept == "JPEG" else {"optimize": True}))
    if out.tell() > MOST_BYTES:
        size = f"{out.tell() / 2**20:.1f} MiB"
        raise invalid(
            f"As {kept} this picture has {size}, and at most {MOST_BYTES // 2**20} MiB are shown: make it smaller."
        )
    return f"pictures/{_named(name)}{KINDS[kept]}", out.getvalue()


def _named(name: str) -> str:
    """The name without folders and endings, in letters that every address can have."""
    stem = _STEM.sub("-", re.split(r"[/\\]", name)[-1].rpartition(".")[0] or name).strip("-")[:60]
    return stem or "picture"
