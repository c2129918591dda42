import { describe, expect, it } from 'vitest'
import { createWork, type OpenFile } from './work.ts'

const file = (body: ReadableStream<Uint8Array<ArrayBuffer>>, size: number | null = null): OpenFile => ({
  body,
  type: 'text/csv',
  name: 'agents.csv',
  size,
})

/** Creates a body that the test fills, and a work list on a clock that advances by a second at each reading. */
const setup = () => {
  let now = 0
  const saved: { blob: Blob; name: string }[] = []
  const work = createWork({ clock: { now: () => (now += 1_000) }, save: (one) => saved.push(one) })
  let feed!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      feed = controller
    },
  })
  const changed = () =>
    new Promise<void>((resolve) => {
      const stop = work.watch(() => {
        stop()
        resolve()
      })
    })
  const until = async (test: () => boolean) => {
    while (!test()) await changed()
  }
  return { work, saved, feed, body, until, bytes: (text: string) => new TextEncoder().encode(text) }
}

describe('a file being fetched', () => {
  it('shows its progress by the expected lines and is saved under the server’s name', async () => {
    const { work, saved, feed, body, until, bytes } = setup()
    work.fetchFile({ name: 'Agents', lines: 4, open: async () => file(body) })
    expect(work.transfers()).toMatchObject([{ name: 'Agents', state: 'running', share: null }])
    feed.enqueue(bytes('host\r\nA\r\n'))
    await until(() => work.transfers()[0]?.share === 0.5)
    expect(work.transfers()[0]?.name).toBe('agents.csv')
    feed.enqueue(bytes('B\r\nC\r\nD\r\nE\r\n'))
    // With more rows than expected, the progress stays at 99 % before the end.
    await until(() => work.transfers()[0]?.share === 0.99)
    feed.close()
    await until(() => work.transfers()[0]?.state === 'completed')
    expect(saved[0]?.name).toBe('agents.csv')
    expect(await saved[0]?.blob.text()).toBe('host\r\nA\r\nB\r\nC\r\nD\r\nE\r\n')
  })

  it('is not saved when it was cancelled', async () => {
    const { work, saved, feed, body, until, bytes } = setup()
    work.fetchFile({
      name: 'Agents',
      open: async (signal) => {
        signal.addEventListener('abort', () => feed.error(signal.reason))
        return file(body)
      },
    })
    feed.enqueue(bytes('host'))
    await until(() => work.transfers()[0]?.bytes === 4)
    work.cancel(work.transfers()[0]?.id as number)
    await until(() => work.transfers()[0]?.state === 'cancelled')
    expect(saved).toEqual([])
    work.forget(work.transfers()[0]?.id as number)
    expect(work.transfers()).toEqual([])
  })

  it('keeps the reason of a failure', async () => {
    const { work, until } = setup()
    const refusal = new Error('too many rows')
    work.fetchFile({ name: 'Agents', open: () => Promise.reject(refusal) })
    await until(() => work.transfers()[0]?.state === 'failed')
    expect(work.transfers()[0]).toMatchObject({ failure: refusal, state: 'failed' })
  })

  it('is hidden after a sign-out', () => {
    const { work, body } = setup()
    work.fetchFile({ name: 'Agents', open: async () => file(body) })
    work.follow('job-1')
    work.clear()
    expect([work.transfers(), work.followed()]).toEqual([[], []])
  })
})
