# SPDX-License-Identifier: GPL-2.0-only
"""What `./x` does, one small module per subject.

Reading order: `cli` (the verbs), `setup` (system packages, the matched server, its headers), `build`,
`instance` and `serve` (a private server in the foreground), `demo` (its data), `parts` (what `./x test`
runs), `soaks` (the same for long) and `check` (the project's own rules).
"""
