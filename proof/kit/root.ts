import { fileURLToPath } from 'node:url'

/** The checkout under test. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

export const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
