#!/bin/sh
dir=/opt/portcullis-agent
PORTCULLIS_AGENT_CONFIG=${PORTCULLIS_AGENT_CONFIG:-/etc/portcullis-agent/agent.env}
export PORTCULLIS_AGENT_CONFIG
exec "$dir/node" --no-opt --no-maglev --no-sparkplug --optimize-for-size "$dir/agent.cjs" "$@"
