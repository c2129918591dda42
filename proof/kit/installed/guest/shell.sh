#!/bin/bash
# Runs scripts from the virtual port. Each line is a script: its number and its text in base64. The answer is the number,
# the exit code and the output.
exec <>/dev/vport0p1 >&0
echo ready
while read -r number script; do
  base64 -d <<<"$script" >/run/script
  bash /run/script >/run/output 2>&1 </dev/null
  code=$?
  echo "$number $code $(base64 -w 0 </run/output)"
done
