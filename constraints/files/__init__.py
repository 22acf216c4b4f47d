"""Problems, right-hand sides, options and reports as JSON files: data, never code (`docs/problem_files.md`)."""
