"""A study's data as files, after Psych-DS."""
