import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { environmentFor } from './run.mjs'
import { Refusal, ROOT } from './say.mjs'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']

/** Runs the verb's program as if it had been called itself: same streams, signals passed on, same exit code. */
export function handOver(node, program, args) {
  const file = join(ROOT, program)
  if (!existsSync(file)) throw new Refusal(`${program} is not part of this checkout.`)
  // The leash (see there) ends the program with this process, even when this one is killed outright.
  const leash = join(ROOT, 'scripts', 'bootstrap', 'leash.mjs')
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', '--import', leash, file, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: environmentFor(node),
  })
  child.channel?.unref()
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // A terminal's Ctrl+C reaches the child by itself; twice would mean "at once" to it.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  watchParent(() => child.kill('SIGTERM'))
  child.once('error', (error) => {
    console.error(`${node} could not be run (${error.code}).`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

/** npm killed outright (SIGKILL) can pass nothing on; its end is seen by our being adopted by another process. */
function watchParent(gone) {
  const parent = process.ppid
  if (process.env.npm_lifecycle_event === undefined || parent === 1) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, 500)
  timer.unref()
}
