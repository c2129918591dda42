import { networkOf } from '../address.ts'

/**
 * The caller. `known`: signed in, or at an address from which an account signed in before. The two lanes take turns, so
 * unknown callers delay known callers by at most one task.
 */
export interface Source {
  lane: 'known' | 'stranger'
  /** Address bucket, or id of the account that is signed in. */
  key: string
}

/** Returns the source of a signed-in person. */
export const signedInSource = (accountId: string): Source => ({ lane: 'known', key: accountId })

export interface FairQueueOptions {
  /** Tasks that run at once, and how many of them unknown callers may use. */
  atOnce: number
  strangersAtOnce: number
  /** Waiting callers per lane. */
  waiting: number
  /** Waiting callers per key. */
  perKey: number
  /** Builds the error for refused callers. */
  refusal: () => Error
}

interface Waiter {
  go(): void
  refuse(): void
}
type Lane = Map<string, Map<string, Waiter[]>>

const sizeOf = (keys: ReadonlyMap<string, Waiter[]>): number => {
  let size = 0
  for (const waiters of keys.values()) size += waiters.length
  return size
}

/** Returns the entry with the largest size; on a tie, the preferred one. */
const greediest = <T>(entries: Iterable<[string, T]>, size: (value: T) => number, preferred: string): string => {
  let [found, most] = ['', -1]
  for (const [name, value] of entries) {
    const its = size(value)
    if (its > most || (its === most && name === preferred)) [found, most] = [name, its]
  }
  return found
}

const rotate = <T>(map: Map<string, T>, name: string, value: T, isEmpty: boolean): void => {
  map.delete(name)
  if (!isEmpty) map.set(name, value)
}

/**
 * Limits concurrent work and shares the turns: between lanes, then between networks, then between the addresses of a
 * network. If a lane is full, the newest caller of the address with most callers is refused, not the newcomer.
 */
export const createFairQueue = ({ atOnce, strangersAtOnce, waiting, perKey, refusal }: FairQueueOptions) => {
  const lanes: Record<Source['lane'], Lane> = { known: new Map(), stranger: new Map() }
  const waits: Record<Source['lane'], number> = { known: 0, stranger: 0 }
  const running: Record<Source['lane'], number> = { known: 0, stranger: 0 }
  let last: Source['lane'] = 'stranger'

  function evict(lane: Source['lane'], network: string, key: string): void {
    const keys = lanes[lane].get(network)
    const waiters = keys?.get(key)
    waits[lane]--
    waiters?.pop()?.refuse()
    if (waiters?.length === 0) keys?.delete(key)
    if (keys?.size === 0) lanes[lane].delete(network)
  }

  const wait = ({ lane, key }: Source): Promise<void> =>
    new Promise((resolve, reject) => {
      const network = networkOf(key)
      const keys = lanes[lane].get(network) ?? new Map<string, Waiter[]>()
      const waiters = keys.get(key) ?? []
      waiters.push({ go: resolve, refuse: () => reject(refusal()) })
      keys.set(key, waiters)
      lanes[lane].set(network, keys)
      waits[lane]++
      if (waiters.length > perKey) evict(lane, network, key)
      else if (waits[lane] > waiting) {
        const from = greediest(lanes[lane], sizeOf, network)
        evict(
          lane,
          from,
          greediest(lanes[lane].get(from) ?? [], ({ length }) => length, key),
        )
      }
    })

  const hasPlace = (lane: Source['lane']): boolean =>
    running.known + running.stranger < atOnce && (lane === 'known' || running.stranger < strangersAtOnce)

  function take(lane: Source['lane']): Waiter | undefined {
    const [network, keys] = lanes[lane].entries().next().value ?? ['', new Map<string, Waiter[]>()]
    const [key, waiters] = keys.entries().next().value ?? ['', []]
    const waiter = waiters.shift()
    if (waiter === undefined) return undefined
    rotate(keys, key, waiters, waiters.length === 0)
    rotate(lanes[lane], network, keys, keys.size === 0)
    waits[lane]--
    return waiter
  }

  /** Starts everything that may run now; the lanes take turns. */
  function dispatch(): void {
    const other = last === 'known' ? 'stranger' : 'known'
    const lane = ([other, last] as const).find((one) => waits[one] > 0 && hasPlace(one))
    const waiter = lane === undefined ? undefined : take(lane)
    if (lane === undefined || waiter === undefined) return
    last = lane
    running[lane]++
    waiter.go()
    dispatch()
  }

  return {
    /** Runs `work` in its turn. Rejects with the refusal if too many callers wait. */
    turn: async <T>(source: Source, work: () => Promise<T>): Promise<T> => {
      const turn = wait(source)
      dispatch()
      await turn
      try {
        return await work()
      } finally {
        running[source.lane]--
        dispatch()
      }
    },
  }
}
