-- The one key whose builds agents install. Counts only with its seal, an HMAC by a key outside the database.
CREATE TABLE agent_release_key (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  public_key bytea NOT NULL,
  pinned_at timestamptz NOT NULL,
  pinned_by text NOT NULL,
  seal bytea NOT NULL
);

-- Published builds. A withdrawn one keeps its row: its version names that build for ever.
CREATE TABLE agent_packages (
  package_id uuid PRIMARY KEY,
  version text NOT NULL,
  architecture text NOT NULL,
  -- Of the executable.
  sha256 bytea NOT NULL,
  size bigint NOT NULL,
  signature bytea NOT NULL,
  release_key bytea NOT NULL,
  published_at timestamptz NOT NULL,
  published_by text NOT NULL,
  withdrawn_at timestamptz,
  UNIQUE (architecture, version)
);
CREATE INDEX agent_packages_sha256 ON agent_packages (sha256);

-- The compressed executable in pieces of 1 MiB: every replica can make the file from them.
CREATE TABLE agent_package_chunks (
  package_id uuid NOT NULL REFERENCES agent_packages ON DELETE CASCADE,
  n int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (package_id, n)
);
-- It is compressed already: trying again costs 20 ms a piece and wins nothing.
ALTER TABLE agent_package_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
