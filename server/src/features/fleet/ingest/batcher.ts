interface Waiting<In, Out> {
  item: In
  /** When it came. */
  since: number
  resolve(value: Out): void
  reject(error: unknown): void
}

export interface BatcherOptions<In, Out> {
  /** Milliseconds that never go back. */
  now(): number
  /** Items of one batch at most. */
  size: number
  /** Milliseconds the first item waits for company. */
  delayMs: number
  /** Batches on their way at once. */
  concurrency: number
  /** Items waiting at most; more are refused, so that memory stays bounded when the database is away. */
  capacity: number
  /** Two items of one key never share a batch. */
  key(item: In): string
  run(items: In[]): Promise<Out[]>
  /** What an item over the capacity, or one that waited too long, is refused with. */
  overflow(): Error
  /** True when two transactions stood in each other's way: the same batch is run again. */
  isConflict(error: unknown): boolean
  /** True for failures of the whole database: trying the items one by one would only make it worse. */
  isHopeless(error: unknown): boolean
}

/** A statement is given up after 4.5 s, and no host is to wait for more than 5 s. */
const patienceMs = 400
/**
 * A run may wait for a connection first and for a statement then, 5.9 s were seen: whoever waits for this long, looked at
 * so often, is refused while his run goes on. What it stores all the same he is told when he comes again.
 */
const mostMs = 4_500
const sweepMs = 250

/**
 * Gathers items and runs them together. A batch that fails is run again one by one, so that a bad item fails alone. An
 * item is answered only when its own run has ended.
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
      return await options.run(items)
    } catch (error) {
      if (tries <= 1 || !options.isConflict(error)) throw error
      return attempt(items, tries - 1)
    }
  }

  async function runOne(entry: Waiting<In, Out>): Promise<void> {
    try {
      entry.resolve((await attempt([entry.item]))[0] as Out)
    } catch (error) {
      entry.reject(error)
    }
  }

  function giveUp(entries: readonly Waiting<In, Out>[], error: unknown): void {
    for (const entry of entries) entry.reject(error)
  }

  /** Those that waited behind a batch for long: the next one may take as long again, and nobody is to wait for both. */
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
    const isLate = ({ since }: Waiting<In, Out>): boolean => options.now() - since > mostMs
    const late = [...batches].flatMap((batch) => batch.filter(isLate))
    // In the order in which they came: mostly there is none.
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
      batch.forEach((entry, i) => {
        entry.resolve(results[i] as Out)
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

  // What gathered while a batch ran goes at once; only a first item waits for company.
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
    /** Items not yet answered for. */
    depth: (): number => waiting.length,
    /** Resolves when everything taken so far was run. */
    drain: (): Promise<void> =>
      waiting.length === 0 && running === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            idle.push(resolve)
          }),
  }
}
