import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Fragment, type ReactNode } from 'react'
import { type AuditObject, type AuditObjectKind, type AuditRow, auditActionOf } from '#features/contract.ts'
import { sentences } from './sentences.ts'
import { counts, strings } from './strings.ts'

const longestName = 120
const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** Bounds a name, which a host, a device or a person chose. */
const short = (text: string): string => (text.length > longestName ? `${text.slice(0, longestName - 1)}…` : text)

/** Returns the address of an object that exists. */
const addressOf = ({ kind, id, name, exists }: AuditObject): string | null => {
  if (!exists) return null
  if (kind === 'host') return agentAddress(id)
  if (kind === 'account') return `/settings/accounts?open=${encodeURIComponent(name)}`
  if (kind === 'rule') return `/policy?open=${encodeURIComponent(id)}`
  const [vid = '', pid = ''] = id.split(':')
  return kind === 'device' ? `/peripherals?vid=${vid}&pid=${pid}` : null
}

/** The name of an object, with a link while the object exists. */
export const ObjectName = ({ object }: { object: AuditObject }) => {
  const address = addressOf(object)
  const name = <DeviceText value={short(object.name)} absent={strings.unnamed} />
  return address === null ? name : <PlainLink href={address}>{name}</PlainLink>
}

const NameList = ({ objects }: { objects: readonly AuditObject[] }) =>
  objects.map((object, index) => (
    <Fragment key={`${object.id} ${object.name}`}>
      {index === 0 ? null : ', '}
      <ObjectName object={object} />
    </Fragment>
  ))

/** Returns the objects of a kind: one by its name, more by their number. */
const objectText = (kind: AuditObjectKind, own: readonly AuditObject[], count: number | null): ReactNode => {
  const [only] = own
  // One model can be many devices.
  if (only !== undefined && own.length === 1 && (kind === 'device' || (count ?? 1) === 1))
    return <ObjectName object={only} />
  const number = count ?? own.length
  return number === 0 ? null : counts[kind]({ count: number })
}

/** Returns the hosts or devices that an action on others concerns. */
const whereOf = (row: AuditRow, hosts: readonly AuditObject[]): ReactNode => {
  const [only] = hosts
  const number = row.hosts ?? row.count ?? hosts.length
  if (row.variant === 'devices') return counts.device({ count: number })
  return only !== undefined && number === 1 ? <ObjectName object={only} /> : counts.host({ count: number })
}

const tagsOf = (tags: readonly AuditObject[]): ReactNode =>
  strings.tagNames({ count: tags.length, names: <NameList objects={tags} /> })

const whatOf = (row: AuditRow, entity: ReactNode): ReactNode => {
  const kind = auditActionOf(row.action)?.object ?? row.objects[0]?.kind
  const own = row.objects.filter((one) => one.kind === kind)
  if (row.action === 'bulk.ordered') {
    const hosts = counts.host({ count: row.count ?? 0 })
    return own.length === 0 ? hosts : strings.taggedHosts({ hosts, names: <NameList objects={own} /> })
  }
  return (kind === undefined ? null : objectText(kind, own, row.count)) ?? entity
}

/** Who acted. The server itself has the name of the product. */
export const Who = ({ userName }: { userName: string }) =>
  userName === 'system' ? (
    strings.portcullis
  ) : userName === 'anonymous' ? (
    strings.someone
  ) : (
    <DeviceText value={short(userName)} />
  )

/** A record in words. */
export const Sentence = ({ row }: { row: AuditRow }) => {
  const entity = <DeviceText value={short(row.entity.replaceAll(uuid, '').trim())} absent={strings.unnamed} />
  const values = {
    who: (
      <strong key="who">
        <Who userName={row.userName} />
      </strong>
    ),
    what: whatOf(row, entity),
    where: whereOf(
      row,
      row.objects.filter(({ kind }) => kind === 'host'),
    ),
    tags: tagsOf(row.objects.filter(({ kind }) => kind === 'tag')),
    entity,
    count: row.count ?? 0,
  }
  const known = sentences as unknown as Readonly<Record<string, ((values: unknown) => ReactNode) | string | undefined>>
  const own = (key: string) => (Object.hasOwn(known, key) ? known[key] : undefined)
  const sentence = own(`${row.action}.${row.variant}`) ?? own(row.action)
  if (sentence === undefined) return strings.unknownAction({ who: values.who, what: entity })
  return typeof sentence === 'string' ? sentence : sentence(values)
}
