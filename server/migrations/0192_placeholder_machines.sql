-- Texts that vendors and image builders leave in place of an identifier are the same on thousands of machines
-- (domain/src/machine-hash.ts). Agents and workers of earlier versions reported their hashes as identities.
WITH placeholders AS (
SELECT encode(sha256(convert_to('portcullis:' || form.text, 'UTF8')), 'hex') AS hash FROM (
  SELECT text FROM unnest(ARRAY[
  'uninitialized', 'undefined', 'unknown', 'unspecified', 'invalid', 'empty', 'null', 'none', 'n/a', 'na', 'tbd',
  'not set', 'not settable', 'not specified', 'not present', 'not available', 'not applicable', 'not provided',
  'default', 'default string', 'default_string', 'o.e.m.', 'oem', 'oem string', 'no asset information', 'asset tag',
  'to be filled by o.e.m.', 'to be filled by o.e.m', 'to be filled by oem', 'to be filled', 'tobefilledbyo.e.m.',
  'system manufacturer', 'system product name', 'system version', 'system serial number', 'system sku number',
  'system name', 'system sku', 'system uuid', 'sku number', 'serial number', 'product name', 'manufacturer',
  'base board manufacturer', 'base board product name', 'base board serial number', 'board serial number',
  'chassis manufacturer', 'chassis serial number', 'chassis sku number', 'chassis version', 'sernum0', '0123456789',
  '123456789', '1234567890', '12345678', '0123456789abcdef', '123456789abcdef', '1234567890abcdef',
  '03000200-0400-0500-0006-000700080009', '00020003-0004-0005-0006-000700080009',
  '03020100-0504-0706-0809-0a0b0c0d0e0f', '00010203-0405-0607-0809-0a0b0c0d0e0f',
  '10000000-0000-8000-0040-000000000000', '00000010-0000-0080-0040-000000000000',
  '12345678-1234-5678-90ab-cddeefaabbcc', '78563412-3412-7856-90ab-cddeefaabbcc',
  '12345678-1234-5678-1234-567812345678', '78563412-3412-7856-1234-567812345678',
  '12345678-1234-5678-1234-56789abcdef0', '78563412-3412-7856-1234-56789abcdef0',
  '12345678-1234-1234-1234-123456789abc', '78563412-3412-3412-1234-123456789abc',
  '12345678-1234-1234-1234-123456789012', '78563412-3412-3412-1234-123456789012',
  '01234567-89ab-cdef-0123-456789abcdef', '67452301-ab89-efcd-0123-456789abcdef',
  '00112233-4455-6677-8899-aabbccddeeff', '33221100-5544-7766-8899-aabbccddeeff',
  'deadbeef-dead-beef-dead-beefdeadbeef', 'efbeadde-adde-efbe-dead-beefdeadbeef',
  '11111111-2222-3333-4444-555555555555', 'b08dfa60-83e7-567a-1921-a715000001fb',
  '60fa8db0-e783-7a56-1921-a715000001fb'
  ]) text
  UNION SELECT repeat(lpad(to_hex(byte), 2, '0'), 16)::uuid::text FROM generate_series(0, 255) byte
) given
CROSS JOIN LATERAL (VALUES (given.text), (CASE WHEN given.text ~ '^[0-9a-f-]{36}$' THEN replace(given.text, '-', '') END)) form(text)
WHERE form.text IS NOT NULL)
UPDATE agents a SET
  machine_id_hash = CASE WHEN a.machine_id_hash IN (SELECT p.hash FROM placeholders p) THEN NULL ELSE a.machine_id_hash END,
  smbios_hash = CASE WHEN a.smbios_hash IN (SELECT p.hash FROM placeholders p) THEN NULL ELSE a.smbios_hash END
WHERE a.machine_id_hash IN (SELECT p.hash FROM placeholders p) OR a.smbios_hash IN (SELECT p.hash FROM placeholders p);
