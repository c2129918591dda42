import { existsSync, readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import { error, type Finding, gigabytes, ok, warning } from './finding.ts'

const neededNode = 24

export const nodeVersion = (version: string): Finding => {
  const seen = `Node ${version}`
  return Number(version.split('.')[0]) >= neededNode
    ? ok('Node', seen)
    : error('Node', seen, `Node ${neededNode} or newer is required. npm start and npm run build download it.`)
}

/** Checks the built console, help and agent. Without them, the server starts but does not serve them. */
export const builds = (root: string): Finding => {
  const missing = ['build/console/index.html', 'build/help/guide.html', 'build/agent/manifest.json'].filter(
    (file) => !existsSync(join(root, file)),
  )
  return missing.length === 0
    ? ok('builds', 'console, help and agent are built')
    : warning('builds', `missing: ${missing.join(', ')}`, 'Run npm run build.')
}

const limitOf = (text: string): number => {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(text)?.[1]
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}

/**
 * Checks the limit of open files. Each wake socket of a host and each open page uses one; Node raises the soft limit to
 * the hard one. `pid`: process id of the server.
 */
export const fileDescriptors = (pid: number | null): Finding => {
  const name = 'open files'
  let limit: number
  try {
    limit = limitOf(readFileSync(`/proc/${pid ?? 'self'}/limits`, 'utf8'))
  } catch {
    return warning(name, 'cannot read the limit', 'Make sure that the server may open 65,536 files (LimitNOFILE).')
  }
  const seen = `${limit} at most, ${pid === null ? 'for this command' : `for the server (process ${pid})`}`
  const whatToDo = 'Raise it to 65536 by LimitNOFILE of the unit, ulimits of the container, or ulimit -n.'
  if (limit < 1_024) return error(name, seen, whatToDo)
  // 10,000 hosts with wake sockets, plus pages, database and files.
  return limit < 12_000 ? warning(name, `${seen}: too few for 10,000 hosts`, whatToDo) : ok(name, seen)
}

/** Checks the memory against the sizing guide: the smallest installation with its own database has 2 GB. */
export const memory = (hasOwnDatabase: boolean): Finding => {
  const limit = process.constrainedMemory()
  const total = limit > 0 && limit < totalmem() ? limit : totalmem()
  const seen = `${gigabytes(total)} in total, ${gigabytes(Math.min(total, freemem()))} available`
  const needed = hasOwnDatabase ? 2e9 : 1e9
  if (total < needed / 2)
    return error('memory', seen, `At least ${gigabytes(needed)} are required. See docs/guide/sizing.md.`)
  return total < needed
    ? warning('memory', seen, `Provide ${gigabytes(needed)} or more. See docs/guide/sizing.md.`)
    : ok('memory', seen)
}

export const variables = (unknown: readonly string[]): Finding =>
  unknown.length === 0
    ? ok('environment', 'no unknown PORTCULLIS_ variable')
    : error(
        'environment',
        `unknown: ${unknown.join(', ')}`,
        'Correct or remove them, because the server does not start with unknown variables. docs/reference/configuration.md lists the valid ones.',
      )
