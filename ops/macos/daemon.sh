#!/bin/sh
# launchd restarts the agent unless this script exits with 0. A refused token (2) or a revocation (3) needs a person.
# The log of this start. The state directory has the earlier ones.
exec 2>/var/log/portcullis-agent.log
trap 'kill -TERM "$agent" 2>/dev/null' TERM INT
/opt/portcullis-agent/portcullis-agent &
agent=$!
wait "$agent"
code=$?
# A signal interrupts wait. The agent stops within two seconds.
while kill -0 "$agent" 2>/dev/null; do wait "$agent"; code=$?; done
case "$code" in 2 | 3) exit 0 ;; esac
exit "$code"
