// Checks that every table has one owner: the capability or platform folder whose SQL changes its rows. Reads the SQL in
// all server sources of this checkout or the given folder.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

/** Statements that change rows, each with the table that it changes. */
const CHANGES = [
  /\binsert\s+into\s+([a-z_]+)\b/gi,
  /\bupdate\s+(?:only\s+)?([a-z_]+)(?:\s+(?:as\s+)?[a-z_]+)?\s+set\b/gi,
  /\bdelete\s+from\s+(?:only\s+)?([a-z_]+)\b/gi,
  /\bmerge\s+into\s+([a-z_]+)\b/gi,
  /\btruncate\s+(?:table\s+)?(?:only\s+)?([a-z_]+)\s*(?:[,;`]|cascade|restart)/gi,
  /\bcopy\s+([a-z_]+)\s*(?:\([^)]*\))?\s+from\b/gi,
]
/** Capabilities declare columns with sealed secrets, and the platform writes the columns on their behalf. */
const SEALED = /\btable: '([a-z_]+)', key: '/g
/** A statement with a variable table name hides the owner. Only the platform may contain such helpers. */
const HIDDEN = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate)\s+\$\{/i

const tree = resolve(process.argv[2] ?? ROOT)
const tables = new Set(
  globSync('server/migrations/*.sql', { cwd: tree }).flatMap((path) =>
    [...read(path).matchAll(/create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?([a-z_]+)/gi)].map(
      (match) => match[1],
    ),
  ),
)
/** Owners of each table, with the files that show it. */
const owners = new Map()
const wrong = []

for (const path of globSync('{server,platform/server,features/*/server}/**/*.ts', { cwd: tree }).sort()) {
  if (/\.test\.ts$/.test(path)) continue
  const text = read(path)
  const owner = ownerOf(path)
  if (owner === undefined) continue
  if (HIDDEN.test(text) && !owner.startsWith('platform/'))
    wrong.push(`${path}: a statement hides which table it changes`)
  for (const pattern of [...CHANGES, SEALED])
    for (const [, table] of text.matchAll(pattern)) if (tables.has(table)) note(table, owner, path)
}
for (const [table, files] of [...owners].sort())
  if (files.size > 1)
    wrong.push(
      `table ${table} has ${files.size} writers: ${[...files].map(([owner, paths]) => `${owner} (${[...paths].join(', ')})`).join('; ')}`,
    )
if (tables.size === 0) wrong.push('no tables found in server/migrations')
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0

function read(path) {
  const file = join(tree, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

function ownerOf(path) {
  const [top, next, last] = path.split('/')
  if (top === 'features') return `features/${next}`
  if (top === 'platform') return `platform/${last}`
  return next === 'test' ? undefined : last
}

function note(table, owner, path) {
  if (!owners.has(table)) owners.set(table, new Map())
  const files = owners.get(table)
  if (!files.has(owner)) files.set(owner, new Set())
  files.get(owner).add(path)
}
