/** An empty table that is there from the beginning of a restore until its rows are there for good. */
export const restoreMark = {
  make: 'CREATE TABLE IF NOT EXISTS public.restore_under_way ()',
  isThere: "SELECT to_regclass('public.restore_under_way') IS NOT NULL AS is",
  take: 'DROP TABLE public.restore_under_way',
} as const
