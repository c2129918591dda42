-- CREATE TABLE … PARTITION OF locks the whole parent against reads and writes; a table of its own that is attached
-- afterwards takes a lock that neither of them meets, so a partition can be made under load.
CREATE OR REPLACE FUNCTION ensure_event_partitions(id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  size constant bigint := 5000000;
  n bigint;
BEGIN
  FOR n IN SELECT (id / size) + k FROM generate_series(0, 1) k LOOP
    CONTINUE WHEN to_regclass(format('events_%s', n)) IS NOT NULL;
    -- Two replicas at once: the second waits and finds it made.
    PERFORM pg_advisory_xact_lock(7205760);
    CONTINUE WHEN to_regclass(format('events_%s', n)) IS NOT NULL;
    EXECUTE format('CREATE TABLE events_%s (LIKE events INCLUDING DEFAULTS INCLUDING INDEXES)', n);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION events_%s FOR VALUES FROM (%s) TO (%s)', n, n * size, (n + 1) * size);
  END LOOP;
END $$;
