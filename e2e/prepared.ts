import { inject } from 'vitest'
import { temporaryDir } from '../proof/kit/harness.ts'
import { copyPreparedDataDir } from '../server/test/prepared-data-dir.ts'

/**
 * Creates a data directory with an existing database, for tests that do not cover the first start. Accounts, keys and
 * certificates do not exist yet.
 */
export const serverDir = (): string => {
  const dir = temporaryDir()
  copyPreparedDataDir(inject('preparedDataDir'), dir)
  return dir
}
