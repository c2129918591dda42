import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Runs an entry of the server in a child process with the same input and output.
 *
 * @param whenKilled exit code if a signal ended the child
 */
export const runEntry = async (name: string, args: readonly string[], whenKilled = 1): Promise<void> => {
  const entry = fileURLToPath(new URL(`../../server/src/entry/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [entry, ...args], { stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? whenKilled))
  })
}
