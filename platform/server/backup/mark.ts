/** An empty table that exists from the start of a restore until its commit. */
export const restoreMark = {
  make: 'CREATE TABLE IF NOT EXISTS public.restore_under_way ()',
  isThere: "SELECT to_regclass('public.restore_under_way') IS NOT NULL AS is",
  take: 'DROP TABLE public.restore_under_way',
} as const
