"""The experiment in a browser: what is shown, what is kept, and what comes out of it."""

from explorelab._support.extras import needs

# Every module of the study needs what the extra brings, so it is asked for once, here.
needs("study", "explorelab study")
