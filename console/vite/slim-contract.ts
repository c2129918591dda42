import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const contractName = '@portcullis/features/contract.ts'
/** Files of the contract as the console imports them. An absolute path names the file itself. */
const isContract = /^@portcullis\/contract\/|^[@#.].*\/contract\/[a-z-]+\.ts$|^[@#.].*features\/contract\.ts$/
const isContractFile = /\/contract\/(src\/)?[a-z-]+\.ts$|\/features\/contract\.ts$/
const slimId = '\0slim-contract'
const itemName = 'virtual:contract/'
const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const permissions = fromRoot('platform/contract/permissions.ts')
const eventText = fromRoot('platform/contract/event-text.ts')
/** Functions and limits that only lists use, with their files. */
const partsOfLists: Readonly<Record<string, string>> = {
  columnsOf: fromRoot('platform/contract/list.ts'),
  filtersOf: fromRoot('platform/contract/list.ts'),
  filterValueText: fromRoot('platform/contract/filter-text.ts'),
  parseQuery: fromRoot('platform/contract/query.ts'),
  queryLimits: fromRoot('platform/contract/query.ts'),
}
const auditActions = fromRoot('features/audit/contract/audit-actions.ts')
const configItems = fromRoot('features/settings/contract/config-items.ts')
/** Files that the browser gets as they are. */
const wholeFiles = [permissions, eventText, auditActions, configItems]

interface OperationLike {
  id: string
  method: string
  path: string
  permission: string
  upload?: boolean
}

const isOperation = (value: unknown): value is OperationLike =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'permission' in value

const isList = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'row' in value && 'filters' in value && 'table' in value
/** A table needs the types, labels and forms of its columns; the rest of a definition is 30 % of its size. */
const notOfTables = /^(description|required|file|pattern|m(ax|in)(Items|imum)?|minLength)$/
/** A column or filter can also have such a name. Its value is then a schema. */
const isSchema = (value: unknown): boolean => typeof value === 'object' && value !== null && 'type' in value
const ofTable = (key: string, value: unknown) => (notOfTables.test(key) && !isSchema(value) ? undefined : value)
const withoutSchema = (key: string, value: unknown) => (key === 'schema' ? undefined : value)

const isDefinition = (name: string, value: unknown): boolean => name === 'reportTraits' || isList(value)

const isPrimitive = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** Returns true for lists of names and small (nested) tables, which pages may read. Schemas have a `type`. */
const isPlainTable = (value: unknown, depth = 2): boolean =>
  depth > 0 &&
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).length > 0 &&
  (Array.isArray(value) || !('type' in value)) &&
  Object.values(value).every((one) => isPrimitive(one) || isPlainTable(one, depth - 1))

const readContract = async (): Promise<Record<string, unknown>> => await import('@portcullis/features/contract.ts')

/** Items that the browser gets in part. */
const partsOf: Readonly<Record<string, (contract: typeof import('@portcullis/features/contract.ts')) => unknown>> = {
  // The server sends the detail, and only the reference has the cause.
  errorTable: ({ errorTable }) =>
    Object.fromEntries(
      Object.entries(errorTable).map(([code, { status, title, cure }]) => [code, { status, title, cure }]),
    ),
  // Only mails, the SIEM and the guide read the rest of a definition.
  alertCatalogue: ({ alertCatalogue }) =>
    Object.fromEntries(
      Object.entries(alertCatalogue).map(([kind, { title, steps }]) => [kind, { kind, title, steps }]),
    ),
  eventCatalogue: ({ eventCatalogue }) =>
    Object.fromEntries(Object.entries(eventCatalogue).map(([kind, { name }]) => [kind, { name }])),
}

const isItem = (name: string, value: unknown): boolean =>
  name in partsOf || isDefinition(name, value) || isPrimitive(value) || isPlainTable(value) || isOperation(value)

/** Returns the part of an item that the browser gets, as JSON. */
const itemOf = async (name: string): Promise<string> => {
  const contract = await readContract()
  const value = contract[name]
  if (name in partsOf) return JSON.stringify(partsOf[name]?.(contract as never))
  if (isDefinition(name, value)) return JSON.stringify(value, isList(value) ? ofTable : withoutSchema)
  if (!isOperation(value)) return JSON.stringify(value)
  const { id, method, path, permission, upload } = value
  return JSON.stringify({ id, method, path, permission, ...(upload ? { upload } : {}) })
}

/** Returns the module of each name of the contract that the browser may import. */
const readModules = async (): Promise<ReadonlyMap<string, string>> => {
  const contract = await readContract()
  const items = Object.keys(contract).filter((name) => isItem(name, contract[name]))
  const whole = await Promise.all(
    wholeFiles.map(async (file) => Object.keys(await import(file)).map((name) => [name, file] as const)),
  )
  return new Map([
    ...items.map((name) => [name, `${itemName}${name}`] as const),
    ...whole.flat(),
    ...Object.entries(partsOfLists),
  ])
}

/** Returns the first name of `name as other`. */
const importedOf = (name: string): string => name.split(' ')[0] ?? ''

let modules: Promise<ReadonlyMap<string, string>> | undefined
const modulesOfNames = () => {
  modules ??= readModules()
  return modules
}

/**
 * Gives the browser the contract without its schemas: only the parts of an operation that a client needs to call it.
 * TypeBox and all shapes would add about 60 kB gzip to the first load, and the server validates anyway. Types still
 * come from the real contract. An import of a schema value fails the build, because the slim module does not export it.
 */
export const slimContract = (): Plugin => ({
  name: 'portcullis-slim-contract',
  enforce: 'pre',
  resolveId: (source, importer) => {
    if (isContract.test(source) && importer?.startsWith('\0') !== true && !isContractFile.test(importer ?? ''))
      return { id: slimId, moduleSideEffects: false }
    if (source.startsWith(itemName)) return { id: `\0${source}`, moduleSideEffects: false }
    return wholeFiles.includes(source) ? { id: source, moduleSideEffects: false } : null
  },
  /** Gives each item of the contract its own module, so that it loads with the page that needs it. */
  async transform(code, file) {
    if (!code.includes('/contract') || isContractFile.test(file)) return null
    const moduleOf = await modulesOfNames()
    return code.replace(/import \{([^}]+)\} from '([^']+)'/g, (whole, names: string, source: string) => {
      if (!isContract.test(source)) return whole
      const { own = [], others = [] } = Object.groupBy(
        names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== ''),
        (name) => (moduleOf.has(importedOf(name)) ? 'own' : 'others'),
      )
      const imports = own.map((name) => `import { ${name} } from ${JSON.stringify(moduleOf.get(importedOf(name)))}`)
      // The rest are types, or values that the browser does not get, which fails the build.
      return [
        ...imports,
        ...(others.length === 0 ? [] : [`import { ${others.join(', ')} } from '${contractName}'`]),
      ].join('; ')
    })
  },
  async load(id) {
    if (id === slimId) return 'export {}'
    if (!id.startsWith(`\0${itemName}`)) return null
    const name = id.slice(itemName.length + 1)
    return `export const ${name} = ${await itemOf(name)}`
  },
})
