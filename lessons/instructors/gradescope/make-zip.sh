#!/usr/bin/env bash
# Writes autograder.zip, to be uploaded to Gradescope: the two scripts, the settings, and the course as it is committed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$PWD/autograder.zip}
cd "$here/../../.."
git archive --format=zip -o "$out" --add-file="$here/setup.sh" --add-file="$here/run_autograder" \
    --add-file="$here/settings.sh" --prefix=cudalab/ HEAD
echo "$out"
