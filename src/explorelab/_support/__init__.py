"""What every part of the package uses: checks, files, progress, words for errors."""
