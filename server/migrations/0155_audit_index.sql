-- What the audit trail is searched by. All of it follows from the text of the records, so it can be built again.
CREATE TABLE audit_index (
  audit_id bigint PRIMARY KEY,
  created_at timestamptz NOT NULL,
  actor text NOT NULL,
  severity smallint NOT NULL,
  is_failure boolean NOT NULL,
  -- a:actor, c:action, i:kind:id or name of an object, n:kind:word of its name, and the words of the record.
  terms tsvector NOT NULL
);

-- The words of a text, folded. UUIDs are left out: nobody reads them, and a record can name hundreds.
CREATE FUNCTION audit_words(given text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
  SELECT DISTINCT left(w.word, 64)
  FROM regexp_split_to_table(
    regexp_replace(lower($1), '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', ' ', 'g'),
    '[^[:alnum:]]+') w(word)
  WHERE w.word <> ''
$$;

-- The condition that each word of a text begins a term with this prefix. It matches nothing if the text has no words.
CREATE FUNCTION audit_query(prefix text, given text) RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(string_agg('''' || $1 || w.word || ''':*', ' & '), '')::tsquery FROM audit_words($2) w(word)
$$;

-- The objects of a record. Records of earlier releases name at most one, by its name.
CREATE FUNCTION audit_objects(record json) RETURNS TABLE (kind text, id text, name text) LANGUAGE sql IMMUTABLE AS $$
  SELECT o.value->>'kind', coalesce(o.value->>'id', ''), coalesce(o.value->>'name', '')
  FROM json_array_elements(CASE json_typeof($1->'objects') WHEN 'array' THEN $1->'objects' ELSE '[]' END) o(value)
  UNION ALL
  SELECT 'account', '', $1->>'entity'
  WHERE $1->'objects' IS NULL AND $1->>'action' ~ '^(account|mfa|session)\.' AND $1->>'action' <> 'session.refreshTokenReused'
  UNION ALL
  SELECT 'host', '', regexp_replace($1->>'entity', ' \([^()]*\)$', '')
  WHERE $1->'objects' IS NULL
    AND $1->>'action' IN ('agent.enrolled', 'agent.removed', 'agent.taken_over', 'command.ordered', 'heldPorts.released')
    AND $1->>'entity' !~ '^[0-9]+ (more agents|hosts)$'
$$;

CREATE FUNCTION audit_terms(record json) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
  SELECT array_to_tsvector(array(
    SELECT DISTINCT t.term FROM (
      SELECT 'a:' || lower($1->>'userName')
      UNION ALL SELECT 'c:' || lower($1->>'action')
      UNION ALL SELECT 'i:' || o.kind || ':' || left(lower(k.key), 256)
        FROM audit_objects($1) o CROSS JOIN LATERAL (VALUES (o.id), (o.name)) k(key) WHERE k.key <> ''
      UNION ALL SELECT 'n:' || o.kind || ':' || w.word FROM audit_objects($1) o CROSS JOIN LATERAL audit_words(o.name) w(word)
      UNION ALL SELECT w.word FROM audit_objects($1) o CROSS JOIN LATERAL audit_words(o.name) w(word)
      UNION ALL SELECT w.word FROM audit_words(concat_ws(' ', $1->>'userName', regexp_replace($1->>'action', '([a-z])([A-Z])', '\1 \2', 'g'),
        $1->>'entity', $1->>'details', $1->>'variant', $1->>'reason', $1->>'sourceIp')) w(word)
    ) t(term)
    WHERE t.term IS NOT NULL))
$$;

-- Whether an object that a record names is there now.
CREATE FUNCTION audit_object_exists(kind text, id text, name text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN $1 = 'account' THEN EXISTS (SELECT FROM accounts a WHERE a.user_name = $3)
    WHEN $1 = 'device' AND $2 ~ '^[0-9A-F]{4}:[0-9A-F]{4}$' THEN
      EXISTS (SELECT FROM models m WHERE m.vid = split_part($2, ':', 1) AND m.pid = split_part($2, ':', 2))
    WHEN $1 IN ('host', 'rule') AND $2 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
      CASE $1 WHEN 'host' THEN EXISTS (SELECT FROM agents a WHERE a.agent_id = $2::uuid)
        ELSE EXISTS (SELECT FROM policy_rules r WHERE r.rule_id = $2::uuid) END
    ELSE false END
$$;

-- json refuses the escape of NUL, which no record needs.
CREATE FUNCTION audit_json(record text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT replace($1, '\u0000', '\ufffd')::json
$$;

CREATE FUNCTION index_audit_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_index (audit_id, created_at, actor, severity, is_failure, terms)
  SELECT NEW.audit_id, NEW.created_at, NEW.actor, NEW.severity, j.record->>'outcome' = 'failure', audit_terms(j.record)
  FROM audit_json(NEW.record) j(record);
  RETURN NULL;
END $$;

INSERT INTO audit_index (audit_id, created_at, actor, severity, is_failure, terms)
SELECT r.audit_id, r.created_at, r.actor, r.severity, j.record->>'outcome' = 'failure', audit_terms(j.record)
FROM audit_records r CROSS JOIN LATERAL audit_json(r.record) j(record);

CREATE INDEX audit_index_created ON audit_index (created_at, audit_id);
CREATE INDEX audit_index_actor ON audit_index (actor);
-- Without the pending list, which each search would have to read.
CREATE INDEX audit_index_terms ON audit_index USING gin (terms) WITH (fastupdate = off);

-- A trigger, so that a server of the previous release fills the index too.
CREATE TRIGGER audit_records_indexed AFTER INSERT ON audit_records FOR EACH ROW EXECUTE FUNCTION index_audit_record();
CREATE TRIGGER audit_index_append_only BEFORE UPDATE OR DELETE ON audit_index FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_index_no_truncate BEFORE TRUNCATE ON audit_index FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
