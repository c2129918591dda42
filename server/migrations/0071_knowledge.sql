-- Knowledge that came as a signed file. In the database, so that replicas agree; with a seal by a key outside of it, so
-- that a row put in by hand changes no verdict.
CREATE TABLE knowledge_keys (
  fingerprint text PRIMARY KEY,
  public_key bytea NOT NULL,
  trusted_at timestamptz NOT NULL,
  trusted_by text NOT NULL,
  seal bytea NOT NULL
);

CREATE TABLE knowledge_sets (
  set_id uuid PRIMARY KEY,
  version text NOT NULL,
  state text NOT NULL,
  created_at timestamptz NOT NULL,
  uploaded_at timestamptz NOT NULL,
  uploaded_by text NOT NULL,
  fingerprint text NOT NULL,
  brings text[] NOT NULL,
  -- What was in force when it came: files it does not bring are from there, and going back goes there.
  base_id uuid,
  -- JSON text of all its files, those taken over too, each with version and source.
  files text NOT NULL,
  applied_at timestamptz,
  applied_by text,
  seal bytea NOT NULL
);
CREATE UNIQUE INDEX knowledge_candidate ON knowledge_sets (state) WHERE state = 'Candidate';
CREATE UNIQUE INDEX knowledge_in_force ON knowledge_sets (state) WHERE state = 'In force';

-- Whether HID report descriptors took part in the verdict; a design judged without is judged again when they come.
ALTER TABLE designs ADD COLUMN saw_reports boolean NOT NULL DEFAULT false;
CREATE INDEX designs_attack ON designs (design_id) WHERE attack_tool > 0;

-- Hosts with a design whose verdict changed, and what is new about it: 1 attack tool, 2 vulnerable, 3 both, 0 neither.
-- Worked off in batches; a crash loses nothing.
CREATE TABLE rejudged_hosts (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  design_id int NOT NULL,
  news smallint NOT NULL,
  PRIMARY KEY (agent_id, design_id)
);
