-- Signed checkpoints of the audit trail; the server keeps a second copy outside of the database (features/audit).
CREATE TABLE audit_checkpoints (
  number bigint PRIMARY KEY CHECK (number > 0),
  -- The newest record that it covers.
  audit_id bigint NOT NULL UNIQUE,
  -- The checkpoint as it was signed: JSON text.
  line text NOT NULL
);
CREATE TRIGGER audit_checkpoints_append_only BEFORE UPDATE OR DELETE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_checkpoints_no_truncate BEFORE TRUNCATE ON audit_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
