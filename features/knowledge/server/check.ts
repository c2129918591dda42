import { type KnowledgeSources, parseUsbIds } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { Compile } from 'typebox/compile'
import { type FieldError, KnowledgePayload } from '#features/contract.ts'
import { patternFault } from './patterns.ts'

const compiled = Compile(KnowledgePayload)
const mostFaults = 20
/** The real usb.ids has 3,400 vendors. A file with fewer than these is truncated or not usb.ids. */
const minVendors = 100
const textKeys = ['manufacturer', 'product', 'serial', 'configuration'] as const

const refuse = (errors: FieldError[]): AppError =>
  new AppError(
    'knowledge_invalid',
    {
      detail: errors
        .map(({ field, message }) => `${field} ${message}`)
        .join('; ')
        .slice(0, 2_000),
    },
    { errors: errors.slice(0, mostFaults) },
  )

/** Converts `/files/attackTools/3/when/product` to the form that people write: `files.attackTools[3].when.product`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')

/** Locates a JSON syntax error: `line 7`. */
const jsonFault = (text: string, error: Error): FieldError => {
  const at = /position (\d+)/.exec(error.message)?.[1]
  const line = at === undefined ? 1 : text.slice(0, Number(at)).split('\n').length
  return { field: `line ${line}`, message: 'is not valid JSON' }
}

type Test = Partial<Record<(typeof textKeys)[number], string>>
const patternFaults = (test: Test | undefined, path: string): FieldError[] =>
  test === undefined
    ? []
    : textKeys.flatMap((key) => {
        const fault = test[key] === undefined ? null : patternFault(test[key])
        return fault === null ? [] : [{ field: `${path}.${key}`, message: fault }]
      })

/** Finds rows with a valid shape but invalid content. */
const rowFaults = ({ attackTools, vulnerable, genuine, usbIds }: KnowledgePayload['files']): FieldError[] => {
  const errors: FieldError[] = []
  function ids(row: { vid?: string | null; pid?: string | null; pidTo?: string }, path: string) {
    if (row.pid && !row.vid) errors.push({ field: `${path}.pid`, message: 'requires vid' })
    if (row.pidTo !== undefined && (!row.pid || row.pidTo < row.pid))
      errors.push({ field: `${path}.pidTo`, message: 'requires pid, where the range starts' })
  }
  for (const [i, row] of (attackTools ?? []).entries()) {
    const path = `files.attackTools[${i}]`
    ids(row, path)
    if (!row.vid && row.when === undefined)
      errors.push({ field: path, message: 'has neither vid nor when, so it would match every device' })
    errors.push(...patternFaults(row.when, `${path}.when`))
    for (const [k, test] of (row.support ?? []).entries()) errors.push(...patternFaults(test, `${path}.support[${k}]`))
  }
  for (const [i, row] of (vulnerable ?? []).entries()) {
    const path = `files.vulnerable[${i}]`
    ids(row, path)
    if (row.match === 'id' && !row.vid) errors.push({ field: path, message: 'matches by id but has no vid' })
    if (row.match === 'strings' && (row.when === undefined || Object.keys(row.when).length === 0))
      errors.push({ field: path, message: 'matches by strings but has no when' })
    errors.push(...patternFaults(row.when, `${path}.when`))
  }
  for (const [i, row] of (genuine ?? []).entries()) errors.push(...patternFaults(row, `files.genuine[${i}]`))
  if (usbIds !== undefined) {
    const vendors = parseUsbIds(usbIds).vendors.size
    if (vendors < minVendors)
      errors.push({
        field: 'files.usbIds',
        message: `names ${vendors} vendors, fewer than ${minVendors}: this is not a complete usb.ids`,
      })
  }
  return errors
}

/** Reads the signed text completely or not at all. Errors name a line or a member. */
export const readPayload = (text: string): KnowledgePayload => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse([jsonFault(text, error as Error)])
  }
  if (!compiled.Check(value)) {
    const errors = [...compiled.Errors(value)]
      .slice(0, mostFaults)
      .map((fault) => ({ field: fieldOf(fault.instancePath) || 'file', message: fault.message }))
    throw refuse(errors)
  }
  const { files } = value
  if (Object.keys(files).length === 0) throw refuse([{ field: 'files', message: 'contains no files' }])
  const faults = rowFaults(files)
  if (faults.length > 0) throw refuse(faults)
  return value
}

/** Returns the sources with some files replaced. */
export const withFiles = (
  sources: KnowledgeSources,
  files: KnowledgePayload['files'],
  version: string,
): KnowledgeSources => ({
  version,
  usbIdsText: files.usbIds ?? sources.usbIdsText,
  // The contract types differ from these only in optional members, because of exactOptionalPropertyTypes.
  attackTools: (files.attackTools as KnowledgeSources['attackTools'] | undefined) ?? sources.attackTools,
  vulnerable: (files.vulnerable as KnowledgeSources['vulnerable'] | undefined) ?? sources.vulnerable,
  genuine: (files.genuine as KnowledgeSources['genuine'] | undefined) ?? sources.genuine,
  supplement: files.supplement ?? sources.supplement,
  registries: files.registries ?? sources.registries,
})
