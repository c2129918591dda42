-- Sorting by operating system or version walks the dictionary in its order and sorts the rows of one text at a time:
-- 8 ms instead of 28 ms at 100,000 agents.
CREATE INDEX dictionary_folded ON dictionary (folded, id);
