-- Hosts that are polled over SSH. Secrets are sealed (platform/envelope.ts), bound to their row: they are of no use elsewhere.
CREATE TABLE connections (
  connection_id uuid PRIMARY KEY,
  -- As written; unique ignoring case.
  computer_name text NOT NULL,
  name_key text NOT NULL UNIQUE,
  -- Null, or empty: as the defaults of the worker say.
  port int,
  platform text NOT NULL DEFAULT 'auto',
  user_name text NOT NULL DEFAULT '',
  password bytea,
  private_key bytea,
  passphrase bytea,
  -- Empty before the first contact.
  host_key text NOT NULL DEFAULT '',
  interval_minutes int,
  is_override boolean NOT NULL DEFAULT false,
  -- Given to the host when it becomes an agent; from then on the agent's own count.
  tags text[] NOT NULL DEFAULT '{}',
  is_registered boolean NOT NULL DEFAULT true,
  agent_id uuid REFERENCES agents ON DELETE SET NULL,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX connections_agent ON connections (agent_id) WHERE agent_id IS NOT NULL;

-- How polling a connection stands: changed with each poll, so beside the wide row.
CREATE TABLE connection_runs (
  connection_id uuid PRIMARY KEY REFERENCES connections ON DELETE CASCADE,
  -- Null while it is not registered.
  next_run timestamptz,
  -- Grows with each lease and is the seq of what the poll reports: an old result counts for nothing, one sent twice once.
  fence int NOT NULL DEFAULT 0,
  lease_until timestamptz,
  poller_id uuid,
  -- Leases since the last result: a host whose polls kill workers is put off.
  attempts int NOT NULL DEFAULT 0,
  step text NOT NULL DEFAULT '',
  state text NOT NULL DEFAULT 'Pending' CHECK (state IN ('Pending', 'Success', 'Failed')),
  started_at timestamptz,
  ended_at timestamptz,
  duration_ms int,
  cause text,
  error text NOT NULL DEFAULT '',
  prev_errors text[] NOT NULL DEFAULT '{}',
  failures int NOT NULL DEFAULT 0,
  peripherals int NOT NULL DEFAULT 0
) WITH (fillfactor = 60);
CREATE INDEX connection_runs_due ON connection_runs (next_run) WHERE next_run IS NOT NULL;
CREATE INDEX connection_runs_cause ON connection_runs (cause) WHERE cause IS NOT NULL;

-- The worker, and the processes it consists of. One row at most.
CREATE TABLE workers (
  worker_id uuid PRIMARY KEY,
  single boolean NOT NULL DEFAULT true UNIQUE CHECK (single),
  admin_status text NOT NULL CHECK (admin_status IN ('Pending', 'Activated', 'Deactivated')),
  created_at timestamptz NOT NULL
);
CREATE TABLE worker_pollers (
  poller_id uuid PRIMARY KEY,
  worker_id uuid NOT NULL REFERENCES workers ON DELETE CASCADE,
  key_hash bytea NOT NULL UNIQUE,
  name text NOT NULL,
  address text NOT NULL,
  version text NOT NULL,
  capacity int NOT NULL DEFAULT 0,
  running int NOT NULL DEFAULT 0,
  cpu real NOT NULL DEFAULT 0,
  last_seen timestamptz NOT NULL
) WITH (fillfactor = 70);
-- Tokens by which a process registers; each serves one, or, of the server's own process, any number.
CREATE TABLE worker_tokens (
  token_hash bytea PRIMARY KEY,
  created_by text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- One row at most; absent members are the product's own defaults.
CREATE TABLE connection_defaults (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  port int NOT NULL,
  platform text NOT NULL,
  user_name text NOT NULL,
  password bytea,
  private_key bytea,
  passphrase bytea,
  interval_minutes int NOT NULL
);

-- Tries of a connection that a person waits for; gone after five minutes. What is tried is sealed as a whole.
CREATE TABLE connection_tests (
  test_id uuid PRIMARY KEY,
  poll bytea NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  fence int NOT NULL DEFAULT 0,
  lease_until timestamptz,
  step text NOT NULL DEFAULT '',
  result jsonb
);

-- Hosts without an agent are silent between two polls: who looks for silent agents passes over them.
ALTER TABLE agent_heartbeats ADD COLUMN agentless boolean NOT NULL DEFAULT false;

-- Who deletes such a host among the agents does not want it polled again.
CREATE FUNCTION unregister_connection_of_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE connection_runs r SET next_run = NULL, lease_until = NULL, fence = r.fence + 1
    FROM connections c WHERE c.agent_id = OLD.agent_id AND r.connection_id = c.connection_id;
  UPDATE connections c SET is_registered = false WHERE c.agent_id = OLD.agent_id;
  RETURN OLD;
END $$;
CREATE TRIGGER agents_unregister_connection BEFORE DELETE ON agents
  FOR EACH ROW EXECUTE FUNCTION unregister_connection_of_agent();
