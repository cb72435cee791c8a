#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command with a TMPDIR of its own: of two mpiruns of Open MPI that start at the same time, one may fail because the
# other has just made the folder of their user.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
TMPDIR=$folder "$@"
