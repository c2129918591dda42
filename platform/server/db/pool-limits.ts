/** Maximum number of database connections of one server: per pool, and one for messages from other replicas. */
export const poolLimits = { serve: 12, export: 8, bus: 1 } as const
