#!/usr/bin/env bash
# Grades /grade/student and writes /grade/results/results.json. A submission without a grade by no fault of the student's is
# not gradable, which costs them no attempt.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${GRADE:-/grade}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

status=0
"$here/../grade-one.sh" "$root/student" "$results" prairielearn || status=$?
if [ "$status" -ne 0 ] && [ "$status" -ne 4 ]; then
    exit "$status"
fi
mkdir -p "$root/results"
cp "$results"/prairielearn/*.json "$root/results/results.json"
