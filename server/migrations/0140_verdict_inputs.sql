-- What a verdict reads is part of what it is cached by: `fingerprint` is over all of it, `exact_fingerprint` over descriptors
-- and texts alone, as people see it. Designs of an earlier release have neither; hosts that have them are asked for their
-- inventory in the background, and get designs of their own.
ALTER TABLE designs
  ADD COLUMN exact_fingerprint text NOT NULL DEFAULT '',
  ADD COLUMN judged_by jsonb;
CREATE INDEX designs_without_inputs ON designs (design_id) WHERE judged_by IS NULL;
