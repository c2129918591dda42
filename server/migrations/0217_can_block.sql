-- Whether a host can keep a device from working: a copy of agents.enforcement in the narrow row, which lists filter and
-- count. Triggers write it, so that a release before this one cannot leave it behind.
ALTER TABLE agent_rows ADD COLUMN can_block boolean NOT NULL DEFAULT false;
UPDATE agent_rows r SET can_block = true FROM agents a WHERE a.agent_id = r.agent_id AND a.enforcement <> 'observe';

CREATE FUNCTION set_can_block() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.can_block := EXISTS (SELECT FROM agents a WHERE a.agent_id = NEW.agent_id AND a.enforcement <> 'observe');
  RETURN NEW;
END $$;
CREATE TRIGGER agent_rows_can_block BEFORE INSERT ON agent_rows FOR EACH ROW EXECUTE FUNCTION set_can_block();

CREATE FUNCTION copy_can_block() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_rows SET can_block = NEW.enforcement <> 'observe' WHERE agent_id = NEW.agent_id;
  RETURN NULL;
END $$;
CREATE TRIGGER agents_can_block AFTER UPDATE OF enforcement ON agents FOR EACH ROW
  WHEN ((OLD.enforcement = 'observe') IS DISTINCT FROM (NEW.enforcement = 'observe')) EXECUTE FUNCTION copy_can_block();
