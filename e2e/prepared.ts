import { inject } from 'vitest'
import { copyPreparedDataDir } from '../server/test/prepared-data-dir.ts'
import { temporaryDir } from './harness.ts'

/**
 * A data directory for a server of which the test does not ask how it starts for the first time: the database is made
 * already. Accounts, keys and certificates are not.
 */
export const serverDir = (): string => {
  const dir = temporaryDir()
  copyPreparedDataDir(inject('preparedDataDir'), dir)
  return dir
}
