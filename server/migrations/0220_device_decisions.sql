-- Decisions about devices when they were first made, and each time they changed: the rule, and the versions of the policy and
-- the knowledge of that time. Rows follow changes and not attachments, so the table grows with the number of devices.
CREATE TABLE device_decisions (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  device_id text NOT NULL,
  decided_at timestamptz NOT NULL,
  design_id int NOT NULL,
  -- A place in `policySources`, as in peripherals.
  source smallint NOT NULL,
  rule_id uuid,
  policy_version int NOT NULL,
  knowledge_version text NOT NULL
);
CREATE INDEX device_decisions_device ON device_decisions (agent_id, device_id, decided_at);
-- Upkeep removes old rows, which are stored in the order of time.
CREATE INDEX device_decisions_decided ON device_decisions USING brin (decided_at);
