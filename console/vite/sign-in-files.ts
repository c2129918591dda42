import { fileURLToPath } from 'node:url'

interface Context {
  getModuleInfo: (id: string) => { importedIds: readonly string[] } | null
}

const entry = fileURLToPath(new URL('../src/app/sign-in.tsx', import.meta.url))

const modulesBelow = (id: string, context: Context, known: Set<string>): Set<string> => {
  if (known.has(id)) return known
  known.add(id)
  for (const one of context.getModuleInfo(id)?.importedIds ?? []) modulesBelow(one, context, known)
  return known
}

/** Returns a function that names the file for all modules that the sign-in page imports, directly or indirectly. */
export const createSignInFile = (name: string) => {
  let modules: Set<string> | undefined
  return (id: string, context: Context): string | null => {
    modules ??= modulesBelow(entry, context, new Set())
    return modules.has(id) ? name : null
  }
}
