import type { TestProject } from 'vitest/node'
import { makePreparedDataDir } from '../server/test/prepared-data-dir.ts'

declare module 'vitest' {
  interface ProvidedContext {
    preparedDataDir: string
  }
}

/** Creates one data directory with an empty database for the run. Most servers start with a copy of it. */
export default async function setup(project: TestProject) {
  const prepared = await makePreparedDataDir()
  project.provide('preparedDataDir', prepared.dir)
  return prepared.remove
}
