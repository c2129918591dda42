import { type Dispatch, type SetStateAction, useEffect } from 'react'

/** Collects what is typed after the palette was asked for and before its field has the focus. No key is lost. */
export const useEarlyKeys = (isOpen: boolean, setText: Dispatch<SetStateAction<string>>): void => {
  useEffect(() => {
    if (!isOpen) return
    const take = (event: KeyboardEvent) => {
      const field = document.activeElement
      const isInField = field instanceof HTMLInputElement && field.closest('[role="dialog"]') !== null
      if (isInField || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key.length === 1) setText((text) => text + event.key)
      else if (event.key === 'Backspace') setText((text) => text.slice(0, -1))
      else return
      event.preventDefault()
      event.stopPropagation()
    }
    // Before the shortcuts of the page, which would take single letters.
    window.addEventListener('keydown', take, { capture: true })
    return () => window.removeEventListener('keydown', take, { capture: true })
  }, [isOpen, setText])
}
