# SPDX-License-Identifier: GPL-2.0-only
"""What `./x` does, one small module per subject.

Reading order: `cli` (the verbs), `setup` (what they need: `machine`, `python_layers`, `server_fetch` with
`server_series`, `private_apt` and `server_runtime`), `build`, `instance` and `serve` (a private server in the
foreground), `demo` (its data), `parts` and `reports` (what `./x test` runs and counts), `soaks` (the same for
long), `check`, `tidy` and `rules` (the project's own rules).
"""
