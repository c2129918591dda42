-- The hosts of each alert since it opened, with the names that they reported. An alert may outlive its hosts.
CREATE TABLE notice_hosts (
  notice_id int NOT NULL REFERENCES notices ON DELETE CASCADE,
  agent_id uuid NOT NULL,
  host text NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (notice_id, agent_id)
);
CREATE INDEX notice_hosts_newest ON notice_hosts (notice_id, since DESC, agent_id);
CREATE INDEX notice_hosts_agent ON notice_hosts (agent_id);
ALTER TABLE notices ADD COLUMN host_count int NOT NULL DEFAULT 0;
-- The list begins with the most severe alerts, then the newest.
CREATE INDEX notices_severity ON notices (severity, last_at DESC, notice_id DESC) WHERE dismissed_at IS NULL;
-- A finding that may end within a minute is reported only if it lasts.
ALTER TABLE notice_sightings ADD COLUMN is_settling boolean NOT NULL DEFAULT false;

INSERT INTO notice_hosts (notice_id, agent_id, host, since)
SELECT n.notice_id, e.agent_id, max(regexp_replace(e.entity, ' \([^()]*\)$', '')), min(e.created_at)
FROM notices n CROSS JOIN unnest(n.events) u(event_id) JOIN events e ON e.event_id = u.event_id
WHERE n.dismissed_at IS NULL AND n.kind <> 'health' AND e.agent_id IS NOT NULL
GROUP BY n.notice_id, e.agent_id;

-- Open alerts about attack tools were one per host and model. They become one per model.
CREATE TEMPORARY TABLE merged ON COMMIT DROP AS
SELECT n.notice_id, right(n.subject, 9) AS model,
  first_value(n.notice_id) OVER (PARTITION BY right(n.subject, 9) ORDER BY n.turn DESC, n.notice_id DESC) AS kept
FROM notices n
WHERE n.kind = 'attackTool' AND n.dismissed_at IS NULL AND n.subject ~ ' [0-9A-F]{4}:[0-9A-F]{4}$';
INSERT INTO notice_hosts (notice_id, agent_id, host, since)
SELECT m.kept, h.agent_id, max(h.host), min(h.since)
FROM merged m JOIN notice_hosts h ON h.notice_id = m.notice_id WHERE m.notice_id <> m.kept
GROUP BY m.kept, h.agent_id
ON CONFLICT DO NOTHING;
UPDATE notices n SET subject = g.model, entity_type = 'Model', entity_id = g.model, severity = g.severity,
  link = '/peripherals?vid=' || split_part(g.model, ':', 1) || '&pid=' || split_part(g.model, ':', 2),
  title = regexp_replace(n.title, '^Attack tool (.*) \([0-9A-F]{4}:[0-9A-F]{4}\) on .*$', '\1 (attack tool)'),
  created_at = g.created_at, count = g.count, hashtags = g.tags, events = g.events
FROM (
  SELECT m.kept, m.model, min(o.severity) AS severity, min(o.created_at) AS created_at, sum(o.count)::int AS count,
    coalesce((SELECT left(string_agg(DISTINCT t.tag, ','), 4096) FROM merged k JOIN notices q ON q.notice_id = k.notice_id,
      unnest(string_to_array(q.hashtags, ',')) t(tag) WHERE k.kept = m.kept AND t.tag <> ''), '') AS tags,
    (SELECT (array_agg(DISTINCT e.id ORDER BY e.id DESC))[1:20] FROM merged k JOIN notices q ON q.notice_id = k.notice_id,
      unnest(q.events) e(id) WHERE k.kept = m.kept) AS events
  FROM merged m JOIN notices o ON o.notice_id = m.notice_id GROUP BY m.kept, m.model) g
WHERE n.notice_id = g.kept;
DELETE FROM notices n USING merged m WHERE n.notice_id = m.notice_id AND m.notice_id <> m.kept;

UPDATE notices n SET host_count = h.hosts
FROM (SELECT notice_id, count(*)::int AS hosts FROM notice_hosts GROUP BY notice_id) h WHERE n.notice_id = h.notice_id;
UPDATE notices n SET title = n.title || ' on ' || CASE n.host_count WHEN 1 THEN h.host ELSE n.host_count || ' hosts' END
FROM (SELECT notice_id, max(host) AS host FROM notice_hosts GROUP BY notice_id) h
WHERE n.notice_id = h.notice_id AND n.kind = 'attackTool' AND n.title LIKE '%(attack tool)';

-- Devices that are not on the allowlist were reported for hosts that only monitor, too. What armed hosts let work is
-- reported again.
DELETE FROM notice_pins p USING notices n WHERE p.notice_id = n.notice_id AND n.kind = 'whitelistViolation';
UPDATE notices SET dismissed_at = last_at, dismissed_by = 'system' WHERE kind = 'whitelistViolation' AND dismissed_at IS NULL;
