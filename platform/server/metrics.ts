/** Metrics for Prometheus, in its text format 0.0.4. One registry per process, which compose passes to features. */

type Labels = Readonly<Record<string, string>>

export interface Counter {
  inc(labels?: Labels, by?: number): void
}
export interface Histogram {
  observe(value: number, labels?: Labels): void
}

/** One of several values of a metric. */
export interface Sample {
  labels: Labels
  value: number
}

export type Metrics = ReturnType<typeof createMetrics>

/** Seconds: from a page served from memory to the statement timeout. */
const secondBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/** A label with unlimited values would grow the registry without limit, so further values count as `other`. */
const seriesLimit = 1_000

const escapeValue = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const labelText = (labels: Labels): string => {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

/** Time limit for reading values; Prometheus waits ten seconds for all of them. */
const readLimitMs = 4_000

type Figure = number | readonly Sample[]

export const createMetrics = () => {
  const families = new Map<string, { type: string; help: string; write: () => Promise<string[]> }>()
  function add(name: string, type: string, help: string, write: () => Promise<string[]>): void {
    if (families.has(name)) throw new Error(`the metric ${name} is declared twice`)
    families.set(name, { type, help, write })
  }
  function seriesOf<T>(make: () => T, labelNames: readonly string[]) {
    const series = new Map<string, { labels: Labels; value: T }>()
    // Without labels there is one series, present from the start: a missing metric looks like an outage.
    if (labelNames.length === 0) series.set('', { labels: {}, value: make() })
    return {
      series,
      get: (labels: Labels): { labels: Labels; value: T } => {
        const known = series.get(labelText(labels))
        if (known !== undefined) return known
        const kept =
          series.size < seriesLimit ? labels : Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
        const found = series.get(labelText(kept)) ?? { labels: kept, value: make() }
        series.set(labelText(kept), found)
        return found
      },
    }
  }

  return {
    counter: (name: string, help: string, labelNames: readonly string[] = []): Counter => {
      const { series, get } = seriesOf(() => ({ n: 0 }), labelNames)
      add(name, 'counter', help, async () => [...series].map(([key, { value }]) => `${name}${key} ${value.n}`))
      return {
        inc: (labels = {}, by = 1) => {
          get(labels).value.n += by
        },
      }
    },

    histogram: (name: string, help: string, labelNames: readonly string[] = [], buckets = secondBuckets): Histogram => {
      const { series, get } = seriesOf(() => ({ counts: buckets.map(() => 0), sum: 0, n: 0 }), labelNames)
      add(name, 'histogram', help, async () =>
        [...series].flatMap(([key, { labels, value }]) => [
          ...buckets.map((le, i) => `${name}_bucket${labelText({ ...labels, le: String(le) })} ${value.counts[i]}`),
          `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${value.n}`,
          `${name}_sum${key} ${value.sum}`,
          `${name}_count${key} ${value.n}`,
        ]),
      )
      return {
        observe: (seconds, labels = {}) => {
          const { value } = get(labels)
          buckets.forEach((le, i) => {
            if (seconds <= le) value.counts[i] = (value.counts[i] ?? 0) + 1
          })
          value.sum += seconds
          value.n++
        },
      }
    },

    /** Adds a metric that is read on request; one that fails or takes too long is left out. */
    read: (name: string, type: 'counter' | 'gauge', help: string, value: () => Figure | Promise<Figure>): void =>
      add(name, type, help, async () => {
        const read = Promise.resolve()
          .then(value)
          .catch(() => null)
        const found = await Promise.race([
          read,
          new Promise<null>((resolve) => setTimeout(resolve, readLimitMs, null).unref()),
        ])
        const samples = found === null ? [] : typeof found === 'number' ? [{ labels: {}, value: found }] : found
        return samples.slice(0, seriesLimit).map(({ labels, value: n }) => `${name}${labelText(labels)} ${n}`)
      }),

    text: async (): Promise<string> => {
      // In parallel, because each of them waits during a database outage.
      const texts = await Promise.all(
        [...families].map(async ([name, { type, help, write }]) =>
          [
            `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
            `# TYPE ${name} ${type}`,
            ...(await write()),
          ].join('\n'),
        ),
      )
      return `${texts.join('\n')}\n`
    },
  }
}
