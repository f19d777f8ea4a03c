"""What is wrong or doubtful in a study's folder, with file and line, and how long the study takes."""
