const offered = ['application/json', 'text/json', 'text/plain'] as const
export type JsonMediaType = (typeof offered)[number]

/** Returns the weights of the media types in an Accept header; `*` parts count as wildcards. */
const weights = (accept: string): [string, number][] =>
  accept
    .slice(0, 1024)
    .split(',')
    .map((part) => {
      const [type = '', ...params] = part.trim().toLowerCase().split(';')
      const q = params.map((p) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(p)?.[1]).find((v) => v !== undefined)
      return [type.trim(), q === undefined ? 1 : Number(q)]
    })

/**
 * Returns the media type of a JSON response. The text is the same for all three; application/json wins a tie; never
 * 406.
 */
export const jsonMediaType = (accept: string | undefined): JsonMediaType => {
  if (accept === undefined) return 'application/json'
  const given = new Map(weights(accept))
  const weight = (type: string) => given.get(type) ?? given.get(`${type.split('/')[0]}/*`) ?? given.get('*/*') ?? 0
  return offered.reduce<JsonMediaType>((best, type) => (weight(type) > weight(best) ? type : best), 'application/json')
}

/** Returns whether the client accepts text/plain, which gets the detail alone instead of problem details. */
export const wantsPlainProblem = (accept: string | undefined, plainByDefault: boolean): boolean => {
  const named = new Map(accept === undefined ? [] : weights(accept))
  const json = Math.max(
    named.get('application/json') ?? 0,
    named.get('application/problem+json') ?? 0,
    named.get('text/json') ?? 0,
  )
  const plain = named.get('text/plain') ?? 0
  if (plain > json) return true
  return plainByDefault && json === 0
}
