import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const contractName = '@portcullis/features/contract.ts'
/** Files of the contract as the console imports them. An absolute path names the file itself. */
const isContract = /^@portcullis\/contract\/|^[@#.].*\/contract\/[a-z-]+\.ts$|^[@#.].*features\/contract\.ts$/
const isContractFile = /\/contract\/(src\/)?[a-z-]+\.ts$|\/features\/contract\.ts$/
const slimId = '\0slim-contract'
const definitionName = 'virtual:list/'
const definitionId = `\0${definitionName}`
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
/** The form data of the settings. They are loaded with the settings page, not with the first page. */
const configItems = fromRoot('features/settings/contract/config-items.ts')

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
      return slimId
    if (source.startsWith(definitionName)) return { id: `\0${source}`, moduleSideEffects: false }
    return [configItems, auditActions].includes(source) ? { id: source, moduleSideEffects: false } : null
  },
  /** Gives each definition of a list its own module, so that it loads with its page and not with the first page. */
  async transform(code, file) {
    if (!code.includes('/contract') || isContractFile.test(file)) return null
    const contract: Record<string, unknown> = await import('@portcullis/features/contract.ts')
    const moduleOf = (name: string) =>
      isDefinition(name, contract[name]) ? `${definitionName}${name}` : partsOfLists[name]
    return code.replace(/import \{([^}]+)\} from '([^']+)'/g, (whole, names: string, source: string) => {
      if (!isContract.test(source)) return whole
      const { own = [], others = [] } = Object.groupBy(
        names.split(',').map((name) => name.trim()),
        (name) => (moduleOf(name) === undefined ? 'others' : 'own'),
      )
      const imports = own.map((name) => `import { ${name} } from ${JSON.stringify(moduleOf(name))}`)
      return [...imports, `import { ${others.join(', ')} } from '${contractName}'`].join('; ')
    })
  },
  async load(id) {
    const contract: Record<string, unknown> = await import('@portcullis/features/contract.ts')
    if (id.startsWith(definitionId)) {
      const name = id.slice(definitionId.length)
      return `export const ${name} = ${JSON.stringify(contract[name], isList(contract[name]) ? ofTable : withoutSchema)}`
    }
    if (id !== slimId) return null
    const own = new Set(
      Object.keys({
        ...(await import('@portcullis/platform/contract/errors.ts')),
        ...(await import('@portcullis/platform/contract/permissions.ts')),
        ...(await import('@portcullis/features/settings/contract/config-items.ts')),
        ...(await import('@portcullis/platform/contract/event-text.ts')),
        ...(await import('@portcullis/features/audit/contract/audit-actions.ts')),
      }),
    )
    const operations = Object.entries(contract).flatMap(([name, value]) => {
      if (own.has(name) || isDefinition(name, value)) return []
      if (isPrimitive(value) || isPlainTable(value)) return [`export const ${name} = ${JSON.stringify(value)}`]
      if (!isOperation(value)) return []
      const { id: operationId, method, path, permission, upload } = value
      return [
        `export const ${name} = ${JSON.stringify({ id: operationId, method, path, permission, ...(upload ? { upload } : {}) })}`,
      ]
    })
    const { errorTable } = await import('@portcullis/platform/contract/errors.ts')
    // The server sends the detail, and only the reference has the cause.
    const errors = Object.entries(errorTable).map(([code, { status, title, cure }]) => [code, { status, title, cure }])
    const { alertCatalogue, eventCatalogue } = await import('@portcullis/features/contract.ts')
    // Only mails, the SIEM and the guide read the rest of a definition.
    const alerts = Object.entries(alertCatalogue).map(([kind, { title, steps }]) => [kind, { kind, title, steps }])
    const events = Object.entries(eventCatalogue).map(([kind, { name }]) => [kind, { name }])
    return [
      `export const alertCatalogue = ${JSON.stringify(Object.fromEntries(alerts))}`,
      `export const eventCatalogue = ${JSON.stringify(Object.fromEntries(events))}`,
      `export const errorTable = ${JSON.stringify(Object.fromEntries(errors))}`,
      `export * from ${JSON.stringify(permissions)}`,
      `export * from ${JSON.stringify(configItems)}`,
      `export * from ${JSON.stringify(eventText)}`,
      `export * from ${JSON.stringify(auditActions)}`,
      ...operations,
    ].join('\n')
  },
})
