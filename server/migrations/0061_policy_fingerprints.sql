-- Fingerprints that rules name: of what the kernel shows before and after a device is authorised. Empty: to be computed.
ALTER TABLE designs
  ADD COLUMN policy_fingerprint text NOT NULL DEFAULT '',
  ADD COLUMN policy_without_revision text NOT NULL DEFAULT '';
