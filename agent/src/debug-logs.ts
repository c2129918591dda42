import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readIfThere } from './files.ts'

/** What helps to understand an agent from afar. None holds a key, a token or a proof. */
const FILES = ['status.json', 'enforcement.json', 'update.json', 'agent.log.1', 'agent.log'] as const

/** A gzip of the agent's logs and state as one text, each file below a line with its name. */
export const collectDebugLogs = (stateDir: string): Promise<Buffer> => {
  const parts = FILES.flatMap((name) => {
    const text = readIfThere(join(stateDir, name))
    return text === undefined ? [] : [`==> ${name} <==\n${text}\n`]
  })
  return promisify(gzip)(parts.join('\n'))
}
