-- Changes of many hosts in rings: updates of the agent, arming.
CREATE TABLE rollouts (
  rollout_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('update', 'arm')),
  name text NOT NULL,
  -- 'planned' never outlives the transaction that asks what a rollout would do.
  state text NOT NULL CHECK (state IN ('planned', 'running', 'paused', 'halted', 'completed', 'reverted', 'cancelled')),
  reason text NOT NULL DEFAULT '',
  -- Rings, dwell, budgets, as they were asked for.
  settings jsonb NOT NULL,
  -- Builds of an update, by architecture: later ones wait for the next rollout.
  builds jsonb NOT NULL,
  -- Ring that runs now; -1 before the first.
  ring int NOT NULL DEFAULT -1,
  -- Start and end of dwell of each ring, milliseconds since 1970, and what a resume after a halt accepted.
  rings jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  ended_at timestamptz
);
CREATE UNIQUE INDEX rollouts_active ON rollouts (kind) WHERE state IN ('running', 'paused', 'halted');
CREATE INDEX rollouts_created ON rollouts (created_at);

-- Hosts of the rings that started. Rows outlive their agent.
CREATE TABLE rollout_hosts (
  rollout_id uuid NOT NULL REFERENCES rollouts ON DELETE CASCADE,
  agent_id uuid NOT NULL,
  host text NOT NULL,
  ring int NOT NULL,
  state text NOT NULL DEFAULT 'waiting',
  reason text NOT NULL DEFAULT '',
  commanded_at timestamptz,
  predicted int NOT NULL DEFAULT 0,
  actual int NOT NULL DEFAULT 0,
  -- It was seen armed after it confirmed: Free again by itself is a failure then.
  was_armed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (rollout_id, agent_id)
) WITH (fillfactor = 80);
CREATE INDEX rollout_hosts_state ON rollout_hosts (rollout_id, ring, state);

-- What hosts really blocked is a handful among a million devices: counting it every few seconds reads this index only.
CREATE INDEX peripherals_blocked ON peripherals (agent_id, last_seen)
  WHERE enforced ->> 'effect' = 'block' AND enforced ->> 'guard' IS NULL;
