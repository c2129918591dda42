import { readFeed } from '@portcullis/domain'
import { feedLimits } from '@portcullis/features/contract.ts'
import { startServer } from '../kit/installation.ts'
import { atLeast, type Finding, figure, round } from '../kit/verdict.ts'
import type { BenchResult, Settings } from './result.ts'

const base = '/prime/webui/ingest/feeds'
/** Lines of one request, the most that a feed takes. */
const count = feedLimits.lines
/** Requirement: lines per second of processor time. */
const wantedPerSecond = 10_000

const deviceOf = (i: number): string => `USB\\VID_0951&PID_${(0x1000 + (i % 4_096)).toString(16).toUpperCase()}\\SN${i}`
const dataOf = (i: number) => ({
  SubjectUserSid: 'S-1-5-18',
  SubjectUserName: `PC-${i % 5_000}$`,
  SubjectDomainName: 'CORP',
  SubjectLogonId: '0x3e7',
  DeviceId: deviceOf(i),
  DeviceDescription: 'USB Mass Storage Device',
  ClassId: '{36fc9e60-c465-11cf-8056-444553540000}',
  ClassName: 'USB',
  VendorIds: '\r\n\t\tUSB\\VID_0951&PID_1666&REV_0110\r\n\t\tUSB\\VID_0951&PID_1666\r\n\t\t',
  CompatibleIds:
    '\r\n\t\tUSB\\Class_08&SubClass_06&Prot_50\r\n\t\tUSB\\Class_08&SubClass_06\r\n\t\tUSB\\Class_08\r\n\t\t',
  LocationInformation: 'Port_#0003.Hub_#0001',
})
const time = '2031-05-04T10:11:12.345Z'
const winlogbeat = (i: number, hosts = 5_000, record = i): string =>
  JSON.stringify({
    '@timestamp': time,
    event: { code: '6416', provider: 'Microsoft-Windows-Security-Auditing' },
    winlog: {
      channel: 'Security',
      computer_name: `pc-${i % hosts}.corp.example`,
      event_id: '6416',
      record_id: record,
      event_data: dataOf(i),
    },
  })
const defender = (i: number): string =>
  JSON.stringify({
    Timestamp: time,
    ReportId: i,
    DeviceId: 'a'.repeat(40),
    DeviceName: `pc-${i % 5_000}.corp.example`,
    ActionType: 'PnpDeviceConnected',
    AdditionalFields: JSON.stringify({ ClassName: 'USB', DeviceId: deviceOf(i), DeviceDescription: 'USB device' }),
  })
const xml = (i: number): string =>
  `<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><Provider Name='Microsoft-Windows-Security-Auditing'/><EventID>6416</EventID><TimeCreated SystemTime='${time}'/><EventRecordID>${i}</EventRecordID><Channel>Security</Channel><Computer>pc-${i % 5_000}.corp.example</Computer></System><EventData>${Object.entries(
    dataOf(i),
  )
    .map(([name, value]) => `<Data Name='${name}'>${value.replaceAll('&', '&amp;')}</Data>`)
    .join('')}</EventData></Event>`

/** Returns lines per second of processor time, the best of several rounds. */
const rateOf = (lines: number, rounds: number, work: () => void): number => {
  const rates = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return lines / ((user + system) / 1_000_000)
  })
  return round(Math.max(...rates), 0)
}

/** Sends lines to a server. Returns the processor time of the server process and of the database. */
const stored = async (databaseUrl: string | undefined, hosts: number, rounds: number): Promise<Finding[]> => {
  await using server = await startServer({ databaseUrl })
  const person = await server.signIn()
  const token = await server.call(
    '/prime/webui/admin/apiTokens',
    { name: 'bench', userProfile: 20, scopes: ['feeds:write'] },
    person,
  )
  const feed = await server.call(base, { name: 'bench', tokenId: token.id, newHostsPerHour: 10_000 }, person)
  const send = async (from: number) => {
    const before = server.cpu()
    const answer = await fetch(`${server.url}${base}/${feed.id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.token}`, 'content-type': 'application/x-ndjson' },
      body: Array.from({ length: count }, (_, i) => winlogbeat(i, hosts, from + i)).join('\n'),
    })
    const { stored } = (await answer.json()) as { stored?: number }
    if (stored !== count) throw new Error(`the feed stored ${stored} of ${count} lines: ${answer.status}`)
    const after = server.cpu()
    return { server: after.server - before.server, database: after.database - before.database }
  }
  const first = await send(0)
  const sum = { server: 0, database: 0 }
  for (let i = 1; i <= rounds; i++) {
    const one = await send(i * count)
    sum.server += one.server
    sum.database += one.database
  }
  const lines = rounds * count
  return [
    atLeast(
      'stored for known hosts and devices: lines per core-second of the server',
      round(lines / sum.server, 0),
      wantedPerSecond,
      '/s',
    ),
    figure('the same, with the database', round(lines / (sum.server + sum.database), 0), '/s'),
    figure(
      `stored for ${hosts} new hosts with ${count} new devices, server and database`,
      round(count / (first.server + first.database), 0),
      '/s',
    ),
  ]
}

/** Reads the lines of a feed, and parses the same lines as plain JSON in the same run. */
export const benchFeeds = async ({ databaseUrl, isQuick }: Settings): Promise<BenchResult> => {
  const { hosts, rounds } = isQuick ? { hosts: 500, rounds: 5 } : { hosts: 5_000, rounds: 30 }
  const figures: Finding[] = []
  for (const [what, lineOf] of Object.entries({
    'event 6416, JSON': winlogbeat,
    Defender: defender,
    'event 6416, XML': xml,
  })) {
    const lines = Array.from({ length: count }, (_, i) => lineOf(i))
    const text = lines.join('\n')
    const { events, failed } = readFeed(text)
    if (events.length !== count || failed > 0) throw new Error(`${what}: ${events.length} of ${count} lines were read`)
    figures.push(
      atLeast(
        `${what}: lines per core-second`,
        rateOf(count, rounds, () => readFeed(text)),
        wantedPerSecond,
        '/s',
      ),
    )
    if (lineOf !== xml)
      figures.push(
        figure(
          `${what}: the same lines by JSON.parse`,
          rateOf(count, rounds, () => {
            for (const line of lines) JSON.parse(line)
          }),
          '/s',
        ),
      )
  }
  figures.push(...(await stored(databaseUrl, hosts, 4)))
  return {
    what: `${count} lines in one request; reading: best of ${rounds} rounds; storing: ${hosts} hosts, server and database on this machine`,
    findings: figures,
  }
}
