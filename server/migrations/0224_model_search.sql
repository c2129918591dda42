-- Suggestions and the search of models find a text in all models while a person types.
CREATE INDEX models_folded ON models USING gin (folded gin_trgm_ops);
