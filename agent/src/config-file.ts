import { cannotStart, messageOf } from './exit.ts'
import { readIfThere } from './files.ts'

/**
 * Reads a configuration file: one `NAME=value` per line, with the names of the environment variables. Empty lines and
 * lines that begin with `#` are skipped. A missing file is empty.
 *
 * @throws AgentExit(1) with the line that cannot be read
 */
export const readConfigFile = (path: string): Record<string, string> => {
  let text: string
  try {
    text = readIfThere(path) ?? ''
  } catch (error) {
    throw cannotStart(`Cannot read the configuration file: ${messageOf(error)}.`)
  }
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const found: Record<string, string> = {}
  for (const [i, raw] of lines.entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const match = /^([A-Z_]+)\s*=(.*)$/.exec(line)
    const [, name = '', value = ''] = match ?? []
    if (!name.startsWith('PORTCULLIS_AGENT_'))
      throw cannotStart(`Line ${i + 1} of ${path} is invalid. Use lines like PORTCULLIS_AGENT_SERVER=https://….`)
    found[name] = value.trimStart().replace(/^(["'])(.*)\1$/, '$2')
  }
  return found
}
