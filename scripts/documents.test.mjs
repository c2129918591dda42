import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

const read = (path) => readFileSync(join(ROOT, path), 'utf8')
/** Pages with links to others. `npm run build` writes some. Decisions are excluded, because they keep their old paths. */
const pages = globSync(
  [
    '*.md',
    '.github/*.md',
    'agent/*.md',
    'knowledge/*.md',
    'docs/*.md',
    'docs/{guide,security}/*.md',
    'docs/reference/*.md',
    'docs/reference/api/*.md',
  ],
  { cwd: ROOT },
)
  .filter((path) => path !== 'THIRD-PARTY-LICENSES.md')
  .sort()

/** Returns the anchors of a page: derived from headings as Markdown sites do, and written as `<a id>`. */
const anchorsOf = (path) => {
  const text = read(path).replace(/^```[\s\S]*?^```/gm, '')
  const seen = new Map()
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => {
    const slug = title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id)]
}

it('finds the pages that a build writes', () => {
  const made = 'docs/reference/api/README.md'
  expect(existsSync(join(ROOT, made)), `${made} is missing. Run \`npm run build\` first.`).toBe(true)
})

it.each(pages)('%s links only to files and headings that exist', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
  const broken = links.filter(([, path, anchor]) => {
    const target = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
  })
  expect(broken.map(([link]) => link)).toEqual([])
})

it.each(pages)('%s names only source files that exist', (page) => {
  const paths = [
    ...read(page).matchAll(
      /`((?:server|scripts|ops|docs|e2e|domain|agent|contract|poller|proof|features|platform|console|cli)\/[\w./-]+)`/g,
    ),
  ].map((match) => match[1])
  // Created on the machine and not part of the repository.
  const isMade = (path) => path.includes('/secrets/') || path.startsWith('agent/v1')
  expect(paths.filter((path) => !(isMade(path) || existsSync(join(ROOT, path))))).toEqual([])
})

it('lists every guide in the index', () => {
  const index = read('docs/guide/README.md')
  const missing = pages.filter(
    (page) => /^docs\/guide\/(?!README)/.test(page) && !index.includes(`](${page.replace('docs/guide/', '')}`),
  )
  expect(missing).toEqual([])
})

it('uses each picture of the guides, with an alternative text', () => {
  const shown = pages.flatMap((page) => [
    ...[...read(page).matchAll(/!\[([^\]]*)\]\(([^)]+\.png)\)/g)].map(([, alt, path]) => [
      join(dirname(page), path),
      alt,
    ]),
    ...[...read(page).matchAll(/<img alt="([^"]*)" src="([^"]+)"/g)].map(([, alt, path]) => [
      join(dirname(page), path),
      alt,
    ]),
    ...[...read(page).matchAll(/<source [^>]*srcset="([^"]+)"/g)].map(([, path]) => [
      path,
      'another scheme of the same picture',
    ]),
  ])
  expect(shown.filter(([, alt]) => alt.length < 20)).toEqual([])
  const used = new Set(shown.map(([path]) => path))
  expect(globSync('docs/guide/images/*', { cwd: ROOT }).filter((path) => !used.has(path))).toEqual([])
})

it('lists every variable of the server in the configuration page', () => {
  const known = /const known = \[([^\]]*)\]/.exec(read('platform/server/config.ts'))?.[1] ?? ''
  const names = [...known.matchAll(/'(PORTCULLIS_\w+)'/g)].map((match) => match[1])
  expect(names.length).toBeGreaterThan(10)
  const page = read('docs/reference/configuration.md')
  // Only browser tests use PORTCULLIS_CHROMIUM.
  const missing = names.filter((name) => name !== 'PORTCULLIS_CHROMIUM' && !page.includes(`\`${name}\``))
  expect(missing).toEqual([])
})
