-- Links to removed hosts. From now on, the removal of a host removes them.
UPDATE agents a SET possible_duplicates = coalesce(
  (SELECT array_agg(o.agent_id) FROM agents o WHERE o.agent_id = ANY (a.possible_duplicates)), '{}')
WHERE a.possible_duplicates <> '{}';
CREATE INDEX agents_duplicates ON agents (agent_id) WHERE possible_duplicates <> '{}';
-- Connected hosts come before disconnected ones, as their names do.
CREATE INDEX agent_rows_disconnected ON agent_rows ((NOT connected), agent_id);
DROP INDEX agent_rows_connected;
