"""Several studies on one server, for researchers with accounts: created, edited, run and watched in the browser."""

from explorelab._support.extras import needs

# Every module of the laboratory needs what a study needs, so it is checked once, here.
needs("study", "explorelab study lab")
