-- The time of the next scheduled backup, and the schedule it was computed from.
CREATE TABLE backup_plan (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  schedule text NOT NULL DEFAULT '',
  next_at timestamptz
);
INSERT INTO backup_plan DEFAULT VALUES;

-- Backups that the server wrote, or tried to write, to its folder.
CREATE TABLE backup_runs (
  run_id uuid PRIMARY KEY,
  reason text NOT NULL CHECK (reason IN ('schedule', 'manual')),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'completed', 'failed')),
  job_id uuid NOT NULL,
  server text NOT NULL DEFAULT '',
  folder text NOT NULL DEFAULT '',
  file_name text NOT NULL DEFAULT '',
  -- Whether the verified file is still stored.
  has_file boolean NOT NULL DEFAULT false,
  bytes bigint NOT NULL DEFAULT 0,
  is_encrypted boolean NOT NULL DEFAULT false,
  verification text NOT NULL DEFAULT 'none' CHECK (verification IN ('none', 'read', 'restored')),
  tables int NOT NULL DEFAULT 0,
  row_count bigint NOT NULL DEFAULT 0,
  sha256 text NOT NULL DEFAULT '',
  note text NOT NULL DEFAULT '',
  error text NOT NULL DEFAULT ''
);
CREATE INDEX backup_runs_created ON backup_runs (created_at DESC);
-- One backup at a time, on all servers together.
CREATE UNIQUE INDEX backup_runs_one ON backup_runs ((true)) WHERE state IN ('waiting', 'running');
