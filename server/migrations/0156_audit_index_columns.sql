-- Person, action and refusals have their own indexes: a common value is counted without reading the wide rows.
ALTER TABLE audit_index ADD COLUMN action text NOT NULL DEFAULT '';
ALTER TABLE audit_index DISABLE TRIGGER audit_index_append_only;
UPDATE audit_index i SET action = r.action FROM audit_records r WHERE r.audit_id = i.audit_id;
ALTER TABLE audit_index ENABLE TRIGGER audit_index_append_only;

CREATE OR REPLACE FUNCTION index_audit_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_index (audit_id, created_at, actor, action, severity, is_failure, terms)
  SELECT NEW.audit_id, NEW.created_at, NEW.actor, NEW.action, NEW.severity, j.record->>'outcome' = 'failure', audit_terms(j.record)
  FROM audit_json(NEW.record) j(record);
  RETURN NULL;
END $$;

CREATE INDEX audit_index_person ON audit_index (lower(actor), created_at, audit_id);
CREATE INDEX audit_index_action ON audit_index (action, created_at, audit_id);
CREATE INDEX audit_index_failures ON audit_index (created_at, audit_id) WHERE is_failure;
