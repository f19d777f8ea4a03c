"""The experiment in the browser: the study's design, server, database, exports and payments."""

from explorelab._support.extras import needs

# Every module of the study needs this extra, so it is checked once, here.
needs("study", "explorelab study")
