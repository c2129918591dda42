import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal, say } from './say.mjs'

/**
 * Runs `work` while no other bootstrap of this checkout runs. The lock names its process, so the next bootstrap can
 * take over the lock of a killed one.
 */
export async function withLock(path, what, work) {
  const mine = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(mine, String(process.pid))
  } catch (error) {
    throw new Refusal(
      `${what} is needed, and ${dirname(path)} cannot be written (${error.code}): run this once as the owner of the checkout.`,
    )
  }
  try {
    for (let said = false; !taken(mine, path); ) {
      const holder = Number(read(path))
      if (holder > 0 && !alive(holder)) removeStaleLock(path, mine, holder)
      else {
        if (!said) say(`waiting for process ${holder}, which is already running this step (${what})`)
        said = true
        await sleep(250)
      }
    }
    return await work()
  } finally {
    if (read(path) === String(process.pid)) rmSync(path, { force: true })
    rmSync(mine, { force: true })
  }
}

function taken(mine, path) {
  try {
    linkSync(mine, path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of an ended process. If somebody took the lock in the meantime, puts it back. */
function removeStaleLock(path, mine, holder) {
  const aside = `${mine}.stale`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  if (read(aside) !== String(holder)) taken(aside, path)
  rmSync(aside, { force: true })
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
  // A zombie process: killed, but its parent has not waited for it. Pid 1 of a container may never do so.
  return !/\) [ZX] /.test(read(`/proc/${pid}/stat`))
}
