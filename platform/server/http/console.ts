import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
}

/** First path segments outside the console: unknown paths below them are a 404, not a page. */
const reserved = new Set(['prime', 'agent', 'worker', 'docs', 'openapi.json', 'healthz', 'readyz', 'metrics', 'assets'])

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

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) }

type Encoding = keyof typeof compress

/** Suffixes of the compressed files that the build writes. */
const suffixes = { br: '.br', gzip: '.gz' } as const satisfies Record<Encoding, string>

interface Asset {
  type: string
  plain: Buffer
  /** Compressed by the build, or on first use. */
  packed: Map<Encoding, Promise<Buffer>>
  immutable: boolean
}

/** Reads the built console into memory (about 4 MB), so that a request can name only keys of this map. */
const readAssets = (dir: string): Map<string, Asset> => {
  const assets = new Map<string, Asset>()
  let names: string[]
  try {
    names = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
  } catch {
    return assets
  }
  const known = new Set(names)
  const packedOf = (name: string) =>
    (Object.keys(suffixes) as Encoding[])
      .filter((encoding) => known.has(name + suffixes[encoding]))
      .map((encoding) => [encoding, Promise.resolve(readFileSync(join(dir, name + suffixes[encoding])))] as const)
  for (const name of names) {
    const type = mediaTypes[extname(name)]
    if (type !== undefined)
      assets.set(`/${name.replaceAll('\\', '/')}`, {
        type,
        plain: readFileSync(join(dir, name)),
        packed: new Map(packedOf(name)),
        immutable: name.startsWith('assets'),
      })
  }
  return assets
}

const packed = (asset: Asset, encoding: Encoding): Promise<Buffer> => {
  const known = asset.packed.get(encoding)
  if (known !== undefined) return known
  const made =
    encoding === 'br'
      ? compress.br(asset.plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } })
      : compress.gzip(asset.plain)
  asset.packed.set(encoding, made)
  return made
}

const accepts = (request: FastifyRequest, encoding: Encoding): boolean =>
  new RegExp(`\\b${encoding}\\b`).test(String(request.headers['accept-encoding'] ?? ''))

const encodingOf = (request: FastifyRequest): Encoding | undefined =>
  accepts(request, 'br') ? 'br' : accepts(request, 'gzip') ? 'gzip' : undefined

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return '..'
  }
}

/** Returns the server name that a first segment starts with: clients write `prime;v=1`, `%2570rime` or `prime `. */
const prefixOf = (segment: string): string =>
  (/^[a-z0-9._-]*/.exec(decoded(segment).trim().toLowerCase())?.[0] ?? '').replace(/\.+$/, '')

/** Returns whether a path is a view: no empty or dot segment in any encoding, and no first segment of the server. */
const isPagePath = (path: string): boolean => {
  const segments = path.slice(1).split('/').map(decoded)
  if (path !== '/' && segments.slice(0, -1).includes('')) return false
  return !segments.some((s) => s === '.' || s === '..' || s.includes('/')) && !reserved.has(prefixOf(segments[0] ?? ''))
}

/**
 * Serves the built console: its files by exact name, and its page for every path of a view. Returns false for all other
 * paths, which then get a 404.
 */
export const createConsole = (dir: string) => {
  const assets = readAssets(dir)
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
    if (accepts(request, 'gzip')) reply.header('content-encoding', 'gzip').send(await compress.gzip(text))
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
      const encoding = encodingOf(request)
      reply
        .type(asset.type)
        .header('cache-control', asset.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
        .header('vary', 'accept-encoding')
      if (encoding === undefined || asset.plain.length < 1_024) reply.send(asset.plain)
      else {
        const body = await packed(asset, encoding)
        reply.header('content-encoding', encoding).send(body)
      }
      return true
    },
  }
}
