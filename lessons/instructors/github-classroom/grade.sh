#!/usr/bin/env bash
# Grades the repository in the folder SUBMISSION and leaves the results in the environment of the steps that follow, where
# Classroom's reporter looks for them: grade.sh SUBMISSION. What was found goes to the log.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Nothing that a student's code prints may be taken for a command to the workflow.
mute=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$mute"
status=0
"$here/../grade-one.sh" "$1" "$results" github-classroom || status=$?
if [ "$status" -eq 0 ]; then
    jq -r '.problem // empty, .notes[], (.exercises[] | "\n\(.exercise): \(.status), \(.score) of \(.max_score) points", (.message // empty),
        (.checks[] | select(.status == "failed") | "\n✗ \(.name)",
            (.message // empty), (.findings[] | "  \(.rule) at \(.file):\(.line)\n  \(.message)\n  Fix: \(.fix)")))' "$results"/students/*.json
fi
echo "::$mute::"
[ "$status" -eq 0 ] || exit "$status"
jq -r 'to_entries[] | "\(.key)=\(.value)"' "$results"/github-classroom/*.json >>"$GITHUB_ENV"
