import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../bootstrap/say.mjs'
import { serverFiles } from './contents.ts'

const files = new Set(serverFiles(ROOT))
const guides = [...files].filter((path) => /^(README|SECURITY)\.md$|^docs\/(guide\/|security\/|support\.md)/.test(path))
const isShipped = (path: string): boolean =>
  files.has(path) || (existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory())

it('a release contains the guides', () => {
  expect(guides).toContain('docs/guide/README.md')
  expect(guides).toContain('docs/support.md')
})

it.each(guides.filter((path) => path.endsWith('.md')))('a release contains the pages that %s links to', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const targets = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)\s]*)?\)/g)].map((match) =>
    join(dirname(page), match[1] as string),
  )
  expect(targets.filter((path) => !isShipped(path))).toEqual([])
})
