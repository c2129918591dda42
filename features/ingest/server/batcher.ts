interface Waiting<In, Out> {
  item: In
  since: number
  resolve(value: Out): void
  reject(error: unknown): void
}

export interface BatcherOptions<In, Out> {
  /** Monotonic time in milliseconds. */
  now(): number
  /**
   * Items that wait longer than this are refused while their run continues. If the run stores them, the repeated
   * check-in is acknowledged.
   */
  maxWaitMs: number
  /** Maximum number of items per batch. */
  size: number
  /** Milliseconds that the first item waits for others. */
  delayMs: number
  /** Maximum number of concurrent batches. */
  concurrency: number
  /** Maximum number of waiting items. More are refused, so that memory stays bounded during a database outage. */
  capacity: number
  /** Items with the same key never share a batch. */
  key(item: In): string
  run(items: In[]): Promise<Out[]>
  /** Creates the error for items that exceed the capacity or waited too long. */
  overflow(): Error
  /** True for a conflict between two transactions: the same batch runs again. */
  isConflict(error: unknown): boolean
  /** True for a failure of the whole database: single retries would only make it worse. */
  isHopeless(error: unknown): boolean
}

/**
 * Items that waited longer than this behind a failed batch fail with it. A statement times out after 4.5 s, and no host
 * may wait for more than 5 s.
 */
const patienceMs = 400
const sweepMs = 250

/**
 * Collects items and runs them together. A failed batch runs again item by item, so that a bad item fails alone. An
 * item is answered only after its own run has ended.
 */
export const createBatcher = <In, Out>(options: BatcherOptions<In, Out>) => {
  let waiting: Waiting<In, Out>[] = []
  let running = 0
  const batches = new Set<readonly Waiting<In, Out>[]>()
  let isSweeping = false
  let timer: NodeJS.Timeout | null = null
  const idle: (() => void)[] = []

  function takeBatch(): Waiting<In, Out>[] {
    const keys = new Set<string>()
    const batch: Waiting<In, Out>[] = []
    const later: Waiting<In, Out>[] = []
    for (const entry of waiting) {
      const key = options.key(entry.item)
      if (batch.length < options.size && !keys.has(key)) {
        keys.add(key)
        batch.push(entry)
      } else later.push(entry)
    }
    waiting = later
    return batch
  }

  async function attempt(items: In[], tries = 3): Promise<Out[]> {
    try {
      const results = await options.run(items)
      if (results.length !== items.length) throw new Error(`${results.length} results of ${items.length} items`)
      return results
    } catch (error) {
      if (tries <= 1 || !options.isConflict(error)) throw error
      return attempt(items, tries - 1)
    }
  }

  async function runOne(entry: Waiting<In, Out>): Promise<void> {
    try {
      for (const result of await attempt([entry.item])) entry.resolve(result)
    } catch (error) {
      entry.reject(error)
    }
  }

  function giveUp(entries: readonly Waiting<In, Out>[], error: unknown): void {
    for (const entry of entries) entry.reject(error)
  }

  /**
   * Removes the items that waited long behind a batch. The next batch may take as long, and no item may wait for both.
   */
  function takeImpatient(): Waiting<In, Out>[] {
    const { impatient = [], patient = [] } = Object.groupBy(waiting, ({ since }) =>
      options.now() - since > patienceMs ? 'impatient' : 'patient',
    )
    waiting = patient
    return impatient
  }

  function sweepLater(): void {
    if (isSweeping) return
    isSweeping = true
    setTimeout(sweep, sweepMs).unref()
  }

  function sweep(): void {
    isSweeping = false
    const isLate = ({ since }: Waiting<In, Out>): boolean => options.now() - since > options.maxWaitMs
    const late = [...batches].flatMap((batch) => batch.filter(isLate))
    // Items are in order of arrival, so usually none is late.
    const [oldest] = waiting
    if (oldest !== undefined && isLate(oldest)) {
      late.push(...waiting.filter(isLate))
      waiting = waiting.filter((entry) => !isLate(entry))
    }
    if (late.length > 0) giveUp(late, options.overflow())
    if (batches.size > 0) sweepLater()
  }

  async function runBatch(batch: Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await attempt(batch.map((entry) => entry.item))
      results.forEach((result, i) => {
        batch[i]?.resolve(result)
      })
    } catch (error) {
      if (options.isHopeless(error)) giveUp([...batch, ...takeImpatient()], error)
      else if (batch.length === 1) giveUp(batch, error)
      else for (const entry of batch) await runOne(entry)
    }
  }

  function start(): void {
    timer = null
    while (running < options.concurrency && waiting.length > 0) {
      const batch = takeBatch()
      running++
      batches.add(batch)
      sweepLater()
      void runBatch(batch).finally(() => {
        running--
        batches.delete(batch)
        if (waiting.length > 0) schedule(true)
        else if (running === 0) for (const done of idle.splice(0)) done()
      })
    }
  }

  // Items that arrived during a batch run immediately; only a first item waits for others.
  function schedule(atOnce: boolean): void {
    if (atOnce || waiting.length >= options.size) {
      if (timer !== null) clearTimeout(timer)
      start()
    } else timer ??= setTimeout(start, options.delayMs)
  }

  return {
    add: (item: In): Promise<Out> =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.capacity) return reject(options.overflow())
        waiting.push({ item, since: options.now(), resolve, reject })
        if (running < options.concurrency) schedule(false)
      }),
    depth: (): number => waiting.length,
    /** Resolves after all accepted items were run. */
    drain: (): Promise<void> =>
      waiting.length === 0 && running === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            idle.push(resolve)
          }),
  }
}
