-- Events of a host beyond its hourly limit: one row for each kind and identity, until the hour is over and its summary is stored.
CREATE TABLE merged_events (
  agent_id uuid NOT NULL,
  hour_at timestamptz NOT NULL,
  code int NOT NULL,
  -- Digest of the device or the details; empty for all further ones.
  identity text NOT NULL,
  -- Events without the first one, which is stored. 0: only the first one happened.
  n bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  severity smallint NOT NULL,
  icon smallint NOT NULL,
  entity text NOT NULL,
  hashtags text NOT NULL,
  details text NOT NULL,
  device_id text,
  PRIMARY KEY (hour_at, agent_id, code, identity)
);
