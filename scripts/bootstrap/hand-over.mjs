import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
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

/**
 * npm killed outright (SIGKILL) can pass nothing on; its end is seen by its child being adopted by another process.
 * Its child is this process, or the shell that npm runs the script in and that has no other purpose.
 */
function watchParent(gone) {
  if (process.env.npm_lifecycle_event === undefined) return
  const child = /^(sh|dash|bash|ash)$/.test(statusOf(process.ppid).Name) ? process.ppid : process.pid
  const npm = statusOf(child).PPid
  // Without /proc nothing is known; with npm as pid 1 of a container all ends with it anyway.
  if (npm === undefined || npm === '1') return
  const timer = setInterval(() => {
    if (statusOf(child).PPid === npm) return
    clearInterval(timer)
    gone()
  }, 500)
  timer.unref()
}

/** Fields of /proc/<pid>/status; none when there is no such process or no /proc. */
function statusOf(pid) {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')
    return Object.fromEntries(lines.map((line) => line.split(':\t', 2)))
  } catch {
    return {}
  }
}
