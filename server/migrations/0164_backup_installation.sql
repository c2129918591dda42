-- Backups leave this table out, so a restored database has another id and does not delete the files of the original.
CREATE TABLE backup_installation (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  id uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO backup_installation DEFAULT VALUES;
ALTER TABLE backup_runs ADD COLUMN installation uuid;
