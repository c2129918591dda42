-- Quarantines of hosts by Cisco ISE or CounterACT: wanted here, carried out and read back there, by one runner at a time.
CREATE TABLE nac_quarantines (
  quarantine_id uuid PRIMARY KEY,
  -- No reference: its story, and what is to be taken back, outlive the host.
  agent_id uuid NOT NULL,
  host text NOT NULL,
  address text NOT NULL,
  system text NOT NULL CHECK (system IN ('ise', 'cact')),
  state text NOT NULL CHECK (state IN
    ('waiting', 'wanted', 'applying', 'applied', 'verified', 'clearing', 'cleared', 'failed', 'dismissed')),
  macs text[] NOT NULL,
  -- Addresses that this server set out to quarantine, written before it asks: only these are cleared.
  targets text[] NOT NULL DEFAULT '{}',
  policy text NOT NULL,
  reason text NOT NULL,
  is_automatic boolean NOT NULL,
  device_id text,
  asked_by text NOT NULL,
  -- Life in hours from when it is asked for or approved; 0: without end.
  hours int NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- When it began to count for the cap of automatic ones; null while it waits for a person.
  started_at timestamptz,
  expires_at timestamptz,
  error text NOT NULL DEFAULT '',
  attempts int NOT NULL DEFAULT 0,
  -- Null: nothing is to be done.
  next_at timestamptz,
  lease_until timestamptz,
  -- Grows with each lease: who lost it writes nothing any more.
  fence int NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX nac_quarantines_active ON nac_quarantines (agent_id, system) WHERE state NOT IN ('cleared', 'dismissed');
CREATE INDEX nac_quarantines_due ON nac_quarantines (system, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX nac_quarantines_created ON nac_quarantines (created_at, quarantine_id);
CREATE INDEX nac_quarantines_started ON nac_quarantines (system, started_at) WHERE is_automatic;

CREATE TABLE nac_steps (
  step_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  quarantine_id uuid NOT NULL REFERENCES nac_quarantines ON DELETE CASCADE,
  at timestamptz NOT NULL,
  step text NOT NULL,
  is_ok boolean NOT NULL,
  actor text NOT NULL,
  message text NOT NULL
);
CREATE INDEX nac_steps_quarantine ON nac_steps (quarantine_id, step_id);

-- Confirmed attack tools that are attached and not approved, since when, and which systems were told.
CREATE TABLE nac_sightings (
  agent_id uuid NOT NULL,
  device_id text NOT NULL,
  since timestamptz NOT NULL,
  told text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (agent_id, device_id)
);

-- Locked by the one replica that looks.
CREATE TABLE nac_watch (single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO nac_watch DEFAULT VALUES;

CREATE INDEX designs_confirmed ON designs (design_id) WHERE attack_tool = 2;
-- Which other hosts report an address.
CREATE INDEX agents_nics ON agents USING gin (nics jsonb_path_ops);
