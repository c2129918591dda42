-- Where a host is and was: an asset system retires a place that a host left only when it is told. Kept by trigger, so
-- that no way of changing an address forgets it.
CREATE TABLE agent_locations (
  location_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  since timestamptz NOT NULL,
  -- Null: the present one.
  until timestamptz,
  address text NOT NULL,
  -- Empty until something tells them: agents report addresses without prefix length, and switches are not asked yet.
  subnet text NOT NULL DEFAULT '',
  switch_ip text NOT NULL DEFAULT '',
  switch_name text NOT NULL DEFAULT '',
  port_id text NOT NULL DEFAULT '',
  port_name text NOT NULL DEFAULT '',
  -- Consumers of the asset stream were told that it ended.
  announced boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX agent_locations_present ON agent_locations (agent_id) WHERE until IS NULL;
CREATE INDEX agent_locations_agent ON agent_locations (agent_id, location_id);
CREATE INDEX agent_locations_due ON agent_locations (agent_id) WHERE until IS NOT NULL AND NOT announced;

INSERT INTO agent_locations (agent_id, since, address)
  SELECT a.agent_id, a.enrolled_at, a.address FROM agents a;

CREATE FUNCTION locate_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO agent_locations (agent_id, since, address) SELECT c.agent_id, now(), c.address FROM changed c;
  RETURN NULL;
END $$;
CREATE TRIGGER agents_located AFTER INSERT ON agents
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION locate_agents();

CREATE FUNCTION relocate_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- An address that was not known yet is no place that was left.
  IF OLD.address = '' THEN
    UPDATE agent_locations l SET address = NEW.address, since = now() WHERE l.agent_id = NEW.agent_id AND l.until IS NULL;
    RETURN NULL;
  END IF;
  UPDATE agent_locations l SET until = now() WHERE l.agent_id = NEW.agent_id AND l.until IS NULL;
  INSERT INTO agent_locations (agent_id, since, address) VALUES (NEW.agent_id, now(), NEW.address);
  RETURN NULL;
END $$;
CREATE TRIGGER agents_relocated AFTER UPDATE ON agents FOR EACH ROW WHEN (OLD.address IS DISTINCT FROM NEW.address)
  EXECUTE FUNCTION relocate_agent();
