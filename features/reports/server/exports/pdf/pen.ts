import type { SetLine } from './type-setter.ts'

type Element = ReturnType<PDFKit.PDFDocument['struct']>
/** The types of the library lack two members. */
type ElementOptions = PDFKit.Mixins.StructureElementOptions & { scope?: 'Column'; bbox?: readonly number[] }

const n = (value: number): number => Math.round(value * 100) / 100

/**
 * Draws lines of text and rules on the current page, downwards from the top left, as operators of PDF: the library's text
 * call takes ten times as long (ADR 114). In a tagged file, what belongs to no element is an artifact.
 */
export const createPen = (pdf: PDFKit.PDFDocument, isTagged: boolean) => {
  let texts = ''
  let rules = ''
  let current = ''
  function flush(): void {
    if (texts !== '') pdf.addContent(`BT\n${texts}ET`)
    texts = ''
    current = ''
  }
  function artifact(draw: () => void): void {
    if (isTagged) pdf.markContent('Artifact', { type: 'Pagination' })
    draw()
    if (!isTagged) return
    flush()
    pdf.endMarkedContent()
  }
  return {
    text: ({ pieces }: SetLine, size: number, x: number, baseline: number): void => {
      if (pieces.length > 0) texts += `1 0 0 -1 ${n(x)} ${n(baseline)} Tm\n`
      for (const { font, show } of pieces) {
        const wanted = `/${font.id} ${size} Tf\n`
        if (wanted !== current) {
          pdf.page.fonts[font.id] ??= font.ref()
          texts += wanted
          current = wanted
        }
        texts += `${show}\n`
      }
    },
    rule: (from: number, to: number, y: number, gray = 0.8): void => {
      const line = `${n(from)} ${n(y)} m ${n(to)} ${n(y)} l S\n`
      rules += gray === 0.8 ? line : `${gray} G ${line}0.8 G\n`
    },
    artifact,
    /** Draws an element below another one. Without `draw`, it is empty. */
    element: (role: string, parent: Element | undefined, options: ElementOptions, draw?: () => void): void => {
      const content = parent && draw && pdf.markStructureContent(role)
      draw?.()
      if (parent === undefined) return
      flush()
      if (content !== undefined) pdf.endMarkedContent()
      parent.add(pdf.struct(role, options, content === undefined ? [] : [content]))
    },
    /** Adds a row to the table of a tagged file. The caller ends it. */
    row: (table: Element | undefined): Element | undefined => {
      const row = table && pdf.struct('TR')
      if (row !== undefined) table?.add(row)
      return row
    },
    endPage: (): void => {
      flush()
      artifact(() => pdf.addContent(`0.8 G 0.4 w\n${rules}`))
      rules = ''
    },
  }
}
