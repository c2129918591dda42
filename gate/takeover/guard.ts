import type { Sabotage } from '../../rig/verdict.ts'

/** One protection, the test that proves it, and the edits that remove it from the source. */
export interface Guard {
  /** What the product does, one sentence without the final period. */
  does: string
  test: {
    /** Path of the test file from the checkout. */
    file: string
    /** Title of the test, without the titles of enclosing suites. */
    name: string
  }
  /** Removes the guard. Each `find` occurs exactly once in its file. */
  removedBy: Sabotage['edits']
}

/** Keeps the ids of a table of guards as literal types. */
export const defineGuards = <const T extends Record<string, Guard>>(table: T): T => table
