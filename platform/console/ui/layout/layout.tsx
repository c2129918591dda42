import type { AllHTMLAttributes, ComponentPropsWithRef, CSSProperties, Ref } from 'react'
import classes from './layout.module.css'

/** Each flag sets the class of the same name. */
type Flag =
  | 'wrap'
  | 'centred'
  | 'grow'
  | 'fixed'
  | 'scroll'
  | 'end'
  | 'quiet'
  | 'small'
  | 'tiny'
  | 'block'
  | 'nowrap'
  | 'breaks'
  | 'clip'
  | 'num'
  | 'equal'
  | 'lined'
  | 'ruled'

interface Space {
  gap?: CSSProperties['gap']
  pad?: CSSProperties['padding']
  /** Space above. */
  top?: number
  /** Maximum width. */
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

export type BoxProps = Omit<AllHTMLAttributes<HTMLFormElement>, keyof Space | Flag | 'as'> &
  Space & { readonly [F in Flag]?: boolean | undefined } & {
    as?: keyof HTMLElementTagNameMap
    tone?: 'raised' | 'sunken' | 'accent' | 'red' | 'amber'
    dense?: boolean
    dashed?: boolean
    // biome-ignore lint/suspicious/noExplicitAny: the element depends on `as`
    ref?: Ref<any>
  }

const box =
  (kind: string | undefined, standard: keyof HTMLElementTagNameMap) =>
  ({ as = standard, className, style, tone, dense, dashed, ...rest }: BoxProps) => {
    // One type for all elements: the attributes of each are allowed on every one.
    const Element = as as 'div'
    const names = [kind]
    const styles: Record<string, unknown> = {}
    const attributes: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(rest)) {
      if (value === true && name in classes) names.push(classes[name])
      else if (isSpace(name)) styles[cssNames[name]] = value
      else attributes[name] = value
    }
    return (
      <Element
        {...attributes}
        className={[...names, className].filter(Boolean).join(' ') || undefined}
        style={{ ...styles, ...style }}
        data-tone={tone}
        data-dense={dense || undefined}
        data-dashed={dashed || undefined}
      />
    )
  }

/** Stacks its children from top to bottom. A list has no bullets. */
export const Stack = box(classes.stack, 'div')
/** Places its children side by side, vertically centred. */
export const Row = box(classes.row, 'div')
/** A grid; `template` names its columns. */
export const Columns = box(classes.columns, 'div')
/** A stack with a border. */
export const Panel = box(classes.panel, 'section')
/** Inline text, muted or in another size if its flags say so. */
export const Text = box(classes.text, 'span')
/** Muted text within a sentence or a cell. */
export const Quiet = box(`${classes.text} ${classes.quiet}`, 'span')
/** A small, muted paragraph. */
export const Note = box(`${classes.text} ${classes.quiet} ${classes.small}`, 'p')
/** A paragraph with a border, such as a hint. */
export const Notice = box(classes.notice, 'p')
/** A table without a frame, inside other content. */
export const Table = box(classes.table, 'table')
/** A page that fills the window. Its lists scroll, or it does. */
export const Page = box(classes.page, 'div')
/** The heading of a page and its tools. */
export const PageHead = box(classes.pageHead, 'header')
/** The scrolling content of a drawer. */
export const DrawerBody = box(classes.drawerBody, 'div')
/** The buttons of a form. They stay visible, so that nobody has to scroll past the fields to find them. */
export const StickyFoot = box(classes.foot, 'div')
/** A placeholder for content that is loading. */
export const Skeleton = ({ height, width }: { height: number; width?: number | string }) => (
  <span className={classes.skeleton} style={{ height, width }} aria-busy="true" />
)
/** A button that does not look like one: a link, or a row that opens. */
export const PressButton = ({
  isLink = false,
  className,
  ...rest
}: ComponentPropsWithRef<'button'> & { isLink?: boolean }) => (
  <button type="button" {...rest} className={`${classes.press} ${className ?? ''}`} data-link={isLink || undefined} />
)
