import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, notFound } from '../app-error.ts'

const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'] as const
const known: ReadonlySet<string> = new Set(verbs)

/** Longest path parameter in characters; a longer one matches no route. */
export const maxParamLength = 512

interface Node {
  statics: Map<string, Node>
  param: Node | null
  methods: Set<string> | null
}

const emptyNode = (): Node => ({ statics: new Map(), param: null, methods: null })
const isParam = (segment: string): boolean => segment.startsWith(':')
const segmentsOf = (path: string): string[] =>
  path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .slice(1)

/** Returns the methods of the most specific pattern for a path. Like the router, it prefers text to parameters. */
const find = (node: Node, segments: readonly string[], at = 0): Set<string> | null => {
  const segment = segments[at]
  if (segment === undefined) return node.methods
  const inner = node.statics.get(segment)
  const found = inner === undefined ? null : find(inner, segments, at + 1)
  return found ?? (node.param === null || segment.length > maxParamLength ? null : find(node.param, segments, at + 1))
}

/** Returns whether some path matches both. */
const overlap = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((segment, i) => segment === b[i] || isParam(segment) || isParam(b[i] ?? ''))

/**
 * Records the methods of each path, for 405 responses. Explicit routes for all other methods would be seven of eight
 * routes, and a fifth of the start time.
 */
export const createPathMethods = () => {
  const root = emptyNode()
  const patterns = new Map<string, Set<string>>()

  function add(url: string, taken: readonly string[]): void {
    const folded = segmentsOf(url)
      .map((segment) => (isParam(segment) ? ':' : segment.toLowerCase()))
      .join('/')
    let node = root
    for (const segment of folded.split('/')) {
      const next = segment === ':' ? node.param : node.statics.get(segment)
      const inner = next ?? emptyNode()
      if (segment === ':') node.param = inner
      else node.statics.set(segment, inner)
      node = inner
    }
    node.methods ??= new Set()
    for (const method of taken) node.methods.add(method)
    patterns.set(folded, node.methods)
  }

  /** Throws 405 if the path supports only other methods. */
  function assertTaken({ raw, method }: FastifyRequest): void {
    if (!known.has(method)) return
    const path = (raw.url ?? '').replace(/^https?:\/\/.*?\//, '/').replace(/[?#].*$/s, '')
    const methods = find(root, segmentsOf(decodeURI(path).toLowerCase()))
    if (methods === null || methods.has(method)) return
    const allow = [...methods].join(', ')
    throw new AppError('method_not_allowed', { allow }, { headers: { allow } })
  }

  /**
   * Adds routes where another pattern would match the method: `agents/{id}` for what `agents/count` does not support.
   */
  function addOverlapping(fastify: FastifyInstance): void {
    const all = [...patterns].map(([url, methods]) => ({ url, methods, segments: url.split('/') }))
    for (const { url, methods, segments } of all) {
      const others = all.filter((other) => other.url !== url && overlap(segments, other.segments))
      const method = verbs.filter((verb) => !methods.has(verb) && others.some((other) => other.methods.has(verb)))
      if (method.length === 0) continue
      fastify.route({
        method,
        url: `/${segments.map((segment, i) => (segment === ':' ? `:p${i}` : segment)).join('/')}`,
        // Before the body, so that a rejected body is not read.
        onRequest: async (request) => {
          assertTaken(request)
          throw notFound('This path does not exist.')
        },
        handler: async () => null,
      })
    }
  }

  return { add, assertTaken, addOverlapping }
}

export type PathMethods = ReturnType<typeof createPathMethods>
