"""What a study is, from the files of its folder: design, texts, landscapes."""
