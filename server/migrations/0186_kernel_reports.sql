-- What hosts report of the kernel about attached devices, beyond driver mismatches: unknown drivers, why a device does
-- not work, its active configuration, and whether it is imported over the network. Empty: nothing of this.

ALTER TABLE peripherals
  ADD COLUMN kernel jsonb NOT NULL DEFAULT '{}';
