import { icons, isAddress, mustExist } from '@portcullis/domain'
import { ocsfClasses } from '#features/contract.ts'
import { ocsfCategories, ocsfMapping, ocsfPeripheralTypes, ocsfSeverities, ocsfVersion } from './ocsf-classes.ts'
import { frame } from './rfc5424.ts'
import { type CleanEvent, cleanEvent, fit, type SiemEvent, type SiemSource } from './siem-event.ts'

type Json = Readonly<Record<string, unknown>>

/** Removes empty values, because the schema does not allow empty strings. */
const filled = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== '' && value !== undefined))

const isHostName = (text: string): boolean => /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)

/** Returns the Device object: the host. Its name is a DNS name or a plain name. */
const hostOf = (event: CleanEvent): Json => {
  const name = event.hostName === '' ? event.eventEntityID : event.hostName
  return filled({
    type_id: 0,
    type: 'Unknown',
    uid: event.agentId,
    name: name === '' && event.agentId === '' ? 'Unknown' : name,
    hostname: isHostName(event.hostName) ? event.hostName : '',
    ip: isAddress(event.address) ? event.address : '',
  })
}

/** Returns the Peripheral Device object. */
const peripheralOf = (event: CleanEvent): Json => {
  const kind = icons.find(({ icon, name }) => String(icon) === event.icon && name !== 'NO_DEV')?.name ?? 'Unknown'
  const [typeId, type] = ocsfPeripheralTypes[event.icon] ?? [kind === 'Unknown' ? 0 : 99, kind]
  const name = [event.vendorName, event.productName].filter((part) => part !== '').join(' ')
  return filled({
    name: name === '' ? `USB device ${event.vid}:${event.pid}` : name,
    uid: event.deviceId,
    serial_number: event.serial,
    model: event.pid,
    vendor_name: event.vendorName,
    vendor_id_list: event.vid === '' ? undefined : [event.vid],
    type_id: typeId,
    type,
  })
}

const hasDevice = (event: CleanEvent): boolean => event.vid !== '' || event.deviceId !== ''
const hasHost = (event: CleanEvent): boolean => event.hostName !== '' || event.agentId !== ''

/** Attributes of each class in addition to the base event. */
const classMembers = (event: CleanEvent, classUid: number): Json => {
  switch (classUid) {
    case 1010:
      return {
        actor: { app_name: 'Portcullis agent' },
        device: hostOf(event),
        peripheral_device: peripheralOf(event),
      }
    case 2004:
      return {
        finding_info: filled({ uid: String(event.id), title: event.description, created_time: event.at.getTime() }),
        is_alert: true,
        ...(hasHost(event) ? { device: hostOf(event) } : {}),
        ...(hasDevice(event) ? { evidences: [{ data: { peripheral_device: peripheralOf(event) } }] } : {}),
      }
    case 3004:
      return { entity: { type_id: 1, type: 'Device', device: hostOf(event) } }
    case 5001:
    case 5019:
      return { device: hostOf(event) }
    case 6002:
      return { app: { name: 'Portcullis agent', vendor_name: 'Portcullis' } }
    case 7001:
      return { command_uid: String(event.id) }
    default:
      return {}
  }
}

/** Classes without a device attribute. They get it from the profile Host. */
const byHostProfile: readonly number[] = [0, 6002, 6008, 7001]

const write = (event: CleanEvent, message: string): string => {
  const mapping = ocsfMapping(event.kind)
  const [severityId, severity] = mustExist(ocsfSeverities[event.severity], 'a severity')
  const category = Math.floor(mapping.class / 1000)
  const withHost = byHostProfile.includes(mapping.class) && hasHost(event)
  const profiles = [...(withHost ? ['host'] : []), ...(mapping.control === undefined ? [] : ['security_control'])]
  const { control, status, state } = mapping
  return JSON.stringify({
    class_uid: mapping.class,
    class_name: ocsfClasses[mapping.class],
    category_uid: category,
    category_name: ocsfCategories[category],
    activity_id: mapping.activity,
    activity_name: mapping.activityName,
    type_uid: mapping.class * 100 + mapping.activity,
    type_name: `${ocsfClasses[mapping.class]}: ${mapping.activityName}`,
    severity_id: severityId,
    severity,
    time: (event.occurred ?? event.at).getTime(),
    ...(message === '' ? {} : { message }),
    metadata: {
      version: ocsfVersion,
      logged_time: event.at.getTime(),
      uid: String(event.id),
      event_code: event.code,
      log_name: event.category,
      log_source: event.instance,
      product: filled({ name: 'Portcullis', vendor_name: 'Portcullis', version: event.version }),
      ...(profiles.length === 0 ? {} : { profiles }),
    },
    ...(status === undefined ? {} : { status_id: status[0], status: status[1] }),
    ...(state === undefined ? {} : { state_id: state[0], state: state[1] }),
    ...(control === undefined
      ? {}
      : {
          action_id: control.action[0],
          action: control.action[1],
          disposition_id: control.disposition[0],
          disposition: control.disposition[1],
          is_alert: true,
        }),
    ...classMembers(event, mapping.class),
    ...(withHost ? { device: hostOf(event) } : {}),
    unmapped: filled({
      event_entity_id: event.eventEntityID,
      syslog_severity: event.severity,
      hashtags: event.hashtags,
      ...(event.icon === '-1' ? {} : { peripheral_icon: event.icon }),
    }),
  })
}

const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Formats an event of the Open Cybersecurity Schema Framework as JSON after an RFC 5424 header. */
export const formatOcsf = (given: SiemEvent, source: SiemSource): Buffer => {
  const event = cleanEvent(given, source)
  const sentence = [event.description, event.details].filter((part) => part !== '').join(': ')
  return frame(event, '-', (room) => {
    // The size with a message of one byte.
    const bare = Buffer.byteLength(write(event, '-')) - 1
    return write(event, fit(sentence, room - bare, jsonText))
  })
}
