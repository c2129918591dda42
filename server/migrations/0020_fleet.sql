-- The fleet. What every check-in changes lies apart from what a list filters or sorts on, and both apart from the wide
-- facts: one index on a column that each check-in changes, on the wide table, would cost 40 times the throughput.

-- Texts of few values (operating systems, versions), so that list rows stay narrow and "contains" is asked once per value.
CREATE TABLE dictionary (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  value text NOT NULL UNIQUE,
  folded text NOT NULL
);

CREATE TABLE tags (
  tag_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  folded text NOT NULL UNIQUE,
  color text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Wide: identity and facts; changes when the host changes.
CREATE TABLE agents (
  agent_id uuid PRIMARY KEY,
  host text NOT NULL,
  address text NOT NULL,
  public_key bytea,
  key_algorithm text,
  machine_id_hash text,
  smbios_hash text,
  enrolled_at timestamptz NOT NULL,
  enrollment_token_id uuid,
  facts jsonb NOT NULL,
  nics jsonb NOT NULL DEFAULT '[]',
  nics_text text,
  pc_model text NOT NULL DEFAULT '',
  os_name text NOT NULL DEFAULT '',
  version text NOT NULL DEFAULT '',
  enforcement text NOT NULL DEFAULT 'observe',
  latest_events text[] NOT NULL DEFAULT '{}',
  risk_factors jsonb NOT NULL DEFAULT '[]',
  -- Agents this one may be a duplicate of, or a copy of whose key was seen.
  possible_duplicates uuid[] NOT NULL DEFAULT '{}'
);
-- A key belongs to one agent; an enrolment whose answer was lost finds itself again by it.
CREATE UNIQUE INDEX agents_key ON agents (public_key) WHERE public_key IS NOT NULL;
CREATE INDEX agents_machine ON agents (machine_id_hash) WHERE machine_id_hash IS NOT NULL;
CREATE INDEX agents_smbios ON agents (smbios_hash) WHERE smbios_hash IS NOT NULL;

-- Narrow: one row of about 120 bytes for filters, sorts and counts.
CREATE TABLE agent_rows (
  agent_id uuid PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  host text NOT NULL,
  address text NOT NULL,
  last_configured timestamptz NOT NULL,
  first_seen timestamptz NOT NULL,
  expiration date,
  os_id int NOT NULL REFERENCES dictionary,
  version_id int NOT NULL REFERENCES dictionary,
  severity smallint NOT NULL DEFAULT 10,
  risk smallint NOT NULL DEFAULT 0,
  approved_present smallint NOT NULL DEFAULT 0,
  approved_gone smallint NOT NULL DEFAULT 0,
  not_approved smallint NOT NULL DEFAULT 0,
  ethernets smallint NOT NULL DEFAULT 0,
  -- 0 Pending, 1 Expired, 2 Invalid, 3 Activated
  license smallint NOT NULL DEFAULT 3,
  armed boolean NOT NULL DEFAULT false,
  connected boolean NOT NULL DEFAULT false,
  agentless boolean NOT NULL DEFAULT false,
  unapproved boolean NOT NULL DEFAULT false,
  vulnerable boolean NOT NULL DEFAULT false,
  attack_tool boolean NOT NULL DEFAULT false,
  violation boolean NOT NULL DEFAULT false,
  in_action boolean NOT NULL DEFAULT false
) WITH (fillfactor = 90);
CREATE INDEX agent_rows_default ON agent_rows (severity DESC, host, agent_id);
CREATE INDEX agent_rows_host ON agent_rows (host, agent_id);
CREATE INDEX agent_rows_address ON agent_rows (address, agent_id);
CREATE INDEX agent_rows_configured ON agent_rows (last_configured, agent_id);
CREATE INDEX agent_rows_first_seen ON agent_rows (first_seen, agent_id);

-- Hot: what each check-in changes. No index but the key, so that updates stay in their page (HOT).
CREATE TABLE agent_heartbeats (
  agent_id uuid PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  last_seen timestamptz NOT NULL,
  boot_id uuid,
  inventory_hash uuid,
  facts_hash uuid,
  seq int NOT NULL DEFAULT 0,
  skew_seconds int NOT NULL DEFAULT 0,
  connected boolean NOT NULL DEFAULT false,
  has_commands boolean NOT NULL DEFAULT false
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

-- One text per agent for GlobalSearch: host, address, uuid, version, OS, model; tags are looked up beside it.
CREATE TABLE agent_search (
  agent_id uuid PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  search text NOT NULL
);
CREATE INDEX agent_search_trigrams ON agent_search USING gin (search gin_trgm_ops);

CREATE TABLE agent_tags (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  tag_id int NOT NULL REFERENCES tags ON DELETE CASCADE,
  PRIMARY KEY (agent_id, tag_id)
);
CREATE INDEX agent_tags_tag ON agent_tags (tag_id, agent_id);

-- Starts of an agent, so that an old one that comes back is told from a restart: its key was copied.
CREATE TABLE agent_boots (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  boot_id uuid NOT NULL,
  started_at timestamptz NOT NULL,
  ip text NOT NULL DEFAULT '',
  -- Last seq when another start took over.
  seq int NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_id, boot_id)
);

CREATE TABLE agent_session_nonces (
  nonce text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

-- Removed agents: their key is answered "revoked", never "unknown".
CREATE TABLE revoked_agents (
  agent_id uuid PRIMARY KEY,
  revoked_at timestamptz NOT NULL,
  revoked_by text NOT NULL
);

CREATE TABLE enrollment_tokens (
  token_id uuid PRIMARY KEY,
  name text NOT NULL,
  secret_hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  expires_at timestamptz NOT NULL,
  max_uses int NOT NULL,
  uses int NOT NULL DEFAULT 0,
  hashtags text[] NOT NULL DEFAULT '{}',
  allow_take_over boolean NOT NULL DEFAULT true,
  revoked_at timestamptz
);

CREATE TABLE agent_errors (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  received_at timestamptz NOT NULL,
  host_time timestamptz NOT NULL,
  code text NOT NULL,
  message text NOT NULL
);
CREATE INDEX agent_errors_agent ON agent_errors (agent_id, received_at);

-- Models: vendor and product id, with their names by knowledge.
CREATE TABLE models (
  model_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  vid text NOT NULL,
  pid text NOT NULL,
  vendor text NOT NULL,
  product text NOT NULL,
  folded text NOT NULL,
  -- Counters, changed in the transaction that changes a peripheral: aggregation 36 ms instead of 437 ms at 1.2M.
  hosts int NOT NULL DEFAULT 0,
  devices int NOT NULL DEFAULT 0,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  UNIQUE (vid, pid)
) WITH (fillfactor = 70);

-- A design is what descriptors and strings say (all devices of one production look alike), with the verdict of knowledge.
-- 1.2 million peripherals share some thousand designs, so a verdict is stored and revised once.
CREATE TABLE designs (
  design_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fingerprint text NOT NULL UNIQUE,
  without_revision text NOT NULL,
  model_id int NOT NULL REFERENCES models,
  manufacturer text NOT NULL,
  product text NOT NULL,
  configuration text NOT NULL,
  folded text NOT NULL,
  icon smallint NOT NULL,
  kinds text[] NOT NULL,
  class_code text NOT NULL,
  subclass_code text NOT NULL,
  protocol_code text NOT NULL,
  interfaces text NOT NULL,
  bcd_device text NOT NULL,
  -- 0 none, 1 suspected, 2 confirmed
  attack_tool smallint NOT NULL,
  vulnerable boolean NOT NULL,
  severity smallint NOT NULL,
  evidence jsonb NOT NULL,
  vulnerabilities jsonb NOT NULL,
  findings text NOT NULL,
  descriptors bytea NOT NULL,
  knowledge_version text NOT NULL
);
CREATE INDEX designs_model ON designs (model_id);

CREATE TABLE peripherals (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  device_id text NOT NULL,
  design_id int NOT NULL REFERENCES designs,
  port_path text NOT NULL,
  serial text NOT NULL,
  serial_folded text NOT NULL,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  speed real NOT NULL DEFAULT 0,
  severity smallint NOT NULL DEFAULT 10,
  present boolean NOT NULL,
  authorized boolean NOT NULL DEFAULT true,
  unapproved boolean NOT NULL DEFAULT false,
  PRIMARY KEY (agent_id, device_id)
) WITH (fillfactor = 90);
CREATE INDEX peripherals_design ON peripherals (design_id);
CREATE INDEX peripherals_last_seen ON peripherals (last_seen, agent_id, device_id);

CREATE TABLE peripheral_tags (
  agent_id uuid NOT NULL,
  device_id text NOT NULL,
  tag_id int NOT NULL REFERENCES tags ON DELETE CASCADE,
  PRIMARY KEY (agent_id, device_id, tag_id),
  FOREIGN KEY (agent_id, device_id) REFERENCES peripherals ON DELETE CASCADE
);
CREATE INDEX peripheral_tags_tag ON peripheral_tags (tag_id);

-- Events, partitioned by id: a start prunes to the newest ranges, old ranges drop whole.
CREATE TABLE events (
  event_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  agent_id uuid,
  code int NOT NULL,
  category smallint NOT NULL,
  severity smallint NOT NULL,
  icon smallint NOT NULL DEFAULT -1,
  entity text NOT NULL,
  description text NOT NULL,
  hashtags text NOT NULL DEFAULT '',
  details text NOT NULL DEFAULT '',
  device_id text,
  PRIMARY KEY (event_id)
) PARTITION BY RANGE (event_id);
CREATE INDEX events_agent ON events (agent_id, event_id);
CREATE INDEX events_created ON events (created_at, event_id);

-- Makes the partition that holds `id`, and the next one. Ranges of 5,000,000 ids.
CREATE FUNCTION ensure_event_partitions(id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  size constant bigint := 5000000;
  n bigint;
BEGIN
  FOR n IN SELECT (id / size) + k FROM generate_series(0, 1) k LOOP
    EXECUTE format('CREATE TABLE IF NOT EXISTS events_%s PARTITION OF events FOR VALUES FROM (%s) TO (%s)', n, n * size, (n + 1) * size);
  END LOOP;
END $$;
SELECT ensure_event_partitions(0);
