import { existsSync, readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import { error, type Finding, gigabytes, ok, warning } from './finding.ts'

const neededNode = 24

export const nodeVersion = (version: string): Finding => {
  const seen = `Node ${version}`
  return Number(version.split('.')[0]) >= neededNode
    ? ok('Node', seen)
    : error('Node', seen, `Node ${neededNode} or newer is needed: npm start and npm run build fetch it.`)
}

/** Built pages and agents: without them the server starts, and serves neither. */
export const builds = (root: string): Finding => {
  const missing = ['build/console/index.html', 'build/agent/manifest.json'].filter(
    (file) => !existsSync(join(root, file)),
  )
  return missing.length === 0
    ? ok('builds', 'console and agent are built')
    : warning('builds', `missing: ${missing.join(', ')}`, 'Run npm run build.')
}

const limitOf = (text: string): number => {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(text)?.[1]
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}

/** Each wake socket of a host and each open page takes one; Node raises the soft limit to the hard one. `pid`: of the server. */
export const fileDescriptors = (pid: number | null, read = (file: string) => readFileSync(file, 'utf8')): Finding => {
  const name = 'open files'
  let limit: number
  try {
    limit = limitOf(read(`/proc/${pid ?? 'self'}/limits`))
  } catch {
    return warning(name, 'the limit cannot be read', 'See to it that the server may open 65,536 files (LimitNOFILE).')
  }
  const seen = `${limit} at most, ${pid === null ? 'where this was started' : `of the server (process ${pid})`}`
  const whatToDo = 'Raise it to 65536: LimitNOFILE of the unit, ulimits of the container, or ulimit -n.'
  if (limit < 1_024) return error(name, seen, whatToDo)
  // 10,000 hosts with wake sockets, and room for pages, database and files.
  return limit < 12_000 ? warning(name, `${seen}: too few for 10,000 hosts`, whatToDo) : ok(name, seen)
}

/** Figures of the sizing guide: the smallest installation has 2 GB with its own database. */
export const memory = (hasOwnDatabase: boolean): Finding => {
  const limit = process.constrainedMemory()
  const total = limit > 0 && limit < totalmem() ? limit : totalmem()
  const seen = `${gigabytes(total)} in all, ${gigabytes(Math.min(total, freemem()))} not in use`
  const needed = hasOwnDatabase ? 2e9 : 1e9
  if (total < needed / 2) return error('memory', seen, `${gigabytes(needed)} are the least; see docs/guide/sizing.md.`)
  return total < needed
    ? warning('memory', seen, `Give it ${gigabytes(needed)} or more; see docs/guide/sizing.md.`)
    : ok('memory', seen)
}

export const variables = (unknown: readonly string[]): Finding =>
  unknown.length === 0
    ? ok('environment', 'no unknown PORTCULLIS_ variable')
    : error(
        'environment',
        `unknown: ${unknown.join(', ')}`,
        'Correct or remove them: the server does not start with one. README lists those that are known.',
      )
