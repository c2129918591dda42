import { type ComponentType, createContext } from 'react'
import type { View } from '../useView.ts'

/** The parts of saved views that a list shows. The application provides them, because the platform knows no capability. */
interface SavedViewParts {
  /** The views of the page as tabs. */
  Tabs: ComponentType<{ view: View }>
  /** Saves the current state under a name. */
  Save: ComponentType<{ view: View }>
}

export const SavedViews = createContext<SavedViewParts | null>(null)
