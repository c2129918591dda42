-- The one meaning of "vendor" for every list: the vendor name of a model, or the manufacturer that one of its devices states.
-- `pattern` is a folded LIKE pattern.
CREATE FUNCTION models_of_vendor(pattern text) RETURNS SETOF int LANGUAGE sql STABLE AS $$
  SELECT m.model_id FROM models m WHERE lower(m.vendor) LIKE pattern
  UNION
  SELECT d.model_id FROM designs d WHERE lower(d.manufacturer) LIKE pattern
$$;
