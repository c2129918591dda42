/** Events of Windows and Defender, sent through the door: hosts, devices, replays, faults, limits and replacement. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { newId } from '@portcullis/platform/server/ids.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Agent, Feed, FeedAnswer, FeedHost, FleetEvent, Peripheral } from '#features/contract.ts'

const base = '/prime/webui/ingest/feeds'
const stick = 'USB\\VID_0951&PID_1666\\60A44C3FAFE0B2B0D9A8000B'
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

interface Told {
  host: string
  record: number
  device?: string
  time?: string
}

/** Event 6416 as Winlogbeat sends it. */
const winlogbeat = ({ host, record, device = stick, time = '2031-05-04T10:11:12.345Z' }: Told): string =>
  JSON.stringify({
    '@timestamp': time,
    event: { code: '6416', provider: 'Microsoft-Windows-Security-Auditing' },
    winlog: {
      channel: 'Security',
      computer_name: host,
      event_id: '6416',
      record_id: record,
      event_data: {
        SubjectUserSid: 'S-1-5-18',
        DeviceId: device,
        DeviceDescription: 'USB Mass Storage Device',
        ClassId: '{36fc9e60-c465-11cf-8056-444553540000}',
        ClassName: 'USB',
        VendorIds: '\r\n\t\tUSB\\VID_0951&PID_1666&REV_0110\r\n\t\tUSB\\VID_0951&PID_1666\r\n\t\t',
        CompatibleIds:
          '\r\n\t\tUSB\\Class_08&SubClass_06&Prot_50\r\n\t\tUSB\\Class_08&SubClass_06\r\n\t\tUSB\\Class_08\r\n\t\t',
        LocationInformation: 'Port_#0003.Hub_#0001',
      },
    },
  })

let made = 0
/** Creates a feed with a token of its own, and returns how to send to it. */
const feedWith = async (more: Record<string, unknown> = {}) => {
  const admin = await t.admin()
  const name = `Collector ${++made}`
  const token = (
    await admin.post('/prime/webui/admin/apiTokens', { name, userProfile: 20, scopes: ['feeds:write'] })
  ).json() as { id: string; token: string }
  const answer = await admin.post(base, { name, tokenId: token.id, ...more })
  expect(answer.statusCode).toBe(200)
  const { id } = answer.json() as Feed
  const raw = (body: string | Buffer, type = 'application/x-ndjson', bearer = token.token, feed = id) =>
    t.app.fastify.inject({
      method: 'POST',
      url: `${base}/${feed}`,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': type },
      payload: body,
    })
  const send = async (body: string | Buffer, type?: string): Promise<FeedAnswer> => {
    const sent = await raw(body, type)
    expect([sent.statusCode, sent.body]).toEqual([200, sent.body])
    return sent.json()
  }
  const read = async (): Promise<Feed> =>
    ((await admin.get(base)).json() as Feed[]).find((one) => one.id === id) as Feed
  return { id, name, token, raw, send, read }
}
const hostsNamed = async (name: string): Promise<Agent[]> =>
  (await pageOf<Agent>(t, `agents?HostIdentifier=${name}&PageSize=1000`)).data
const presentOf = async (uuid = ''): Promise<Peripheral[]> =>
  (await pageOf<Peripheral>(t, `peripherals?HostUuid=${uuid}&Present=true&PageSize=1000`)).data
const devicesOf = async (uuid: string): Promise<Peripheral[]> =>
  (await pageOf<Peripheral>(t, `peripherals?HostUuid=${uuid}&PageSize=1000`)).data

describe('a feed', () => {
  it('shows the hosts and USB devices of its lines, and counts a replay once', async () => {
    const feed = await feedWith()
    const line = winlogbeat({ host: 'PC-7.corp.example.', record: 436 })
    expect(await feed.send(`${line}\n\n${line}\n`)).toMatchObject({ lines: 2, stored: 1, duplicates: 1, errors: [] })
    expect(await feed.send(line)).toMatchObject({ lines: 1, stored: 0, duplicates: 1 })
    const [host, ...others] = await hostsNamed('pc-7')
    expect(others).toEqual([])
    expect(host).toMatchObject({
      hostIdentifier: 'pc-7.corp.example',
      deploymentMode: 'Feed',
      operationalStatus: 'Free',
      osVersion: 'Windows',
    })
    expect((await pageOf<Agent>(t, 'agents?DeploymentMode=Feed')).data.map((one) => one.uuid)).toContain(host?.uuid)
    expect((await pageOf<Agent>(t, 'agents?DeploymentMode=Agentless')).data).toEqual([])
    const devices = await devicesOf(host?.uuid ?? '')
    expect(devices.map((one) => [one.deviceID, one.missingEvidence])).toEqual([
      [stick, ['descriptors', 'strings', 'speed', 'port']],
    ])
    const about: FeedHost = (await (await t.admin()).get(`/prime/webui/ingest/feedhosts/${host?.uuid}`)).json()
    expect(about).toMatchObject({ events: 1, feeds: [feed.name], confidence: 'recent' })
    expect(about.notShown).toContain('Removal of devices')
    expect(await feed.read()).toMatchObject({ hosts: 1, stored: 1, duplicates: 2, failed: 0 })
  })

  it('is read in steps, and other requests are answered between them', async () => {
    const feed = await feedWith()
    const mark = '"EventID":4624'
    const body = `{${mark},"Computer":"good-1","a":[${'0,'.repeat(380)}0]}\n`.repeat(10_000)
    const { parse } = JSON
    let [lines, isAnswered] = [0, false]
    const counting = vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...more) => {
      if (text.includes(mark)) lines += 1
      return parse(text, ...more)
    })
    const sent = feed.send(body).finally(() => {
      isAnswered = true
    })
    const between = new Set<number>()
    while (!isAnswered) {
      await fetch(`${t.address}/healthz`)
      if (lines > 0 && lines < 10_000) between.add(lines)
    }
    counting.mockRestore()
    expect(await sent).toMatchObject({ lines: 10_000, ignored: 10_000 })
    expect(between.size).toBeGreaterThan(0)
  })

  it('reports each invalid line and stores the others', async () => {
    const feed = await feedWith()
    const lines = [
      'no event',
      winlogbeat({ host: 'good-1', record: 1 }),
      winlogbeat({ host: 'bad name', record: 2 }),
      winlogbeat({ host: 'good-1', record: 3, time: 'yesterday' }),
      `{"a":"${'x'.repeat(70_000)}"}`,
      winlogbeat({ host: 'good-1', record: 4, device: 'PCI\\VEN_8086&DEV_A12F\\3' }),
      '{"EventID":4624,"Computer":"good-1"}',
      '[1]',
      JSON.stringify({ EventID: 6416, Computer: 'good-1' }),
    ]
    const answer = await feed.send(lines.join('\n'))
    expect(answer).toMatchObject({ lines: 9, stored: 1, ignored: 2, failed: 6 })
    expect(answer.errors.map(({ line, code }) => [line, code])).toEqual([
      [1, 'not-understood'],
      [3, 'host-missing'],
      [4, 'time-invalid'],
      [5, 'too-long'],
      [8, 'not-understood'],
      [9, 'device-missing'],
    ])
    expect((await feed.read()).recentErrors[0]).toMatchObject({ line: 9, code: 'device-missing' })
    expect((await feed.raw('{}\n'.repeat(10_001))).json()).toMatchObject({ code: 'payload_too_large' })
  })

  it('stores the lines of Wazuh, and reports a line that looks like an event in another form', async () => {
    const feed = await feedWith()
    const wazuh = {
      timestamp: '2031-05-04T10:11:14.001+0000',
      agent: { id: '007', name: 'PC-W' },
      data: {
        win: {
          system: { eventID: '6416', systemTime: '2031-05-04T10:11:12.3451234Z', eventRecordID: '9', computer: 'pc-w' },
          eventdata: {
            deviceId: 'USB\\VID_0951&amp;PID_1666\\WZ1',
            vendorIds: 'USB\\VID_0951&amp;PID_1666&amp;REV_0110 USB\\VID_0951&amp;PID_1666',
            compatibleIds: 'USB\\Class_08&amp;SubClass_06&amp;Prot_50 USB\\Class_08',
          },
        },
      },
    }
    const unknown = { what: 'device 6416', id: 'USB\\VID_0951&PID_1666\\WZ2' }
    const answer = await feed.send([unknown, wazuh].map((line) => JSON.stringify(line)).join('\n'))
    expect(answer).toMatchObject({ lines: 2, stored: 1, ignored: 0, failed: 1 })
    expect(answer.errors).toMatchObject([{ line: 1, code: 'unknown-form' }])
    expect(
      (await devicesOf((await hostsNamed('pc-w'))[0]?.uuid ?? '')).map((one) => [one.deviceID, one.devIconDescription]),
    ).toEqual([['USB\\VID_0951&PID_1666\\WZ1', 'Mass Storage']])
  })

  it('takes a file of PowerShell 5 in UTF-16, and gives the devices of Defender their kinds', async () => {
    const feed = await feedWith()
    const xml = `<Event><System><EventID>6416</EventID><EventRecordID>1</EventRecordID><Computer>wide</Computer></System><EventData><Data Name='DeviceId'>${stick.replace('&', '&amp;')}</Data></EventData></Event>`
    expect(await feed.send(Buffer.from(`\ufeff${xml}\r\n`, 'utf16le'), 'text/plain')).toMatchObject({ stored: 1 })
    const defender = (DeviceId: string, ClassId: string, ReportId: number) =>
      JSON.stringify({
        time: '2031-05-04T10:11:14.1Z',
        properties: {
          ...{ DeviceId: 'a'.repeat(40), DeviceName: 'def-1', ReportId, ActionType: 'PnpDeviceConnected' },
          AdditionalFields: JSON.stringify({ ClassId, DeviceId, VendorIds: [] }),
        },
      })
    const nodes = [
      [stick, '36fc9e60-c465-11cf-8056-444553540000'],
      ['USBSTOR\\Disk&Ven_K&Prod_D&Rev_1\\60A44C3FAFE0B2B0D9A8000B&0', '4d36e967-e325-11ce-bfc1-08002be10318'],
      ['USB\\VID_413C&PID_2113\\6&1&0&2', '745a17a0-74d3-11d0-b6fe-00a0c90f57da'],
      ['HID\\VID_413C&PID_2113\\7&1&0&0000', '4d36e96b-e325-11ce-bfc1-08002be10318'],
    ] as const
    const answer = await feed.send(nodes.map(([id, setupClass], i) => defender(id, setupClass, i)).join('\n'))
    expect(answer).toMatchObject({ lines: 4, stored: 4, ignored: 0, failed: 0 })
    const devices = await devicesOf((await hostsNamed('def-1'))[0]?.uuid ?? '')
    expect(devices.map((one) => [one.pid, one.devIconDescription]).sort()).toEqual([
      ['1666', 'Mass Storage'],
      ['2113', 'Keyboard'],
    ])
  })

  it('reads times without a zone in the zone of the feed, and otherwise uses the time of receipt', async () => {
    const admin = await t.admin()
    for (const timeZone of ['Mars/Olympus', '+02:00'])
      expect((await admin.post(base, { name: 'zone', tokenId: newId(0), timeZone })).json().detail).toContain(
        'timeZone',
      )
    const feed = await feedWith({ timeZone: 'America/New_York' })
    const line = (serial: string, EventTime: string) =>
      JSON.stringify({ EventTime, Hostname: 'zoned', EventID: 6416, DeviceId: `USB\\VID_0951&PID_1666\\${serial}` })
    const timesOf = async () =>
      (await pageOf<FleetEvent>(t, 'events/getevents?source=zoned&category=USB&PageSize=10')).data
    await feed.send(line('Z0', '2031-01-02 03:04:05'))
    await feed.send(line('Z1', '2031-01-02 05:04:05.5'))
    expect((await timesOf())[0]).toMatchObject({
      occurredAt: '2031-01-02T10:04:05.500',
      occurredUncertaintyMs: 300_000,
    })
    expect((await admin.put(`${base}/${feed.id}`, { timeZone: '' })).statusCode).toBe(200)
    expect(await feed.read()).toMatchObject({ timeZone: '' })
    await feed.send(line('Z2', '2031-01-02 06:04:05'))
    const [unknown] = await timesOf()
    expect([unknown?.occurredAt, unknown?.occurredUncertaintyMs]).toEqual([unknown?.creationTime, null])
  })

  it('accepts gzip bodies within its limits, and only with its own token', async () => {
    const [feed, other] = [await feedWith(), await feedWith()]
    const packed = (body: Buffer, encoding = 'gzip', bearer = feed.token.token) =>
      t.app.fastify.inject({
        method: 'POST',
        url: `${base}/${feed.id}`,
        headers: {
          ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
          'content-type': 'application/x-ndjson',
          'content-encoding': encoding,
        },
        payload: body,
      })
    const lines = Array.from({ length: 500 }, (_, i) => winlogbeat({ host: 'packed-1', record: i })).join('\n')
    expect((await packed(gzipSync(lines), 'GZIP')).json()).toMatchObject({ lines: 500, stored: 500 })
    // More than 8 MiB, more than 300 times its size, several members, and no gzip.
    const noise = gzipSync(Buffer.from(`${randomBytes(32).toString('hex')}\n`.repeat(150_000)), { level: 0 })
    const bomb = gzipSync(Buffer.alloc(8_000_000, ' '))
    expect(bomb.length * 300).toBeLessThan(8_000_000)
    for (const body of [bomb, Buffer.concat(Array.from({ length: 20 }, () => bomb))])
      expect((await packed(body)).json()).toMatchObject({ code: 'payload_too_large' })
    expect([413, 'payload_too_large']).toEqual([(await packed(noise)).statusCode, (await packed(noise)).json().code])
    expect((await packed(gzipSync(lines).subarray(0, -9))).json()).toMatchObject({ code: 'validation_failed' })
    expect((await packed(Buffer.from(lines))).json()).toMatchObject({ code: 'validation_failed' })
    for (const encoding of ['br', 'gzip, gzip', 'deflate'])
      expect((await packed(gzipSync(lines), encoding)).json()).toMatchObject({ code: 'unsupported_media_type' })
    // Refused before the body is unpacked, which would fail.
    expect((await packed(bomb, 'gzip', '')).json()).toMatchObject({ code: 'unauthorized' })
    expect((await packed(bomb, 'gzip', other.token.token)).json()).toMatchObject({ code: 'forbidden_object' })
  })

  it('uses the time in its line as the time of an event', async () => {
    const feed = await feedWith()
    await feed.send(winlogbeat({ host: 'late-1', record: 1 }))
    const devices = ['1', '2', '3'].map((serial) => `USB\\VID_0951&PID_1666\\LATE000${serial}`) as [
      string,
      string,
      string,
    ]
    const times = ['2031-05-02T08:09:10.123Z', '2999-01-01T00:00:00Z', '2029-01-01T00:00:00Z'] as const
    for (const [i, device] of devices.entries())
      await feed.send(winlogbeat({ host: 'late-1', record: i + 2, device, time: times[i] ?? '' }))
    const { data } = await pageOf<FleetEvent>(t, 'events/getevents?source=late-1&category=USB&PageSize=10')
    const seen = data.map((one) => [one.occurredAt, one.occurredUncertaintyMs])
    const [old, future, late] = data
    // In the order of receipt. A time in the future and one of years ago come from a wrong clock.
    expect(seen).toEqual([
      [old?.creationTime, null],
      [future?.creationTime, null],
      ['2031-05-02T08:09:10.123', 300_000],
    ])
    expect(late?.creationTime).not.toBe(late?.occurredAt)
  })

  it('takes events only from its own token', async () => {
    const [one, other] = [await feedWith(), await feedWith()]
    const line = winlogbeat({ host: 'stolen', record: 1 })
    const refused = await one.raw(line, undefined, other.token.token)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden_object'])
    const session = await (await t.admin()).post(`${base}/${one.id}`, JSON.parse(line))
    expect([session.statusCode, session.json().code]).toEqual([403, 'forbidden_object'])
    const list = await t.app.fastify.inject({
      method: 'GET',
      url: '/prime/webui/agents',
      headers: { authorization: `Bearer ${one.token.token}` },
    })
    expect([list.statusCode, list.json().code]).toEqual([403, 'scope_missing'])
    expect(await hostsNamed('stolen')).toEqual([])
  })

  it('takes events from a new token, and no longer from the previous one', async () => {
    const [feed, other] = [await feedWith(), await feedWith()]
    const admin = await t.admin()
    const next = (
      await admin.post('/prime/webui/admin/apiTokens', { name: 'next', userProfile: 20, scopes: ['feeds:write'] })
    ).json() as { id: string; token: string }
    const conflict = await admin.put(`${base}/${feed.id}`, { tokenId: other.token.id })
    expect([conflict.statusCode, conflict.json().code]).toEqual([409, 'conflict'])
    expect((await admin.put(`${base}/${feed.id}`, { tokenId: next.id, keepDays: 7 })).statusCode).toBe(200)
    expect(await feed.read()).toMatchObject({ tokenId: next.id, keepDays: 7, newHostsPerHour: 1_000 })
    expect((await feed.raw('{}')).statusCode).toBe(403)
    expect((await feed.raw('{}', undefined, next.token)).statusCode).toBe(200)
  })

  it('takes a limited number of lines, and more after a while', async () => {
    const feed = await feedWith()
    const body = '{}\n'.repeat(10_000)
    for (let i = 0; i < 10; i++) expect(await feed.send(body)).toMatchObject({ ignored: 10_000 })
    const refused = await feed.raw(body)
    expect([refused.statusCode, refused.json().code]).toEqual([429, 'too_many_requests'])
    t.clock.advance(Number(refused.headers['retry-after']) * 1_000)
    expect((await feed.raw(body)).statusCode).toBe(200)
  })

  it('adds no more new hosts per hour than its limit, and takes the others later', async () => {
    const feed = await feedWith({ newHostsPerHour: 2 })
    const body = ['cap-1', 'cap-2', 'cap-3'].map((host) => winlogbeat({ host, record: 1 })).join('\n')
    expect(await feed.send(body)).toMatchObject({ stored: 2, refused: 1 })
    expect(await feed.send(body)).toMatchObject({ stored: 0, duplicates: 2, refused: 1 })
    t.clock.advance(3_600_001)
    expect(await feed.send(body)).toMatchObject({ stored: 1, duplicates: 2, refused: 0 })
    expect(await hostsNamed('cap-')).toHaveLength(3)
  })

  it('changes no host that has an agent, and its host gives way to an agent that enrols', async () => {
    const feed = await feedWith()
    const agent = await enrolAgent(t, { facts: { hostname: 'DESK-1' } })
    expect(await feed.send(winlogbeat({ host: 'desk-1.corp.example', record: 1 }))).toMatchObject({
      stored: 0,
      covered: 1,
    })
    expect((await hostsNamed('desk-1')).map((one) => one.uuid)).toEqual([agent.agentId])

    await feed.send(winlogbeat({ host: 'desk-2.corp.example', record: 2 }))
    const [observed] = await hostsNamed('desk-2')
    const enrolled = await enrolAgent(t, { facts: { hostname: 'desk-2' } })
    await t.server.feeds.maintain()
    const [host, ...others] = await hostsNamed('desk-2')
    expect(others).toEqual([])
    expect(host).toMatchObject({ uuid: enrolled.agentId, deploymentMode: 'Agent' })
    expect(await devicesOf(enrolled.agentId)).toEqual([])
    const events = (await pageOf<FleetEvent>(t, 'events/getevents?PageSize=1000&GlobalSearch=desk-2.corp')).data
    expect(events.map((one) => one.description)).toContain('Computer observed by a feed for the first time')
    expect((await (await t.admin()).get(`/prime/webui/ingest/feedhosts/${observed?.uuid}`)).statusCode).toBe(404)
  })

  it('observes hosts that nobody can arm', async () => {
    const feed = await feedWith()
    await feed.send(winlogbeat({ host: 'armless', record: 1 }))
    const [host] = await hostsNamed('armless')
    const admin = await t.admin()
    const arm = await admin.post('/prime/webui/agents/bulk/preview', { action: 'arm', uuids: [host?.uuid] })
    expect(arm.json()).toMatchObject({
      agents: 0,
      impossible: [{ reason: 'A host without an agent cannot be armed.', agents: 1 }],
    })
    await admin.post('/prime/webui/agents/bulk', { action: 'arm', uuids: [host?.uuid] })
    expect((await hostsNamed('armless'))[0]).toMatchObject({ operationalStatus: 'Free' })
  })

  it('does not exist under a malformed id', async () => {
    const admin = await t.admin()
    for (const path of [`${base}/infinity`, '/prime/webui/ingest/feedhosts/infinity'])
      expect([path, (await (path.includes('hosts') ? admin.get(path) : admin.delete(path))).statusCode]).toEqual([
        path,
        404,
      ])
    expect((await admin.post(base, { name: 'odd', tokenId: 'infinity' })).statusCode).toBe(400)
  })

  it('takes XML, and refuses other media types and charsets', async () => {
    const feed = await feedWith()
    const xml = `<Event><System><EventID>6416</EventID><TimeCreated SystemTime='2031-05-04T10:11:12.345Z'/><EventRecordID>1</EventRecordID><Computer>xml-1</Computer></System><EventData><Data Name='DeviceId'>${stick.replace('&', '&amp;')}</Data></EventData></Event>`
    expect(await feed.send(xml, 'application/xml; charset="UTF-8"')).toMatchObject({ stored: 1 })
    const csv = `_raw,host\n"${xml.replace('xml-1', 'csv-1')}",indexer\n"cut`
    expect(await feed.send(csv, 'text/csv')).toMatchObject({ lines: 2, stored: 1, failed: 1, errors: [{ line: 3 }] })
    for (const type of ['text/html', 'application/xml; charset=utf-16', 'multipart/form-data; boundary=x'])
      expect([type, (await feed.raw(xml, type)).statusCode]).toEqual([type, 415])
  })

  it('counts a request once that is sent twice at the same time', async () => {
    const feed = await feedWith()
    const body = Array.from({ length: 50 }, (_, i) => winlogbeat({ host: `twice-${i % 5}`, record: i })).join('\n')
    const answers = await Promise.all([feed.send(body), feed.send(body), feed.send(body)])
    expect(answers.map(({ stored }) => stored).sort((a, b) => a - b)).toEqual([0, 0, 50])
    expect(await hostsNamed('twice-')).toHaveLength(5)
  })

  it('shows one host for the lines of two feeds, and keeps the devices of the other feed when one is deleted', async () => {
    const [one, other] = [await feedWith(), await feedWith()]
    const mouse = 'USB\\VID_046D&PID_C03E\\6&DF2EE03&0&6'
    await one.send(winlogbeat({ host: 'shared', record: 1 }))
    await other.send(winlogbeat({ host: 'shared', record: 1, device: mouse }))
    const [host, ...others] = await hostsNamed('shared')
    expect(others).toEqual([])
    expect(await presentOf(host?.uuid)).toHaveLength(2)
    const admin = await t.admin()
    expect((await admin.delete(`${base}/${one.id}`)).statusCode).toBe(200)
    await t.server.feeds.maintain()
    expect((await presentOf(host?.uuid)).map(({ pid }) => pid)).toEqual(['C03E'])
    expect((await admin.delete(`${base}/${other.id}`)).statusCode).toBe(200)
    t.clock.advance(61_000)
    await t.server.feeds.maintain()
    expect(await hostsNamed('shared')).toEqual([])
  })

  it('shows hosts as old and disconnected after a day, and removes them when it keeps their devices no longer', async () => {
    const feed = await feedWith({ keepDays: 2 })
    const time = new Date(t.clock.now()).toISOString()
    await feed.send(winlogbeat({ host: 'ageing', record: 1, time }))
    const [host] = await hostsNamed('ageing')
    expect(host).toMatchObject({ connectionStatus: 'Connected' })
    t.clock.advance(86_400_001)
    await t.server.feeds.maintain()
    expect((await hostsNamed('ageing'))[0]).toMatchObject({ connectionStatus: 'Disconnected' })
    const about = (await (await t.admin()).get(`/prime/webui/ingest/feedhosts/${host?.uuid}`)).json() as FeedHost
    expect(about.confidence).toBe('old')
    await feed.send(winlogbeat({ host: 'ageing', record: 2, time: new Date(t.clock.now()).toISOString() }))
    expect((await hostsNamed('ageing'))[0]).toMatchObject({ connectionStatus: 'Connected' })
    t.clock.advance(2 * 86_400_000 + 1)
    await t.server.feeds.maintain()
    await t.server.feeds.maintain()
    expect(await hostsNamed('ageing')).toEqual([])
  })

  it('stores hostile names and devices as text', async () => {
    const feed = await feedWith()
    const hosts = ['a\u202eb', '<script>', "x'; drop table feeds; --", 'ok\u0000', '..', 'ÄÖÜ.example', 'x'.repeat(300)]
    const devices = [
      `${stick}\u0000\u202e`,
      `USB\\VID_0951&PID_1666\\${'\ud800'}<img src=x>`,
      'USB\\VID_0951&PID_1666\\'.padEnd(190, 'é'),
    ]
    const body = hosts.flatMap((host, i) =>
      devices.map((device, j) => winlogbeat({ host, record: i * 10 + j, device })),
    )
    const { stored, failed, lines } = await feed.send(body.join('\n'))
    expect(stored + failed).toBe(lines)
    expect(stored).toBeGreaterThan(0)
    for (const { hostIdentifier } of (await pageOf<Agent>(t, 'agents?DeploymentMode=Feed&PageSize=1000')).data)
      expect(hostIdentifier).not.toMatch(/[<>"'\s\u202e\0]/u)
  })
})
