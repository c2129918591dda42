-- Sorts addresses as addresses: no address first, then IPv4 and IPv6 by value, then names. An IPv4 address mapped into
-- IPv6 sorts as IPv4, and the zone of an address counts for nothing. The result is a text of hexadecimal digits, or the
-- name itself. Never raises: whatever is not exactly an address is a name.
CREATE FUNCTION address_order(given text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  bare text := lower(given);
  v4 CONSTANT text := '^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(\.|$)){4}$';
BEGIN
  IF bare = '' THEN
    RETURN '';
  END IF;
  IF bare LIKE '%:%' THEN
    bare := split_part(bare, '%', 1);
    IF bare LIKE '::ffff:%.%' THEN
      bare := substr(bare, 8);
    END IF;
  END IF;
  IF bare ~ v4 AND right(bare, 1) <> '.' THEN
    RETURN '4' || encode(substring(inet_send(bare::inet) FROM 5), 'hex');
  END IF;
  -- Eight groups, or up to seven around one `::`.
  IF bare ~ '^[0-9a-f:]{2,39}$' AND bare !~ '[0-9a-f]{5}|:::|::.*::|^:[^:]|[^:]:$' AND (
    (bare NOT LIKE '%::%' AND bare ~ '^([0-9a-f]+:){7}[0-9a-f]+$')
    OR (bare LIKE '%::%' AND array_length(regexp_split_to_array(btrim(bare, ':'), ':+'), 1) <= 7)) THEN
    RETURN '6' || encode(substring(inet_send(bare::inet) FROM 5), 'hex');
  END IF;
  RETURN 'n' || lower(given);
END $$;
CREATE INDEX agent_rows_address_order ON agent_rows (address_order(address), agent_id);
CREATE INDEX connections_address_order ON connections (address_order(name_key), name_key);

-- Failed polls of computers that are not hosts yet: those of hosts are in agent_errors.
CREATE TABLE connection_errors (
  connection_id uuid NOT NULL REFERENCES connections ON DELETE CASCADE,
  received_at timestamptz NOT NULL,
  message text NOT NULL
);
CREATE INDEX connection_errors_connection ON connection_errors (connection_id, received_at);
CREATE INDEX connection_errors_received ON connection_errors (received_at, connection_id);
