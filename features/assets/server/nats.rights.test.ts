import { readFileSync } from 'node:fs'
import { storageStick, unless } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { startNats, type TestNats, whyNoNats } from '@portcullis/server/test/nats.ts'
import { afterEach, describe, expect, it } from 'vitest'

const guide = readFileSync(new URL('../../../docs/guide/asset-stream.md', import.meta.url), 'utf8')
/** Subjects that the guide tells an operator to allow. */
const documented = [...guide.matchAll(/^\| publish `([^`]+)`/gm)].map(([, subject]) => subject as string)
const create = '$JS.API.STREAM.CREATE.PORTCULLIS_ASSETS'

describe('a NATS user with least privilege', unless(whyNoNats()), () => {
  let t: TestApp | null = null
  let nats: TestNats | null = null

  const stream = { name: 'PORTCULLIS_ASSETS', subjects: ['portcullis.assets.>'], max_msgs_per_subject: 1 }
  const begin = async (publish: readonly string[], more: { max_msgs?: number; discard?: 'new' } | null = null) => {
    nats = await startNats({ user: 'portcullis', password: 'secret of nats', publish })
    if (more !== null) await nats.manage((manager) => manager.streams.add({ ...stream, ...more }))
    t = await startTestApp({ listen: true, natsUrl: nats.url.replaceAll(' ', '%20') })
    await enrolAgent(t, { devices: [storageStick({ serial: 'A1' }), storageStick({ serial: 'A2', portPath: '1-2' })] })
    return { app: t, peer: nats }
  }
  const publish = async (app: TestApp): Promise<void> => {
    app.clock.advance(60_000)
    await app.assets.sequence()
    await app.assets.publish()
  }
  const health = (app: TestApp) => app.assets.health()

  afterEach(async () => {
    await t?.close()
    await nats?.stop()
    t = null
    nats = null
  })

  it('creates and fills the stream with the permissions of the guide', async () => {
    expect(documented).toHaveLength(4)
    const { app, peer } = await begin(documented)
    await publish(app)
    expect((await peer.held()).length).toBeGreaterThan(2)
    expect((await health(app)).status).toBe('OK')
  })

  it('needs no right to create a stream that exists', async () => {
    const { app, peer } = await begin(
      documented.filter((subject) => subject !== create),
      {},
    )
    await publish(app)
    expect((await peer.held()).length).toBeGreaterThan(2)
  })

  it.each(['portcullis.assets.>', create])('reports that %s is missing', async (missing) => {
    const { app } = await begin(documented.filter((subject) => subject !== missing))
    await publish(app)
    const { status, description } = await health(app)
    expect(status).toBe('Warning')
    expect(description).toMatch(/The NATS user cannot publish to (portcullis\.assets\.|\$JS\.API\.STREAM\.CREATE\.)/)
    expect(description).toMatch(/Grant this permission in NATS\. \d+ messages wait in the database\./)
  })

  it('sees how to make room in a full stream, and publishes the rest afterwards', async () => {
    const { app, peer } = await begin(documented, { max_msgs: 1, discard: 'new' })
    await publish(app)
    const { status, description } = await health(app)
    expect(status).toBe('Warning')
    expect(description).toMatch(/The stream is full\. Raise its limits/)
    expect(description).not.toMatch(/resumes|automatically/)
    await peer.manage((manager) => manager.streams.update(stream.name, { ...stream, max_msgs: -1 }))
    await publish(app)
    expect((await health(app)).status).toBe('OK')
  })
})
