/** Writes `build/help`, the guides as pages that the server serves at `/help`. */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { Marked } from 'marked'
import { docsPage } from '../platform/server/http/docs-page.ts'
import { anchorOf, referenceFiles } from './generate-reference.ts'

const docs = join(import.meta.dirname, '..', 'docs')
const out = join(import.meta.dirname, '..', 'build', 'help')

/** Returns the Markdown sources by their path below `docs`. */
const sources = (): Map<string, string> =>
  new Map([
    ...globSync(['{guide,security}/*.md', 'reference/configuration.md', '{glossary,support}.md'], { cwd: docs }).map(
      (path): [string, string] => [path, readFileSync(join(docs, path), 'utf8')],
    ),
    ...Object.entries(referenceFiles())
      .filter(([name]) => !name.startsWith('api/'))
      .map(([name, text]): [string, string] => [`reference/${name}`, text]),
  ])

/** Returns the address of a page. */
const addressOf = (path: string): string => `/help/${path.replace(/(?:README)?\.md$/, '').replace(/\/$/, '')}`

/** Renders all pages. Returns HTML by file name below `build/help`. */
export const helpFiles = (): Map<string, string> => {
  const pages = sources()
  const resolve = (from: string, href: string): string | undefined => {
    if (/^https?:|^#/.test(href)) return href
    const [path = '', anchor] = href.split('#')
    const target = posix.join(posix.dirname(from), path)
    if (target.startsWith('reference/api/')) return '/docs'
    if (target.endsWith('.png')) return `/help/${target}`
    if (!pages.has(target)) return undefined
    return anchor === undefined ? addressOf(target) : `${addressOf(target)}#${anchor}`
  }
  return new Map(
    [...pages].map(([path, text]) => {
      const seen = new Map<string, number>()
      const marked = new Marked({
        renderer: {
          heading({ tokens, depth }) {
            const html = this.parser.parseInline(tokens)
            const slug = anchorOf(this.parser.parseInline(tokens, this.parser.textRenderer))
            const count = seen.get(slug) ?? 0
            seen.set(slug, count + 1)
            return `<h${depth} id="${count === 0 ? slug : `${slug}-${count}`}">${html}</h${depth}>`
          },
          link({ href, tokens }) {
            const to = resolve(path, href)
            const html = this.parser.parseInline(tokens)
            // Decisions, proofs and sources are not part of the help.
            return to === undefined ? html : `<a href="${to}">${html}</a>`
          },
          image: ({ href, text: alt }) => `<img src="${resolve(path, href) ?? ''}" alt="${alt}">`,
        },
      })
      const title = /^# (.+)$/m.exec(text)?.[1] ?? path
      const name = addressOf(path).slice('/help/'.length)
      return [`${name}.html`, docsPage(title, marked.parse(text, { async: false }))]
    }),
  )
}

if (import.meta.main) {
  rmSync(out, { recursive: true, force: true })
  for (const [name, html] of helpFiles()) {
    mkdirSync(dirname(join(out, name)), { recursive: true })
    writeFileSync(join(out, name), html)
  }
  cpSync(join(docs, 'guide', 'images'), join(out, 'guide', 'images'), { recursive: true })
}
