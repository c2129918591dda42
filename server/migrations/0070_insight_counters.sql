-- What is rare and what is out of line is read from counters, never from a million peripherals: 1.2M rows aggregated take
-- 437 ms, some thousand counters a few.

-- A shape is a model with one set of interfaces: what a device can do under the ids it shows.
CREATE TABLE shapes (
  shape_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  model_id int NOT NULL REFERENCES models,
  interfaces text NOT NULL,
  -- Present ones, moved in the transaction that changes a peripheral.
  hosts int NOT NULL DEFAULT 0,
  devices int NOT NULL DEFAULT 0,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL
) WITH (fillfactor = 70);
-- By digest: a device can state more interfaces than an index entry holds (2,704 bytes).
CREATE UNIQUE INDEX shapes_key ON shapes (model_id, md5(interfaces));

ALTER TABLE designs ADD COLUMN first_seen timestamptz NOT NULL DEFAULT now();
ALTER TABLE designs ADD COLUMN shape_id int REFERENCES shapes;

UPDATE designs d SET first_seen = coalesce(
  (SELECT min(p.first_seen) FROM peripherals p WHERE p.design_id = d.design_id),
  (SELECT m.first_seen FROM models m WHERE m.model_id = d.model_id));
INSERT INTO shapes (model_id, interfaces, first_seen, last_seen)
  SELECT d.model_id, d.interfaces, min(d.first_seen), max(m.last_seen)
  FROM designs d JOIN models m ON m.model_id = d.model_id GROUP BY d.model_id, d.interfaces;
UPDATE designs d SET shape_id = s.shape_id FROM shapes s WHERE s.model_id = d.model_id AND s.interfaces = d.interfaces;
ALTER TABLE designs ALTER COLUMN shape_id SET NOT NULL;
CREATE INDEX designs_shape ON designs (shape_id);
CREATE INDEX designs_vulnerable ON designs (model_id) WHERE vulnerable;

-- A new design finds or makes its shape, whichever release stores it.
CREATE FUNCTION find_design_shape() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shapes (model_id, interfaces, first_seen, last_seen)
    VALUES (NEW.model_id, NEW.interfaces, NEW.first_seen, NEW.first_seen) ON CONFLICT DO NOTHING;
  SELECT s.shape_id INTO NEW.shape_id FROM shapes s
    WHERE s.model_id = NEW.model_id AND md5(s.interfaces) = md5(NEW.interfaces);
  RETURN NEW;
END $$;
CREATE TRIGGER designs_find_shape BEFORE INSERT ON designs FOR EACH ROW EXECUTE FUNCTION find_design_shape();

-- Present devices of each design; beside the wide row of the design, so that counting rewrites 40 bytes.
CREATE TABLE design_counts (
  design_id int PRIMARY KEY REFERENCES designs ON DELETE CASCADE,
  hosts int NOT NULL,
  devices int NOT NULL,
  last_seen timestamptz NOT NULL
) WITH (fillfactor = 70);

INSERT INTO design_counts (design_id, hosts, devices, last_seen)
  SELECT p.design_id, count(DISTINCT p.agent_id), count(*), max(p.last_seen)
  FROM peripherals p WHERE p.present GROUP BY p.design_id;
UPDATE shapes s SET hosts = c.hosts, devices = c.devices, last_seen = c.last_seen FROM (
  SELECT d.shape_id, count(DISTINCT p.agent_id) AS hosts, count(*) AS devices, max(p.last_seen) AS last_seen
  FROM peripherals p JOIN designs d ON d.design_id = p.design_id WHERE p.present GROUP BY d.shape_id) c
WHERE c.shape_id = s.shape_id;

-- Errors of all agents over a time.
CREATE INDEX agent_errors_received ON agent_errors (received_at, agent_id);
