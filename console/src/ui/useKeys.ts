import { useEffect, useRef } from 'react'
import type { KeyBinding } from '../lib/keys.ts'
import { useServices } from '../lib/services.tsx'

/** Puts key bindings in force while the component is shown. The list of keys is fixed at mount; what they do is not. */
export const useKeys = (bindings: readonly KeyBinding[]): void => {
  const { keys } = useServices()
  const latest = useRef(bindings)
  latest.current = bindings
  const names = bindings.map((binding) => binding.keys).join('\n')
  useEffect(
    () =>
      keys.add(
        names.split('\n').flatMap((name): KeyBinding[] => {
          const binding = latest.current.find((one) => one.keys === name)
          if (binding === undefined) return []
          return [{ ...binding, run: () => latest.current.find((one) => one.keys === name)?.run() }]
        }),
      ),
    [keys, names],
  )
}
