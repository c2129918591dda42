-- The host key that a person confirmed. A key that a sign-in with a private key pinned is only trusted on first use.
-- It is the key and not a mark, so that a key which an earlier release pins is never confirmed.
ALTER TABLE connections ADD COLUMN confirmed_host_key text NOT NULL DEFAULT '';
-- Earlier releases recorded only the confirmation of presented keys. All other pinned keys count as trusted on first use.
UPDATE connections c SET confirmed_host_key = c.host_key
  FROM (
    SELECT lower(o.value->>'name') AS name_key, max(a.created_at) AS at
    FROM audit_records a, json_array_elements(a.record::json->'objects') o(value)
    WHERE a.action = 'connection.host_key_confirmed' AND json_typeof(a.record::json->'objects') = 'array'
    GROUP BY 1
  ) k
  WHERE c.name_key = k.name_key AND c.host_key <> '' AND k.at >= c.created_at
    AND NOT EXISTS (
      SELECT FROM audit_records a
      WHERE a.action = 'connection.changed' AND a.created_at >= k.at AND lower(a.record::json->>'entity') = c.name_key
        AND a.record::json->>'details' LIKE '%hostKeyFingerprint%');
