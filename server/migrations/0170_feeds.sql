-- Hosts that only the events of other systems show: Windows event 6416 and Defender PnpDeviceConnected.
ALTER TABLE agent_rows ADD COLUMN feed boolean NOT NULL DEFAULT false;
DROP INDEX agent_rows_agentless;
CREATE INDEX agent_rows_deployment ON agent_rows ((agentless::int + feed::int), agent_id);
CREATE INDEX agent_rows_feed ON agent_rows (agent_id) WHERE feed;
CREATE INDEX agent_rows_label ON agent_rows (split_part(host, '.', 1)) WHERE NOT feed;

CREATE TABLE feeds (
  feed_id uuid PRIMARY KEY,
  name text NOT NULL,
  token_id uuid NOT NULL UNIQUE,
  new_hosts_per_hour int NOT NULL,
  keep_days int NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  last_at timestamptz,
  stored bigint NOT NULL DEFAULT 0,
  duplicates bigint NOT NULL DEFAULT 0,
  ignored bigint NOT NULL DEFAULT 0,
  covered bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  recent_errors jsonb NOT NULL DEFAULT '[]',
  recent_lines jsonb NOT NULL DEFAULT '[]',
  -- The running hour and the hosts that were new in it.
  hour_at timestamptz NOT NULL,
  hour_hosts int NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX feeds_name ON feeds (lower(name));

-- Digests of stored lines, so that a replay counts once.
CREATE TABLE feed_seen (
  feed_id uuid NOT NULL REFERENCES feeds ON DELETE CASCADE,
  digest bytea NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (feed_id, digest)
);
CREATE INDEX feed_seen_at ON feed_seen (seen_at);

CREATE TABLE feed_hosts (
  agent_id uuid PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  -- In lower case.
  host text NOT NULL UNIQUE,
  first_event timestamptz NOT NULL,
  last_event timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  events bigint NOT NULL,
  -- Number of the newest list of devices, and of the newest one that was reported.
  seq int NOT NULL,
  reported_seq int NOT NULL DEFAULT 0
);
CREATE INDEX feed_hosts_due ON feed_hosts (agent_id) WHERE seq > reported_seq;

CREATE TABLE feed_devices (
  agent_id uuid NOT NULL REFERENCES feed_hosts ON DELETE CASCADE,
  feed_id uuid NOT NULL REFERENCES feeds ON DELETE CASCADE,
  -- In upper case.
  instance text NOT NULL,
  said jsonb NOT NULL,
  last_event timestamptz NOT NULL,
  PRIMARY KEY (agent_id, feed_id, instance)
);
CREATE INDEX feed_devices_feed ON feed_devices (feed_id, last_event);
