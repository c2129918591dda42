/** One key or sequence (`j`, `g a`, `Escape`) and its command. */
export interface KeyBinding {
  keys: string
  description: string
  run: () => void
}

/** The members of a keyboard event that are used here. */
export interface KeyPress {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  target: EventTarget | null
  defaultPrevented: boolean
  preventDefault: () => void
}

/** The focused element: a text field takes every key, a control takes Enter and Space, others take none. */
export type FocusKind = 'text' | 'control' | 'none'

// Milliseconds in which the next key of a sequence must follow.
const sequenceLimit = 1200

const own = new Set(['Enter', ' '])

/**
 * The keyboard of the console: the bindings of the shown screens, newest first. One listener serves all of them, so
 * that a key never runs a command while somebody types.
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
    /** Adds bindings above the existing ones. Returns a function that removes them. */
    add: (bindings: readonly KeyBinding[]): (() => void) => {
      const layer = { bindings }
      layers.push(layer)
      return () => {
        layers.splice(layers.indexOf(layer), 1)
      }
    },
    /** Returns the active bindings, newest first, without hidden ones. */
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
      // A key that starts sequences has no command itself: `g a` must not first run what a screen binds to `g`.
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

/** Selects open dialogs, popovers, menus and lists of choices. */
const openLayers = '[role=dialog], [role=alertdialog], [role=menu], [role=listbox]'

/** Returns the focused element. While a dialog, popover or menu is open, the screen behind it receives no keys. */
export const domFocus = (target: EventTarget | null): FocusKind => {
  if (!(target instanceof HTMLElement)) return 'none'
  if (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select')) {
    return 'text'
  }
  // Independent of the focus, because a layer that has just opened may not have it yet.
  // A closed list of choices stays in the page, but without a size.
  const layers = [...target.ownerDocument.querySelectorAll(openLayers)]
  if (layers.some((layer) => layer.getClientRects().length > 0)) return 'text'
  return target.matches('a, button, input, summary, [role=tab], [role=menuitem], [role=checkbox]') ? 'control' : 'none'
}
