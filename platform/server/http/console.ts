import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { docsPolicy } from './docs-page.ts'

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** First path segments outside the console: unknown paths below them are a 404, not a page. */
const reserved = new Set([
  'prime',
  'agent',
  'worker',
  'docs',
  'help',
  'openapi.json',
  'healthz',
  'readyz',
  'metrics',
  'assets',
])

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    // Scripts set style attributes for positions of virtual rows and sizes of charts.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

const gzipped = promisify(gzip)

/** Suffixes of the compressed files that the build writes, best first. */
const suffixes = { br: '.br', gzip: '.gz' } as const

interface Asset {
  type: string
  plain: Buffer
  packed: Readonly<Record<string, Buffer>>
  immutable: boolean
}

/** Reads built files into memory (about 4 MB of the console), so that a request can name only keys of this map. */
const readAssets = (dir: string, prefix: string): Map<string, Asset> => {
  const assets = new Map<string, Asset>()
  let files: string[]
  try {
    files = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return assets
  }
  const known = new Set(files)
  for (const file of files) {
    const type = mediaTypes[extname(file)]
    if (type === undefined) continue
    const packed = Object.entries(suffixes).filter(([, suffix]) => known.has(file + suffix))
    const name = relative(dir, file).replaceAll('\\', '/')
    assets.set(`${prefix}${name}`, {
      type,
      plain: readFileSync(file),
      packed: Object.fromEntries(packed.map(([encoding, suffix]) => [encoding, readFileSync(file + suffix)])),
      immutable: name.startsWith('assets/'),
    })
  }
  return assets
}

const accepts = (request: FastifyRequest, encoding: string): boolean =>
  new RegExp(`\\b${encoding}\\b`).test(String(request.headers['accept-encoding'] ?? ''))

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return '..'
  }
}

/** Returns the server name that a first segment starts with: clients write `prime;v=1`, `%2570rime` or `prime `. */
const prefixOf = (segment: string): string =>
  (/^[a-z0-9._-]*/.exec(decoded(segment).trim().toLowerCase())?.[0] ?? '').replace(/(?<!\.)\.+$/, '')

/** Returns whether a path is a view: no empty or dot segment in any encoding, and no first segment of the server. */
const isPagePath = (path: string): boolean => {
  const segments = path.slice(1).split('/').map(decoded)
  if (path !== '/' && segments.slice(0, -1).includes('')) return false
  return !segments.some((s) => s === '.' || s === '..' || s.includes('/')) && !reserved.has(prefixOf(segments[0] ?? ''))
}

/**
 * Serves the built console and its help: their files by exact name, and the console for every path of a view. Returns
 * false for all other paths, which then get a 404.
 */
export const createConsole = ({ consoleDir, helpDir }: { consoleDir: string; helpDir: string }) => {
  const assets = readAssets(consoleDir, '/')
  for (const [path, asset] of readAssets(helpDir, '/help/')) assets.set(path.replace(/\.html$/, ''), asset)
  const index = assets.get('/index.html')?.plain.toString('utf8')

  async function page(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const nonce = randomBytes(16).toString('base64')
    reply
      .header('content-security-policy', policy(nonce))
      .header('cache-control', 'no-store')
      .header('vary', 'accept-encoding')
      .type('text/html; charset=utf-8')
    const text = (index as string).replaceAll('__CSP_NONCE__', nonce)
    // Each response has another nonce, so the build cannot compress the page.
    if (accepts(request, 'gzip')) reply.header('content-encoding', 'gzip').send(await gzipped(text))
    else reply.send(text)
  }

  return {
    isBuilt: index !== undefined,
    answer: async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
      if ((request.method !== 'GET' && request.method !== 'HEAD') || index === undefined) return false
      const path = (request.raw.url ?? '').replace(/\?.*$/s, '')
      const asset = path === '/index.html' ? undefined : assets.get(path)
      if (asset === undefined) {
        if (!isPagePath(path) || extname(path) !== '') return false
        await page(request, reply)
        return true
      }
      const encoding = Object.keys(asset.packed).find((one) => accepts(request, one))
      if (encoding !== undefined) reply.header('content-encoding', encoding)
      if (path.startsWith('/help/')) reply.header('content-security-policy', `${docsPolicy}; img-src 'self'`)
      reply
        .type(asset.type)
        .header('cache-control', asset.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
        .header('vary', 'accept-encoding')
        .send(encoding === undefined ? asset.plain : asset.packed[encoding])
      return true
    },
  }
}
