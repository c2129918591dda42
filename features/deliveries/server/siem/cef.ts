import { isAddress } from '@portcullis/domain'
import { frame } from './rfc5424.ts'
import { type CleanEvent, cleanEvent, fit, type SiemEvent, type SiemSource } from './siem-event.ts'

/** CEF severity of each syslog severity: 0 to 3 low, 4 to 6 medium, 7 and 8 high, 9 and 10 very high. */
const severities = [10, 10, 9, 7, 5, 3, 2, 0] as const

const escapeHeader = (text: string): string => text.replace(/[|\\]/g, '\\$&')
const escapeValue = (text: string): string => text.replace(/[=\\]/g, '\\$&')

/** Returns a custom field with its label, or nothing if the value is empty. */
const custom = (key: string, label: string, value: string): [string, string][] =>
  value === ''
    ? []
    : [
        [key, value],
        [`${key}Label`, label],
      ]

const addressOf = ({ address }: CleanEvent): [string, string][] => {
  if (!isAddress(address)) return []
  return address.includes(':') ? custom('c6a3', 'Destination IPv6 Address', address) : [['dst', address]]
}

/**
 * Returns the extension: keys of the CEF dictionary, and custom strings for all other values. The first key repeats the
 * host of the syslog header, because liblognorm 2.0.6 drops the first letter of the first key.
 */
const extension = (event: CleanEvent): [string, string][] => [
  ['dvchost', event.instance],
  ['externalId', String(event.id)],
  ['rt', String(event.at.getTime())],
  ['start', event.occurred === undefined ? '' : String(event.occurred.getTime())],
  ['cat', event.category],
  ['dhost', event.hostName],
  ...addressOf(event),
  ['act', event.kind === 'blocked' ? 'blocked' : ''],
  ...custom('cs1', 'deviceID', event.deviceId),
  ...custom('cs2', 'vidPid', event.vid === '' ? '' : `${event.vid}:${event.pid}`),
  ...custom('cs3', 'serial', event.serial),
  ...custom('cs4', 'agentID', event.agentId),
  ...custom('cs5', 'tags', event.hashtags),
  ...custom('cs6', 'device', [event.vendorName, event.productName].filter((part) => part !== '').join(' ')),
]

/** Formats an event as CEF 0 after an RFC 5424 header. */
export const formatCef = (given: SiemEvent, source: SiemSource): Buffer => {
  const event = cleanEvent(given, source)
  const head = ['CEF:0', 'Portcullis', 'Portcullis', event.version, event.code, event.description]
    .map(escapeHeader)
    .join('|')
  const known = extension(event)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}=${escapeValue(value)}`)
    .join(' ')
  const before = `${head}|${severities[event.severity]}|${known} msg=`
  return frame(event, '-', (room) => {
    const sentence = [event.eventEntityID, event.details].filter((part) => part !== '').join(': ')
    return `${before}${escapeValue(fit(sentence, room - Buffer.byteLength(before), escapeValue))}`
  })
}
