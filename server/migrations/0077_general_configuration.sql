-- A secret item has an empty value and what it is, sealed (platform/envelope.ts), bound to its name.
ALTER TABLE config_items ADD COLUMN sealed bytea;

-- Versions of the configuration: who, when, what (secrets by name only), and each item as the version left it.
CREATE TABLE config_versions (
  version int PRIMARY KEY,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL,
  changes jsonb NOT NULL
);
CREATE TABLE config_history (
  version int NOT NULL REFERENCES config_versions,
  name text NOT NULL,
  -- Null: not set from this version on.
  value text,
  sealed bytea,
  PRIMARY KEY (name, version)
);

-- One name for one thing.
UPDATE config_items SET name = 'VENDORA_TWO_PERSON_LIMIT', value = CASE value WHEN 'off' THEN '0' ELSE value END
  WHERE name = 'VENDORA_POLICY_TWO_PERSON_HOSTS';
UPDATE config_items SET name = 'VENDORA_COMMAND_EXPIRY_HOURS' WHERE name = 'VENDORA_POLICY_COMMAND_HOURS';
UPDATE config_items SET name = 'VENDORA_GRANT_MAX_HOURS' WHERE name = 'VENDORA_POLICY_GRANT_MAX_HOURS';
UPDATE config_items SET name = 'VENDORA_CONTACT' WHERE name = 'VENDORA_POLICY_CONTACT';

INSERT INTO config_versions SELECT 1, now(), 'system', '[]' WHERE EXISTS (SELECT FROM config_items);
INSERT INTO config_history (version, name, value) SELECT 1, c.name, c.value FROM config_items c;

-- How an integration did lately, whoever used it: for its page and the health probes.
CREATE TABLE integration_uses (
  name text PRIMARY KEY,
  succeeded_at timestamptz,
  failed_at timestamptz,
  failure text NOT NULL DEFAULT ''
);
