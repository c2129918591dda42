/** Connections that one server takes of its database at most: with so many in each pool, and one to hear other replicas by. */
export const poolLimits = { serve: 12, export: 8, bus: 1 } as const
