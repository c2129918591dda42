import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tokensOf } from './tokens.ts'

/** Words of PostgreSQL's log that the product's own text does not contain. */
const postgresWords =
  'LOG WARNING ERROR FATAL PANIC HINT NOTICE automatic analyze autovacuum buffers bytes checkpoint checkpointer complete could crash database distance duplicate estimate exclusive exiting failed file files forcibly hit immediate in invalid key last launcher listening lock logical longest lsn memory missed not of on out page parameters permission pg_wal process ready receive received recovery recycled redo relation replication request requested reset role segment server shared shut shutdown shutting signal skipping space starting startup statement subprocess sync synced system table temporary terminated terminating timeout timeouts to too transaction unique unexpected vacuum value violates wal was with worker write written wrote at accept after added average aborting access administrator background because been block by cancel canceling client connection connections constraint current deadlock denied detected device disabled done due error EOF exited exit failure fast for from has index interrupted into is it left no null or process promoted read relation removed slot slots socket smart still sync the timed total unix up user was wait waiting without UTC x86_64-pc-linux-gnu aarch64-unknown-linux-gnu compiled gcc 64-bit'

const sourcesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name.endsWith('.ts') && !one.name.endsWith('.test.ts'))
    .map((one) => join(one.parentPath, one.name))

/**
 * Returns the words of the product's own source, in lower case. A text that consists of them says nothing about an
 * installation; every other word may be data, and is replaced.
 */
export const readVocabulary = (root: string): ReadonlySet<string> => {
  const words = new Set(tokensOf(postgresWords.toLowerCase()))
  const files = [
    ...['platform/server', 'server/src', ...globSync('features/*/server', { cwd: root })].flatMap((folder) =>
      sourcesBelow(join(root, folder)),
    ),
    ...['errors', 'permissions'].map((name) => join(root, 'platform/contract', `${name}.ts`)),
    ...['health', 'subsystem-catalogue'].map((name) => join(root, 'features/health/contract', `${name}.ts`)),
  ]
  for (const file of files) for (const word of tokensOf(readFileSync(file, 'utf8').toLowerCase())) words.add(word)
  return words
}
