-- The asset stream: who follows it from zero holds the inventory (ADR 0020). Triggers note which asset changed in the
-- transaction that changed it, so that nothing can forget to; one replica at a time gives the changes their place.

-- The row is locked by whoever gives places; its uuid names this installation in messages.
CREATE TABLE asset_stream (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  instance uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO asset_stream DEFAULT VALUES;

-- Assets that changed. No key: two transactions that change the same host must not wait for each other here. Only the
-- sequencer deletes. An empty device_id is the host itself; a design stands for all peripherals of it.
CREATE TABLE asset_dirty (
  agent_id uuid,
  device_id text NOT NULL DEFAULT '',
  design_id int
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- The newest place of each asset, for ever: a log that holds one row per asset. What is gone stays as removed.
CREATE TABLE asset_heads (
  agent_id uuid NOT NULL,
  device_id text NOT NULL,
  sequence bigint NOT NULL,
  removed boolean NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (agent_id, device_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX asset_heads_sequence ON asset_heads (sequence);

-- Messages that are no state of an asset, in the same order; kept for 30 days.
CREATE TABLE asset_notes (
  sequence bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  type text NOT NULL,
  subject text NOT NULL,
  data jsonb NOT NULL
);

-- Who reads, and how far: HTTP readers by name, and sinks. A lease says who publishes to a sink, or that a reader is there.
CREATE TABLE asset_consumers (
  kind text NOT NULL CHECK (kind IN ('http', 'nats', 'kafka')),
  name text NOT NULL,
  position bigint NOT NULL DEFAULT 0,
  last_seen timestamptz NOT NULL,
  error text NOT NULL DEFAULT '',
  lease_id uuid,
  lease_until timestamptz,
  PRIMARY KEY (kind, name)
) WITH (fillfactor = 60);

-- Whole statements for what comes and goes (a mass enrolment is one insert here), rows with a condition for what changes:
-- an update that touches no fact of an asset does not even queue the trigger.
CREATE FUNCTION note_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (agent_id) SELECT c.agent_id FROM changed c;
  RETURN NULL;
END $$;
CREATE FUNCTION note_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (agent_id) VALUES (NEW.agent_id);
  RETURN NULL;
END $$;
CREATE FUNCTION note_peripherals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (agent_id, device_id) SELECT c.agent_id, c.device_id FROM changed c;
  RETURN NULL;
END $$;
CREATE FUNCTION note_peripheral() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (agent_id, device_id) VALUES (NEW.agent_id, NEW.device_id);
  RETURN NULL;
END $$;

CREATE TRIGGER agents_noted_in AFTER INSERT ON agents
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_agents();
CREATE TRIGGER agents_noted_out AFTER DELETE ON agents
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_agents();
CREATE TRIGGER agents_noted AFTER UPDATE ON agents FOR EACH ROW WHEN (
  (OLD.host, OLD.address, OLD.nics, OLD.os_name, OLD.version, OLD.pc_model)
    IS DISTINCT FROM (NEW.host, NEW.address, NEW.nics, NEW.os_name, NEW.version, NEW.pc_model))
  EXECUTE FUNCTION note_agent();
-- A host is there with its narrow row; both are made in one transaction.
CREATE TRIGGER agent_rows_noted AFTER UPDATE ON agent_rows FOR EACH ROW WHEN (
  (OLD.armed, OLD.agentless, OLD.first_seen) IS DISTINCT FROM (NEW.armed, NEW.agentless, NEW.first_seen))
  EXECUTE FUNCTION note_agent();
CREATE TRIGGER agent_tags_noted_in AFTER INSERT ON agent_tags
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_agents();
CREATE TRIGGER agent_tags_noted_out AFTER DELETE ON agent_tags
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_agents();

CREATE TRIGGER peripherals_noted_in AFTER INSERT ON peripherals
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_peripherals();
CREATE TRIGGER peripherals_noted_out AFTER DELETE ON peripherals
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_peripherals();
CREATE TRIGGER peripherals_noted AFTER UPDATE ON peripherals FOR EACH ROW WHEN (
  (OLD.design_id, OLD.port_path, OLD.serial, OLD.present, OLD.first_seen)
    IS DISTINCT FROM (NEW.design_id, NEW.port_path, NEW.serial, NEW.present, NEW.first_seen))
  EXECUTE FUNCTION note_peripheral();
CREATE TRIGGER peripheral_tags_noted_in AFTER INSERT ON peripheral_tags
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_peripherals();
CREATE TRIGGER peripheral_tags_noted_out AFTER DELETE ON peripheral_tags
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_peripherals();

-- A tag that goes takes its rows above with it; one that is called otherwise is noted here.
CREATE FUNCTION note_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (agent_id) SELECT x.agent_id FROM agent_tags x WHERE x.tag_id = NEW.tag_id;
  INSERT INTO asset_dirty (agent_id, device_id) SELECT x.agent_id, x.device_id FROM peripheral_tags x WHERE x.tag_id = NEW.tag_id;
  RETURN NULL;
END $$;
CREATE TRIGGER tags_noted AFTER UPDATE ON tags FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_tag();

-- New knowledge names devices anew, a million of one design perhaps: that is spread by the sequencer, not in the
-- transaction that judges.
CREATE FUNCTION note_design() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (design_id) VALUES (NEW.design_id);
  RETURN NULL;
END $$;
CREATE TRIGGER designs_noted AFTER UPDATE ON designs FOR EACH ROW WHEN (
  (OLD.model_id, OLD.manufacturer, OLD.product, OLD.icon, OLD.interfaces, OLD.bcd_device)
    IS DISTINCT FROM (NEW.model_id, NEW.manufacturer, NEW.product, NEW.icon, NEW.interfaces, NEW.bcd_device))
  EXECUTE FUNCTION note_design();
CREATE FUNCTION note_model() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO asset_dirty (design_id) SELECT d.design_id FROM designs d WHERE d.model_id = NEW.model_id;
  RETURN NULL;
END $$;
CREATE TRIGGER models_noted AFTER UPDATE ON models FOR EACH ROW WHEN (
  (OLD.vid, OLD.pid, OLD.vendor, OLD.product) IS DISTINCT FROM (NEW.vid, NEW.pid, NEW.vendor, NEW.product))
  EXECUTE FUNCTION note_model();

-- A fleet that is here already enters the stream by itself.
INSERT INTO asset_dirty (agent_id) SELECT a.agent_id FROM agents a;
INSERT INTO asset_dirty (agent_id, device_id) SELECT p.agent_id, p.device_id FROM peripherals p;
