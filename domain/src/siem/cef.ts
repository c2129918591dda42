import { frame } from './rfc5424.ts'
import { type CleanEvent, cleanEvent, fit, type SiemEvent, type SiemSource } from './siem-event.ts'

/** Severity 0 to 10 of each syslog number: 0 to 3 low, 4 to 6 medium, 7 and 8 high, 9 and 10 very high. */
const severities = [10, 10, 9, 7, 5, 3, 2, 0] as const

const escapeHeader = (text: string): string => text.replace(/[|\\]/g, '\\$&')
const escapeValue = (text: string): string => text.replace(/[=\\]/g, '\\$&')

const isIPv6 = (address: string): boolean => address.includes(':')

/** Keys of the CEF dictionary; custom strings where it has none. */
const extension = (event: CleanEvent): [string, string][] => [
  ['externalId', String(event.id)],
  ['rt', String(event.at.getTime())],
  ['cat', event.category],
  ['dvchost', event.instance],
  ['dhost', event.hostName],
  isIPv6(event.address) ? ['c6a3', event.address] : ['dst', event.address],
  ...labelled(isIPv6(event.address), 'c6a3', 'Destination IPv6 Address'),
  ['act', event.kind === 'blocked' ? 'blocked' : ''],
  ['cs1', event.deviceId],
  ...labelled(event.deviceId !== '', 'cs1', 'deviceID'),
  ['cs2', event.vid === '' ? '' : `${event.vid}:${event.pid}`],
  ...labelled(event.vid !== '', 'cs2', 'vidPid'),
  ['cs3', event.serial],
  ...labelled(event.serial !== '', 'cs3', 'serial'),
  ['cs4', event.agentId],
  ...labelled(event.agentId !== '', 'cs4', 'agentID'),
  ['cs5', event.hashtags],
  ...labelled(event.hashtags !== '', 'cs5', 'tags'),
  ['cs6', [event.vendorName, event.productName].filter((part) => part !== '').join(' ')],
  ...labelled(event.vendorName !== '' || event.productName !== '', 'cs6', 'device'),
]

function labelled(is: boolean, key: string, label: string): [string, string][] {
  return is ? [[`${key}Label`, label]] : []
}

/** CEF 0 behind a header of RFC 5424. */
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
