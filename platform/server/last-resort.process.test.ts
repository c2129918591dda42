// Invariant: A shortage such as EMFILE does not end the process.

import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Runs a program that may open 64 files, with the handler. Returns its output and exit code. */
const run = (program: string) => {
  const text = `
    import { openSync } from 'node:fs'
    import { surviveShortages } from ${JSON.stringify(new URL('./last-resort.ts', import.meta.url).href)}
    process.on('exit', () => console.log('open files: ' + opened))
    let opened = 0
    surviveShortages({ error: ({ err }, text) => console.log(err.code, text), fatal: () => {} })
    const fill = () => { for (;;) { openSync('/dev/null'); opened += 1 } }
    ${program}`
  const command = 'ulimit -n 64 && exec "$0" --input-type=module-typescript -e "$1"'
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, text], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

it('a timer that fails at the limit of open files does not end the process', () => {
  const { status, stdout } = run(`
    setTimeout(fill, 1)
    setTimeout(() => process.memoryUsage.rss(), 2)
    setTimeout(() => console.log('the next timer ran'), 3)`)
  expect(stdout.match(/EMFILE a task failed/g)).toHaveLength(2)
  expect(stdout).toContain('the next timer ran')
  expect(status).toBe(0)
})

it('any other uncaught error ends the process with its stack', () => {
  const { status, stdout, stderr } = run(`
    setTimeout(() => { throw new TypeError('a fault of the program') }, 1)
    setTimeout(() => console.log('the next timer ran'), 50)`)
  expect(status).toBe(1)
  expect(stderr).toContain('TypeError: a fault of the program')
  expect(stdout).not.toContain('the next timer ran')
})
