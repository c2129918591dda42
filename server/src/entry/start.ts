/**
 * Entry of `npm start`. It compiles the code of the server once and caches it in the data directory. Without the cache,
 * removing the types from several thousand files takes 0.4 s of a 1.5 s start.
 */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { codeCacheOf, dataDirOf } from '@portcullis/platform/server/data-dir.ts'
import { assertReachable } from '@portcullis/platform/server/postgres/let-through.ts'
import { chooseOwner } from '@portcullis/platform/server/postgres/owner.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'

const dataDir = dataDirOf(process.env, process.getuid?.() === 0)

/** Returns the folder for compiled code. A disk that is full must fail with its reason, not here. */
function writableCodeCache(): string | null {
  try {
    return codeCacheOf(dataDir)
  } catch {
    return null
  }
}

try {
  // Runs before the rest is loaded, so that an invalid directory is reported immediately.
  if (!process.env.DATABASE_URL && !process.env.DATABASE_URL_FILE) {
    const owner = chooseOwner(join(dataDir, 'postgres'))
    if (owner.drop) assertReachable(resolve(dataDir), owner)
  }
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
const codeCache = writableCodeCache()
if (codeCache !== null) enableCompileCache(codeCache)
// Otherwise, V8 allocates the objects of all rows of a file in the old generation, because those of the first rows live
// long. For 1.9 million faulty lines, this takes 220 MB instead of 20 MB.
setFlagsFromString('--no-allocation-site-pretenuring')
await import('./serve.ts')
// Flushed now, not at the end, because a killed server must start again quickly.
flushCompileCache()
