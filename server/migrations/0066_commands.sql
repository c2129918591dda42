-- Commands to hosts. The payload is text, signed as it stands by a key outside the database: a row put in by hand is
-- refused by the host. Rows outlive their agent, so no key refers to it.
CREATE TABLE commands (
  command_id uuid PRIMARY KEY,
  agent_id uuid NOT NULL,
  host text NOT NULL,
  kind text NOT NULL,
  title text NOT NULL,
  counter bigint NOT NULL,
  payload text NOT NULL,
  signature text NOT NULL,
  state text NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'delivered', 'confirmed', 'failed', 'expired', 'cancelled')),
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  expires_at timestamptz NOT NULL,
  delivered_at timestamptz,
  ended_at timestamptz,
  message text NOT NULL DEFAULT '',
  job_id uuid
) WITH (fillfactor = 80);
CREATE INDEX commands_active ON commands (agent_id, counter) WHERE state IN ('queued', 'delivered');
CREATE INDEX commands_expiry ON commands (expires_at) WHERE state IN ('queued', 'delivered');
CREATE INDEX commands_job ON commands (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX commands_created ON commands (created_at, command_id);
CREATE INDEX commands_agent ON commands (agent_id, ended_at);

-- Counter of the last command made for a host. Never goes back: a host refuses what is not above the last it took.
ALTER TABLE agent_heartbeats ADD COLUMN command_counter bigint NOT NULL DEFAULT 0;

-- Debug logs of hosts, as the gzip that came. In the database, so that every replica can hand them out.
CREATE TABLE debug_logs (
  log_id uuid PRIMARY KEY,
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  command_id uuid NOT NULL,
  received_at timestamptz NOT NULL,
  size int NOT NULL DEFAULT 0,
  -- All of it came and it is a sound gzip; what is not is never shown, and swept.
  is_complete boolean NOT NULL DEFAULT false
);
CREATE INDEX debug_logs_agent ON debug_logs (agent_id, received_at);
CREATE UNIQUE INDEX debug_logs_command ON debug_logs (command_id) WHERE is_complete;
CREATE TABLE debug_log_chunks (
  log_id uuid NOT NULL REFERENCES debug_logs ON DELETE CASCADE,
  n int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (log_id, n)
);
ALTER TABLE debug_log_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- What one person asked for and another has to approve. Sealed by a key outside the database: what is carried out is
-- what was asked for.
CREATE TABLE change_requests (
  request_id uuid PRIMARY KEY,
  action text NOT NULL CHECK (action IN ('free', 'delete')),
  title text NOT NULL,
  hosts int NOT NULL,
  -- The operation as JSON text, and its seal.
  body text NOT NULL,
  seal bytea NOT NULL,
  requested_by text NOT NULL,
  requested_by_account uuid,
  requested_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'Waiting' CHECK (state IN ('Waiting', 'Approved', 'Rejected', 'Expired')),
  decided_by text,
  decided_at timestamptz
);
CREATE INDEX change_requests_at ON change_requests (requested_at);
CREATE INDEX change_requests_waiting ON change_requests (expires_at) WHERE state = 'Waiting';
