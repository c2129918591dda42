-- Groups of rules, for people: no group changes a decision, so no seal covers it.
CREATE TABLE rule_groups (
  group_id uuid PRIMARY KEY,
  name text NOT NULL,
  -- The name in NFC and lower case.
  name_key text NOT NULL UNIQUE,
  -- Person or team. Empty: nobody.
  owner text NOT NULL,
  -- Null: no review is planned.
  review_on date,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL
);
ALTER TABLE policy_rules ADD COLUMN group_id uuid REFERENCES rule_groups ON DELETE SET NULL;
CREATE INDEX policy_rules_group ON policy_rules (group_id) WHERE group_id IS NOT NULL;
