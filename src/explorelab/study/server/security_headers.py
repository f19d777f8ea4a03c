"""The headers of every answer, which protect it from other sites, frames and caches."""

from __future__ import annotations

MTURK = "https://*.mturk.com"
"""The only other site that may frame the participants' page and receive its form; none may frame the researcher's."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "form-action {forms}; base-uri 'none'; frame-ancestors {frames}"
)
EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
PARTICIPANT = {
    **EVERYWHERE,
    "Content-Security-Policy": POLICY.format(forms=f"'self' {MTURK}", frames=f"'self' {MTURK}"),
    # Pages and built files may be cached but must be revalidated each time, so that an upgrade shows at once.
    "Cache-Control": "no-cache",
}
API = {**PARTICIPANT, "Cache-Control": "no-store"}
OF_PICTURES = {
    # The name is made of the content, and nothing in it can do anything, not even when it is opened by itself.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "public, max-age=31536000, immutable",
}
RESEARCHER = {
    **EVERYWHERE,
    "Content-Security-Policy": POLICY.format(forms="'self'", frames="'none'"),
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


def headers_of(path: str) -> dict[str, str]:
    """The headers of an answer at this address."""
    if path.startswith(("/admin", "/lab")):
        return RESEARCHER
    return API if path.startswith(("/api", "/metrics")) else PARTICIPANT
