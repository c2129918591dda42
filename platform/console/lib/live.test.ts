import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backOff, createLive } from './live.ts'
import { createEventParser } from './server-events.ts'

describe('server-sent events', () => {
  it('reads events from arbitrary chunks', () => {
    const text =
      'event: agents\ndata: {"changed":["a"]}\n\n: comment\n\nevent: ping\ndata: {}\n\ndata: plain\ndata: two\n\n'
    const whole = createEventParser()(text)
    expect(whole).toEqual([
      { name: 'agents', data: '{"changed":["a"]}' },
      { name: 'ping', data: '{}' },
      { name: 'message', data: 'plain\ntwo' },
    ])
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const parse = createEventParser()
        const ends = [...new Set(cuts)].toSorted((a, b) => a - b)
        const pieces = [...ends, text.length].map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end))
        expect(pieces.flatMap((piece) => parse(piece))).toEqual(whole)
      }),
    )
  })
})

describe('back-off', () => {
  it('doubles to half a minute with random variation', () => {
    expect([1, 2, 3, 20].map((attempt) => backOff(attempt, 1))).toEqual([500, 1000, 2000, 30_000])
    expect(backOff(1, 0)).toBe(250)
  })
})

const stream = (chunks: readonly string[], end: Promise<void>) =>
  new Response(
    new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        await end
        controller.close()
      },
    }),
  )

const until = async (condition: () => boolean) => {
  for (let turn = 0; turn < 1_000 && !condition(); turn++) await new Promise((resolve) => setTimeout(resolve, 0))
  expect(condition()).toBe(true)
}

describe('the live channel', () => {
  it('passes events to listeners, and reports when the connection is lost and restored', async () => {
    let endFirst: () => void = () => undefined
    const first = new Promise<void>((resolve) => {
      endFirst = resolve
    })
    let connections = 0
    let goOn: () => void = () => undefined
    const live = createLive({
      api: {
        stream: async () =>
          connections++ === 0
            ? stream(['event: agents\ndata: {"changed":["u1"]}\n\n'], first)
            : stream([], new Promise<void>(() => undefined)),
      },
      clock: { now: () => connections * 10_000 },
      pause: () =>
        new Promise((resolve) => {
          goOn = resolve
        }),
      random: () => 0,
    })
    const heard: unknown[] = []
    const states: string[] = []
    live.on('agents', (data) => heard.push(data))
    live.watch(() => states.push(live.status().state))
    live.start()
    await until(() => heard.length === 1)
    expect(heard).toEqual([{ changed: ['u1'] }])
    endFirst()
    await until(() => live.status().state === 'lost')
    goOn()
    await until(() => live.status().state === 'live')
    // Events during the outage are unknown, so all listeners read again.
    expect(heard).toEqual([{ changed: ['u1'] }, { changed: null }])
    expect(states).toEqual(['live', 'lost', 'live'])
    live.stop()
  })
})
