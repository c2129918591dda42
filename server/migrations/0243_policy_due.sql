-- Hosts that have not fetched the newest rules. The filter of the list of hosts read all heartbeats to find them.
CREATE INDEX agent_heartbeats_policy_due ON agent_heartbeats (agent_id) WHERE policy_due;
