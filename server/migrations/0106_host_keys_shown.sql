-- The key that a polled computer showed last and that nobody confirmed; empty: none. The pinned one is `host_key` (ADR 37).
ALTER TABLE connections ADD COLUMN shown_host_key text NOT NULL DEFAULT '';
