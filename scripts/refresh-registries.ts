#!/usr/bin/env node
/**
 * Refreshes `knowledge/registries.json` and the list of security keys from the public lists of USB products:
 * `node scripts/refresh-registries.ts [--from <folder>] [--to <folder>]`. The folder of `--from` has one checkout per list,
 * named after its repository; without it, the script clones the repositories. The output depends on the commits only.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Registered, type Registry, registries, type SourceFile } from './registries/lists.ts'

const git = (args: readonly string[], input?: string): string => {
  const made = spawnSync('git', args, { input, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 })
  if (made.status !== 0) throw new Error(`git ${args.join(' ')}: ${made.error?.message ?? made.stderr.trim()}`)
  return made.stdout
}

/** Reads the committed files, so that a bare clone is enough and changes in a checkout do not count. */
const filesOf = (folder: string, registry: Registry): SourceFile[] => {
  const paths = git(['-C', folder, 'ls-tree', '-r', '-z', '--name-only', 'HEAD'])
    .split('\0')
    .filter(registry.files)
    .sort()
  if (paths.length === 0) throw new Error(`${folder} does not contain the list of ${registry.repository}.`)
  return paths.map((path) => ({
    path: `${basename(folder)}/${path}`,
    text: git(['-C', folder, 'show', `HEAD:${path}`]),
  }))
}

const run = (from: string, to: string): void => {
  const sources: Record<string, object> = {}
  const products = new Map<string, Registered>()
  const keys = new Set<string>()
  for (const registry of registries) {
    const folder = join(from, basename(registry.repository))
    const files = filesOf(folder, registry).map((file) => ({
      ...file,
      path: file.path.slice(basename(folder).length + 1),
    }))
    const [version, date] = git(['-C', folder, 'log', '-1', '--format=%H %cs']).trim().split(' ')
    let rows: ReturnType<Registry['read']>
    try {
      rows = registry.read(files)
    } catch (cause) {
      throw new Error(`${folder}/${(cause as Error).message}`, { cause })
    }
    const { id, repository, vid, licence } = registry
    sources[id] = {
      url: `https://github.com/${repository}`,
      version,
      date,
      licence,
      ...(vid === undefined ? {} : { vid }),
    }
    for (const [key, product, maker] of rows) {
      if (id === 'libfido2') keys.add(key.replace(':', ''))
      if (product !== '' && !products.has(key))
        products.set(key, maker === undefined ? [id, product] : [id, product, maker])
    }
    console.log(`${id}: ${rows.length} products, ${date}`)
  }
  const sorted = [...products].sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = (entries: readonly (readonly [string, unknown])[]): string =>
    entries.map(([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(',\n')
  writeFileSync(
    join(to, 'knowledge/registries.json'),
    `{\n  "sources": {\n${lines(Object.entries(sources))}\n  },\n  "products": {\n${lines(sorted)}\n  }\n}\n`,
  )
  const module = join(to, 'domain/src/security-keys.ts')
  const byVendor = Map.groupBy([...keys].sort(), (key) => key.slice(0, 4))
  const rowsOfKeys = [...byVendor].map(([vid, of]) => `  ${vid}: ${of.map((key) => key.slice(4)).join(' ')}`)
  writeFileSync(
    module,
    `/** Ids (VID and PID) of the authenticators in libfido2's udev/fidodevs. Written by scripts/refresh-registries.ts. */
export const fidoProducts = \`
${rowsOfKeys.join('\n')}
\`
`,
  )
}

const main = (): void => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string', default: root } } })
  const clones = values.from === undefined ? mkdtempSync(join(tmpdir(), 'registries-')) : undefined
  try {
    if (clones !== undefined)
      for (const { repository } of registries)
        git([
          'clone',
          '-q',
          '--bare',
          '--depth',
          '1',
          `https://github.com/${repository}`,
          join(clones, basename(repository)),
        ])
    run(values.from ?? clones ?? root, values.to)
  } finally {
    if (clones !== undefined) rmSync(clones, { recursive: true, force: true })
  }
}

try {
  main()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
