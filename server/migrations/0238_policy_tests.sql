-- Expected decisions that people keep beside the rules. They run before each change of the rules.
CREATE TABLE policy_tests (
  test_id uuid PRIMARY KEY,
  name text NOT NULL,
  -- The name in NFC and lower case.
  name_key text NOT NULL UNIQUE,
  expected text NOT NULL CHECK (expected IN ('allow', 'block')),
  -- The sample device. An empty serial number: it has none. A null fingerprint: no rule names it.
  vid text NOT NULL,
  pid text NOT NULL,
  serial text NOT NULL,
  kinds text[] NOT NULL,
  fingerprint text,
  is_attack_tool boolean NOT NULL,
  -- Its host, or a tag of its host; both null: a host without tags and without rules of its own.
  agent_id uuid REFERENCES agents ON DELETE CASCADE,
  tag_name text,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL,
  CHECK (agent_id IS NULL OR tag_name IS NULL)
);
CREATE INDEX policy_tests_agent ON policy_tests (agent_id) WHERE agent_id IS NOT NULL;
