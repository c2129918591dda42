-- Rules of the policy. A row counts only with its seal, an HMAC by a key outside the database: who can write to the
-- database alone can not allow a device.
CREATE TABLE policy_rules (
  rule_id uuid PRIMARY KEY,
  effect text NOT NULL CHECK (effect IN ('allow', 'deny')),
  is_grant boolean NOT NULL,
  vid text,
  pid text,
  serial text,
  kinds text[],
  fingerprint text,
  agent_id uuid REFERENCES agents ON DELETE CASCADE,
  -- The name as written stays when the tag is deleted; the rule is inert then.
  tag_id int REFERENCES tags ON DELETE SET NULL,
  tag_name text,
  expires_at timestamptz,
  -- Its end was carried out: decisions that rested on it were made anew.
  is_over boolean NOT NULL DEFAULT false,
  reason text NOT NULL,
  override_attack_tool boolean NOT NULL,
  origin text NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL,
  seal bytea NOT NULL
);
CREATE INDEX policy_rules_agent ON policy_rules (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX policy_rules_wide ON policy_rules (rule_id) WHERE agent_id IS NULL;
CREATE INDEX policy_rules_tag ON policy_rules (tag_id) WHERE tag_id IS NOT NULL;
CREATE INDEX policy_rules_end ON policy_rules (expires_at) WHERE expires_at IS NOT NULL AND NOT is_over;

-- One row, locked by whoever changes rules: versions have no gaps and come in order.
CREATE TABLE policy_head (single boolean PRIMARY KEY DEFAULT true CHECK (single), version int NOT NULL) WITH (fillfactor = 10);
INSERT INTO policy_head (version) VALUES (0);

-- What each version changed, whole rules before and after: going back is applying it the other way round.
CREATE TABLE policy_versions (
  version int PRIMARY KEY,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  summary text NOT NULL
);
CREATE TABLE policy_changes (
  version int NOT NULL REFERENCES policy_versions,
  n int NOT NULL,
  rule_id uuid NOT NULL,
  before jsonb,
  after jsonb,
  PRIMARY KEY (version, n)
);

-- Hosts whose decisions are to be made anew, because rules or tags changed. Taken in batches; a crash loses nothing.
CREATE TABLE policy_queue (
  agent_id uuid PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  job_id uuid
);

-- The decision an armed host makes, stored for free hosts too. Numbers are places in `policySources`: 0 hub, 1 attack tool,
-- 2 deny, 3 grant, 4 host, 5 tag, 6 global, 7 default.
ALTER TABLE peripherals
  ADD COLUMN source smallint NOT NULL DEFAULT 7,
  ADD COLUMN rule_id uuid,
  -- What the host says it did, and by which version of the policy.
  ADD COLUMN enforced jsonb,
  ADD COLUMN case_number text NOT NULL DEFAULT '';
UPDATE peripherals p SET source = CASE WHEN d.attack_tool > 0 THEN 1 ELSE 0 END
FROM designs d WHERE d.design_id = p.design_id AND (d.attack_tool > 0 OR d.kinds = '{Hub}');
CREATE INDEX peripherals_unapproved ON peripherals (agent_id) WHERE unapproved;
CREATE INDEX peripherals_rule ON peripherals (rule_id) WHERE rule_id IS NOT NULL;

ALTER TABLE agents
  -- Version of the policy the host says it holds, and why it went back to Free by itself.
  ADD COLUMN policy_version int NOT NULL DEFAULT 0,
  ADD COLUMN mode_reason text NOT NULL DEFAULT '',
  ADD COLUMN whitelist boolean NOT NULL DEFAULT false;
-- The rules of an armed host changed since it fetched them; lies beside what each check-in reads anyway.
ALTER TABLE agent_heartbeats ADD COLUMN policy_due boolean NOT NULL DEFAULT false;

-- Attachments per device and day: what would have been blocked, and how often.
CREATE TABLE attachment_days (
  day date NOT NULL,
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  device_id text NOT NULL,
  n int NOT NULL,
  blocked int NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_id, device_id, day)
);
CREATE INDEX attachment_days_day ON attachment_days (day);

-- Tagging changes which rules speak to a host.
CREATE FUNCTION queue_tagged_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_queue (agent_id)
  SELECT DISTINCT c.agent_id FROM changed c JOIN agents a ON a.agent_id = c.agent_id
  WHERE c.tag_id IN (SELECT r.tag_id FROM policy_rules r WHERE r.tag_id IS NOT NULL)
  ORDER BY c.agent_id ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tags_added_policy AFTER INSERT ON agent_tags
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_tagged_agents();
CREATE TRIGGER agent_tags_removed_policy AFTER DELETE ON agent_tags
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_tagged_agents();
