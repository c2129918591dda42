-- How the parts of the product are, as the one replica that looks has found.
CREATE TABLE health_states (
  subsystem text PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('OK', 'Warning', 'Error', 'Unknown')),
  since timestamptz NOT NULL,
  description text NOT NULL
);

CREATE TABLE health_changes (
  change_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subsystem text NOT NULL,
  status text NOT NULL,
  previous text NOT NULL,
  -- When it became so, and when that could be written: the database may have been what was away.
  began_at timestamptz NOT NULL,
  noted_at timestamptz NOT NULL,
  -- Written with the next change of the same subsystem, so that a list needs no look at its neighbour.
  ended_at timestamptz,
  description text NOT NULL
);
CREATE INDEX health_changes_began ON health_changes (began_at, change_id);
CREATE INDEX health_changes_open ON health_changes (subsystem) WHERE ended_at IS NULL;

-- Who looks, and until when nobody else may.
CREATE TABLE health_watch (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  holder uuid,
  lease_until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO health_watch DEFAULT VALUES;

-- Processes that take jobs; a row that is a minute old is of one that is gone.
CREATE TABLE job_runners (
  runner_id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
CREATE INDEX jobs_failed ON jobs (ended_at) WHERE state = 'failed';

-- Backups that were read to their end, the newest few: what of the age of the last one is told by.
CREATE TABLE backups_made (
  backup_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  made_at timestamptz NOT NULL,
  made_by text NOT NULL,
  bytes bigint NOT NULL,
  has_keys boolean NOT NULL,
  is_encrypted boolean NOT NULL
);
