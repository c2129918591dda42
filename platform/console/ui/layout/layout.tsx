import type { AllHTMLAttributes, CSSProperties, Ref } from 'react'
import classes from './layout.module.css'

type Tag =
  | 'div'
  | 'span'
  | 'p'
  | 'section'
  | 'header'
  | 'footer'
  | 'nav'
  | 'article'
  | 'aside'
  | 'ul'
  | 'ol'
  | 'li'
  | 'dl'
  | 'dt'
  | 'dd'
  | 'form'
  | 'fieldset'
  | 'label'
  | 'output'
  | 'details'
  | 'figure'
  | 'code'
  | 'pre'
  | 'strong'
  | 'legend'
  | 'h2'
  | 'h3'
  | 'td'
  | 'small'
  | 'kbd'
  | 'search'
  | 'bdi'

/** Each of these is a class of the kit. */
const flags = [
  'wrap',
  'grow',
  'fixed',
  'scroll',
  'end',
  'quiet',
  'small',
  'tiny',
  'block',
  'nowrap',
  'breaks',
  'clip',
  'num',
  'equal',
] as const
type Flag = (typeof flags)[number]
const isFlag = (name: string): name is Flag => (flags as readonly string[]).includes(name)

interface Space {
  gap?: CSSProperties['gap']
  pad?: CSSProperties['padding']
  /** Space above. */
  top?: number
  /** The greatest width. */
  max?: CSSProperties['maxWidth']
  align?: CSSProperties['alignItems']
  justify?: CSSProperties['justifyContent']
  self?: CSSProperties['alignSelf']
  /** The columns of a grid. */
  template?: string
}

const cssNames: Record<keyof Space, keyof CSSProperties> = {
  gap: 'gap',
  pad: 'padding',
  top: 'marginTop',
  max: 'maxWidth',
  align: 'alignItems',
  justify: 'justifyContent',
  self: 'alignSelf',
  template: 'gridTemplateColumns',
}
const isSpace = (name: string): name is keyof Space => name in cssNames

type BoxProps = Omit<AllHTMLAttributes<HTMLFormElement>, keyof Space | Flag | 'as'> &
  Space & { readonly [F in Flag]?: boolean | undefined } & {
    as?: Tag
    tone?: 'raised' | 'sunken' | 'accent' | 'red' | 'amber'
    dense?: boolean
    // biome-ignore lint/suspicious/noExplicitAny: the element depends on `as`
    ref?: Ref<any>
  }

const box =
  (kind: string | undefined, standard: Tag) =>
  ({ as: Element = standard, className, style, tone, dense, ...rest }: BoxProps) => {
    const names = [kind]
    const styles: Record<string, unknown> = {}
    const attributes: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(rest)) {
      if (isFlag(name)) value === true && names.push(classes[name])
      else if (isSpace(name)) styles[cssNames[name]] = value
      else attributes[name] = value
    }
    return (
      <Element
        {...(attributes as object)}
        className={[...names, className].filter(Boolean).join(' ') || undefined}
        style={{ ...styles, ...style }}
        data-tone={tone}
        data-dense={dense || undefined}
      />
    )
  }

/** What is stacked from top to bottom. A list has no bullets. */
export const Stack = box(classes.stack, 'div')
/** What stands side by side, on the middle line. */
export const Row = box(classes.row, 'div')
/** A grid; `template` names its columns. */
export const Columns = box(classes.columns, 'div')
/** A stack with an edge. */
export const Panel = box(classes.panel, 'section')
/** Text with less weight or another size. */
export const Text = box(classes.text, 'span')
/** Text of less weight within a sentence or a cell. */
export const Quiet = box(`${classes.text} ${classes.quiet}`, 'span')
/** A paragraph of less weight. */
export const Note = box(`${classes.text} ${classes.quiet} ${classes.small}`, 'p')
