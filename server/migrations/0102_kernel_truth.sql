-- What the kernel made of devices: drivers that their kind may not have, and ports that hosts hold because of them.

ALTER TABLE peripherals
  -- `claims hub, bound rtl8150`; empty: nothing contradicts what the device claims to be.
  ADD COLUMN driver_mismatch text NOT NULL DEFAULT '';
CREATE INDEX peripherals_driver_mismatch ON peripherals (agent_id) WHERE driver_mismatch <> '';

-- Written by features/held-ports only, as hosts report.
CREATE TABLE held_ports (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  hold_id uuid NOT NULL,
  port_path text NOT NULL,
  held_at timestamptz NOT NULL,
  evidence text NOT NULL,
  vid text NOT NULL,
  pid text NOT NULL,
  serial text NOT NULL,
  name text NOT NULL,
  fingerprint text NOT NULL,
  -- A person released it, and the host has not said yet that it did so.
  release_asked_by text,
  accept_drivers boolean NOT NULL DEFAULT false,
  PRIMARY KEY (agent_id, hold_id)
);
CREATE INDEX held_ports_newest ON held_ports (held_at DESC);
