
/** One key or sequence (`j`, `g a`, `Escape`) and what it does. */
export interface KeyBinding {
  keys: string
  description: string
  run: () => void
}

/** The part of a keyboard event that matters here. */
export interface KeyPress {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  target: EventTarget | null
  defaultPrevented: boolean
  preventDefault: () => void
}

/** What has the focus: a text field takes every key, a control takes Enter and blank, anything else none. */
export type FocusKind = 'text' | 'control' | 'none'

// A sequence such as `g a` is typed within this time.
const sequenceLimit = 1200

const own = new Set(['Enter', ' '])

/**
 * The keyboard of the console: bindings of the shown screens, the newest first. One listener for all of them, so that
 * a key is never taken while somebody types.
 */
export const createKeys = (clock: { now(): number }, focusOf: (target: EventTarget | null) => FocusKind) => {
  const layers: { bindings: readonly KeyBinding[] }[] = []
  let prefix: { key: string; at: number } | null = null

  const find = (keys: string) => {
    for (const layer of layers.toReversed()) {
      const binding = layer.bindings.find((one) => one.keys === keys)
      if (binding !== undefined) return binding
    }
    return undefined
  }

  return {
    /** Adds bindings above those that are there; returns how to remove them. */
    add: (bindings: readonly KeyBinding[]): (() => void) => {
      const layer = { bindings }
      layers.push(layer)
      return () => {
        layers.splice(layers.indexOf(layer), 1)
      }
    },
    /** Every binding in force now, newest first; a hidden one is left out. */
    list: (): KeyBinding[] => {
      const seen = new Set<string>()
      return layers
        .toReversed()
        .flatMap((layer) => layer.bindings)
        .filter(({ keys }) => !seen.has(keys) && seen.add(keys))
    },
    press: (event: KeyPress): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const focus = focusOf(event.target)
      if (focus === 'text' || (focus === 'control' && own.has(event.key))) return
      const started = prefix !== null && clock.now() - prefix.at < sequenceLimit ? prefix.key : null
      prefix = null
      const isPrefix = layers.some((layer) => layer.bindings.some(({ keys }) => keys.startsWith(`${event.key} `)))
      // A key that begins sequences does nothing by itself: `g a` must not first do what a screen binds to `g`.
      const single = isPrefix ? undefined : find(event.key)
      const binding = (started === null ? undefined : find(`${started} ${event.key}`)) ?? single
      if (binding !== undefined) {
        event.preventDefault()
        binding.run()
        return
      }
      if (isPrefix) prefix = { key: event.key, at: clock.now() }
    },
  }
}

export type Keys = ReturnType<typeof createKeys>

/** Dialogs, popovers, menus and lists of choices that are open. */
const openLayers = '[role=dialog], [role=alertdialog], [role=menu], [role=listbox]'

/** Returns what has the focus. While a dialog, popover or menu is open, the screen behind it has no keys. */
export const domFocus = (target: EventTarget | null): FocusKind => {
  if (!(target instanceof HTMLElement)) return 'none'
  if (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select')) {
    return 'text'
  }
  // Wherever the focus is: what has just opened may not have taken it yet.
  // A closed list of choices stays in the page, without a box.
  const layers = [...target.ownerDocument.querySelectorAll(openLayers)]
  if (layers.some((layer) => layer.getClientRects().length > 0)) return 'text'
  return target.matches('a, button, input, summary, [role=tab], [role=menuitem], [role=checkbox]') ? 'control' : 'none'
}
