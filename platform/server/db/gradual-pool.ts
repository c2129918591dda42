import type pg from 'pg'

/** Connections that a pool opens without waiting. */
const few = 4
/**
 * Time between two further connections. Most statements take less than 5 ms; a new connection takes 10 ms, and 8 MB in
 * the database as long as it is used.
 */
const growMs = 50

export interface Lender {
  connect(): Promise<pg.PoolClient>
  /** Returns the number of callers that wait for a connection. */
  waiting(): number
}

/** The parts of a pool that this module uses. */
export type LentPool = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'connect'> & {
  on(event: 'release', heard: () => void): unknown
}

/**
 * Lends connections of a pool. Tasks that start at the same moment share a few connections, so that an idle server does
 * not keep all of them. Under load the pool grows to its limit, one connection at a time.
 */
export const createLender = (pool: LentPool, max: number): Lender => {
  const queue: ((mayGrow: boolean) => void)[] = []
  let isTimed = false
  pool.on('release', () => {
    // The pool emits this before it marks the connection as idle.
    setImmediate(() => queue.shift()?.(false))
  })

  const mustWait = (): boolean => pool.totalCount >= few && pool.totalCount < max && pool.idleCount === 0

  function grow(): void {
    queue.shift()?.(true)
    isTimed = queue.length > 0
    if (isTimed) setTimeout(grow, growMs)
  }

  /** Resolves with true if the caller may open a connection. */
  const turn = (): Promise<boolean> =>
    new Promise((resolve) => {
      queue.push(resolve)
      if (!isTimed) setTimeout(grow, growMs)
      isTimed = true
    })

  return {
    connect: async () => {
      for (let mayGrow = false; !mayGrow && mustWait(); ) mayGrow = await turn()
      return pool.connect()
    },
    waiting: () => queue.length,
  }
}
