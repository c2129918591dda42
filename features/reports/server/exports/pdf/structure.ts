import type { Objects } from './objects.ts'

/** Roles of elements (ISO 32000, 14.8.4). */
export type Role = 'Document' | 'Figure' | 'H1' | 'P' | 'Table' | 'TR' | 'TH' | 'TD'

interface Element {
  role: Role
  parent: number
  kids: number[]
  /** Page and number of its content; -1: it has none. */
  page: number
  mark: number
  attributes: string
}

/** Returns the attribute with the text of an element, as it is read. */
export const actualText = (text: string): string =>
  `/ActualText<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`

/** Collects the structure of a document, by which assistive technology reads it. */
export const createStructure = () => {
  const elements: Element[] = []
  const marks: number[][] = []
  const add = (role: Role, parent: number, attributes = ''): number => {
    const number = elements.push({ role, parent, kids: [], page: -1, mark: -1, attributes }) - 1
    elements[parent]?.kids.push(number)
    return number
  }
  return {
    add,
    /** Adds an element with content on a page. Returns the mark of the content. */
    mark: (role: Role, parent: number, page: number, attributes = ''): number => {
      const number = add(role, parent, attributes)
      const onPage = marks[page] ?? []
      marks[page] = onPage
      const element = elements[number] as Element
      element.page = page
      element.mark = onPage.push(number) - 1
      return element.mark
    },
    /** Writes all elements. `pages` are the ids of the pages. */
    write: (objects: Objects, pages: readonly number[]): void => {
      const parents = objects.reference()
      const ids = elements.map(() => objects.reserve())
      const document = objects.reference()
      const root = objects.ref({
        Type: 'StructTreeRoot',
        K: [document],
        ParentTree: parents,
        ParentTreeNextKey: pages.length,
      })
      const idOf = (number: number): number => (number === 0 ? document.id : (ids[number] as number))
      elements.forEach(({ role, parent, kids, page, mark, attributes }, number) => {
        const place =
          page < 0 ? `/K[${kids.map((kid) => `${idOf(kid)} 0 R`).join(' ')}]` : `/Pg ${pages[page]} 0 R/K ${mark}`
        const above = parent < 0 ? root.id : idOf(parent)
        objects.pack(idOf(number), `<</S/${role}/P ${above} 0 R${attributes}${place}>>`)
      })
      const lists = pages.map((_, page) => {
        const id = objects.reserve()
        objects.pack(id, `[${(marks[page] ?? []).map((number) => `${idOf(number)} 0 R`).join(' ')}]`)
        return `${page} ${id} 0 R`
      })
      objects.pack(parents.id, `<</Nums[${lists.join(' ')}]>>`)
      objects.catalogue.MarkInfo = objects.ref({ Marked: true })
      objects.catalogue.StructTreeRoot = root
    },
  }
}
