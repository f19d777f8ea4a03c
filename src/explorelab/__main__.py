"""`python -m explorelab`: the command line where the command is not on the path."""

from explorelab.cli.app import main

if __name__ == "__main__":
    main()
