import { spawn, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { unreadUnitFiles, usesUnit, variable } from './environment.ts'

/**
 * Returns why root must not work on the data directory; null if it may. Whoever controls its owner, for example through
 * the server, could have root follow a link and overwrite any file of the machine.
 */
const foreignData = (): string | null => {
  if (process.getuid?.() !== 0) return null
  const dir = variable('PORTCULLIS_DATA_DIR') ?? '/var/lib/portcullis'
  const owner = statSync(dir, { throwIfNoEntry: false })?.uid
  if (owner === undefined && usesUnit())
    return `The data directory ${dir} does not exist. Create it for the user of the service, for example with: install -d -o portcullis -g portcullis -m 0700 ${dir}`
  if (owner === undefined || owner === 0) return null
  const name = spawnSync('id', ['-un', String(owner)], { encoding: 'utf8' }).stdout?.trim() || `#${owner}`
  return `The data directory ${dir} belongs to the user ${name}. Run this command as that user, for example with: runuser -u ${name} -- portcullis …`
}

/** Returns arguments: a text after its name, `true` as the name alone, and nothing for other values. */
export const argumentsOf = (
  values: Readonly<Record<string, string | boolean | undefined | readonly string[]>>,
): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (typeof one === 'string' ? [`--${name}`, one] : one === true ? [`--${name}`] : [])),
  )

interface Options {
  /** Exit code if the entry did not run to its end. The default is 1. */
  whenKilled?: number
  /** Whether the entry uses the data directory of the server. The default is true. */
  usesData?: boolean
}

/** Runs an entry of the server in a child process with the same input and output. */
export const runEntry = async (
  name: string,
  args: readonly string[],
  { whenKilled = 1, usesData = true }: Options = {},
): Promise<void> => {
  const refusal = usesData ? foreignData() : null
  if (refusal !== null) {
    process.stderr.write(`${refusal}\n`)
    process.exitCode = whenKilled
    return
  }
  for (const file of unreadUnitFiles())
    process.stderr.write(
      `Cannot read ${file}, so its settings are not used. Run the command as a user who can read the file.\n`,
    )
  const entry = fileURLToPath(new URL(`../../server/src/entry/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [entry, ...args], { stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? whenKilled))
  })
}

/** Runs a recovery command on the server. */
export const recover = (command: string, options: Parameters<typeof argumentsOf>[0] = {}): Promise<void> =>
  runEntry('recovery', [command, ...argumentsOf(options)])
