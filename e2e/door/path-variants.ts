/** Other spellings of a path, with the same meaning or without a meaning. */

export interface Variant {
  what: string
  /** Returns undefined if the path has no such spelling. */
  of(path: string): string | undefined
}

const hex = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`

/** Changes the segment with index n and all later ones, including parameters. */
const at = (path: string, n: number, change: (segment: string) => string): string =>
  path
    .split('/')
    .map((segment, i) => (i === n + 1 ? change(segment) : segment))
    .join('/')

/** Returns whether the path ends with a parameter. A suffix then gives another value, not another spelling. */
const endsOpen = (template: string): boolean => template.endsWith('}')

/** Spellings that the router must treat as the path itself. */
export const sameAs: readonly Variant[] = [
  {
    what: 'upper case',
    of: (path) =>
      at(
        at(path, 0, (s) => s.toUpperCase()),
        1,
        (s) => s.toUpperCase(),
      ),
  },
  { what: 'slash at the end', of: (path) => `${path}/` },
  { what: 'encoded letter', of: (path) => at(path, 0, (s) => hex(s[0] as string) + s.slice(1)) },
  { what: 'an additional query', of: (path) => `${path}?_=1` },
]

/** Spellings that are not paths of the server. */
export const nothing: readonly Variant[] = [
  { what: 'doubled slash in front', of: (path) => `/${path}` },
  { what: 'doubled slash inside', of: (path) => at(path, 1, (s) => `/${s}`) },
  { what: 'doubled slash at the end', of: (path) => (endsOpen(path) ? undefined : `${path}//`) },
  { what: 'dot segment', of: (path) => at(path, 1, (s) => `./${s}`) },
  { what: 'dot segments up', of: (path) => at(path, 1, (s) => `x/../${s}`) },
  { what: 'encoded dot', of: (path) => at(path, 1, (s) => `%2e/${s}`) },
  { what: 'encoded dots up', of: (path) => at(path, 1, (s) => `x/%2e%2e/${s}`) },
  { what: 'matrix parameter inside', of: (path) => at(path, 0, (s) => `${s};x=1`) },
  { what: 'matrix parameter at the end', of: (path) => (endsOpen(path) ? undefined : `${path};x`) },
  {
    what: 'encoded slash',
    of: (path) => (path.split('/').length < 4 ? undefined : path.replace(/^(\/[^/]+)\//, '$1%2f')),
  },
  {
    what: 'doubly encoded letter',
    of: (path) => at(path, 0, (s) => `%25${s.charCodeAt(0).toString(16)}${s.slice(1)}`),
  },
  { what: 'backslash', of: (path) => path.replace(/^(\/[^/]+)\//, '$1\\') },
  { what: 'NUL at the end', of: (path) => (endsOpen(path) ? undefined : `${path}%00`) },
  { what: 'blank at the end', of: (path) => (endsOpen(path) ? undefined : `${path}%20`) },
  { what: 'suffix of a type', of: (path) => (endsOpen(path) ? undefined : `${path}.json`) },
  { what: 'overlong dot', of: (path) => at(path, 1, (s) => `%c0%ae/${s}`) },
]
