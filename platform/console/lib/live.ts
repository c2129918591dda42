import { type LiveEvents, liveHints, live as liveStream } from '../../contract/live.ts'
import type { Api } from './api.ts'
import type { Clock } from './clock.ts'
import { CallFailure } from './problem.ts'
import { createEventParser, type ServerEvent } from './server-events.ts'

/** A topic of the stream. */
export type LiveTopic = Exclude<keyof LiveEvents, 'ping'>

export interface LiveStatus {
  state: 'connecting' | 'live' | 'lost'
  /** Time of the last message of the server, ms since 1970; null before the first. */
  lastHeard: number | null
}

export interface LiveDeps {
  api: Pick<Api, 'stream'>
  clock: Clock
  /** Waits; rejects or resolves early when the signal aborts. */
  pause: (milliseconds: number, signal: AbortSignal) => Promise<void>
  random: () => number
}

// The server pings every 15 s. After three missing pings, the connection is dead even if nobody closed it.
const silenceLimit = 45_000
const topics: readonly string[] = ['agents', 'peripherals', 'events', 'summary', ...liveHints] satisfies LiveTopic[]

/** Returns the delay before connection attempt `n` (from 1): a random time between half and all of 0.5 s doubling to 30 s. */
export const backOff = (attempt: number, random: number): number =>
  Math.min(30_000, 500 * 2 ** Math.min(attempt - 1, 6)) * (0.5 + random / 2)

/**
 * The live channel of the console: connects while somebody listens, reconnects with back-off, and reports its state.
 */
export const createLive = ({ api, clock, pause, random }: LiveDeps) => {
  const listeners = new Map<string, Set<(data: unknown) => void>>()
  const watchers = new Set<() => void>()
  let status: LiveStatus = { state: 'connecting', lastHeard: null }
  let running: AbortController | null = null

  const setStatus = (next: LiveStatus) => {
    const hasChanged = next.state !== status.state || (next.lastHeard ?? 0) - (status.lastHeard ?? 0) > 1000
    status = hasChanged ? next : status
    if (hasChanged) for (const watcher of watchers) watcher()
  }

  const emit = ({ name, data }: ServerEvent) => {
    if (!topics.includes(name)) return
    const value: unknown = JSON.parse(data)
    for (const listener of listeners.get(name) ?? []) listener(value)
  }

  /** Tells all listeners that anything may have changed during the outage. */
  const emitAll = () => {
    for (const set of listeners.values()) {
      for (const listener of set) listener({ changed: null })
    }
  }

  const readOnce = async (signal: AbortSignal) => {
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), silenceLimit)
    try {
      const response = await api.stream(liveStream, AbortSignal.any([signal, silence.signal]))
      const wasLost = status.state === 'lost'
      setStatus({ state: 'live', lastHeard: clock.now() })
      if (wasLost) emitAll()
      const parse = createEventParser()
      if (response.body === null) return
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silenceLimit)
        setStatus({ state: 'live', lastHeard: clock.now() })
        for (const event of parse(value)) emit(event)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  const run = async (signal: AbortSignal) => {
    let attempt = 0
    while (!signal.aborted) {
      const before = status.lastHeard
      try {
        await readOnce(signal)
      } catch (failure) {
        if (failure instanceof CallFailure && failure.status === 401) return
      }
      if (signal.aborted) return
      attempt = status.lastHeard === before ? attempt + 1 : 1
      setStatus({ state: 'lost', lastHeard: status.lastHeard })
      await pause(backOff(attempt, random()), signal)
    }
  }

  return {
    start: () => {
      if (running !== null) return
      running = new AbortController()
      void run(running.signal)
    },
    stop: () => {
      running?.abort()
      running = null
      status = { state: 'connecting', lastHeard: null }
    },
    /** Listens to a topic. Returns a function that stops listening. */
    on: <T extends LiveTopic>(topic: T, listener: (data: LiveEvents[T]) => void): (() => void) => {
      const set = listeners.get(topic) ?? new Set()
      const hear = (data: unknown) => listener(data as LiveEvents[T])
      listeners.set(topic, set.add(hear))
      return () => set.delete(hear)
    },
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    status: () => status,
  }
}

export type Live = ReturnType<typeof createLive>
