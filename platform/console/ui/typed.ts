/** Input whose text a reload would lose. Searches and filters are in the address. */
const isForm = (target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement =>
  (target instanceof HTMLInputElement && target.type !== 'search') ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement

const textOf = (field: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement): string =>
  field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio')
    ? String(field.checked)
    : field.value

/** Follows what the person enters in this page, because a reload would lose it. */
export const followTyping = (page: Document) => {
  const before = new WeakMap<Element, string>()
  const changed = new Set<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>()
  let holds = 0
  page.addEventListener(
    'focusin',
    ({ target }) => {
      if (isForm(target) && !before.has(target)) before.set(target, textOf(target))
    },
    true,
  )
  page.addEventListener(
    'input',
    ({ target }) => {
      if (isForm(target)) changed.add(target)
    },
    true,
  )
  return {
    /** Returns whether a reload would lose input. */
    hasTyped: (): boolean => {
      for (const field of changed) {
        if (!field.isConnected) changed.delete(field)
        else if (textOf(field) !== (before.get(field) ?? '')) return true
      }
      return holds > 0
    },
    /** A form has unsaved changes. Returns a function that ends this. */
    hold: (): (() => void) => {
      holds++
      return () => {
        holds--
      }
    },
  }
}
