/**
 * `npm start`. The code of the server is compiled once and kept in its data directory: of 1.5 s until it serves, 0.4 s
 * went into taking the types out of some thousand files again at each start.
 */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { codeCacheOf, dataDirOf } from '#platform/data-dir.ts'
import { assertReachable } from '#platform/postgres/let-through.ts'
import { chooseOwner } from '#platform/postgres/owner.ts'
import { StartError } from '#platform/start-error.ts'

const dataDir = dataDirOf(process.env, process.getuid?.() === 0)
try {
  // Before the rest is loaded: whoever mistyped a directory reads why at once.
  if (!process.env.DATABASE_URL && !process.env.DATABASE_URL_FILE) {
    const owner = chooseOwner(join(dataDir, 'postgres'))
    if (owner.drop) assertReachable(resolve(dataDir), owner)
  }
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
const codeCache = codeCacheOf(dataDir)
if (codeCache !== null) enableCompileCache(codeCache)
// Otherwise V8 learns from the first rows of a file that objects made there live long, and puts those of all the others
// where only the rare collection of everything finds them: 220 MB for 1.9 million faulty lines, 20 MB without.
setFlagsFromString('--no-allocation-site-pretenuring')
await import('./serve.ts')
// Now, not at the end: a server that is killed is the one that has to be up again soon.
flushCompileCache()
