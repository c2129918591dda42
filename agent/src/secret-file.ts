import { closeSync, openSync, readFileSync } from 'node:fs'
import { cannotStart, messageOf } from './exit.ts'
import type { System } from './platform/platform.ts'

/**
 * Reads a file with a secret. Only its owner may have access to it, and the owner must be root or the user of this
 * process. The check uses the open file, so that nobody can replace the file between check and read.
 *
 * @param isPrivate returns whether other users can read the open file
 * @param what the file in messages, for example `token file`
 * @throws AgentExit(1) with the reason, which never contains the content
 */
export const readSecretFile = (path: string, what: string, isPrivate: System['isPrivate']): string => {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    if (isPrivate(file)) return readFileSync(file, 'utf8')
  } catch (error) {
    throw cannotStart(`Cannot read the ${what}: ${messageOf(error)}.`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
  throw cannotStart(`Other users can read the ${what} ${path}. Make it readable by root only (chown root, chmod 600).`)
}
