import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { environmentFor } from './run.mjs'
import { Refusal, ROOT } from './say.mjs'
import { argumentsFor, environmentOf } from './server-arguments.mjs'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']

/** Runs the command's program as if it had been called directly: same streams, same signals, same exit code. */
export function handOver(node, program, args) {
  const file = join(ROOT, program)
  if (!existsSync(file)) throw new Refusal(`${program} is not part of this checkout.`)
  // parent-watch.mjs ends the program together with this process, even if this process is killed.
  const parentWatch = join(ROOT, 'scripts', 'bootstrap', 'parent-watch.mjs')
  const child = spawn(node, [...argumentsFor(program), '--import', parentWatch, file, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...environmentOf(program), ...environmentFor(node) },
  })
  child.channel?.unref()
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // A terminal sends Ctrl+C to the child as well. A second signal would force an immediate stop.
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
 * Detects the end of npm, which cannot pass on SIGKILL: another process adopts npm's child. That child is this process,
 * or the shell in which npm runs the script.
 */
function watchParent(gone) {
  if (process.env.npm_lifecycle_event === undefined) return
  const child = /^(sh|dash|bash|ash)$/.test(statusOf(process.ppid).Name) ? process.ppid : process.pid
  const npm = statusOf(child).PPid
  // Without /proc this cannot be detected. If npm is pid 1 of a container, everything ends with it anyway.
  if (npm === undefined || npm === '1') return
  const timer = setInterval(() => {
    if (statusOf(child).PPid === npm) return
    clearInterval(timer)
    gone()
  }, 500)
  timer.unref()
}

/** Returns the fields of /proc/<pid>/status; none if the process or /proc does not exist. */
function statusOf(pid) {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')
    return Object.fromEntries(lines.map((line) => line.split(':\t', 2)))
  } catch {
    return {}
  }
}
