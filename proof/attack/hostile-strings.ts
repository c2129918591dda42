// Invariant: No output interprets text from a host.

import { setTimeout as pause } from 'node:timers/promises'
import { startSyslogReceiver } from '../../server/test/peers/syslog-receiver.ts'
import { startWebhookReceiver } from '../../server/test/peers/webhook-receiver.ts'
import { temporaryFolder } from '../kit/database.ts'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { filled, offeredBy, readDocument } from '../kit/operations.ts'
import { startSmtpReceiver } from '../kit/smtp-receiver.ts'
import { atLeast, atMost, type Check, figure, type Outcome } from '../kit/verdict.ts'
import { forEachOf } from '../kit/wire.ts'
import { smtpAt } from './configuration.ts'
import { enrolHostile, type HostileHost } from './hostile/hosts.ts'
import {
  csvFaults,
  jsonFaults,
  logFaults,
  mailFaults,
  metricsFaults,
  pdfFaults,
  sseFaults,
  syslogFaults,
} from './hostile/output-faults.ts'
import { lookAtPages } from './hostile/pages.ts'
import { fieldLimits, hostileTexts, otherFields } from './hostile/texts.ts'

const formats = ['rfc5424', 'cef', 'ocsf'] as const

/** Starts a mail server, a webhook, and a SIEM for each format, and enters them in the server. */
const startReceivers = async ({ call, admin }: Environment) => {
  const [smtp, webhook, ...siems] = await Promise.all([
    startSmtpReceiver(),
    startWebhookReceiver(),
    ...formats.map(() => startSyslogReceiver({ protocol: 'tcp' })),
  ])
  const close = async (): Promise<void> => {
    smtp.close()
    await Promise.all([webhook.close(), ...siems.map((siem) => siem.close())])
  }
  const post = (path: string, body: unknown) => call('POST', `${api}/${path}`, body, admin.token)
  const siem = (i: 0 | 1 | 2) => ({ isEnabled: true, address: siems[i]?.address, protocol: 'tcp', format: formats[i] })
  const update = (group: { id: number } & Record<string, unknown>) =>
    post('systemNotification/notifications/update', group)
  try {
    await post('generalconfig/AddOrUpdateSMPTConfig', smtpAt(smtp.port))
    const groups = (await call(
      'GET',
      `${api}/systemNotification/notifications`,
      undefined,
      admin.token,
    )) as unknown as {
      id: number
      notifications: { id: string }[]
    }[]
    const people = {
      email: { isEnabled: true, recipients: ['soc@example.org'] },
      webhook: { isEnabled: true, url: webhook.url },
    }
    for (const { id, notifications } of groups)
      await update({
        ...{ id, isEnabled: true, minimumSeverity: 'Debug', digestMinutes: 0 },
        notifications: notifications.map((one) => ({ id: one.id, isEnabled: true })),
        // Group 6 sends single events, which are never mailed; the other groups send alerts.
        channels: id === 6 ? { syslog: siem(1) } : { ...people, syslog: siem(0) },
      })
  } catch (error) {
    // Open listeners would keep the process alive.
    await close()
    throw error
  }
  /** Sends single events to another SIEM, in its format. */
  return { smtp, webhook, siems, close, switchTo: (i: 0 | 1 | 2) => update({ id: 6, channels: { syslog: siem(i) } }) }
}

const until = async (seconds: number, isThere: () => boolean): Promise<void> => {
  for (let i = 0; i < seconds * 10 && !isThere(); i++) await pause(100)
}

/** Checks that text from hosts and devices is never interpreted. */
export const hostileStrings: Check = {
  name: 'hostile-strings',
  what: 'Hosts report sixty texts that break out of markup, spreadsheets, lines, headers, terminals, SQL, LDAP, shells and templates, in every field of the protocol. No output interprets them: JSON, CSV, PDF, every console page in Chromium, mail, webhooks, RFC 5424, CEF, OCSF, the asset stream, metrics, the audit trail, the log and debug logs.',
  run: ({ root, isQuick }): Promise<Outcome> =>
    withEnvironment(
      { root, env: { PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8', PORTCULLIS_LOG_LEVEL: 'debug' } },
      async (environment) => {
        const { wire, admin, enrolmentToken, server, rows } = environment
        const folder = temporaryFolder('hostile')
        const receivers = await startReceivers(environment)
        try {
          const token = await enrolmentToken()
          const hosts: HostileHost[] = []
          await forEachOf(
            [...hostileTexts.entries()],
            4,
            async ([i, text]) => void hosts.push(await enrolHostile(environment, token, text, i)),
          )
          const faults = new Map<string, string[]>()
          const checked = new Map<string, number>()
          const judge = (sink: string, where: string, found: readonly string[]): void => {
            checked.set(sink, (checked.get(sink) ?? 0) + 1)
            faults.set(sink, [...(faults.get(sink) ?? []), ...found.map((fault) => `${where}: ${fault}`)])
          }
          const offered = offeredBy(await readDocument(environment))
          const ids = hosts.map(({ agentId }) => agentId)
          const get = (path: string, headers: Record<string, string> = {}) =>
            wire.send({ method: 'GET', path, token: admin.token, headers, isHeadEnough: true })
          const reads = offered.filter(
            ({ method, isStream, id }) => method === 'GET' && !isStream && id !== 'assetStream',
          )
          await forEachOf(reads, 4, async ({ id, path }) => {
            const got = await get(`${filled(path, { agentId: ids[0] as string, uuid: ids[0] as string })}`)
            const type = String(got.headers['content-type'])
            const lines = /ndjson/.test(type) ? got.text.split('\n').filter(Boolean) : [got.text]
            if (/json/.test(type)) judge('JSON', id, lines.flatMap(jsonFaults))
            if (got.status >= 500) judge('JSON', id, [`${got.status}`])
          })
          await forEachOf(ids, 4, async (agentId) => {
            for (const path of [`agents/agent/${agentId}`, `peripherals/${agentId}?PageSize=500`])
              judge('JSON', path, jsonFaults((await get(`${api}/${path}`)).text))
          })
          for (const list of [
            ...'agents peripherals peripherals/models events/getevents events/GetEventsIntegration agents/commands'.split(
              ' ',
            ),
            ...['agents/errorTotal', 'agents/getloggedagents'],
          ]) {
            const query = list === 'agents/getloggedagents' ? '' : '?PageSize=1000'
            judge('JSON', list, jsonFaults((await get(`${api}/${list}${query}`)).text))
          }
          judge('audit', 'trail', jsonFaults((await get(`${api}/events/GetAuditsIntegration?PageSize=5000`)).text))
          // If a text had run as SQL, rows or tables would be missing.
          const [stored] = await rows<{ hosts: number }>('SELECT count(*)::int AS hosts FROM agents')
          judge('JSON', 'hosts', stored?.hosts === hosts.length ? [] : [`${stored?.hosts} hosts, not ${hosts.length}`])

          for (const { id, path, method } of offered.filter(({ id }) =>
            /csv$|AggExport$|agentExportFile|exportTags/i.test(id),
          )) {
            const body = method === 'POST' ? { body: 'null' } : {}
            const got = await wire.send({ method, path, token: admin.token, ...body })
            judge('CSV', id, got.status === 200 ? csvFaults(got.text) : [`${got.status}`])
          }
          for (const { id, path } of offered.filter(({ id }) => /pdf$/i.test(id))) {
            const answer = await fetch(server.url + path, {
              method: 'POST',
              body: 'null',
              headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
            })
            const isOfHosts = /exportAgentPdf|exportPeripheralsPdf/.test(id)
            const pdf = Buffer.from(await answer.arrayBuffer())
            const found =
              answer.status === 200 ? pdfFaults(pdf, folder, isOfHosts ? ['<img'] : []) : [`${answer.status}`]
            judge('PDF', id, found)
          }
          const stream = await fetch(`${server.url}${api}/assetproducer/stream?after=0&follow=false`, {
            headers: { authorization: `Bearer ${admin.token}`, accept: 'application/x-ndjson' },
          })
          const lines = (await stream.text()).trim().split('\n')
          judge(
            'asset stream',
            'NDJSON',
            lines.flatMap(jsonFaults).concat(lines.length < hosts.length ? [`only ${lines.length} lines`] : []),
          )
          const leaving = new AbortController()
          const events = await fetch(`${server.url}${api}/assetproducer/stream?after=0`, {
            headers: { authorization: `Bearer ${admin.token}`, accept: 'text/event-stream' },
            signal: leaving.signal,
          })
          let sse = ''
          setTimeout(() => leaving.abort(), 2_000)
          const decoder = new TextDecoder()
          try {
            for await (const chunk of events.body ?? []) sse += decoder.decode(chunk as Uint8Array, { stream: true })
          } catch {
            // The abort above ends the endless stream.
          }
          judge('asset stream', 'events', sse.length > 1_000 ? sseFaults(sse) : ['received nothing'])
          judge('metrics', 'all', metricsFaults((await get('/metrics')).text))
          const [log] = await rows<{ agent_id: string; log_id: string }>(
            'SELECT agent_id::text, log_id::text FROM debug_logs LIMIT 1',
          ).catch(() => [])
          if (log !== undefined) {
            const got = await get(`${api}/agents/agent/${log.agent_id}/debuglogs/${log.log_id}`)
            const isFile =
              /^attachment; filename="[\w.-]+"/.test(String(got.headers['content-disposition'])) &&
              got.headers['content-type'] === 'application/gzip'
            judge(
              'debug logs',
              'file',
              isFile ? [] : [`${got.status} ${got.headers['content-type']} ${got.headers['content-disposition']}`],
            )
          }
          const seen = await lookAtPages(environment, ids, isQuick)
          for (const fault of seen?.faults ?? []) judge('pages', 'Chromium', [fault])

          await until(isQuick ? 25 : 60, () => receivers.smtp.mails.length > 0 && receivers.webhook.seen.length > 0)
          await until(10, () => [0, 1].every((i) => (receivers.siems[i]?.texts().length ?? 0) >= 20))
          // Events of the additional hosts go to the third SIEM.
          await receivers.switchTo(2)
          await forEachOf([...hostileTexts.slice(0, isQuick ? 12 : 60).entries()], 4, async ([i, text]) => {
            await enrolHostile(environment, token, text, 100 + i)
          })
          await until(isQuick ? 15 : 60, () => (receivers.siems[2]?.texts().length ?? 0) >= 10)
          for (const mail of receivers.smtp.mails) judge('mail', 'mail', mailFaults(mail))
          for (const { body } of receivers.webhook.seen) judge('webhook', 'webhook', jsonFaults(body))
          for (const [i, format] of formats.entries())
            for (const message of receivers.siems[i]?.texts() ?? [])
              judge(format, format, syslogFaults(message, format))
          judge('log', 'log', logFaults(server.output()))

          const said = hosts.reduce((sum, host) => sum + host.said, 0)
          const sinks = ['JSON', 'CSV', 'PDF', 'mail', 'webhook', ...formats, 'asset stream', 'metrics', 'audit', 'log']
          sinks.push('debug logs')
          const fieldCount = Object.keys(fieldLimits).length + otherFields.length
          return {
            findings: [
              atLeast('texts', hostileTexts.length, 60),
              atLeast('fields', fieldCount, 20),
              atLeast('said and taken', said, hostileTexts.length * 15),
              figure(
                'refused at the door',
                hosts.reduce((sum, host) => sum + host.refused, 0),
              ),
              ...sinks.flatMap((sink) => [
                atLeast(`${sink}: looked at`, checked.get(sink) ?? 0, 1),
                atMost(`${sink}: interpreted`, faults.get(sink)?.length ?? 0, 0),
              ]),
              ...(seen === null
                ? []
                : [
                    atLeast('pages: looked at', seen.pages, 25),
                    atLeast('pages: with a text in sight', seen.showing, 5),
                    atMost('pages: interpreted', seen.faults.length, 0),
                  ]),
            ],
            notRun: seen === null ? ['the pages of the console: Chromium is not installed'] : [],
            notes: [...faults.values()].flatMap((found) => found.slice(0, 5)),
          }
        } finally {
          await receivers.close()
        }
      },
    ),
}
