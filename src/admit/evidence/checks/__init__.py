"""The checks that need no judge: a file for each group of rules, each with `check(page)`."""
