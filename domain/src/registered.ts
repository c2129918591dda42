import type { RegistryNames } from './knowledge-types.ts'

/** A product in a public list of USB products. */
export interface RegisteredProduct {
  name: string
  /** Null if the list does not name one. */
  maker: string | null
  source: string
  /** True if the list assigns the products of this vendor ID. Other lists only describe products. */
  isAssigned: boolean
}

/** Returns the name with its maker, unless the name begins with it. */
export const fullName = ({ name, maker }: RegisteredProduct): string =>
  maker === null || name.toLowerCase().startsWith(maker.toLowerCase()) ? name : `${maker} ${name}`

const hex4 = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0')

/** Returns the listed products by VID and PID without a separator. A single product has precedence over a range. */
export const registeredProducts = ({ sources, products }: RegistryNames): ReadonlyMap<string, RegisteredProduct> => {
  const found = new Map<string, RegisteredProduct>()
  const rows = Object.entries(products).sort(([a], [b]) => b.length - a.length)
  for (const [key, [source = '', name = '', maker = null]] of rows) {
    const [vid = '', from = '', to = from] = key.split(/[:-]/)
    const product = { name, maker, source, isAssigned: sources[source]?.vid === vid }
    for (let pid = Number.parseInt(from, 16); pid <= Number.parseInt(to, 16); pid++) found.set(vid + hex4(pid), product)
  }
  return found
}
