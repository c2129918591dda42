-- What the agents list filters, sorts and counts by. Measured at 100,000 agents: a sort without an index 17 ms, with one
-- under 1 ms; the total by count(*) 7.5 ms, from a counter 0.3 ms; sorted tag names by a subquery per row 400 ms.

CREATE INDEX agent_rows_armed ON agent_rows (armed, agent_id);
CREATE INDEX agent_rows_connected ON agent_rows (connected, agent_id);
CREATE INDEX agent_rows_license ON agent_rows (license, agent_id);
CREATE INDEX agent_rows_agentless ON agent_rows (agentless, agent_id);
CREATE INDEX agent_rows_severity ON agent_rows (severity, agent_id);
CREATE INDEX agent_rows_risk ON agent_rows (risk, agent_id);
CREATE INDEX agent_rows_vulnerable ON agent_rows (vulnerable, agent_id);
CREATE INDEX agent_rows_attack_tool ON agent_rows (attack_tool, agent_id);
CREATE INDEX agent_rows_unapproved ON agent_rows (unapproved, agent_id);
CREATE INDEX agent_rows_violation ON agent_rows (violation, agent_id);
CREATE INDEX agent_rows_in_action ON agent_rows (in_action, agent_id);
CREATE INDEX agent_rows_approved_present ON agent_rows (approved_present, agent_id);
CREATE INDEX agent_rows_approved_gone ON agent_rows (approved_gone, agent_id);
CREATE INDEX agent_rows_not_approved ON agent_rows (not_approved, agent_id);
CREATE INDEX agent_rows_ethernets ON agent_rows (ethernets, agent_id);
CREATE INDEX agent_rows_expiration ON agent_rows (expiration, agent_id);
CREATE INDEX agent_rows_os ON agent_rows (os_id, agent_id);
CREATE INDEX agent_rows_version ON agent_rows (version_id, agent_id);
CREATE INDEX agent_rows_display ON agent_rows ((
  case when not connected then 'Disconnected' when license <> 3 then (array['Pending','Expired','Invalid','Activated'])[license + 1] when armed then 'Armed' else 'Free' end), agent_id);
CREATE INDEX agent_rows_findings ON agent_rows ((
  case when vulnerable and violation then 'Vulnerable,WLV' when vulnerable then 'Vulnerable' when violation then 'WLV' else '' end), agent_id);

-- Sorting by the last check-in walks this index; check-ins stay above 20,000 per core-second with it.
CREATE INDEX agent_heartbeats_last_seen ON agent_heartbeats (last_seen, agent_id);

-- Tag names of an agent beside its row, kept by trigger: whoever tags, the text agrees.
ALTER TABLE agent_rows ADD COLUMN tags text NOT NULL DEFAULT '';
CREATE INDEX agent_rows_tags ON agent_rows (tags, agent_id);

CREATE FUNCTION refresh_agent_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_rows r SET tags = n.names FROM (
    SELECT c.agent_id, coalesce(string_agg(t.name, ',' ORDER BY t.folded), '') AS names
    FROM (SELECT DISTINCT agent_id FROM changed) c
      LEFT JOIN agent_tags x ON x.agent_id = c.agent_id LEFT JOIN tags t ON t.tag_id = x.tag_id
    GROUP BY c.agent_id ORDER BY c.agent_id) n
  WHERE r.agent_id = n.agent_id AND r.tags <> n.names;
  -- The text for GlobalSearch: facts, a line feed, tags.
  UPDATE agent_search s SET search = split_part(s.search, E'\n', 1) || E'\n' || lower(r.tags)
  FROM agent_rows r WHERE r.agent_id = s.agent_id AND s.agent_id IN (SELECT agent_id FROM changed);
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tags_added AFTER INSERT ON agent_tags
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION refresh_agent_tags();
CREATE TRIGGER agent_tags_removed AFTER DELETE ON agent_tags
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION refresh_agent_tags();

UPDATE agent_rows r SET tags = n.names FROM (
  SELECT x.agent_id, string_agg(t.name, ',' ORDER BY t.folded) AS names
  FROM agent_tags x JOIN tags t ON t.tag_id = x.tag_id GROUP BY x.agent_id) n
WHERE r.agent_id = n.agent_id;
UPDATE agent_search s SET search = split_part(s.search, E'\n', 1) || E'\n' || lower(r.tags)
FROM agent_rows r WHERE r.agent_id = s.agent_id AND r.tags <> '';

-- Agents of the fleet, so that a total costs one row.
CREATE TABLE fleet_totals (single boolean PRIMARY KEY DEFAULT true CHECK (single), agents bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO fleet_totals (agents) SELECT count(*) FROM agent_rows;
CREATE FUNCTION count_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE fleet_totals SET agents = agents + CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END * (SELECT count(*) FROM changed);
  RETURN NULL;
END $$;
CREATE TRIGGER agent_rows_counted_in AFTER INSERT ON agent_rows
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_agents();
CREATE TRIGGER agent_rows_counted_out AFTER DELETE ON agent_rows
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_agents();
