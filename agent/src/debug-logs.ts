import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readIfThere } from './files.ts'

/** Files for remote diagnosis. None contains a key, a token or a proof. */
const FILES = ['status.json', 'enforcement.json', 'update.json', 'agent.log.1', 'agent.log'] as const

/** Returns a gzip of the agent's logs and state as one text. A line with its name precedes each file. */
export const collectDebugLogs = (stateDir: string): Promise<Buffer> => {
  const parts = FILES.flatMap((name) => {
    const text = readIfThere(join(stateDir, name))
    return text === undefined ? [] : [`==> ${name} <==\n${text}\n`]
  })
  return promisify(gzip)(parts.join('\n'))
}
