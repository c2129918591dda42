-- The same words and terms as before, three times as fast. A record of an order names 200 hosts: their UUIDs are removed
-- as one list, and the words of their names are found in one pass for each kind.
CREATE OR REPLACE FUNCTION audit_words(given text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
  SELECT DISTINCT left(w.word, 64)
  FROM regexp_split_to_table(
    regexp_replace(lower($1), '(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12},?)+', ' ', 'g'),
    '[^[:alnum:]]+') w(word)
  WHERE w.word <> ''
$$;

CREATE OR REPLACE FUNCTION audit_terms(record json) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
  WITH o AS MATERIALIZED (SELECT * FROM audit_objects($1)),
    named AS MATERIALIZED (
      SELECT n.kind, w.word FROM (SELECT o.kind, string_agg(o.name, ' ') AS names FROM o GROUP BY o.kind) n
      CROSS JOIN LATERAL audit_words(n.names) w(word))
  SELECT array_to_tsvector(array(
    SELECT DISTINCT t.term FROM (
      SELECT 'a:' || lower($1->>'userName')
      UNION ALL SELECT 'c:' || lower($1->>'action')
      UNION ALL SELECT 'i:' || o.kind || ':' || left(lower(k.key), 256)
        FROM o CROSS JOIN LATERAL (VALUES (o.id), (o.name)) k(key) WHERE k.key <> ''
      UNION ALL SELECT 'n:' || w.kind || ':' || w.word FROM named w
      UNION ALL SELECT w.word FROM named w
      UNION ALL SELECT w.word FROM audit_words(concat_ws(' ', $1->>'userName', regexp_replace($1->>'action', '([a-z])([A-Z])', '\1 \2', 'g'),
        $1->>'entity', $1->>'details', $1->>'variant', $1->>'reason', $1->>'sourceIp')) w(word)
    ) t(term)
    WHERE t.term IS NOT NULL))
$$;
